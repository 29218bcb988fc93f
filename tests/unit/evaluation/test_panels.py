"""Panels laid out as arrays, and metrics of known labels on them."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import ModelError, RatingsError
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task_files import load_task
from assay.evaluation import metrics_of_labels
from assay.evaluation.panels import panel_layout


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
