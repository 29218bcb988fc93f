"""Panels laid out as arrays, metrics of known labels on them, and design weights within them."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ModelError, RatingsError
from assay.cli.program import app
from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import load_task
from assay.display.notes import panels_said
from assay.evaluation import majority_metrics, metrics_of_labels, registry
from assay.evaluation.draws import metric_draws, panel_totals
from assay.evaluation.estimands import cluster_weights
from assay.evaluation.panels import panel_layout
from assay.evaluation.select import choose_metrics
from assay.evaluation.widths import expected_components
from assay.fits import datatree
from assay.fits.view import FitView
from assay.reporting.material import Material
from assay.reporting.metrics import metrics_section


def ratings_of(places, *, task="retrieval", answered=None, weight=1.0, stratum="", answers=None):
    """Ratings whose panels are ``places``: (system, panel, cluster, rank, item)."""
    task = load_task(task)
    panels = pd.DataFrame(places, columns=["system", "panel", "cluster", "rank", "item"])
    count = int(panels["item"].max()) + 1
    rated = np.arange(count) if answered is None else np.asarray(answered, dtype=np.int64)
    if answers is None:
        answers = np.zeros((len(rated), len(task.labels)))
    size = len(rated)
    items = pd.DataFrame(
        {"cluster": "", "stratum": stratum, "weight": weight},
        index=pd.Index([f"i{n}" for n in range(count)], name="item"),
    )
    return Ratings(
        task=task,
        answers=np.asarray(answers, np.int16),
        item=rated,
        rater=np.zeros(size, np.int64),
        replicate=np.zeros(size, np.int64),
        abstained=np.zeros(size, bool),
        items=items,
        raters=pd.DataFrame({"group": ["raters"]}, index=pd.Index(["r"], name="rater")),
        truth=np.full((count, len(task.labels)), MISSING, np.int16),
        panels=panels[["panel", "system", "cluster", "rank", "item"]],
    )


RAGGED = [
    ("B", "p3", "q1", 2, 4),
    ("A", "p1", "q1", 2, 1),
    ("A", "p1", "q1", 1, 0),
    ("A", "p2", "q2", 1, 2),
    ("B", "p3", "q1", 4, 3),
]


def test_layout_by_hand():
    layout = panel_layout(ratings_of(RAGGED, weight=[1.0, 3.0, 1.0, 1.0, 1.0]))
    assert layout.systems == ("A", "B")
    assert layout.clusters == ("q1", "q2")
    assert layout.bounds.tolist() == [0, 2, 3]
    assert layout.cluster.tolist() == [0, 1, 0]
    assert layout.weight.tolist() == [2.0, 1.0, 1.0]
    assert layout.mask.astype(int).tolist() == [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 1]]
    assert layout.item[layout.mask].tolist() == [0, 1, 2, 4, 3]
    assert (layout.freedom(), layout.sample_words()) == (1, "1 cluster of B")


def test_pooled_layout_has_one_nameless_system():
    layout = panel_layout(ratings_of(RAGGED), by=None)
    assert (layout.systems, layout.bounds.tolist()) == (("",), [0, 3])


def test_panel_names_need_be_unique_within_a_system_only():
    places = [("A", "p", "q", 1, 0), ("B", "p", "q", 1, 1)]
    assert len(panel_layout(ratings_of(places), by=None).item) == 2


def test_ranks_from_zero_are_shifted_and_ties_follow_one_another():
    zero = [("", "p", "q", 0, 0), ("", "p", "q", 3, 1)]
    assert panel_layout(ratings_of(zero)).mask.astype(int).tolist() == [[1, 0, 0, 1]]
    tied = [("", "p", "q", 1, 0), ("", "p", "q", 1, 1), ("", "p", "q", 2, 2), ("", "o", "q", 1, 3)]
    layout = panel_layout(ratings_of(tied))
    assert layout.item.tolist() == [[3, 0, 0], [0, 1, 2]]


def test_drop_leaves_out_panels_with_an_unrated_item():
    layout = panel_layout(ratings_of(RAGGED, answered=[1, 2, 3, 4]), incomplete="drop")
    assert (layout.dropped, layout.unrated) == (1, 0)
    assert layout.item[layout.mask].tolist() == [2, 4, 3]
    with pytest.raises(RatingsError, match="leaves no panel", check=refusal("no-complete-panel")):
        panel_layout(ratings_of(RAGGED, answered=[]), incomplete="drop")


def test_drop_takes_an_empty_answer_for_none():
    answers = np.zeros((5, 3))
    answers[2] = MISSING
    assert panel_layout(ratings_of(RAGGED, answers=answers), incomplete="drop").dropped == 1


def test_panels_without_a_system_are_left_out_beside_others_but_pooled():
    places = [*RAGGED, ("", "p9", "q9", 1, 5)]
    assert len(panel_layout(ratings_of(places)).item) == 3
    assert len(panel_layout(ratings_of(places), by=None).item) == 4


def test_restricted_layout_loses_empty_panels():
    layout = panel_layout(ratings_of(RAGGED)).of_items(np.array([0, 1, 0, 1, 0], bool))
    assert layout.bounds.tolist() == [0, 1, 2]
    assert layout.item[layout.mask].tolist() == [1, 3]
    assert layout.clusters == ("q1", "q2")


@pytest.mark.parametrize(
    ("places", "words", "code"),
    [
        (
            [("", "p", "q1", 1, 0), ("", "p", "q2", 2, 1)],
            "panel 'p' has items of several",
            "panel-clusters",
        ),
        ([("", "p", "q", -1, 0), ("", "p", "q", 2, 1)], "ranks go from -1 to 2", "panel-ranks"),
        (
            [("", "p", "q", 1, 0), ("", "p", "q", 99_999, 1)],
            "ranks go from 1 to 99999",
            "panel-ranks",
        ),
    ],
)
def test_unusable_panels_are_told(places, words, code):
    with pytest.raises(RatingsError, match=words, check=refusal(code)):
        panel_layout(ratings_of(places))


def test_strata_inside_clusters_are_no_strata_of_clusters():
    """Items of a query are sampled inside and outside its top 5: queries are drawn together."""
    places = [("", f"p{n}", f"q{n % 4}", 1, n) for n in range(12)]
    inside = ["top" if n < 8 else "rest" for n in range(12)]
    assert panel_layout(ratings_of(places, stratum=inside)).stratum.tolist() == [0, 0, 0, 0]
    language = [("en" if n % 4 < 2 else "de") + kind for n, kind in enumerate(inside)]
    layout = panel_layout(ratings_of(places, stratum=language))
    assert (layout.n_strata, layout.freedom()) == (2, 3)
    assert layout.stratum[0] == layout.stratum[1] != layout.stratum[2] == layout.stratum[3]
    assert layout.sample_words() == "4 clusters in 2 strata"


def test_how_many_clusters_says_whose_unless_systems_share_them():
    both = [(system, f"{system}{n}", f"q{n}", 1, n) for n in range(4) for system in "AB"]
    apart = [("AB"[n % 2], f"p{n}", f"q{n}", 1, n) for n in range(8)]
    assert panel_layout(ratings_of(both)).sample_words() == "4 clusters"
    assert panel_layout(ratings_of(apart)).sample_words() == "4 clusters of each system"
    assert panel_layout(ratings_of(apart[:-1])).sample_words() == "3 clusters of B"
    assert panel_layout(ratings_of(apart), by=None).sample_words() == "8 clusters"


def test_unknown_choices_are_told():
    with pytest.raises(ModelError, match="by='systems'", check=refusal("argument-choice")):
        panel_layout(ratings_of(RAGGED), by="systems")
    with pytest.raises(ModelError, match="did you mean drop", check=refusal("argument-choice")):
        panel_layout(ratings_of(RAGGED), incomplete="dropp")


def test_metrics_of_labels_by_hand():
    labels = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
    table = metrics_of_labels(labels, ratings_of(RAGGED)).set_index(["metric", "system"])["value"]
    assert table["topical_precision_at_k", "A"] == pytest.approx((1 / 2 + 1) / 2)
    assert table["mean_reciprocal_rank_at_k", "A"] == pytest.approx((1 / 2 + 1) / 2)
    assert table["mean_reciprocal_rank_at_k", "B"] == pytest.approx(1 / 4)
    assert table["misleading_context_rate_at_k", "A"] == pytest.approx((1 / 2 + 0) / 2)
    assert table["sufficiency_hit_at_k"].to_dict() == {"A": pytest.approx(1 / 2), "B": 0}
    one = metrics_of_labels(labels, ratings_of(RAGGED), metric="ndcg_at_k")
    assert dict.fromkeys(one["metric"]) == {"ndcg_at_k": None}


def test_missing_labels_leave_items_out_of_the_metrics_that_need_them():
    labels = np.array([[1, 0, 0], [MISSING, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    table = metrics_of_labels(labels, ratings_of(RAGGED)).set_index(["metric", "system"])["value"]
    assert table["topical_precision_at_k", "A"] == 1
    assert table["misleading_context_rate_at_k", "A"] == pytest.approx(1 / 4)


def test_system_without_any_known_label_has_no_value():
    labels = np.zeros((5, 3))
    labels[3:] = MISSING
    table = metrics_of_labels(labels, ratings_of(RAGGED)).set_index(["metric", "system"])["value"]
    assert table["topical_precision_at_k", "A"] == 0
    assert np.isnan(table["topical_precision_at_k", "B"])


def test_labels_of_another_shape_are_refused():
    with pytest.raises(RatingsError, check=refusal("labels-shape")):
        metrics_of_labels(np.zeros((4, 3)), ratings_of(RAGGED))


HEAVY = 10.0


NO_LABELS = dict.fromkeys(["topically_relevant", "evidence_sufficient", "misleading"], "no")


def sampled(task: str, labels: dict[str, list[str]]) -> Ratings:
    """Thirty clusters, of each one item of weight 1 and one of weight 10, rated once."""
    rows = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{n:02d}" for n in range(30)], 2),
            "item": [f"i{n:02d}" for n in range(60)],
            "weight": np.tile([1.0, HEAVY], 30),
            "rater": "r",
            **{name: said * 30 for name, said in labels.items()},
        }
    )
    return assay.read_ratings(rows, task=task, cluster="query_id")


def population(ratings: Ratings, name: str, draws: int = 50) -> np.ndarray:
    """Metric of the recorded answers, under the weights of the clusters: (draw,)."""
    y = np.broadcast_to(ratings.answers[None], (draws, *ratings.answers.shape))
    layout = panel_layout(ratings)
    chosen = choose_metrics(ratings.task, name)
    return metric_draws(chosen, ratings.task, y, layout, cluster_weights(layout))[0, :, 0]


def test_a_share_weighs_the_items_of_a_panel() -> None:
    ratings = sampled(
        "retrieval",
        {
            "topically_relevant": ["yes", "no"],
            "evidence_sufficient": ["no", "no"],
            "misleading": ["no", "yes"],
        },
    )
    assert population(ratings, "topical_precision_at_k") == pytest.approx(1 / 11)
    assert population(ratings, "misleading_context_rate_at_k") == pytest.approx(10 / 11)


def of_lists() -> Ratings:
    """Lists of two chunks of different weight, from two systems."""
    found = []
    for system in ("A", "B"):
        rows = {
            "query_id": np.repeat([f"q{n:02d}" for n in range(30)], 2),
            "item": [f"{system}{n:02d}" for n in range(60)],
            "system": system,
            "rank": np.tile([1, 2], 30),
            "weight": np.tile([1.0, HEAVY], 30),
            "topically_relevant": ["no", "yes"] * 30,
            "evidence_sufficient": ["no", "yes"] * 30,
            "misleading": ["no", "no"] * 30,
        }
        found += [pd.DataFrame(rows).assign(rater=f"r{n}") for n in range(2)]
    return assay.read_ratings(pd.concat(found), task="retrieval")


@pytest.fixture(scope="module")
def weighed_fit() -> xr.DataTree:
    # Without difficulty: each command would fit the model without it, to compare both.
    return assay.fit(
        of_lists(), raters="hierarchical", method="map", draws=30, chains=1, starts=1, rng=1,
        progress=False,
    )  # fmt: skip


ORDERS = ["sufficiency_hit_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k"]


SHARES = ["topical_precision_at_k", "sufficiency_rate_at_k", "misleading_context_rate_at_k"]


def test_metrics_that_cannot_count_weights_are_left_out_and_said_to_be(
    weighed_fit: xr.DataTree, tmp_path: Path
) -> None:
    for estimand in ("finite", "population"):
        draws = assay.metrics(weighed_fit, estimand=estimand)
        assert list(draws.data_vars) == SHARES
        assert draws.attrs["left_out"] == ORDERS
        assert "from 1 to 10" in draws.attrs["left_out_because"]
        assert "ndcg_at_k are left out. Design weights differ" in panels_said(draws)
    path = tmp_path / "fit.nc"
    assay.save(weighed_fit, path)
    for command, key in (("metrics", "metrics"), ("compare", "pairs")):
        result = CliRunner().invoke(app, [command, str(path), "--json"])
        told = json.loads(result.stdout)
        assert {line["metric"] for line in told[key]} == set(SHARES)
        assert [line["metric"] for line in told["left_out"]] == ORDERS
        assert all("from 1 to 10" in line["reason"] for line in told["left_out"])
        words = " ".join(CliRunner().invoke(app, [command, str(path)]).stdout.split())
        assert "ndcg_at_k are left out. Design weights differ within panels" in words
        table = tmp_path / "table.csv"
        written = CliRunner().invoke(app, [command, str(path), "-o", str(table)])
        assert "ndcg_at_k: left out." in " ".join(written.stderr.split())
    section = metrics_section(Material(fit=weighed_fit))
    (gap,) = section.gaps
    assert gap.what == ", ".join(ORDERS)
    assert gap.code == "uneven-design-weights"
    assert "(from 1 to 10" in gap.why


ASKED: dict[str, Callable[[xr.DataTree, str], object]] = {
    "metrics": lambda fit, name: assay.metrics(fit, metric=name),
    "finite": lambda fit, name: assay.metrics(fit, metric=name, estimand="finite"),
    "compare": lambda fit, name: assay.compare(fit, metric=[SHARES[0], name]),
    "compare_baselines": lambda fit, name: assay.compare_baselines(fit, metric=name),
    "check_claim": lambda fit, name: assay.check_claim(fit, f"B > A on {name}"),
    "variance_budget": lambda fit, name: assay.variance_budget(fit, metric=name),
    "expected_width": lambda fit, name: assay.expected_width(fit, metric=name),
    "consensus": lambda fit, name: assay.sensitivity_to_consensus(fit, metric=name),
    "majority": lambda fit, name: majority_metrics(datatree.ratings_of(fit), metric=name),
    "known": lambda fit, name: metrics_of_labels(
        np.zeros((120, 3), int), datatree.ratings_of(fit), metric=name
    ),
    "prior": lambda fit, name: assay.prior_metrics(datatree.ratings_of(fit), metric=name, draws=5),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=list(ASKED))
@pytest.mark.parametrize("name", ORDERS)
def test_a_metric_that_cannot_count_weights_is_refused_by_name(
    weighed_fit: xr.DataTree, asked: Callable[[xr.DataTree, str], object], name: str
) -> None:
    with pytest.raises(
        ModelError,
        match=rf"differ within panels.*{name} cannot.*weight=''",
        check=refusal("uneven-design-weights"),
    ):
        asked(weighed_fit, name)


def test_a_layout_never_averages_weights_over_an_order() -> None:
    with pytest.raises(
        ModelError,
        match="mean_reciprocal_rank_at_k cannot count",
        check=refusal("uneven-design-weights"),
    ):
        population(of_lists(), "mean_reciprocal_rank_at_k")


def test_what_the_refusal_advises_works() -> None:
    ratings = of_lists()
    with pytest.raises(ModelError) as caught:
        majority_metrics(ratings, metric="ndcg_at_k")
    advised = re.search(r"metrics that can: (.*?)\.", str(caught.value))
    assert advised is not None
    assert set(majority_metrics(ratings, metric=advised[1].split(", "))["metric"]) == set(SHARES)
    rows = pd.DataFrame(
        {"query_id": "q", "item": ["a", "b"], "rater": "r", "weight": [1, 2], **NO_LABELS}
    )
    assert (assay.read_ratings(rows, task="retrieval").items["weight"] != 1).any()
    alike = assay.read_ratings(rows, task="retrieval", weight="")
    assert (alike.items["weight"] == 1).all()
    assert "ndcg_at_k" in set(majority_metrics(alike)["metric"])


def test_a_metric_of_ones_own_counts_weights_if_it_says_that_it_adds_up() -> None:
    def own(y: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Share of chunks that are relevant."""
        return np.asarray(((y[..., 0] == 1) & mask).mean(axis=-1))

    for additive in (True, False):
        name = f"test_of_weights_{additive}"
        assay.metric(name, task="retrieval", labels=["topically_relevant"], additive=additive)(own)
        try:
            told = set(majority_metrics(of_lists())["metric"])
        finally:
            registry._METRICS.pop(name)
        assert (name in told) == additive


