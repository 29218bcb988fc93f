"""Limits of a report: each thing that the model assumes, once."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_pages import table_of, texts

import assay
from assay.data.states import MISSING
from assay.reporting.data import asked_section, card_section
from assay.reporting.material import Material
from assay.reporting.provenance import limits_section


def test_truth_that_is_known_is_not_asked_for() -> None:
    told = []
    for gold in (0.0, 0.2):
        ratings = assay.simulate("single", n_items=30, n_raters=3, gold=gold, rng=1)
        material = Material(
            fit=assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1)
        )
        known = int((ratings.truth != MISSING).any(axis=1).sum())
        assert material.n_known == known
        limits = texts(limits_section(material))
        told.append("Known truth of some items would reveal it." in limits)
        assert (f"The truth of {known} of 30 items is known." in limits) is (known > 0)
        assert (f"known truth of some items: {known} items." in texts(asked_section(material))) is (
            known > 0
        )
    assert told == [True, False]


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        ("hierarchical + item_difficulty", "err together only on items that are hard for all"),
        ("hierarchical", "Raters are assumed to err independently, given the truth."),
    ],
)
def test_what_the_model_takes_for_independent_is_said(raters: str, said: str) -> None:
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=1)
    fit = assay.fit(ratings, raters=raters, method="map", draws=5, chains=1, starts=1, rng=1)
    assert said in texts(limits_section(Material(fit=fit)))


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_findings_that_lean_on_the_prior_are_limits_whatever_their_words() -> None:
    ratings = assay.simulate("single", n_items=15, n_raters=3, ratings_per_item=2, rng=1)
    fit = assay.fit(ratings, raters="pooled", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    limits = texts(limits_section(material))
    findings = material.data_check.at_least("note")
    leaning = [finding for finding in findings if finding.leans]
    assert len(leaning) == 4
    assert {f.text for f in findings if f"the prior: {f.text}." in limits} == {
        finding.text for finding in leaning
    }


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_reference_brings_a_layer_and_its_truth_is_told_once() -> None:
    rng = np.random.default_rng(1)
    said = rng.choice(["no", "yes"], (40, 3), p=[0.6, 0.4])
    table = pd.DataFrame(said, columns=["ann", "ben", "gpt-4"]).rename_axis("item").reset_index()
    long = table.melt("item", var_name="rater", value_name="label")
    long["group"] = np.where(long["rater"] == "gpt-4", "llm", "person")
    ratings = assay.read_ratings(long, task="single")
    fit = assay.fit(ratings, reference="person", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    limits = texts(limits_section(material))
    assert limits.count("truth is defined") == 1
    assert "by definition" not in limits
    assert "err together only" not in limits
    card = card_section(material)
    assert "Perception: A layer: what an item looks like to a group" in texts(card)
    assert any("misperceived" in name for name in table_of(card, "priors").frame["parameter"])


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_missing_label_is_told_among_what_is_assumed() -> None:
    ratings = assay.simulate("retrieval", n_items=30, n_raters=3, rng=1)
    answers = ratings.answers.copy()
    answers[0, 2] = MISSING
    said = []
    for one in (ratings, replace(ratings, answers=answers)):
        fit = assay.fit(one, method="map", draws=5, chains=1, starts=1, rng=1)
        said.append("missing at random" in texts(limits_section(Material(fit=fit))))
    assert said == [False, True]
