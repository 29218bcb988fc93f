"""The raw agreement of a rater with the others: by hand, and its interval in repeated samples."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import ArgumentError, ModelError


def by_hand(ratings: assay.Ratings, rater: int, label: int) -> tuple[int, float]:
    """Average over items the share of the other raters' first answers that are the rater's own."""
    shares = []
    for item in range(len(ratings.items)):
        here = np.flatnonzero((ratings.item == item) & (ratings.replicate == 0))
        answers = {int(ratings.rater[r]): int(ratings.answers[r, label]) for r in here}
        answers = {r: a for r, a in answers.items() if a >= 0}
        own = answers.pop(rater, None)
        if own is not None and answers:
            shares.append(np.mean([a == own for a in answers.values()]))
    return len(shares), float(np.mean(shares)) if shares else np.nan


@pytest.mark.parametrize(("task", "replicates"), [("ais", 1), ("retrieval", 2)])
def test_agreement_is_the_share_of_the_others_answers(task: str, replicates: int) -> None:
    ratings = assay.simulate(
        task, n_items=30, n_raters=5, replicates=replicates, missing=0.1, rng=1
    )
    table = assay.rater_agreement(ratings)
    assert len(table) == 5 * len(ratings.task.labels)
    for line in table.to_dict("records"):
        rater = list(ratings.raters.index).index(line["rater"])
        label = ratings.task.label_names.index(line["label"])
        count, mean = by_hand(ratings, rater, label)
        assert line["n_shared"] == count
        assert line["agreement"] == pytest.approx(mean, nan_ok=True)
        if count > 1:
            assert 0 <= line["agreement_lower"] <= mean <= line["agreement_upper"] <= 1


def test_a_rater_alone_has_no_agreement() -> None:
    table = pd.DataFrame({"item": [1, 2, 2], "rater": list("abc"), "label": list("xyy")})
    found = assay.rater_agreement(assay.read_ratings(table, task="single")).set_index("rater")
    assert found.loc["a", "n_shared"] == 0
    assert np.isnan(found.loc["a", "agreement"])
    # One item tells nothing of how items differ.
    assert found.loc["b", "agreement"] == 1
    assert np.isnan(found.loc["b", "agreement_lower"])


def test_who_agrees_everywhere_has_an_interval_all_the_same() -> None:
    table = pd.DataFrame({"item": np.repeat(np.arange(8), 2), "rater": list("ab") * 8})
    table["label"] = np.repeat(list("xyxyxyxy"), 2)
    found = assay.rater_agreement(assay.read_ratings(table, task="single"))
    assert (found["agreement_upper"] == 1).all()
    assert found["agreement_lower"].between(0.5, 0.7).all()


@pytest.mark.parametrize("per_cluster", [1, 5])
def test_intervals_hold_the_mean_of_repeated_samples(per_cluster: int) -> None:
    rng = np.random.default_rng(1)
    clusters, raters, repeats = 30, 4, 150
    right = np.array([0.95, 0.85, 0.75, 0.6])
    means, inside = [], []
    for _ in range(repeats):
        hard = np.repeat(rng.random(clusters) < 0.3, per_cluster)
        items = clusters * per_cluster
        truth = rng.random(items) < 0.5
        ok = rng.random((items, raters)) < np.where(hard[:, None], 0.5, right)
        said = np.where(ok, truth[:, None], ~truth[:, None])
        table = pd.DataFrame({
            "item": np.repeat(np.arange(items), raters),
            "rater": [f"r{n}" for n in range(raters)] * items,
            "cluster": np.repeat(np.arange(items) // per_cluster, raters),
            "label": np.where(said.ravel(), "yes", "no"),
        })  # fmt: skip
        found = assay.rater_agreement(assay.read_ratings(table, task="single"))
        means.append(found["agreement"])
        inside.append(found[["agreement_lower", "agreement_upper"]].to_numpy())
    centre, ends = np.mean(means, axis=0), np.stack(inside)
    covered = ((ends[..., 0] <= centre) & (centre <= ends[..., 1])).mean(axis=0)
    # 150 samples: the binomial lower bound of 0.95 is 0.90, and no interval is far too wide.
    assert (covered >= 0.9).all()
    normal = 2 * 1.96 * np.std(means, axis=0)
    assert ((ends[..., 1] - ends[..., 0]).mean(axis=0) < 1.6 * normal).all()


def test_what_is_no_ratings_or_level_is_refused() -> None:
    with pytest.raises(ModelError):
        assay.rater_agreement(pd.DataFrame())  # type: ignore[arg-type]
    ratings = assay.simulate("ais", n_items=5, n_raters=2, ratings_per_item=2, rng=1)
    with pytest.raises(ArgumentError):
        assay.rater_agreement(ratings, level=2)
