"""Ordered answers of which a few are far off: lapses, which move neither classes nor thresholds."""

import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task import Label, Task

GRADE = Task(name="grade", labels=(Label(name="grade", classes=tuple("abcd"), ordered=True),))
SHARES = (0.25, 0.35, 0.25, 0.15)


def wild_answers(rng: np.random.Generator) -> tuple[assay.Ratings, np.ndarray]:
    """Three of four raters an item: an eighth of the answers is a class off, 6 % are any class."""
    truth = rng.choice(4, 200, p=SHARES)
    item = np.repeat(np.arange(200), 3)
    rater = np.concatenate([rng.permutation(4)[:3] for _ in range(200)])
    seen = truth[item]
    step = rng.choice([-1, 1], len(item)) * (rng.random(len(item)) < 0.12)
    seen = np.clip(seen + step, 0, 3)
    answer = np.where(rng.random(len(item)) < 0.06, rng.integers(0, 4, len(item)), seen)
    table = pd.DataFrame({"item": item, "rater": rater.astype(str)})
    return assay.read_ratings(table.assign(grade=np.array(list("abcd"))[answer]), task=GRADE), truth


@pytest.mark.parametrize(("priors", "nominal"), [(None, True), ({"lapse": "Beta(1, 1e6)"}, False)])
def test_shares_are_held_where_a_few_answers_are_lapses(
    priors: dict[str, str] | None, nominal: bool
) -> None:
    held = []
    for seed in range(4):
        ratings, truth = wild_answers(np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", assay.FitWarning)
            fit = assay.fit(
                ratings, raters="ordinal", priors=priors, draws=250, tune=250, chains=1, rng=seed
            )
        drawn = assay.label_draws(fit).isel(label=0, chain=0).transpose("draw", "item").to_numpy()
        for k in range(4):
            lower, upper = np.quantile((drawn == k).mean(axis=1), [0.025, 0.975])
            held.append(lower <= (truth == k).mean() <= upper)
    assert (np.mean(held) >= 0.8) == nominal, np.mean(held)
