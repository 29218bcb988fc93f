"""Tables of a study of attribution, counted by hand, and beside the published ones."""

import importlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from scipy.stats import beta
from sklearn.metrics import f1_score

import assay
from assay._util.errors import FitWarning, ModelError
from assay._util.text import interval
from assay.data.majority_vote import majority_labels
from assay.data.ratings import SOME_WRONG, Ratings
from assay.data.rules import NOT_ASKED
from assay.evaluation import majority_metrics
from assay.inference.label_doubts import LabelDoubt, doubts_json
from assay.raters.agreements import agreement
from assay.studies.ais import (
    BOTH,
    STARRED,
    _below_best,
    ais_study,
    audit_table,
    both_judgements,
    time_table,
)


@pytest.fixture
def ratings() -> Ratings:
    return assay.simulate(
        "ais", n_items=60, n_raters=5, ratings_per_item=5, n_systems=2, n_clusters=30, rng=1
    )


def f1_lines(ratings: Ratings, name: str) -> pd.Series:
    table = ais_study(ratings, draws=5).agreement
    return table[table["statistic"] == name].set_index("label")["value"]


def test_f1_is_that_of_scikit_learn(ratings: Ratings):
    found = f1_lines(ratings, "f1_consensus")
    votes = majority_labels(ratings)[ratings.item]
    for n, label in enumerate(ratings.task.label_names):
        both = (votes[:, n] >= 0) & (ratings.answers[:, n] >= 0)
        expected = f1_score(votes[both, n], ratings.answers[both, n])
        assert found[label] == pytest.approx(expected, abs=1e-12)


def test_f1_against_the_others_leaves_the_rater_out(ratings: Ratings):
    found = f1_lines(ratings, "f1_others")

    def winner(row: int, n: int) -> int:
        """Of the others who answered; none where they close the gate before, or tie."""
        if n and winner(row, n - 1) != n - 1:
            return -1
        others = (ratings.item == ratings.item[row]) & (ratings.rater != ratings.rater[row])
        given = ratings.answers[others, n]
        classes, counts = np.unique(given[given >= 0], return_counts=True)
        winners = classes[counts == counts.max(initial=0)]
        return int(winners[0]) if len(winners) == 1 else -1

    for n, label in enumerate(ratings.task.label_names):
        said, held = [], []
        for row, answer in enumerate(ratings.answers[:, n]):
            if answer >= 0 and winner(row, n) >= 0:
                said.append(answer)
                held.append(winner(row, n))
        assert found[label] == pytest.approx(f1_score(held, said), abs=1e-12)


def test_agreement_is_that_of_the_agreement_function(ratings: Ratings):
    study, expected = ais_study(ratings, draws=5).agreement, agreement(ratings, draws=5).table
    lines = study.merge(expected, on=["label", "statistic"], suffixes=("", "_expected"))
    assert len(lines) == 8
    np.testing.assert_array_equal(lines["value"], lines["value_expected"])


def test_without_a_fit_the_systems_have_the_vote_alone(ratings: Ratings):
    study = ais_study(ratings, draws=20, rng=4)
    names = ["flag_rate", "interpretable_rate", "attributable_rate"]
    vote = majority_metrics(ratings, metric=names, draws=20, rng=4)
    pd.testing.assert_series_equal(study.systems["majority"], vote["value"], check_names=False)
    assert study.systems[["mean", "lower", "upper", "shift"]].isna().all(axis=None)
    assert [note.split(":")[0] for note in study.notes] == [
        "no model",
        "no audits",
        "no sessions",
        "no completion times",
        "The majority vote is tied on 2 of 60 items; tied classes count with equal shares.",
    ]


def test_a_fit_puts_the_model_beside_the_vote(ratings: Ratings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=50, chains=1, starts=1)
    systems = ais_study(fit, draws=20).systems
    model = assay.summarize(assay.metrics(fit)).set_index(["metric", "system"])["mean"]
    assert len(systems) == 6
    for line in systems.itertuples():
        assert line.mean == pytest.approx(model[line.metric, line.system])
        assert line.shift == pytest.approx(line.mean - line.majority)
    assert set(systems["reference"]) == {fit.attrs["reference"]}
    assert systems["estimand"].str.len().gt(0).all()


