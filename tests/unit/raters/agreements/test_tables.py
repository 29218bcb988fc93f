"""Agreement: the coefficients against established packages, the rest against slow counting."""

import doctest
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from assay._util.errors import FitError, ModelError, UnknownNameError
from assay._util.text import interval
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.fits.simulate import simulate
from assay.raters.agreements import WHOLE, agreement


def scale(classes, *, ordered=False):
    names = tuple(str(k) for k in range(classes))
    return Task(name="scale", labels=(Label(name="grade", classes=names, ordered=ordered),))


def ratings_of(task, item, rater, answers, *, cluster=None, replicate=None):
    item, rater = np.asarray(item, np.int64), np.asarray(rater, np.int64)
    answers = np.asarray(answers, np.int16).reshape(len(item), len(task.labels))
    items = [f"i{n}" for n in range(int(item.max(initial=0)) + 1)]
    raters = [f"r{n}" for n in range(int(rater.max(initial=0)) + 1)]
    cluster = items if cluster is None else cluster
    place = {"panel": items, "system": "", "cluster": cluster, "rank": 1}
    return Ratings(
        task=task,
        answers=answers,
        item=item,
        rater=rater,
        replicate=np.zeros(len(item), np.int64) if replicate is None else np.asarray(replicate),
        abstained=(answers == MISSING).all(axis=1),
        items=pd.DataFrame({"cluster": cluster, "stratum": "", "weight": 1.0}, index=items),
        raters=pd.DataFrame({"group": "all"}, index=raters),
        truth=np.full((len(items), len(task.labels)), MISSING, np.int16),
        panels=pd.DataFrame(place).assign(item=np.arange(len(items))),
    )


def from_matrix(table, classes, *, ordered=False, **columns):
    """Ratings of a table (item, rater) of classes, NaN where there is no rating."""
    item, rater = np.nonzero(~np.isnan(table))
    task = scale(classes, ordered=ordered)
    return ratings_of(task, item, rater, table[item, rater], **columns)


def random_table(seed, *, items=40, raters=5, classes=4, missing=0.35):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=(items, 1))
    noise = rng.integers(classes, size=(items, raters))
    table = np.where(rng.random((items, raters)) < 0.6, truth, noise).astype(float)
    table[rng.random((items, raters)) < missing] = np.nan
    return table