def test_weights_that_differ_between_panels_alone_count_in_every_metric() -> None:
    ratings = of_lists()
    even = ratings.items.assign(weight=np.tile(np.repeat(np.arange(1.0, 31), 2), 2))
    told = majority_metrics(replace(ratings, items=even))
    assert set(told["metric"]) == {*SHARES, *ORDERS}


def test_a_ratio_weighs_items_above_and_below() -> None:
    ratings = sampled("single", {"label": ["a", "b"]})
    assert population(ratings, "prevalence[label=a]") == pytest.approx(1 / 11)
    gated = sampled(
        "grounding",
        {
            "support_present": ["yes", "yes"],
            "unsupported_claim_present": ["no", "no"],
            "contradicted_claim_present": ["no", "no"],
            "source_cited": ["yes", "yes"],
            "fabricated_source": ["yes", "no"],
        },
    )
    assert population(gated, "conditional_fabrication_rate") == pytest.approx(1 / 11)
    votes = majority_metrics(gated, metric="conditional_fabrication_rate", draws=20)
    assert votes["lower"].item() == pytest.approx(1 / 11)


def test_these_items_count_alike() -> None:
    labels = {"topically_relevant": ["yes", "no"], "evidence_sufficient": ["no", "no"]}
    ratings = sampled("retrieval", {**labels, "misleading": ["no", "no"]})
    table = metrics_of_labels(ratings.answers, ratings).set_index("metric")
    assert table.loc["topical_precision_at_k", "value"] == 0.5


