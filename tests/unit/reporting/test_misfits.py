"""A misfit that bears on page one stands there."""

import pandas as pd
import pytest
import xarray as xr
from pages import trusted

import assay
from assay.checks.departures.report import MEANINGS
from assay.reporting.advice import not_known
from assay.reporting.data import data_section
from assay.reporting.material import Material
from assay.reporting.misfits import misfit_section
from assay.reporting.page import Bullets
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")


@pytest.fixture(scope="module")
def systems() -> xr.DataTree:
    ratings = assay.simulate(
        "single", n_items=80, n_systems=2, n_raters=3, classes=["no", "yes"], rng=2
    )
    return trusted(ratings)


def with_misfit(fit: xr.DataTree, *lines: tuple[str, str]) -> Material:
    """Return material whose model does not reproduce some features."""
    material = Material(fit=fit, budget=False, short=True)
    label = fit_label(material)
    table = pd.DataFrame(
        [
            {"check": check, "group": "", "label": label, "quantity": quantity, "observed": 9.0,
             "expected": 0.0, "lower": 0.0, "upper": 1.0, "tail": 0.001}
            for check, quantity in lines
        ]
    )  # fmt: skip
    material.__dict__["predictive"] = table
    return material


def fit_label(material: Material) -> str:
    return material.ratings.task.label_names[0]


def test_a_misfit_of_favoured_systems_hedges_the_comparison(systems: xr.DataTree) -> None:
    asked = MEANINGS["rater-by-system"].asked
    material = with_misfit(systems, ("independence", asked))
    front = make_page(material).front
    assert front is not None
    said = dict(front.sentences)
    assert "raters may favour a system, which the model does not reproduce" in said["Not known"]
    assert "raters may favour a system" in said["Answer"]
    # No part of the page says that there is no problem.
    texts = [t for b in data_section(material).blocks if isinstance(b, Bullets) for t in b.items]
    (told,) = [text for text in texts if "no test found" in text]
    assert f"But the fitted model does not reproduce {asked}" in told


def test_one_small_tail_among_many_tests_stands_in_the_appendix_alone(systems: xr.DataTree) -> None:
    asked = MEANINGS["rater-by-system"].asked
    material = with_misfit(systems, *[("independence", asked)] * 20)
    table = material.predictive
    table.loc[1:, "tail"] = 0.5
    findings = misfit_section(material).findings
    assert [one.hedge for one in findings] == [""]
    assert "favour a system" not in not_known(material, findings)
    table.loc[0, "tail"] = 0.0001
    assert "favour a system" in misfit_section(material).findings[0].hedge


@pytest.mark.parametrize(
    ("check", "quantity", "told"),
    [
        ("independence", MEANINGS["rater-by-cluster"].asked, "hether raters misread whole clu"),
        ("unanimity", "all say yes", "ow sure the labels are: raters agree otherwise"),
        ("answers", "no", "hether shares are right: raters give some answers otherwise"),
        ("repeats", "ann says the same again", "ow reliable raters are"),
    ],
)
def test_a_misfit_stands_under_not_known(
    systems: xr.DataTree, check: str, quantity: str, told: str
) -> None:
    material = with_misfit(systems, (check, quantity))
    findings = misfit_section(material).findings
    assert told in not_known(material, findings)
    assert told not in not_known(material)
