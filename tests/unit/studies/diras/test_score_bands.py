"""The retriever's rank as a normal score: in the recall of runs, and in the prevalence of a fit."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.ratings import RETRIEVER_SCORE
from assay.modelling.spec import formula_for
from assay.studies.diras.cells import CellModel
from assay.studies.diras.pool import judged_pool
from assay.studies.diras.score_bands import UNKNOWN, normal_scores, tied_normal_scores
from benchmarks.worlds.recall_pools import world


def test_normal_scores_are_standardised() -> None:
    """They have mean 0 and SD 1 over all documents; equal scores have one value."""
    scores = normal_scores(np.arange(1, 1001), 1000)
    assert scores.mean() == pytest.approx(0, abs=1e-9)
    assert scores.std() == pytest.approx(1, abs=0.01)
    tied = tied_normal_scores(np.array([3.0, 0.0, 0.0, 0.0]))
    assert tied[0] > tied[1] == tied[2] == tied[3]


def small_pool(*, ranks: bool) -> Any:
    made = world(1, noise=1.0, per_query=10, prevalence=0.1, queries=4, documents=60, top=20)
    pairs, pool = made["pairs"], made["pool"]
    if not ranks:
        pairs, pool = pairs.drop(columns="retriever_rank"), pool.drop(columns="rank")
    return judged_pool(pairs, pool, made["runs"], 10)


@pytest.mark.parametrize("ranks", [True, False])
def test_groups_hold_every_document_once(ranks: bool) -> None:
    """Judged, listed and other documents sum to all documents of each query."""
    found = small_pool(ranks=ranks)
    total = np.bincount(found.group_query, weights=found.others, minlength=4)
    for group in (found.judged_group, found.open_group):
        total += np.bincount(found.group_query[group], minlength=4)
    assert total.tolist() == [60.0] * 4
    assert (found.others >= 0).all()
    assert bool((found.group_score != 0).any()) is ranks
    assert bool((found.cell_level != 0).any()) is ranks


def test_the_first_ranks_have_the_highest_scores() -> None:
    """Within the top, and the top as a whole above the others."""
    found = small_pool(ranks=True)
    top = found.cell_stratum == found.cell_stratum[found.cell_level.argmax()]
    assert found.cell_level[top].min() > found.cell_level[~top].max()
    assert found.group_score[found.judged_group].max() > 0.5


def test_listed_documents_outside_the_pool_have_no_score() -> None:
    """Their ranks are known only where they were judged."""
    found = small_pool(ranks=True)
    outside = (found.cell_level < found.cell_level.max()) & found.cell_listed
    assert outside.any()
    assert (found.group_score[outside[found.group_cell]] == 0).all()
    assert UNKNOWN < 0


def test_the_score_predicts_unjudged_documents() -> None:
    """Where high scores were found relevant, unjudged ones are, too; where not, they are not."""
    queries, bands = 12, np.array([-1.5, -0.5, 0.5, 1.5])
    query, score = np.repeat(np.arange(queries), 4), np.tile(bands, queries)
    held = np.tile([0, 1, 3, 5], queries)
    for yes, rising in ((held, True), (held[::-1].copy(), False)):
        model = CellModel(
            cell=np.zeros(len(query), np.int64), query=query, judged=np.full(len(query), 6),
            stratum=np.zeros(1, np.int64), listed=np.array([False]), score=score,
        )  # fmt: skip
        rng = np.random.default_rng(1)
        drawn = np.mean([model.draw(yes, rng) for _ in range(60)], axis=0)
        by_band = drawn.reshape(queries, 4).mean(axis=0)
        assert (np.diff(by_band if rising else by_band[::-1]) > 0.05).all()


def test_a_tail_without_a_positive_may_hold_some() -> None:
    """Its prevalence lies around the line of the score, below that of the top."""
    query = np.repeat(np.arange(20), 2)
    yes = np.tile([2, 0], 20)
    model = CellModel(
        cell=np.tile([0, 1], 20), query=query, judged=np.full(40, 5), stratum=np.array([0, 1]),
        listed=np.zeros(2, bool), score=np.tile([0.1, -0.1], 20), level=np.array([2.0, -0.1]),
    )  # fmt: skip
    rng = np.random.default_rng(1)
    drawn = np.array([model.draw(yes, rng) for _ in range(300)])
    tail, top = drawn[:, 1::2].mean(axis=1), drawn[:, ::2].mean(axis=1)
    assert 0.005 < np.quantile(tail, 0.975) < 0.1
    assert (tail < top).mean() > 0.99


def sampled_ratings() -> pd.DataFrame:
    texts = [" ".join(["sun"] * (n % 7) + ["coal"] * (n % 5) + ["x"]) for n in range(60)]
    documents = pd.DataFrame({"id": [f"d{n}" for n in range(60)], "text": texts})
    queries = pd.DataFrame({"id": ["q1", "q2", "q3"], "text": ["sun", "coal", "sun"]})

    def embed(found: list[str]) -> list[list[float]]:
        return [[one.count("sun") + 0.1, one.count("coal") + 0.1] for one in found]

    pairs = assay.sample_pairs(documents, queries, retriever=embed, per_query=12, top=15)
    yes = pairs[RETRIEVER_SCORE] > 0.5
    return pairs.assign(relevance=np.where(yes, "yes", "no"), rater="a")


def test_the_score_of_sampled_pairs_enters_the_prevalence() -> None:
    """Without being named, by its column; a formula replaces it."""
    ratings = assay.read_ratings(sampled_ratings(), task="relevance")
    assert RETRIEVER_SCORE in ratings.items
    roles = ratings.accounting.roles.set_index("column")["role"]
    assert roles[RETRIEVER_SCORE] == "covariate"
    fit = assay.fit(
        ratings, raters="pooled", method="map", draws=10, chains=1, starts=1, progress=False
    )
    assert RETRIEVER_SCORE in fit.attrs["spec"]
    assert float(fit["posterior"]["coefficient"].sum("term").mean()) > 0
    assert formula_for(ratings.items, "~ weight", "loglinear") == "~ weight"
    assert formula_for(ratings.items, None, "dirichlet") is None


def test_ratings_without_a_score_for_each_item_have_none() -> None:
    """Gaps, and items with two scores, as of two samples."""
    table = sampled_ratings()
    again = table.assign(rater="b")
    again.loc[0, RETRIEVER_SCORE] = 9.0
    for one in (table.assign(**{RETRIEVER_SCORE: ["", *["1"] * (len(table) - 1)]}),
                pd.concat([table, again])):  # fmt: skip
        ratings = assay.read_ratings(one, task="relevance")
        assert RETRIEVER_SCORE not in ratings.items
