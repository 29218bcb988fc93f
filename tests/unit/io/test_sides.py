"""Preferences whose pairs stand in both orders get one order each."""

import time

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes

from assay.io import read_ratings
from assay.io.files.opening import open_source
from assay.io.sides import with_one_order

SYSTEMS = ("zeta", "alpha")
NAMES = [
    (("model_a", "model_b"), ("model_a", "model_b")),
    (("model_a", "model_b"), ("A", "B")),
    (("left_system", "right_system"), ("left", "right")),
    (("Assistant 1", "Assistant 2"), ("1", "2")),
]


def battles(columns: tuple[str, str], sides: tuple[str, str], swap: bool) -> pd.DataFrame:
    """Two raters prefer alpha on even items and zeta on odd ones; each saw the sides otherwise."""
    rows = []
    for item in range(30):
        for n, rater in enumerate(("ann", "bo")):
            pair = SYSTEMS if (item + n * (1 + item // 3)) % 2 and swap else SYSTEMS[::-1]
            side = pair.index("alpha" if item % 2 == 0 else "zeta")
            rows.append((f"p{item:02}", *pair, rater, "tie" if item > 26 else sides[side]))
    return pd.DataFrame(rows, columns=["prompt", *columns, "rater", "winner"])


@pytest.mark.parametrize(("columns", "sides"), NAMES)
def test_an_answer_that_names_a_side_means_the_same_system_in_all_rows(
    columns: tuple[str, str], sides: tuple[str, str]
) -> None:
    ratings = read_ratings(battles(columns, sides, swap=True), task="single", item="prompt")
    assert "sides-ordered" in note_codes(ratings)
    classes = np.array(ratings.task.labels[0].classes)
    said = pd.Series(classes[ratings.answers[:, 0]]).groupby(ratings.item).agg(["nunique", "first"])
    assert (said["nunique"] == 1).all()
    even = np.arange(27) % 2 == 0
    assert (said["first"][:27][even] == sides[0]).all()  # alpha comes first by name
    assert (said["first"][:27][~even] == sides[1]).all()
    assert (said["first"][27:] == "tie").all()


@pytest.mark.parametrize(("columns", "sides"), NAMES)
def test_pairs_in_one_order_stay(columns: tuple[str, str], sides: tuple[str, str]) -> None:
    ratings = read_ratings(battles(columns, sides, swap=False), task="single", item="prompt")
    assert "sides-ordered" not in note_codes(ratings)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_columns_of_a_side_move_together(order: str) -> None:
    table = battles(*NAMES[0], swap=True)
    for side in order:
        table[f"length_{side}"] = np.where(table[f"model_{side}"] == "alpha", "long", "short")
    ratings = read_ratings(table, task="single", item="prompt", covariates=["length_a", "length_b"])
    assert set(ratings.items["length_a"]) == {"long"}
    assert set(ratings.items["length_b"]) == {"short"}


def test_letters_name_numbered_sides_and_a_counter_names_none() -> None:
    """Verdicts as prompts ask judges for them, in both orders of the answers."""
    table = battles(("model_1", "model_2"), ("[[A]]", "[[B]]"), swap=True)
    table["order"] = np.where(table["model_1"] == "alpha", "1", "2")
    ratings = read_ratings(table, task="single", item="prompt")
    (note,) = (one for one in ratings.accounting.notes if one.code == "sides-ordered")
    assert note.startswith("winner names a side")
    assert set(ratings.task.labels[0].classes) == {"A", "B", "tie"}


def test_columns_whose_names_have_the_same_words_move_too() -> None:
    table = battles(*NAMES[0], swap=True)
    for side in "ab":
        for name in (f"length_{side}", f"length {side}"):
            table[name] = np.where(table[f"model_{side}"] == "alpha", "long", "short")
    names = ["length_a", "length a"]
    ratings = read_ratings(table, task="single", item="prompt", covariates=names)
    assert set(ratings.items[names].stack()) == {"long"}


def test_numbered_raters_beside_a_grade_are_no_sides() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "item": range(40),
            "rater_1": rng.choice(["yes", "no"], 40),
            "rater_2": rng.choice(["yes", "no"], 40),
            "grade": rng.choice(["1", "2", "3"], 40),
        }
    )
    ratings = read_ratings(table, task="single", wide=["rater_1", "rater_2"])
    assert "sides-ordered" not in note_codes(ratings)


def test_a_form_of_a_thousand_columns_is_looked_through_at_once() -> None:
    """Each pair of its columns was tried with each answer, for hours."""
    answers = {f"{n}_Q{k}": ["x", "y", "x"] for n in range(300) for k in (1, 2, 3)}
    systems = {f"model_{n}": ["m1", "m2", str(n)] for n in range(300)}
    frame = pd.DataFrame(answers | systems)
    table = open_source(frame).plain_table()
    begun = time.process_time()
    assert with_one_order(table) is table
    assert time.process_time() - begun < 5
