"""Words about estimands and undefined draws; headings, cells and key columns."""

import numpy as np
import pandas as pd

import assay
from assay.data.task import Label
from assay.display.frames import key_columns
from assay.display.notes import estimand_words, estimands_said
from assay.display.rater_tables import AGREEMENT, agreement_words
from assay.display.terminal import binary_heading


def test_estimands_are_explained_with_their_weights():
    both = ["finite", "population"]
    assert estimands_said(both) == "finite: these items; population: clusters like these"
    weighed = estimands_said(both, weights=[0.5, 2.0])
    assert weighed.startswith("finite: these items, all alike; population: ")
    assert weighed.endswith("clusters like these, by their design weights")


def test_the_estimand_of_most_metrics_comes_last():
    same = pd.DataFrame({"metric": ["a", "b"], "estimand": "finite"})
    assert estimand_words(same) == "finite"
    two = same.assign(estimand=["model", "population"])
    assert estimand_words(two) == "model of a; population of b"
    estimands = ["population", "model", "population", "population", "population"]
    five = pd.DataFrame({"metric": list("abcde"), "estimand": estimands})
    assert estimand_words(five) == "model of b; population of all others"


def test_agreement_in_per_cent():
    lines = pd.DataFrame([[0.651, 0.628, 0.673], [np.nan] * 3], columns=AGREEMENT)
    assert agreement_words(lines) == ["65% (63-67)", "none"]


def test_headings_name_a_positive_class_other_than_yes():
    assert binary_heading(Label(name="mail", classes=("ham", "spam"))) == "mail (positive: spam)"
    assert binary_heading(Label(name="misleading", classes=("no", "yes"))) == "misleading"


def test_a_key_of_two_columns_is_two_columns():
    table = pd.DataFrame([("q1", "c1", "ann", "yes")], columns=["query", "doc", "rater", "ok"])
    ratings = assay.read_ratings(table, item=["query", "doc"], labels="ok")
    assert key_columns(ratings).columns.tolist() == ["query", "doc"]