def test_equal_weights_need_no_layout_of_their_own() -> None:
    ratings = sampled("single", {"label": ["a", "b"]})
    even = ratings.items.assign(weight=np.repeat(np.arange(1.0, 31), 2))
    layout = panel_layout(replace(ratings, items=even))
    assert layout.item_weight is None
    assert layout.weight.tolist() == list(range(1, 31))


@pytest.mark.parametrize("task", ["retrieval", "grounding", "generation", "ais"])
def test_additive_metrics_are_those_that_add_up_over_items(task: str) -> None:
    """A panel's value is the mean (its totals the sums) of its items' exactly if it says so."""
    found = assay.load_task(task)
    rng, mask = np.random.default_rng(1), np.ones((40, 3), bool)
    states = state_space(found).states
    y = states[rng.integers(len(states), size=(40, 3))]
    for metric in choose_metrics(found):
        seen = y[..., metric.columns(found)]
        whole = np.stack(panel_totals(metric, seen, mask))
        alone = [np.stack(panel_totals(metric, seen[:, [p]], mask[:, [p]])) for p in range(3)]
        joined = sum(alone) / (3 if metric.kind == "per_panel" else 1)
        assert np.allclose(whole, joined) == metric.additive, metric.name


def test_few_clusters_keep_weights_that_the_model_does_not_know() -> None:
    """Of each question two items likely to be relevant, and two that stand for fifty others."""
    rng = np.random.default_rng(3)
    inside = np.tile([True, True, False, False], 12)
    event = np.where(inside, rng.random(48) < 0.9, rng.random(48) < 0.1)
    table = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{n:02d}" for n in range(12)], 4),
            "item": [f"i{n:02d}" for n in range(48)],
            "weight": np.where(inside, 1.0, 25.0),
            "part": np.where(inside, "in", "out"),
            "label": np.where(event, "yes", "no"),
        }
    )
    rows = pd.concat([table.assign(rater=f"r{n}") for n in range(3)], ignore_index=True)
    known = {"cluster": "query_id", "labels": ["label"], "task": "single"}
    found = {}
    for name in ("", "part"):
        ratings = assay.read_ratings(rows, stratum=name, **known)
        fit = assay.fit(ratings, method="map", draws=60, chains=1, starts=1, rng=1, progress=False)
        found[name] = assay.metrics(fit, metric="prevalence[label=yes]")["prevalence[label=yes]"]
    assert found[""].attrs["estimand"] == "population (design weights: 12 clusters)"
    assert found["part"].attrs["estimand"] == "population (80% model-based: 12 clusters)"
    weight = table["weight"].to_numpy()
    share = float((weight * event).sum() / weight.sum())
    for draws in found.values():
        assert float(draws.mean()) == pytest.approx(share, abs=0.1)


