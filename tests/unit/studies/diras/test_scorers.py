"""compare_scores: shared draws of truth and queries, shared items, few queries."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import AssayError, ModelError
from assay.display.result_tables import comparison_tables
from assay.evaluation.titles import metric_titles
from assay.fits.view import FitView
from assay.studies.diras import compare_scores

ITEMS = [f"i{n}" for n in range(60)]
QUERIES = {item: f"q{n % 6}" for n, item in enumerate(ITEMS)}
RELEVANT = np.arange(60) % 4 == 0


def draws(size: int = 200) -> xr.DataArray:
    """Draws of a truth that is in doubt as a whole: relevance spreads or not in each draw."""
    rng = np.random.default_rng(1)
    spread = rng.random((1, size, 1)) * 0.5
    codes = RELEVANT | (rng.random((1, size, 60)) < spread)
    coords = {"item": ITEMS}
    return xr.DataArray(codes.astype(int), dims=("chain", "draw", "item"), coords=coords)


def scorer(signal: float, seed: int) -> pd.Series:
    noise = np.random.default_rng(seed).random(60)
    return pd.Series(signal * RELEVANT + (1 - signal) * noise, index=ITEMS)


GOOD, POOR = scorer(0.5, 2), scorer(0.1, 3)


def test_tables_call_measures_by_their_titles() -> None:
    both = {"good": GOOD, "poor": POOR}
    found = compare_scores(draws(), both, clusters=QUERIES, k=3)
    titles = metric_titles(found.draws)
    assert titles["auroc"] == "AUROC"
    assert titles["ndcg_at_3"] == "nDCG@3"
    assert all(titles[name] != name for name in found.draws.data_vars)
    (table,) = comparison_tables(found)
    heads = [row.cells[0] for row in table.rows if row.is_heading]
    assert "Brier score (brier)" in heads


def test_a_difference_is_taken_draw_by_draw() -> None:
    found = compare_scores(draws(), {"good": GOOD, "poor": POOR}, metric="brier", level=0.9)
    apart = [assay.score_rater(draws(), one, metric="brier")["brier"] for one in (GOOD, POOR)]
    gap = (apart[0] - apart[1]).to_numpy().ravel()
    line = found.pairs.iloc[0]
    assert line["difference"] == pytest.approx(gap.mean())
    assert line["p_greater"] == pytest.approx((gap > 0).mean())
    assert line["better"] == "lower"
    # Both see the same truth: the gap is much narrower than two separate posteriors say.
    separate = np.sqrt(sum(one.to_numpy().var(ddof=1) for one in apart))
    assert line["difference_sd"] < 0.85 * separate
    best = found.systems.set_index("system")["p_best"]
    assert best["good"] == pytest.approx((gap < 0).mean())


@pytest.mark.parametrize("estimand", ["finite", "population"])
def test_a_scorer_is_its_own_equal(estimand: str) -> None:
    twice = {"one": GOOD, "again": GOOD.copy()}
    found = compare_scores(draws(50), twice, clusters=QUERIES, estimand=estimand)
    assert (found.pairs["p_equal"] == 1).all()
    assert "ndcg" in set(found.pairs["metric"])
    assert not found.pairs["metric"].str.contains("lowest|highest").any()


def test_few_queries_are_stated_and_not_refused() -> None:
    with pytest.raises(ModelError, check=refusal("few-clusters")):
        assay.score_rater(draws(), GOOD, clusters=QUERIES, estimand="population")
    choices = {"clusters": QUERIES, "metric": "kendall_tau"}
    both = {"good": GOOD, "poor": POOR}
    few = compare_scores(draws(), both, estimand="population", **choices)
    (note,) = [one for one in few.notes if one.code == "few-queries"]
    assert note.numbers == {"queries": 6, "enough": 20}
    assert str(note) in str(few)
    assert few.pairs["n_clusters"].tolist() == [6]
    these = compare_scores(draws(), both, **choices)
    assert "few-queries" not in {one.code for one in these.notes}
    assert few.pairs["difference_sd"].item() > these.pairs["difference_sd"].item()


def test_known_truth_is_uncertain_only_about_queries() -> None:
    known = dict(zip(ITEMS, RELEVANT.astype(int), strict=True))
    both = {"good": GOOD, "poor": POOR}
    fixed = compare_scores(known, both, metric="auroc")
    assert fixed.pairs["p_greater"].item() == 1
    assert [note.code for note in fixed.notes] == ["one-draw-of-truth"]
    drawn = compare_scores(known, both, metric="auroc", clusters=QUERIES, estimand="population")
    assert drawn.pairs["difference_sd"].item() > 0
    assert drawn.pairs["difference"].item() == pytest.approx(
        fixed.pairs["difference"].item(), abs=0.05
    )


def test_items_that_one_has_not_scored_are_left_out_for_all() -> None:
    partly = POOR.iloc[:40]
    found = compare_scores(draws(), {"good": GOOD, "poor": partly}, metric="brier")
    (note,) = found.notes
    assert (note.code, note.numbers) == ("scored-by-some", {"items": 20, "kept": 40})
    own = assay.score_rater(draws(), GOOD.iloc[:40], metric="brier")["brier"].mean().item()
    assert found.systems.set_index("system").loc["good", "mean"] == pytest.approx(own)
    with pytest.raises(AssayError, check=refusal("scores-other-items")):
        compare_scores(draws(), {"good": GOOD.iloc[40:], "poor": partly})


def test_a_guess_and_a_confidence_are_kept() -> None:
    known = dict(zip(ITEMS, RELEVANT.astype(int), strict=True))
    table = pd.DataFrame({"score": GOOD, "guess": RELEVANT, "confidence": 0.8})
    found = compare_scores(known, {"a": table, "b": POOR}, metric=["f1", "accuracy"])
    lines = found.systems.set_index(["metric", "system"])["mean"]
    assert lines["f1", "a"] == 1
    assert lines["accuracy", "b"] < 1


def test_one_scorer_is_no_comparison() -> None:
    with pytest.raises(AssayError, check=refusal("too-few-systems")):
        compare_scores(draws(), {"good": GOOD})


def test_labels_are_drawn_given_the_scores_of_all_scorers() -> None:
    """Drawn for each scorer alone, the draws would not be shared."""
    ratings = assay.simulate(
        "generation", n_items=60, n_raters=4, ratings_per_item=3, n_clusters=15, rng=1
    )
    fit = assay.fit(ratings, raters="one_coin", method="map", draws=100, chains=1, starts=1, rng=1,
                    progress=False)  # fmt: skip
    label = ratings.task.label_names[0]
    chance = assay.label_draws(fit).sel(label=label).mean(dim=("chain", "draw")).to_series()
    rng = np.random.default_rng(1)
    good = 0.6 * chance + 0.4 * rng.random(60)
    both = {"good": good, "same": good.copy(), "poor": pd.Series(rng.random(60), chance.index)}
    blind = compare_scores(fit, both, label=label, metric="auroc")
    assert "score-measure" in {note.code for note in blind.notes}
    told = compare_scores(fit, both, label=label, metric="auroc", informed=True)
    assert told.notes == ()
    of_view = compare_scores(FitView.of(fit), both, label=label, metric="auroc", informed=True)
    assert of_view.systems.equals(told.systems)
    pairs = told.pairs.set_index(["a", "b"])
    assert pairs.loc[("good", "same"), "p_equal"] == 1
    means = [one.systems.set_index("system")["mean"]["good"] for one in (blind, told)]
    assert means[1] > means[0]
    assert repr(told).startswith("<assay.Comparison")
