"""Rows with the ratings of several raters, whose names stand beside their answers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings

ITEMS, SLOTS = 40, 3


def _table(names: dict[str, str], people: int = 6, fill: Any = "") -> pd.DataFrame:
    """Rows of items; ``names`` are those of columns, with {} for the slot, by what they hold."""
    rng = np.random.default_rng(people)
    who = np.array([rng.choice(people, SLOTS, replace=False) for _ in range(ITEMS)])
    held = {
        "rater": np.array([f"p{n}" for n in range(people)], object)[who],
        "topic": np.array(["war", "health", "economy"], object)[rng.integers(3, size=who.shape)],
        "stance": np.array(["pro", "con"], object)[rng.integers(2, size=who.shape)],
        "time": rng.integers(5, 90, size=who.shape).astype(str).astype(object),
    }
    held["topic"][:3, 2] = held["stance"][:3, 2] = fill
    columns = {"item": [f"i{n}" for n in range(ITEMS)]}
    for slot in range(SLOTS):
        for kind, name in names.items():
            columns[name.format(slot + 1)] = held[kind][:, slot]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("people", [6, 30])
@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ({"rater": "rater{}", "topic": "label{}"}, ("label",)),
        ({"rater": "annotator_{}", "topic": "annotator_{}_label"}, ("annotator_label",)),
        (
            {"rater": "coder_{}_id", "topic": "coder_{}_topic", "stance": "coder_{}_stance"},
            ("topic", "stance"),
        ),
        ({"rater": "Worker ID {}", "topic": "Answer {}", "time": "Time {}"}, ("Answer",)),
    ],
)
def test_what_the_refusal_proposes_reads_the_raters(
    names: dict[str, str], labels: tuple[str, ...], people: int
) -> None:
    table = _table(names, people)
    with pytest.raises(RatingsError, check=refusal("wide-table")) as caught:
        read_ratings(table)
    ratings = read_ratings(table, **caught.value.go_on)
    assert ratings.task.label_names == labels
    assert set(ratings.raters.index) <= {f"p{n}" for n in range(people)}
    assert (len(ratings.items), len(ratings.answers)) == (ITEMS, ITEMS * SLOTS - 3)
    assert np.isfinite(ratings.seconds).any() == ("time" in names)
    item, rater = ratings.item[-1], ratings.rater[-1]
    row = table.loc[table["item"] == ratings.items.index[item]].iloc[0]
    slot = next(
        n for n in range(1, 4) if row[names["rater"].format(n)] == ratings.raters.index[rater]
    )
    said = ratings.task.labels[0].classes[ratings.answers[-1, 0]]
    assert said == row[names["topic"].format(slot)]


def test_answers_of_raters_who_are_columns_are_no_names() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"id": range(30), **{f"annotator_{n}": rng.choice(["yes", "no"], 30) for n in (1, 2)},
         **{f"comment_{n}": rng.choice(["fine", ""], 30) for n in (1, 2)}}
    )  # fmt: skip
    with pytest.raises(RatingsError) as caught:
        read_ratings(table)
    assert "{slot}" not in str(caught.value)


def test_a_slot_without_columns_is_refused_with_what_fits() -> None:
    table = _table({"rater": "rater{}", "topic": "label{}"})
    with pytest.raises(RatingsError, check=refusal("unknown-column")) as caught:
        read_ratings(table, rater="rater{slot}", labels="lable{slot}")
    assert len(read_ratings(table, **caught.value.go_on).answers) == ITEMS * SLOTS - 3