def test_a_rate_in_doubt_is_marked_at_the_number(ratings: Ratings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1)
    assert set(ais_study(fit, draws=5).systems["doubt"]) == {""}
    doubt = LabelDoubt(code="empty-class", label="interpretable", classes=("no",), mark="empty!")
    fit.attrs["label_doubts"] = doubts_json([doubt])
    study = ais_study(fit, draws=5)
    marked = study.systems.set_index("metric")["doubt"] != ""
    assert marked["interpretable_rate"].all()
    assert marked["attributable_rate"].all()
    assert not marked["flag_rate"].any()
    assert "* empty!" in str(study)
    assert str(study).count(")*") == marked.sum()


def checked(ratings: Ratings, audit: list[list[int]], session: list[str]) -> Ratings:
    """The first ratings audited, in two sessions; the first label of the others right."""
    verdicts = np.full(ratings.answers.shape, -1, np.int8)
    verdicts[: len(audit)] = audit
    names = np.full(len(verdicts), session[-1], object)
    names[: len(session)] = session
    return replace(ratings, audit=verdicts, session=names, sessions=("second", "first"))


def test_audits_are_counted_by_session_and_label(ratings: Ratings):
    audit = [[1, 1, -1], [1, 0, -1], [0, -1, -1], [SOME_WRONG] * 3, [1, -1, -1]]
    session = ["first", "first", "first", "second", "second"]
    table = audit_table(checked(ratings, audit, session), level=0.9)
    counts = table.set_index(["session", "label"])[["audited", "right"]]
    assert {
        key: tuple(line) for key, line in zip(counts.index, counts.to_numpy(), strict=True)
    } == {
        ("second", "flagged"): (1, 1),
        ("second", "all labels"): (2, 1),
        ("first", "flagged"): (3, 2),
        ("first", "interpretable"): (2, 1),
        ("first", "all labels"): (3, 1),
        ("all sessions", "flagged"): (4, 3),
        ("all sessions", "interpretable"): (2, 1),
        ("all sessions", "all labels"): (5, 2),
    }
    assert table["session"].drop_duplicates().tolist() == ["second", "first", "all sessions"]
    line = table.set_index(["session", "label"]).loc[("all sessions", "all labels")]
    assert line["share"] == 0.4
    assert [line["lower"], line["upper"]] == pytest.approx(beta(2.5, 3.5).ppf([0.05, 0.95]))
    assert table.set_index(["session", "label"]).loc[("second", "flagged"), "upper"] == 1


def test_times_are_summarised_by_session_and_stage(ratings: Ratings):
    answers = ratings.answers.copy()
    answers[:4] = [[1, NOT_ASKED, NOT_ASKED], [0, 0, NOT_ASKED], [0, 1, 1], [0, 1, 0]]
    seconds = np.full(len(answers), np.nan)
    seconds[:4] = [10, 20, 40, 60]
    table = time_table(replace(ratings, answers=answers, seconds=seconds))
    assert table["session"].unique().tolist() == ["all sessions"]
    lines = table.set_index("stage")
    assert lines["n"].to_dict() == {
        "flagged": 1,
        "interpretable": 1,
        "attributable": 2,
        "all ratings": 4,
    }
    assert lines.loc["attributable", ["mean", "median"]].tolist() == [50, 50]
    assert lines.loc["all ratings", ["q25", "median", "q75"]].tolist() == [17.5, 30, 45]
    assert np.isnan(lines.loc["flagged", "sd"])


def test_another_task_is_refused_in_words():
    other = assay.simulate("retrieval", n_items=4, n_raters=2, ratings_per_item=2, rng=1)
    with pytest.raises(ModelError, check=refusal("attribution-labels")):
        ais_study(other)


def test_one_output_and_one_rater_make_a_study_of_what_there_is():
    single = assay.simulate("ais", n_items=1, n_raters=1, ratings_per_item=1, rng=1)
    study = ais_study(single, draws=5)
    pairs = study.agreement[study.agreement["statistic"].isin(["percent", "f1_others"])]
    assert pairs["value"].isna().all()
    assert study.agreement[["lower", "upper"]].isna().all(axis=None)


def test_a_study_prints_its_estimates_with_their_intervals(ratings: Ratings):
    study = ais_study(ratings, draws=20, level=0.9)
    said = str(study)
    assert "Rates by system (90% interval; estimand population; reference: majority vote" in said
    assert "model" not in said.splitlines()[1]
    line = study.systems.iloc[0]
    told = interval(line["majority"], line["majority_lower"], line["majority_upper"])
    assert f"{line['system']} {told}" in " ".join(said.split())
    assert "Audited" not in said
    assert "no audits: name the column" in said


