"""The zoo: generators, oracles, the runner, and the table."""

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.codes import FAMILIES
from assay.data.states import state_space
from assay.data.task_files import load_task
from assay.evaluation.known_labels import metrics_of_labels

zoo: Any = importlib.import_module("benchmarks.worlds.zoo")
zoo_table: Any = importlib.import_module("benchmarks.worlds.zoo_table")
measures: Any = importlib.import_module("benchmarks.worlds.zoo_worlds.measures")
study: Any = importlib.import_module("benchmarks.worlds.zoo_worlds.study")
naming: Any = importlib.import_module("benchmarks.worlds.zoo_worlds.naming")
ZOO: dict[str, Any] = importlib.import_module("benchmarks.worlds.zoo_worlds.catalogue").ZOO
FAULT_FREE = {"equal_raters", "unequal_raters"}


def small(name: str, clusters: int = 12) -> Any:
    """A world with few clusters."""
    return replace(ZOO[name], sizes=replace(ZOO[name].sizes, clusters=clusters))


def log_loss(p: np.ndarray, truth: np.ndarray) -> float:
    return float(-np.log(np.where(truth == 1, p, 1 - p)).mean())


def test_there_are_worlds_of_both_kinds_and_without_a_fault() -> None:
    assert len(ZOO) >= 22
    assert set(naming.NAMED_BY) == set(ZOO) - FAULT_FREE
    assert {world.knowable for world in ZOO.values()} == {True, False}


def test_the_codes_that_name_a_fault_are_codes_of_the_package() -> None:
    known = {code for family in FAMILIES for code in family.codes}
    assert known >= naming.NAMING


@pytest.mark.parametrize("name", ZOO)
def test_a_set_follows_from_its_seed_and_number(name: str) -> None:
    world = small(name)
    one, again, other = (zoo.draw_study(world, 3, number) for number in (0, 0, 1))
    pd.testing.assert_frame_equal(one.frame, again.frame)
    assert np.array_equal(one.truth, again.truth)
    assert not one.frame.equals(other.frame)


@pytest.mark.parametrize("name", ZOO)
def test_truth_obeys_the_rules_and_a_user_can_read_the_ratings(name: str) -> None:
    drawn = zoo.draw_study(small(name), 1, 0)
    ratings = zoo.read(drawn)
    assert len(ratings.answers) == len(drawn.frame)  # nothing set aside
    assert len(ratings.items) == len(drawn.truth)
    assert not drawn.frame.columns.str.contains("truth").any()
    assert list(drawn.population) == list(measures.METRICS[drawn.task])
    if drawn.task != "single":
        states = state_space(load_task(drawn.task)).states
        assert {tuple(t) for t in drawn.truth} <= {tuple(s) for s in np.asarray(states)}


@pytest.mark.parametrize("name", ZOO)
def test_the_oracle_is_sure_as_often_as_it_is_right_and_beats_the_vote(name: str) -> None:
    world, excess, gains = small(name, 30), [], []
    for number in range(8):
        drawn = zoo.draw_study(world, 11, number)
        p = np.clip(drawn.oracle.probability(), 1e-9, 1 - 1e-9)
        entropy = -(p * np.log(p) + (1 - p) * np.log(1 - p))
        excess.append(log_loss(p, drawn.truth) - entropy.mean())
        shares = (drawn.votes + 1) / (drawn.answers + 2)
        gains.append(log_loss(shares, drawn.truth) - log_loss(p, drawn.truth))
    assert np.mean(gains) > 0
    # The log loss of a true posterior is its entropy, up to chance.
    assert abs(np.mean(excess)) < 4 * np.std(excess, ddof=1) / np.sqrt(len(excess)) + 0.005


def test_the_oracle_is_the_sum_over_all_truths() -> None:
    """One cluster of two items by hand: integrate the ease, enumerate the labels."""
    sizes = study.Sizes(clusters=1, places=1)
    population = study.Population(base=(0.3,), difference=0.8, sd=1.2, pull=((1, 1, 0),))
    told = np.log(np.array([[0.2, 0.7], [0.6, 0.1]]))
    pair, none = np.arange(2), np.zeros(2, int)
    truth = np.zeros((1, 2, 1, 1), int)
    drawn = study.finished(population, sizes, truth, pair, none, none, told)
    at = np.linspace(-9, 9, 4001)
    weight = np.exp(-(at**2) / 2)
    yes = 1 / (1 + np.exp(-(np.array([0.7, -0.1])[:, None] + 1.2 * at)))
    joint = {
        (a, b): (
            weight
            * np.where(a, yes[0], 1 - yes[0]) * np.exp(told[0, a])
            * np.where(b, yes[1], 1 - yes[1]) * np.exp(told[1, b])
        ).sum()
        for a in (0, 1) for b in (0, 1)
    }  # fmt: skip
    total = sum(joint.values())
    expected = [(joint[1, 0] + joint[1, 1]) / total, (joint[0, 1] + joint[1, 1]) / total]
    assert drawn.oracle.probability().ravel() == pytest.approx(expected, abs=1e-4)
    draws = drawn.oracle.draws(20_000, np.random.default_rng(1))[..., 0]
    assert draws.mean(axis=0) == pytest.approx(expected, abs=0.02)
    assert draws.prod(axis=1).mean() == pytest.approx(joint[1, 1] / total, abs=0.02)


def test_the_metrics_are_those_of_the_package() -> None:
    for name in ("weak_raters", "halo", "anchored_on_rank"):
        drawn = zoo.draw_study(small(name), 2, 0)
        ratings = zoo.read(drawn)
        order = [drawn.item_places[item] for item in ratings.items.index]
        table = metrics_of_labels(drawn.truth[order], ratings, metric=list(drawn.population))
        known = table.set_index(["metric", "system"])["value"].unstack()
        for metric, (a, b) in measures.values(drawn.task, drawn.grid(drawn.truth)).items():
            assert known.loc[metric].to_list() == pytest.approx([a, b]), metric


