"""Unused columns that divide the items into kinds are kept with the items."""

import numpy as np
import pandas as pd
import pytest

import assay

ITEMS, RATERS = 60, 3


def table(**columns: object) -> pd.DataFrame:
    item = np.repeat(np.arange(ITEMS), RATERS)
    return pd.DataFrame({
        "item": item, "rater": np.tile(list("abc"), ITEMS),
        "label": np.where((item + np.tile([0, 0, 1], ITEMS)) % 2 == 0, "yes", "no"),
        **{name: np.asarray(cells)[item] for name, cells in columns.items()},
    })  # fmt: skip


def kinds(frame: pd.DataFrame) -> list[str]:
    ratings = assay.read_ratings(frame, task="single")
    return [name for name in ratings.items.columns if name in frame.columns]


def test_a_column_of_languages_is_kept() -> None:
    language = np.where(np.arange(ITEMS) < 25, "de", "en")
    frame = table(language=language)
    ratings = assay.read_ratings(frame, task="single")
    assert ratings.items["language"].tolist() == language.tolist()


def test_an_item_without_a_cell_has_no_kind() -> None:
    language = np.where(np.arange(ITEMS) < 25, "de", "en").astype(object)
    language[3] = ""
    ratings = assay.read_ratings(table(language=language), task="single")
    assert ratings.items["language"].tolist() == language.tolist()


@pytest.mark.parametrize(
    "cells",
    [
        np.repeat("en", ITEMS),
        np.arange(ITEMS).astype(str),
        np.where(np.arange(ITEMS) < 5, "de", "en"),
        np.where(np.arange(ITEMS) % 2 == 0, "yes", "no"),
    ],
    ids=["one value", "many values", "a rare kind", "words of an answer"],
)
def test_other_columns_are_not(cells: np.ndarray) -> None:
    assert kinds(table(note=cells)) == []


def test_a_column_that_differs_within_an_item_is_not() -> None:
    frame = table()
    frame["device"] = np.tile(["phone", "desk", "desk"], ITEMS)
    assert kinds(frame) == []


def test_of_two_names_for_one_division_the_first_is_kept() -> None:
    half = np.arange(ITEMS) < 30
    frame = table(language=np.where(half, "de", "en"), country=np.where(half, "DE", "UK"))
    assert kinds(frame) == ["language"]


def test_the_systems_are_no_kinds() -> None:
    system = np.where(np.arange(ITEMS) < 30, "A", "B")
    frame = table(system=system, model_family=np.where(system == "A", "x", "y"))
    ratings = assay.read_ratings(frame, task="single", system="system")
    assert "model_family" not in ratings.items.columns
