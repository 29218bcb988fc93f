"""From the protocol tool's export to conclusions: rows, metrics, and the poor rater."""

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.states import MISSING, state_space

exports = importlib.import_module("benchmarks.worlds.protocol_exports")
writer = importlib.import_module("benchmarks.worlds.export_writer")

QUERIES = 25


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    writer.write_export(folder, np.random.default_rng(3), queries=QUERIES)
    return folder


def test_the_poor_rater_of_grounding_is_found(shared_data: Path) -> None:
    options = {**exports.NUTS, "draws": 200, "tune": 200}
    _, fit, _ = exports.fit_export(shared_data / "protocol_export", "grounding", options, 1)
    raters = exports.rater_table(fit).set_index("rater")
    assert raters["reliability"].idxmin() == "junior_5"
    assert raters["lowest"].idxmax() == "junior_5"
    assert raters.loc["junior_5", "lowest"] > 0.5


@pytest.mark.parametrize("task", list(writer.PLANS))
def test_every_row_of_a_generated_export_is_read(task: str, export: Path) -> None:
    rows = pd.read_csv(export / f"{task}.csv", dtype=str, keep_default_na=False)
    ratings = assay.read_ratings(export, task=task)
    accounting = ratings.accounting
    assert accounting.rows_read == accounting.rows_used == len(rows) == len(ratings.answers)
    assert ratings.abstained.sum() == (rows["response_status"] == "discarded").sum()
    for n, label in enumerate(ratings.task.label_names):
        counts = [(rows[label] == word).sum() for word in ("false", "true")]
        assert [(ratings.answers[:, n] == k).sum() for k in (0, 1)] == counts
    assert ratings.systems == sorted(writer.SYSTEMS)
    assert ratings.items["cluster"].nunique() == QUERIES


@pytest.mark.parametrize("task", list(writer.PLANS))
def test_the_truth_is_admissible_and_hidden_from_the_fit(task: str, export: Path) -> None:
    ratings = assay.read_ratings(export, task=task)
    truth = exports.read_truth(export, ratings)
    states = {tuple(state) for state in state_space(ratings.task).states.tolist()}
    assert {tuple(row) for row in truth.tolist()} <= states
    assert (ratings.truth == MISSING).all()


@pytest.mark.parametrize("task", list(writer.PLANS))
def test_generated_files_have_the_columns_of_the_tool(
    task: str, export: Path, shared_data: Path
) -> None:
    for name in (f"{task}.csv", f"truth_{task}.csv", "systems.csv"):
        real = pd.read_csv(shared_data / "protocol_export" / name, nrows=0)
        assert list(pd.read_csv(export / name, nrows=0)) == list(real)


def test_the_warned_rule_is_broken_and_the_blocked_ones_are_not(export: Path) -> None:
    rows = pd.read_csv(export / "retrieval.csv", dtype=str, keep_default_na=False)
    yes = {q.name: rows[q.name] == "true" for q in writer.PLANS["retrieval"].questions}
    broken = yes["evidence_sufficient"] & yes["misleading"]
    assert broken.any()
    assert (broken == (rows["constraint_violated"] == "true")).all()
    assert not (yes["evidence_sufficient"] & ~yes["topically_relevant"]).any()


def test_answers_are_right_as_often_as_they_should_be() -> None:
    plan, rng = writer.PLANS["generation"], np.random.default_rng(5)
    truth = rng.random((40_000, len(plan.questions))) < 0.5
    right = np.broadcast_to([0.7, 0.9], (*truth.shape, 2))
    answers = writer.draw_answers(plan, truth, right, rng)
    assert answers[truth].mean() == pytest.approx(0.9, abs=0.01)
    assert answers[~truth].mean() == pytest.approx(0.3, abs=0.01)


def test_intervals_of_a_generated_export_stand_beside_its_truth(export: Path) -> None:
    ratings, fit, _ = exports.fit_export(export, "generation", exports.LAPLACE, 1)
    table = exports.interval_table(export, ratings, fit)
    finite = table[table["estimand"] == "finite"]
    truth = pd.read_csv(export / "truth_generation.csv").merge(pd.read_csv(export / "systems.csv"))
    expected = truth.groupby("system")["helpful"].mean()
    found = finite[finite["metric"] == "helpfulness_rate"].set_index("system")["truth"]
    assert found.to_dict() == pytest.approx(expected.to_dict())
    assert set(table["estimand"].str.split(" ").str[0]) == {"finite", "population"}