def values(result, label="grade"):
    table = result.table
    return table[table["label"] == label].set_index("statistic")["value"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("missing", [0.0, 0.35])
def test_alpha_is_that_of_the_krippendorff_package(seed, missing):
    table = random_table(seed, missing=missing)
    found = values(agreement(from_matrix(table, 4, ordered=True), draws=1))
    for name, level in (("", "nominal"), ("_ordinal", "ordinal")):
        expected = krippendorff.alpha(table.T, level_of_measurement=level, value_domain=range(4))
        assert found[f"krippendorff_alpha{name}"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_alpha_of_bootstrap_samples_is_that_of_the_krippendorff_package(seed, monkeypatch):
    """Weighing counts anew is the same as repeating the items of the drawn clusters."""
    from assay.raters.agreements import coefficients as module

    table = random_table(seed, items=12)
    cluster = [f"c{n % 5}" for n in range(12)]
    ratings = from_matrix(table, 4, ordered=True, cluster=cluster)
    seen = []

    def whole_clusters(stratum, draws, rng):
        seen.append(rng.multinomial(5, np.full(5, 0.2), size=draws).T.astype(float))
        return seen[-1]

    monkeypatch.setattr(module, "times_drawn", whole_clusters)
    from assay.data.overlap import build_design
    from assay.raters.agreements.coefficients import build_columns, build_tally

    design = build_design(ratings)
    columns = build_columns(ratings.task, ratings.answers[design.first], ["grade"])
    tally = build_tally(columns[0], design)
    (samples,) = module.bootstrap([tally], design, 20, np.random.default_rng(seed))
    for draw_number, times in enumerate(seen[0].T.astype(int)):
        repeated = np.concatenate(
            [table[n : n + 1] for n in range(12) for _ in range(times[design.cluster[n]])]
        )
        for name, level in (("", "nominal"), ("_ordinal", "ordinal")):
            expected = krippendorff.alpha(
                repeated.T, level_of_measurement=level, value_domain=range(4)
            )
            found = samples[f"krippendorff_alpha{name}"][draw_number]
            assert found == pytest.approx(expected, abs=1e-12)


def test_example_of_krippendorff():
    """Krippendorff (2011), example C: nominal 0.743, ordinal 0.815; AC1 as irrCAC 0.4.4 has it."""
    nan = np.nan
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
            [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
        ]
    ).T
    found = values(agreement(from_matrix(table - 1, 5, ordered=True), draws=1))
    assert found["krippendorff_alpha"] == pytest.approx(0.743421052631579, abs=1e-12)
    assert found["krippendorff_alpha_ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert found["gwet_ac1"] == pytest.approx(0.775444068126995, abs=1e-12)


def test_fleiss_kappa_with_equal_numbers_is_that_of_statsmodels():
    table = random_table(3, missing=0.0).astype(int)
    counts = np.stack([(table == k).sum(axis=1) for k in range(4)], axis=1)
    found = values(agreement(from_matrix(table.astype(float), 4), draws=1))
    assert found["fleiss_kappa"] == pytest.approx(fleiss_kappa(counts), abs=1e-12)


def test_coefficients_with_unequal_numbers_are_those_of_slow_counting():
    table = random_table(4, missing=0.6)
    found = values(agreement(from_matrix(table, 4), draws=1))
    counts = np.stack([(table == k).sum(axis=1) for k in range(4)], axis=1)
    answers = counts.sum(axis=1)
    many = answers > 1
    assert (answers == 1).any()
    share = [
        np.mean([a == b for a, b in combinations(row[~np.isnan(row)], 2)]) for row in table[many]
    ]
    percent = np.mean(share)
    pooled = counts[many].sum(axis=0) / counts[many].sum()
    mean_share = (counts[answers > 0] / answers[answers > 0, None]).mean(axis=0)
    gwet = (mean_share * (1 - mean_share)).sum() / 3
    assert found["percent"] == pytest.approx(percent, abs=1e-12)
    chance = (pooled**2).sum()
    assert found["fleiss_kappa"] == pytest.approx((percent - chance) / (1 - chance), abs=1e-12)
    assert found["gwet_ac1"] == pytest.approx((percent - gwet) / (1 - gwet), abs=1e-12)


def test_cohen_kappa_of_each_pair_is_that_of_scikit_learn():
    table = random_table(5)
    result = agreement(from_matrix(table, 4), draws=1)
    expected = []
    for a, b in combinations(range(5), 2):
        both = ~np.isnan(table[:, a]) & ~np.isnan(table[:, b])
        kappa = cohen_kappa_score(table[both, a], table[both, b])
        percent = (table[both, a] == table[both, b]).mean()
        expected.append((f"r{a}", f"r{b}", both.sum(), percent, kappa))
    pairs = result.pairwise
    assert pairs[["rater_a", "rater_b", "shared"]].to_numpy().tolist() == [
        [*names, shared] for *names, shared, _, _ in expected
    ]
    np.testing.assert_allclose(
        pairs[["percent", "kappa"]], [line[3:] for line in expected], atol=1e-12
    )
    mean = np.average([line[4] for line in expected], weights=[line[2] for line in expected])
    assert values(result)["cohen_kappa"] == pytest.approx(mean, abs=1e-12)


def test_interval_is_the_bootstrap_of_the_clusters():
    """The share of agreement with one pair a cluster has the SD of a proportion."""
    rng = np.random.default_rng(1)
    first = rng.integers(2, size=300)
    table = np.column_stack([first, first ^ (rng.random(300) < 0.2)]).astype(float)
    row = agreement(from_matrix(table, 2), draws=4000).table.iloc[0]
    assert row["upper"] - row["lower"] == pytest.approx(
        2 * 1.96 * np.sqrt(row["value"] * (1 - row["value"]) / 300), rel=0.05
    )
    # Ten copies of each item, in one cluster: no more information.
    cluster = [f"c{n}" for n in range(300)] * 10
    copies = from_matrix(np.tile(table, (10, 1)), 2, cluster=cluster)
    again = agreement(copies, draws=4000).table.iloc[0]
    assert again["value"] == pytest.approx(row["value"])
    assert again["upper"] - again["lower"] == pytest.approx(row["upper"] - row["lower"], rel=0.05)


def test_strata_keep_their_size():
    """Agreement differs between strata only: the bootstrap within strata has no spread."""
    table = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 5, float)
    ratings = from_matrix(table, 2)
    stratum = np.where(table[:, 0] == table[:, 1], "same", "apart")
    row = agreement(replace(ratings, items=ratings.items.assign(stratum=stratum))).table.iloc[0]
    assert row[["value", "lower", "upper"]].tolist() == pytest.approx([0.5, 0.5, 0.5])


def test_a_gated_label_counts_among_those_who_were_asked():
    no, yes = 0, 1
    answers = [
        [no, yes, yes],
        [no, yes, no],
        [no, no, NOT_ASKED],  # not asked about attribution: no answer there, not a third class
        [no, yes, yes],
        [no, yes, yes],
        [yes, NOT_ASKED, NOT_ASKED],
    ]
    ratings = ratings_of(load_task("ais"), [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, answers)
    result = agreement(ratings, draws=10)
    table = result.table[result.table["statistic"] == "percent"].set_index("label")
    assert table["value"].to_dict() == pytest.approx(
        {"flagged": 2 / 3, "interpretable": 2 / 3, "attributable": 0.5, WHOLE: 1 / 6}
    )
    assert table["n_ratings"].tolist() == [6, 5, 4, 6]
    pair = result.pairwise.set_index(["label", "rater_a", "rater_b"])
    assert ("attributable", "r0", "r2") not in pair.index


def test_a_missing_answer_counts_nowhere():
    answers = [[0, 1, 1], [0, 1, MISSING], [0, MISSING, MISSING]]
    result = agreement(ratings_of(load_task("ais"), [0, 0, 0], [0, 1, 2], answers), draws=10)
    table = result.table[result.table["statistic"] == "percent"].set_index("label")
    assert table["n_ratings"].tolist() == [3, 2, 0, 0]
    assert table["note"].tolist()[2:] == ["no item has answers of two raters"] * 2


def test_a_rater_counts_once_and_is_compared_with_itself_apart():
    item, rater = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0]
    answers, replicate = [1, 0, 1, 0, 1, 1], [1, 0, 2, 0, 0, 1]
    ratings = ratings_of(scale(2), item, rater, answers, replicate=replicate)
    result = agreement(ratings, draws=10)
    # The first rating of r0 is the one with replicate 0.
    assert values(result)["percent"] == 1
    assert result.table["n_ratings"].eq(2).all()
    expected = pd.DataFrame(
        {"rater": ["r0"], "label": ["grade"], "n": [2], "percent": [(1 / 3 + 1) / 2]}
    )
    pd.testing.assert_frame_equal(result.intra_rater, expected)


@pytest.mark.parametrize(
    ("table", "undefined", "words"),
    [
        (np.ones((6, 1)), ["percent", "gwet_ac1"], "no item has answers of two raters"),
        (np.ones((6, 3)), ["fleiss_kappa", "krippendorff_alpha", "cohen_kappa"], "undefined"),
        (np.full((1, 3), np.nan), ["percent"], "no item has answers of two raters"),
    ],
)
def test_what_is_undefined_is_told_in_words(table, undefined, words):
    lines = agreement(from_matrix(table, 2, ordered=True)).table.set_index("statistic")
    assert lines.loc[undefined, ["value", "lower", "upper"]].isna().all(axis=None)
    assert lines.loc[undefined, "note"].str.contains(words).all()


def test_constant_answers_agree_but_not_beyond_chance():
    lines = agreement(from_matrix(np.ones((6, 3)), 2)).table.set_index("statistic")
    assert lines.loc[["percent", "gwet_ac1"], "value"].tolist() == [1, 1]
    assert lines.loc["fleiss_kappa", "note"].startswith("all answers are of one class")


def test_one_cluster_has_no_interval():
    table = random_table(6, missing=0.0)
    lines = agreement(from_matrix(table, 4, cluster=["c"] * 40)).table
    assert lines["value"].notna().all()
    assert lines[["lower", "upper"]].isna().all(axis=None)
    assert lines["note"].eq("no interval, since all items are in one cluster").all()


def test_it_is_printed_with_intervals_and_notes():
    ratings = from_matrix(random_table(4, missing=0.6), 4)
    found = agreement(ratings, level=0.9, draws=50)
    said = str(found)
    assert said.startswith("Agreement between raters (90% interval, cluster bootstrap)\n")
    line = found.table.set_index("statistic").loc["fleiss_kappa"]
    written = interval(line["value"], line["lower"], line["upper"])
    assert re.search(rf"fleiss_kappa +{re.escape(written)} +{line['n_items']}\n", said)
    assert "expected" not in said.splitlines()[1]
    assert found.table["note"].max() in said


def test_whole_vectors_are_told_apart_by_every_label():
    ratings = simulate("grounding", n_items=50, n_raters=3, ratings_per_item=3, rng=1)
    result = agreement(ratings, draws=10)
    whole = result.table[result.table["label"] == WHOLE].set_index("statistic")["value"]
    by_item = ratings.answers[np.lexsort((ratings.rater, ratings.item))].reshape(50, 3, -1)
    same = [(by_item[:, a] == by_item[:, b]).all(axis=-1) for a, b in combinations(range(3), 2)]
    assert whole["percent"] == pytest.approx(np.mean(same), abs=1e-12)
    words = np.array([" ".join(map(str, v)) for v in by_item.reshape(150, -1)])
    codes = np.unique(words, return_inverse=True)[1].reshape(50, 3)
    expected = krippendorff.alpha(codes.T.astype(float), level_of_measurement="nominal")
    assert whole["krippendorff_alpha"] == pytest.approx(expected, abs=1e-12)


def test_kappas_of_few_shared_items_are_said_to_lean():
    for items, few in ((29, True), (30, False)):
        table = random_table(1, items=items, missing=0.0)
        notes = agreement(from_matrix(table, 4), draws=5).table.set_index("statistic")["note"]
        assert notes["cohen_kappa"].startswith("pairs of raters share fewer than 30") == few
        assert (notes.drop("cohen_kappa") == "").all()


def test_order_of_the_ratings_does_not_matter():
    ratings = simulate("retrieval", n_items=30, n_raters=4, ratings_per_item=3, rng=1)
    order = np.random.default_rng(1).permutation(len(ratings.answers))
    shuffled = replace(
        ratings,
        **{k: getattr(ratings, k)[order] for k in ("answers", "item", "rater", "replicate")},
        **{k: getattr(ratings, k)[order] for k in ("abstained", "scores", "session")},
        **{k: getattr(ratings, k)[order] for k in ("audit", "seconds")},
    )
    first, second = agreement(ratings, draws=20), agreement(shuffled, draws=20)
    pd.testing.assert_frame_equal(first.table, second.table)
    pd.testing.assert_frame_equal(first.pairwise, second.pairwise)


def test_labels_are_chosen_by_name():
    ratings = simulate("retrieval", n_items=10, n_raters=2, ratings_per_item=2, rng=1)
    assert agreement(ratings, labels=["misleading", WHOLE], draws=1).table[
        "label"
    ].unique().tolist() == [
        "misleading",
        WHOLE,
    ]
    with pytest.raises(
        UnknownNameError, match="did you mean misleading", check=refusal("unknown-label")
    ):
        agreement(ratings, labels="mislead")
    with pytest.raises(FitError, match="level=95", check=refusal("argument-number")):
        agreement(ratings, level=95)
    with pytest.raises(
        ModelError, match="draws=0", check=refusal("argument-count", least=1, most=1000000)
    ):
        agreement(ratings, draws=0)


def test_the_page_on_agreement_shows_what_its_code_prints():
    page = Path(__file__).parents[4] / "docs" / "agreement.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "agreement", str(page), 0)
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        test, out=said.append
    )
    assert outcome.attempted > 4
    assert not outcome.failed, "".join(said)