def run_zoo(monkeypatch: pytest.MonkeyPatch, *options: object) -> None:
    monkeypatch.setattr(sys, "argv", ["zoo", *map(str, options)])
    zoo.main()


def test_what_is_there_is_not_run_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "zoo.csv"
    monkeypatch.setitem(ZOO, "weak_raters", small("weak_raters", 10))
    monkeypatch.setitem(ZOO, "halo", small("halo", 10))
    options = ("--worlds", "weak_raters", "--draws", 60, "--starts", 1, "--file", path)
    run_zoo(monkeypatch, *options, "--sets", 1, "--recipe", "hierarchical")
    first = path.read_text(encoding="utf-8")
    run_zoo(monkeypatch, *options, "--sets", 1, "--recipe", "hierarchical")
    assert path.read_text(encoding="utf-8") == first
    run_zoo(monkeypatch, *options, "--sets", 2, "--recipe", "hierarchical", "--recipe", "joint")
    assert path.read_text(encoding="utf-8").startswith(first)
    table = pd.read_csv(path)
    assert not table.duplicated([*zoo.KEY, "metric"]).any()
    assert table.groupby(["recipe", "set"]).ngroups == 4
    one = table[table["recipe"] == "hierarchical"]
    parts = ["lower", "value", "upper"]
    assert (one[[f"model_a_{p}" for p in parts]].diff(axis=1).iloc[:, 1:] >= 0).all().all()
    assert one["p_greater"].between(0, 1).all()
    refused = table[table["recipe"] == "joint"]
    assert refused["model_a_value"].isna().all()  # a recipe for several labels
    assert refused["codes"].str.startswith("refused:problem:").all()


def test_choices_after_a_recipe() -> None:
    assert zoo.choices("default") == {"raters": None}
    found = zoo.choices("hierarchical | prior.mean_binary=Normal(2, 0.4) | prevalence=dirichlet")
    assert found == {
        "raters": "hierarchical",
        "priors": {"mean_binary": "Normal(2, 0.4)"},
        "prevalence": "dirichlet",
    }
    assert re.match("hierarchical", zoo.full_name("default", ZOO["weak_raters"]))


def made_up(world: str, sets: int = 20, **columns: Any) -> pd.DataFrame:
    """Lines of a world in which all is right."""
    ends = {
        f"{name}_{part}_{kind}": value
        for name in ("model", "vote", "oracle")
        for part in ("a", "b", "d")
        for kind, value in {"lower": 0.1, "value": 0.2, "upper": 0.4}.items()
    }
    scores = {
        f"{n}_{s}": 0.5 for n in ("model", "vote", "oracle") for s in ("accuracy", "log_loss")
    }
    line = {
        "world": world, "seed": 1, "recipe": "x", "method": "laplace", "metric": "m",
        "truth_a": 0.3, "truth_b": 0.3, "truth_d": 0.3, "population_d": 0.1,
        **ends, **scores, "p_greater": 0.6, "seconds": 1.0, "codes": "",
    }  # fmt: skip
    return pd.DataFrame([line] * sets).assign(set=range(sets), **columns)


def test_the_table_has_the_coverage_of_a_made_up_file() -> None:
    truth = np.where(np.arange(20) < 2, 0.9, 0.3)
    codes = ["check:warning:unconnected-raters", *["check:note:unconnected-raters"] * 19]
    lines = made_up("separate_teams", truth_a=truth, truth_d=truth, codes=codes)
    row = zoo_table.summary(lines).iloc[0]
    assert row["coverage_value"] == pytest.approx(0.95)  # 2 of 40 values
    assert row["coverage_difference"] == pytest.approx(0.9)
    bounds = row[["coverage_difference_lower", "coverage_difference_upper"]].to_list()
    assert bounds == pytest.approx([0.683, 0.988], abs=5e-4)  # of 18 of 20
    assert (row["misses"], row["silent"]) == (4, 0.5)  # one of two sets with misses spoke
    assert row["width_value_by_vote"] == pytest.approx(1)
    assert row["rmse_value_by_vote_upper"] == pytest.approx(1)


def test_the_table_has_how_often_a_sure_sign_is_wrong() -> None:
    sure = np.array([0.99] * 10 + [0.01] * 5 + [0.5] * 5)
    population = np.array([0.1] * 8 + [0.0] * 2 + [0.1] * 5 + [0.0] * 5)
    row = zoo_table.summary(made_up("halo", p_greater=sure, population_d=population)).iloc[0]
    assert row["sure_differ"] == 13
    assert row["sure_wrong_sign"] == pytest.approx(5 / 13)
    assert row["sure_where_equal"] == pytest.approx(2 / 7)


def test_a_code_of_another_fault_is_a_false_alarm_where_there_is_none() -> None:
    codes = ["check:warning:unconnected-raters"] * 5 + ["fit:warning:laplace-rough"] * 15
    row = zoo_table.summary(made_up("unequal_raters", codes=codes)).iloc[0]
    assert (row["fault_free"], row["false_alarms"]) == (20, 0.25)
    assert np.isnan(row["silent"])


def test_a_recipe_may_leave_out_a_rater_and_name_who_copies_whom() -> None:
    drawn = zoo.draw_study(small("adjudicator_sees_votes"), 1, 0)
    assert "r5" in zoo.read(drawn).raters.index
    assert "r5" not in zoo.read(drawn, without="r5").raters.index
    assert zoo.choices("default | copies=r3:r1")["copies"] == {"r3": "r1"}