def test_what_more_ratings_buy_counts_design_weights() -> None:
    """All weight is on items that are sure: nothing is to be learned of them."""
    rng = np.random.default_rng(6)
    rows = [
        {
            "query_id": f"q{q:02d}",
            "item": f"q{q:02d}-{n}",
            "weight": 100.0 if n else 1.0,
            "rater": f"r{j}",
            "label": "yes" if (q % 2 == 0) != (n == 0 and rng.random() < 0.35) else "no",
        }
        for q in range(30)
        for n in range(2)
        for j in range(4)
    ]
    ratings = assay.read_ratings(
        pd.DataFrame(rows), task="single", labels=["label"], cluster="query_id"
    )
    fit = assay.fit(
        ratings, method="map", raters="pooled + item_difficulty", draws=80, chains=1, starts=1,
        rng=1, progress=False,
    )  # fmt: skip
    layout, chosen = panel_layout(ratings), choose_metrics(ratings.task, "prevalence[label=yes]")
    found = {
        weighted: expected_components(
            FitView.of(fit), chosen, layout, share=1.0, contrast=None, sets=4, draws=40,
            rng=np.random.default_rng(1), weighted=weighted,
        )[1].item()
        for weighted in (True, False)
    }  # fmt: skip
    assert found[True] < 0.5 * found[False]