def one_sided(odd, *, items=25, raters=3, seed=1):
    """All answers are of one class but for some single ones, each on an item of its own."""
    table = np.zeros((items, raters))
    rng = np.random.default_rng(seed)
    table[rng.permutation(items)[:odd], rng.integers(raters, size=odd)] = 1
    return table


@pytest.mark.parametrize("odd", range(6))
@pytest.mark.parametrize("ordered", [False, True])
def test_no_interval_leaves_its_estimate_out(odd, ordered):
    """Where samples cannot tell, there is no interval, and the note says why."""
    ratings = from_matrix(one_sided(odd), 2, ordered=ordered)
    for line in agreement(ratings, draws=400).table.to_dict("records"):
        value, lower, upper = line["value"], line["lower"], line["upper"]
        if np.isnan([value, lower, upper]).any():
            assert line["note"]
            continue
        assert lower - 1e-9 <= value <= upper + 1e-9
        assert upper - lower > 1e-9 or value == 1 or line["statistic"] == "percent"


def test_one_disagreement_tells_no_interval_of_coefficients_beyond_chance():
    result = agreement(from_matrix(one_sided(1), 2))
    table = result.table.set_index("statistic")
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
        assert np.isnan(table.loc[name, ["lower", "upper"]].astype(float)).all()
        assert "the bootstrap is degenerate" in table.loc[name, "note"]
        assert "use gwet_ac1" in table.loc[name, "note"]
    assert table.loc["gwet_ac1", "lower"] < table.loc["gwet_ac1", "value"]
    assert table.loc["gwet_ac1", "note"] == ""
    assert "99% of the answers are of one class" in str(result)


def test_a_prevalent_class_is_named_beside_what_it_lowers():
    rng = np.random.default_rng(2)
    table = (rng.random((300, 1)) < 0.05).astype(float)
    table = np.where(rng.random((300, 4)) < 0.03, 1 - table, table)
    notes = agreement(from_matrix(table, 2), draws=100).table.set_index("statistic")["note"]
    assert "so kappas and alphas are low" in notes["krippendorff_alpha"]
    assert notes["percent"] == notes["gwet_ac1"] == ""
    balanced = from_matrix(random_table(1, classes=2), 2)
    assert "of one class" not in " ".join(agreement(balanced, draws=20).table["note"])
