"""A fit says in which share of the draws classes have each other's names."""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task import Label
from assay.inference.diagnostics import fit_warnings
from assay.inference.label_switching import MAX_DRAWS_CHECKED, exchange_warnings

LABELS = (Label(name="grade", classes=("a", "b", "c")), Label(name="seen"))
RIGHT = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
EXCHANGED = RIGHT[[0, 2, 1]]


def structure_of(
    tables: np.ndarray, by_rating: Callable[[Any], Any], raters: np.ndarray | None = None
) -> Any:
    """A structure whose mean confusion is a table for each draw and label; of one rater."""
    by_unit = tables[:, None] if raters is None else raters

    def mean_reliability(values: dict[str, np.ndarray]) -> np.ndarray:
        by_rater = tables[values["draw"].astype(int)]
        return np.stack([by_rater, by_rating(by_rater)])

    return SimpleNamespace(
        ratings=SimpleNamespace(task=SimpleNamespace(labels=LABELS)),
        mean_reliability=mean_reliability,
        reliability=lambda values: by_unit[values["draw"].astype(int)],
        parts=[SimpleNamespace(n_ratings=np.ones(by_unit.shape[1]))],
    )


def said_of(
    grade: list[np.ndarray],
    seen: list[np.ndarray],
    by_rating: Callable[[Any], Any] = lambda tables: 0.9 * tables + 0.1 / 3,
) -> list[str]:
    binary = np.full((len(seen), 3, 3), np.nan)
    binary[:, :2, :2] = seen
    tables = np.stack([np.array(grade), binary], axis=1)
    structure = structure_of(tables, by_rating)
    return exchange_warnings(structure, {"draw": np.arange(len(tables), dtype=float)})


SURE = np.array([[0.9, 0.1], [0.2, 0.8]])
TURNED = np.array([[0.1, 0.9], [0.8, 0.2]])
MISSED = np.array([[0.9, 0.1], [0.8, 0.2]])


def test_a_stretch_of_draws_in_which_two_classes_are_exchanged_is_told() -> None:
    (said,) = said_of([RIGHT] * 97 + [EXCHANGED] * 3, [SURE] * 100)
    assert (said.code, said.numbers) == ("label-switching", {"share": 0.03})
    assert "'b' is what raters call 'c', 'c' is what raters call 'b'" in said


def test_each_label_is_asked_by_itself() -> None:
    told = said_of([RIGHT] * 9 + [EXCHANGED], [TURNED] * 2 + [SURE] * 8)
    assert ["grade" in told[0], "seen" in told[1]] == [True, True]
    assert told[1].numbers == {"share": 0.2}


@pytest.mark.parametrize("exchanged", [0, 3, 150])
def test_a_few_draws_are_not_worth_a_word_and_most_of_them_are_the_mode(exchanged: int) -> None:
    draws = [RIGHT] * (200 - exchanged) + [EXCHANGED] * exchanged
    assert said_of(draws, [SURE] * 200) == []


def test_that_raters_miss_many_of_one_of_two_classes_is_nothing_unusual() -> None:
    assert said_of([RIGHT] * 10, [MISSED] * 2 + [SURE] * 8) == []


def test_what_raters_with_few_ratings_call_a_class_is_not_enough() -> None:
    right = np.stack([RIGHT, np.full((3, 3), np.nan)])
    right[1, :2, :2] = SURE
    draws = [RIGHT] * 8 + [EXCHANGED] * 2
    assert said_of(draws, [SURE] * 10, lambda tables: np.broadcast_to(right, tables.shape)) == []


def coin(right: float) -> np.ndarray:
    table = np.full((3, 3), np.nan)
    table[:2, :2] = [[right, 1 - right], [1 - right, right]]
    return table


@pytest.mark.parametrize("turned", [False, True])
def test_two_camps_whose_mean_is_near_chance_have_no_other_names(turned: bool) -> None:
    """One rater is right and one wrong: a mean below a half turns neither round."""
    camps = np.array([(0.85, 0.19)] * 95 + [(0.15, 0.75) if turned else (0.78, 0.12)] * 5)
    seen = np.array([[coin(right) for right in draw] for draw in camps])
    raters = np.stack([np.broadcast_to(RIGHT, seen.shape), seen], axis=2)
    tables = raters.mean(axis=1)
    structure = structure_of(tables, lambda mean: mean, raters)
    said = exchange_warnings(structure, {"draw": np.arange(100.0)})
    assert [note.numbers["share"] for note in said] == [0.05] * turned


def test_stretches_of_long_chains_are_seen() -> None:
    count = 5 * MAX_DRAWS_CHECKED + 7
    (said,) = said_of([EXCHANGED] * 120 + [RIGHT] * (count - 120), [SURE] * count)
    assert said.numbers["share"] == pytest.approx(0.024, abs=0.0005)


def test_a_fit_of_hardly_any_ratings_says_so() -> None:
    """What raters call yes is yes only because a wide prior thinks so."""
    rows = [(i, rater, answer) for i in range(4) for rater, answer in (("a", "yes"), ("b", "no"))]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = assay.read_ratings(table, task="single")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, raters="one_coin", rng=1, draws=400, tune=200, chains=2)
    assert "label-switching" in [note.code for note in fit_warnings(fit)]