def test_a_study_says_that_shares_without_vague_audits_are_too_high(ratings: Ratings):
    audit = np.full_like(ratings.audit, 1)
    audit[ratings.answers < 0] = -1
    told = "the shares of single labels leave them out, so they are too high"
    assert not any(told in note for note in ais_study(replace(ratings, audit=audit), draws=5).notes)
    audit[0] = np.where(audit[0] == 1, SOME_WRONG, audit[0])
    study = ais_study(replace(ratings, audit=audit), draws=5)
    assert any(told in note for note in study.notes)
    assert "Audited answers that are right (95% interval)" in str(study)


def test_a_system_without_a_rate_is_not_the_best_one() -> None:
    rates = np.array([[np.nan] * 4, [0.9] * 4, [0.1, 0.1, 0.1, 0.95]])
    held = xr.DataArray(rates, dims=("system", "draw"), coords={"system": list("xyz")})
    worse = _below_best(xr.Dataset(dict.fromkeys(STARRED, held)))
    assert {worse[name, "z"] for name in STARRED} == {0.75}
    assert not any((name, "x") in worse for name in STARRED)


def test_both_judgements_are_one_answer_without_flags():
    answers = {"a": "no yes yes", "b": "no yes no", "c": "no no -", "d": "yes - -"}
    rows = [
        {"item": item, "rater": rater} | dict(zip(("flagged", "interpretable", "attributable"),
                                                  said.split(), strict=True))
        for item in ("x", "y")
        for rater, said in answers.items()
    ]  # fmt: skip
    frame = pd.DataFrame(rows).replace("-", None)
    ratings = assay.read_ratings(frame, task="ais")
    joined = both_judgements(ratings)
    # Not interpretable is "no"; a flagged answer is none.
    assert joined.answers[:4, 0].tolist() == [1, 0, 0, -1]
    study = ais_study(ratings, draws=5).agreement.set_index(["label", "statistic"])["n_ratings"]
    assert study[BOTH, "percent"] == 6
    assert study["attributable", "percent"] == 4


ROOT = Path(__file__).parents[3]


ais_tables: Any = importlib.import_module("benchmarks.real_data.ais_tables")


COUNTS = pd.read_csv(ROOT / "benchmarks" / "real_data" / "results" / "ais" / "counts.csv")


STUDIES = {
    "QReCC": {
        ("int", f"t5-{s}-{k}") for s in ("small", "base") for k in ("pretrained", "no-evidence")
    }
    | {
        ("ais", f"t5-{name}")
        for name in ("base-pretrained", "small-no-evidence", "base-no-evidence")
    },
    "Wizard of Wikipedia": {("int", "dinan_et_al")}
    | {("ais", name) for name in ("dinan_et_al", "dodeca", "t5", "reference")},
    "CNN/DM": {("ais", "bigbird"), ("ais", "reference")},
}
"""Metric and system of what a test of two proportions tells from the best at 0.01."""


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("seed", [2, 3])
def test_clearly_worse_is_what_the_test_of_proportions_stars(study: str, seed: int):
    counts = COUNTS[COUNTS["study"] == study].drop(columns="study")
    table = ais_tables.verdicts(counts, seed)
    pairs = zip(table["metric"], table["system"], strict=True)
    by_verdict = {p for p, worse in zip(pairs, table["clearly_worse"], strict=True) if worse}
    assert by_verdict == STUDIES[study]
    assert table["starred"].tolist() == table["clearly_worse"].tolist()


PRINTED_ALPHA = {("qrecc", "interpretable"): 0.89, ("qrecc", BOTH): 0.83, ("wow", BOTH): 0.75}
"""Values of Table 6 that the released vote counts allow: flags among the votes matter little."""


@pytest.mark.parametrize(("name", "label"), PRINTED_ALPHA)
def test_agreement_without_flags_comes_out_of_the_released_counts(
    name: str, label: str, shared_data: Path
):
    ratings = assay.read_ratings(shared_data / "ais_votes" / f"{name}.csv")
    table = assay.ais_study(ratings, draws=5).agreement
    found = table[(table["label"] == label) & (table["statistic"] == "krippendorff_alpha")]
    assert found["value"].item() == pytest.approx(PRINTED_ALPHA[name, label], abs=0.015)
