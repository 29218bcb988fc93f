"""Sections on the data and the model card: each thing once, and only what the fit has."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import xarray as xr
from report_pages import (
    SIZE,
    mode_of,
    prose_of,
    rated,
    simulated,
    table_of,
    texts,
    told_in_other_words,
)

import assay
from assay._util.errors import FitWarning
from assay.checks.double_sampling import PLAIN
from assay.data.states import MISSING
from assay.data.task import Label
from assay.reporting.data import card_section, data_section
from assay.reporting.fit import convergence_section
from assay.reporting.material import Material
from assay.reporting.page import Bullets, Callout
from assay.reporting.provenance import limits_section
from assay.reporting.writing import make_page

WORDS = ("A rater whose answers are refused", "In partly answered ratings")


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_columns_without_a_role_are_called_not_used(scored_fit: xr.DataTree) -> None:
    table = table_of(data_section(Material(fit=scored_fit)), "roles")
    assert ("remark", "not used") in {row.cells[:2] for row in table.rows}
    assert table.frame.set_index("column")["role"]["remark"] == ""


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_card_is_silent_on_what_cannot_have_happened(scored_fit: xr.DataTree) -> None:
    assert not any(words in prose_of(card_section(Material(fit=scored_fit))) for words in WORDS)


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_card_says_what_is_assumed_of_refused_and_of_partial_answers() -> None:
    whole = simulated()
    answers = whole.answers.copy()
    answers[0, 2] = MISSING
    for ratings, partly in ((whole, False), (replace(whole, answers=answers), True)):
        told = prose_of(card_section(Material(fit=mode_of(ratings))))
        assert WORDS[0] in told
        assert (WORDS[1] in told) is partly


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_card_says_whose_prior_each_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[priors]\nmean_other = "Normal(0, 1)"\nsd = "HalfNormal(2)"', encoding="utf-8")
    tree = assay.fit(
        simulated(), priors=[file, {"main": "Normal(0, 1)"}], method="map", draws=10, chains=1,
        rng=1,
    )  # fmt: skip
    table = table_of(card_section(Material(fit=tree)), "priors")
    lines = table.frame.set_index("parameter")
    assert lines["source"].drop(["main", "logit_sd"]).isin(["catalogue", "fixed"]).all()
    assert (lines.loc[["main", "logit_sd"], "source"] == "yours").all()
    assert lines.loc["logit_mean", "name"] == "mean_binary, lean"
    assert lines.loc["logit_offset", ["name", "source"]].tolist() == ["", "fixed"]
    assert "sd = HalfNormal(2)" in table.note
    assert "mean_other" not in table.note  # which these labels have no use for


def test_a_score_without_an_answer_is_a_rating_of_its_item() -> None:
    table = rated().query("rater == 'llm'").drop(columns=["session", "group"]).assign(label="")
    ratings = assay.read_ratings(table, task="single", score="score")
    with pytest.warns(assay.FitWarning, match=r"\[scores-alone\]$"):
        fit = assay.fit(ratings, raters="scored", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    assert f"{SIZE} items have one rating." in texts(data_section(material))
    assert "missing at random" not in texts(limits_section(material))


@pytest.mark.parametrize("reference", [None, "groups"])
def test_who_fitted_with_a_reference_is_not_told_to(
    reference: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"a": 2, "b": 2, "c": 2}
    ratings = assay.simulate("single", n_items=40, groups=groups, ratings_per_item=6, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings, raters="hierarchical", reference=reference, method="map", draws=2, chains=1,
            starts=1, rng=1,
        )  # fmt: skip
    said = "all raters count as independent" in texts(data_section(Material(fit=fit)))
    assert said == (reference is None)
    assert told_in_other_words(fit, monkeypatch) == {None, *["reference"] * said}


@pytest.mark.parametrize("raters", ["pooled", "ordinal"])
def test_who_fitted_with_a_family_for_orders_is_not_told_of_it(
    raters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades = assay.Task(
        name="grades", labels=(Label(name="grade", classes=("a", "b", "c"), ordered=True),)
    )
    ratings = assay.simulate(grades, n_items=20, n_raters=3, ratings_per_item=3, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, raters=raters, method="map", draws=2, chains=1, starts=1, rng=1)
    said = "the classes of grade are ordered" in texts(data_section(Material(fit=fit)))
    assert said == (raters == "pooled")
    assert told_in_other_words(fit, monkeypatch) == {None, *["order"] * said}


def test_the_data_section_says_a_thing_once(plain: xr.DataTree) -> None:
    found = data_section(Material(fit=plain))
    listed = [item for b in found.blocks if isinstance(b, Bullets) for item in b.items]
    assert not [item for item in listed if "rows read" in item or "answered by two" in item]
    assert texts(found).count("180 ratings of 60 items") == 1


class TestBiasBySystem:
    def fit(self, **options: Any) -> xr.DataTree:
        table = rated(systems=True)
        sample = (table["group"] == "model") | (table["item"] < 24)
        ratings = assay.read_ratings(
            table[sample].drop(columns=["score", "session"]), task="single"
        )
        return assay.fit(
            ratings, method="map", draws=20, chains=1, starts=1, rng=1, progress=False, **options
        )

    def test_a_fit_that_leaves_it_out_is_told_so_first(self) -> None:
        with pytest.warns(FitWarning, match=r"\[double-sampling\]$"):
            fit = self.fit()
        # Once: the fit's own warning is no finding beside that of the data.
        told = convergence_section(Material(fit=fit)).findings
        assert "double-sampling" not in [finding.code for finding in told]
        found = data_section(Material(fit=fit))
        warned = [b.text for b in found.blocks if isinstance(b, Callout) and b.word == "warning"]
        assert any(text.startswith("All items of A, B were rated by model") for text in warned)
        (finding,) = found.findings
        assert (finding.code, finding.section) == ("double-sampling", "data")

    def test_a_fit_that_has_it_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        recipes = {"model": f"{PLAIN} + system_bias", "people": PLAIN}
        fit = self.fit(raters=recipes, prevalence="dirichlet")
        found = data_section(Material(fit=fit))
        assert found.findings == ()
        assert "system_bias" not in texts(found)
        assert told_in_other_words(fit, monkeypatch) == {None}


def test_ratings_without_an_answer_are_counted_beside_rows_set_aside() -> None:
    table = pd.DataFrame(
        {"item": [f"i{n // 3}" for n in range(60)], "rater": list("abc") * 20,
         "answer": ["yes", "no", None, "yes"] * 15}
    )  # fmt: skip
    ratings = assay.read_ratings(table)
    assert ratings.abstained.sum() == 15
    fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    material = Material(fit=fit, budget=False, short=True)
    assert "15 ratings have no answer" in str(data_section(material).blocks[0])
    front = make_page(material).front
    assert front is not None
    assert "0 rows set aside and 15 ratings without an answer" in front.data
