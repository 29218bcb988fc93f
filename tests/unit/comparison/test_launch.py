"""A launch: gain, loss, and guardrails that hold in the same draws."""

import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError, UnknownNameError
from assay._util.text import chance_cell
from assay.cli import app
from assay.comparison.launch import _table, decide
from assay.display.decision_table import decision_table

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
GUARD = "misleading_context_rate_at_k"


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.simulate(
        "retrieval", n_items=120, n_raters=4, n_systems=2, n_clusters=30, ratings_per_item=2, rng=3
    )
    return assay.fit(ratings, method="map", draws=100, chains=2, starts=1, rng=1)


def test_probabilities_of_all_are_those_of_the_same_draws() -> None:
    better = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, -1.0], [0.0, 1.0]])
    kept = np.array([[0.5, 0.5], [0.5, 0.3], [0.5, 0.5], [0.5, 0.495]])
    table = _table(
        {"a": better, "b": kept}, ["old", "new"], "old", {"a": 1.0}, {"b": 0.01}, 0.95
    ).set_index("system")
    assert table.loc["new", "p_better"] == 0.75
    assert table.loc["new", "p_holds_b"] == 0.75
    assert table.loc["new", "p_all"] == 0.5  # and not 0.75 * 0.75
    assert table.loc["old", "gain"] == 0
    assert table.loc["new", "expected_loss"] == pytest.approx(0.25)


def test_undefined_draws_are_left_out_and_counted() -> None:
    values = np.array([[0.0, 1.0], [0.0, np.nan]])
    table = _table({"a": values}, ["old", "new"], "old", {"a": 2.0}, {}, 0.95).set_index("system")
    assert table.loc["new", "gain"] == 2
    assert table.loc["new", "undefined"] == 0.5


def test_a_guardrail_called_all_is_a_column_of_its_own() -> None:
    gain, all_ = np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([[0.5, 0.1], [0.5, 0.1]])
    table = _table({"a": gain, "all": all_}, ["old", "new"], "old", {"a": 1.0}, {"all": 0.1}, 0.95)
    line = table.set_index("system").loc["new"]
    assert (line["p_better"], line["p_holds_all"], line["p_all"]) == (0.5, 0.0, 0.0)


def test_numbers_are_those_of_the_metrics(fit: xr.DataTree) -> None:
    found = decide(
        fit, gain={"ndcg_at_k": 1.0, GUARD: 0.5}, baseline="system_1", guardrails={GUARD: 0.01}
    )
    draws = assay.metrics(fit, metric=["ndcg_at_k", GUARD])
    gap = draws.sel(system="system_2") - draws.sel(system="system_1")
    gain = gap["ndcg_at_k"] - 0.5 * gap[GUARD]  # of the guard, less is better
    line = found.table.set_index("system").loc["system_2"]
    assert line["gain"] == pytest.approx(float(gain.mean()))
    held = gap[GUARD] <= 0.01
    assert line["p_guardrails"] == pytest.approx(float(held.mean()))
    assert line["p_all"] == pytest.approx(float((held & (gain > 0)).mean()))


def test_without_enough_probability_the_baseline_stays(fit: xr.DataTree) -> None:
    found = decide(fit, gain="ndcg_at_k", baseline="system_1", sure=0.999)
    assert found.chosen == "system_1"
    assert str(found).startswith("Keep system_1: no other system is better with probability 0.999")
    low = decide(fit, gain="ndcg_at_k", baseline="system_1", sure=0.5)
    other = decide(fit, gain="ndcg_at_k", baseline="system_2", sure=0.5)
    # Whoever is ahead is launched against the other, and stays where it is the baseline.
    assert low.chosen == other.chosen
    assert "Launch" in str(low) + str(other)
    assert "<table" in low._repr_html_()
    assert len(repr(low).splitlines()) == 1


def test_what_cannot_be_decided_is_refused(fit: xr.DataTree) -> None:
    with pytest.raises(ArgumentError, check=refusal("argument-number")):
        decide(fit, gain={"ndcg_at_k": 0.0}, baseline="system_1")
    with pytest.raises(ArgumentError, check=refusal("argument-number")):
        decide(fit, gain="ndcg_at_k", baseline="system_1", guardrails={GUARD: -0.01})
    for sure in (0.49, 1.0):
        with pytest.raises(ArgumentError, check=refusal("argument-number")):
            decide(fit, gain="ndcg_at_k", baseline="system_1", sure=sure)
    with pytest.raises(UnknownNameError, check=refusal("unknown-system")):
        decide(fit, gain="ndcg_at_k", baseline="system_9")
    with pytest.raises(UnknownNameError, check=refusal("unknown-metric")):
        decide(fit, gain="ndcg", baseline="system_1")


