"""Empty answers that a rater's other answers settle (assay.io.skip_logic)."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pytensor.compile.mode import Mode

import assay
from assay.data.majority_vote import majority_labels
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.io import read_ratings
from assay.raters.agreements import agreement

LABELS = ["topically_relevant", "evidence_sufficient", "misleading"]


def skipping_form(**changes: str) -> pd.DataFrame:
    """Ratings of a form that asks for evidence of relevant chunks alone."""
    rows = [
        ("a", "r", "no", "", "yes"), ("a", "s", "no", "", "no"), ("b", "r", "yes", "yes", "no"),
        ("b", "s", "yes", "no", "no"), ("c", "r", "no", "", "no"), ("c", "s", "yes", "no", "yes"),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["item", "rater", *LABELS]).assign(**changes)


def logp(ratings: Ratings) -> float:
    model = assay.build_model(ratings, raters="hierarchical")
    point = model.initial_point()
    rng = np.random.default_rng(3)
    values = {name: rng.normal(size=np.shape(value)) for name, value in point.items()}
    # Compiling takes far longer than the one evaluation.
    logp = model.compile_logp(mode=Mode(linker="py", optimizer=None))
    return float(logp(values))


def test_a_form_that_leaves_out_what_is_settled_is_read_as_if_it_had_asked() -> None:
    ratings = read_ratings(skipping_form(), task="retrieval")
    assert ratings.answers[:, 1].tolist() == [0, 0, 1, 0, 0, 0]
    notes = " ".join(ratings.accounting.notes)
    assert "3 empty answers are read as no for evidence_sufficient" in notes
    assert majority_labels(ratings)[:, 1].tolist() == [0, MISSING, 0]  # one vote against one
    table = agreement(ratings, labels="evidence_sufficient", draws=10).table
    assert table["n_items"].unique().tolist() == [3]


def test_the_likelihood_stays_as_it_is() -> None:
    ratings = read_ratings(skipping_form(), task="retrieval")
    lost = ratings.answers.copy()
    lost[ratings.answers[:, 0] == 0, 1] = MISSING
    assert logp(ratings) == pytest.approx(logp(replace(ratings, answers=lost)), abs=1e-9)


def test_no_answer_is_settled_where_the_interface_blocks_nothing_or_in_a_draft() -> None:
    warned = {"sufficient_is_relevant": "warn"}
    for how in ({"response": warned}, {"partial": "draft"}):
        ratings = read_ratings(skipping_form(), task="retrieval", **how)
        assert ratings.answers[:, 1].tolist() == [-1, -1, 1, 0, -1, 0]


def test_answers_lost_here_and_there_stay_lost() -> None:
    rows = pd.concat([skipping_form().assign(item=lambda t, n=n: t["item"] + str(n)) for n in "12"])
    rows = rows.reset_index(drop=True)
    rows.loc[rows["evidence_sufficient"] == "", "evidence_sufficient"] = "no"
    rows.loc[0, "evidence_sufficient"] = ""  # one of six that are settled
    assert read_ratings(rows, task="retrieval").answers[0, 1] == MISSING


def test_a_question_asked_of_few_is_not_filled_where_it_is_settled() -> None:
    rows = skipping_form()
    rows["evidence_sufficient"] = ["no", "no", "yes", "no", "no", "no"]
    rows["misleading"] = ["yes", "", "", "", "", "no"]
    answers = read_ratings(rows, task="retrieval").answers
    assert answers[:, 2].tolist() == [1, -1, -1, -1, -1, 0]


def test_a_score_in_place_of_an_answer_stays_a_score() -> None:
    rows = skipping_form().assign(p=["0.2", "0.1", "", "", "0.3", ""])
    ratings = read_ratings(rows, task="retrieval", score={"evidence_sufficient": "p"})
    assert ratings.answers[:, 1].tolist() == [-1, -1, 1, 0, -1, 0]
