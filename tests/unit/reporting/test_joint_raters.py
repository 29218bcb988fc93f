"""Raters who cannot be told apart have one line, and no rank."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pages import trusted

import assay
from assay.data.ratings import Ratings
from assay.reporting.material import Material
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")


def unnamed(*, named: bool, items: int = 15) -> Ratings:
    rng = np.random.default_rng(4)
    truth = rng.random(items) < 0.5
    rows = [
        (f"t{n}", "yes" if truth[n] == (rng.random() < 0.8) else "no")
        for n in range(items)
        for _ in range(5)
    ]
    table = pd.DataFrame(rows, columns=["item", "answer"])
    if named:
        return assay.read_ratings(table.assign(rater=[f"r{n % 5}" for n in range(len(rows))]))
    return assay.read_ratings(table)


def said_of(fit: xr.DataTree) -> dict[str, str]:
    front = make_page(Material(fit=fit, budget=False, short=True)).front
    assert front is not None
    return dict(front.sentences)


def test_raters_without_names_are_not_ranked_and_no_more_truth_is_asked_than_there_is() -> None:
    fit = trusted(unnamed(named=False))
    assert assay.rater_standing(fit)["p_worse"].isna().all()
    page = make_page(Material(fit=fit, budget=False))
    assert page.front is not None
    said = dict(page.front.sentences)
    assert said["Weakest rater"].startswith("Unknown: the raters have no names")
    assert "15 items" in f"{said['What to do next']} {page.front.command_notes}"
    assert "30 items" not in f"{said['What to do next']} {page.front.command_notes}"
    assert page.front.picture is not None
    assert "5 raters without names" in page.front.picture.svg
    (standing,) = page.shown_tables["standing"].rows
    assert standing.cells[:2] == ("5 raters without names", "75")
    assert len(page.tables["standing"]) == 5  # files keep a line for each


def test_raters_of_one_pooled_recipe_are_not_ranked_either() -> None:
    said = said_of(trusted(unnamed(named=True), raters="pooled"))
    assert said["Weakest rater"].startswith("Unknown: the model has the same error rates for all")
    own = said_of(trusted(unnamed(named=True)))
    assert "P(worse than the median" in own["Weakest rater"]