def test_a_metric_without_a_direction_is_no_gain() -> None:
    ratings = assay.simulate("single", n_items=40, n_systems=2, n_clusters=20, rng=1)
    tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    name = next(iter(assay.metrics(tree).data_vars))
    with pytest.raises(ArgumentError, check=refusal("metric-direction")):
        decide(tree, gain=str(name), baseline="system_1")


def test_the_direction_that_a_message_advises_makes_a_gain(tmp_path) -> None:
    classes = ["rude", "plain", "kind"]
    made = assay.simulate("single", n_items=60, n_systems=2, classes=classes, rng=1)
    table = made.to_frame().assign(system=made.panels["system"].to_numpy()[made.item])
    file, task, name = (
        tmp_path / "own.toml",
        'labels = [{name = "label"%s}]',
        "prevalence[label=kind]",
    )

    def tree(better: str = "") -> xr.DataTree:
        file.write_text(task % f", classes = []{better}", encoding="utf-8")
        ratings = assay.read_ratings(table, task=file)
        return assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)

    with pytest.raises(ArgumentError, check=refusal("metric-direction")) as caught:
        decide(tree(), gain=name, baseline="system_1")
    advised = re.search("`(better = [^`]*)`", str(caught.value))
    assert advised is not None
    assert decide(tree(f", {advised[1]}"), gain=name, baseline="system_1").verdict


def test_the_command_says_what_to_launch(fit: xr.DataTree, tmp_path) -> None:
    assay.save(fit, tmp_path / "fit.nc")
    typed = ["decide", str(tmp_path / "fit.nc"), "--baseline", "system_1", "--gain", "ndcg_at_k=2",
             "--gain", "topical_precision_at_k", "--guard", f"{GUARD}=0.01"]  # fmt: skip
    done = CliRunner().invoke(app, typed, env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    verdict, caption, head, _, *lines, _ = done.stdout.splitlines()
    assert verdict == decide(
        fit, gain={"ndcg_at_k": 2, "topical_precision_at_k": 1}, baseline="system_1",
        guardrails={GUARD: 0.01},
    ).verdict  # fmt: skip
    assert caption.startswith("Launch: gain")
    assert re.split(r"  +", head.strip()) == [
        "System", "Gain over system_1", "P(better)", "P(guardrail 1)", "P(all)", "Expected loss"
    ]  # fmt: skip
    assert {line.split()[0] for line in lines} == {"system_1", "system_2"}
    for name in ("ndcg_at_k", "topical_precision_at_k", GUARD):
        assert done.stdout.count(f"({name})") == 1
    done = CliRunner().invoke(app, [*typed[:-1], GUARD])
    assert done.exit_code == 2


def test_the_table_has_the_numbers_of_the_decision(fit: xr.DataTree) -> None:
    every = dict.fromkeys((GUARD, "sufficiency_rate_at_k", "sufficiency_hit_at_k"), 0.02)
    found = decide(fit, gain="ndcg_at_k", baseline="system_1", guardrails=every)
    table = decision_table(found)
    assert len(table.columns) == 8
    lines = {row.cells[0]: row.cells for row in table.rows}
    numbers = found.table.set_index("system").loc["system_2"]
    assert lines["system_1"][1:-1] == ("",) * 6
    assert lines["system_2"][-2] == chance_cell(numbers["p_all"])
    for name, cells in lines.items():
        loss = found.table.set_index("system").loc[name, "expected_loss"]
        assert cells[-1] == f"{loss:.3f}"
    assert table.frame is found.table
    many = decide(
        fit, gain="ndcg_at_k", baseline="system_1",
        guardrails=every | {"topical_precision_at_k": 0.02},
    )  # fmt: skip
    assert "P(guardrails)" in decision_table(many).columns
    assert len(decision_table(many).columns) == 6
    doubted = replace(found, table=found.table.assign(doubt=["", "labels are in doubt"]))
    assert decision_table(doubted).marks == {"labels are in doubt": "*"}


def test_nothing_is_decided_where_every_draw_is_undefined() -> None:
    values = np.array([[0.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(ArgumentError, check=refusal("decision-undefined")):
        _table({"a": values}, ["old", "new"], "old", {"a": 1.0}, {}, 0.95)
