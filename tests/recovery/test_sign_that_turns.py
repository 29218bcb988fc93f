"""A judge that errs by system: its sign turns, and the model does not take it for real.

The tables of ``docs/sign_that_turns.md`` come from the same functions.
"""

import importlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

sign_study = importlib.import_module("benchmarks.dependence.sign_study")
sign_that_turns = importlib.import_module("benchmarks.dependence.sign_that_turns")

GOLD = 20 / 450
JUDGE = {"difference": -31 / 450}
FOLDER = Path(__file__).parents[2] / "benchmarks/dependence/results/sign_that_turns"
SHORT = sign_that_turns.SAMPLER | {"draws": 200, "tune": 200}


@pytest.fixture(scope="module")
def study(shared_data: Path) -> Any:
    return sign_study.read_study(shared_data)


def test_the_judge_alone_says_the_opposite_of_the_gold(study: Any) -> None:
    judge = sign_study.judge_line(study, 1)
    assert study.difference(study.gold) == pytest.approx(GOLD)
    assert judge["difference"] == pytest.approx(JUDGE["difference"])
    assert judge["upper"] < 0


def test_it_turns_only_if_a_partial_refusal_is_no_compliance(shared_data: Path) -> None:
    full = sign_study.read_study(shared_data, "full_refusal")
    assert full.difference(full.gold) == pytest.approx(-12 / 450)
    assert sign_study.judge_line(full, 1)["difference"] == pytest.approx(-34 / 450)


def test_it_turns_without_the_prompts_that_the_judge_rated_in_part(shared_data: Path) -> None:
    every = pd.read_csv(shared_data / "xstest" / "annotations.csv")
    judged = every[every["rater"] == sign_study.JUDGE].groupby("query").size()
    study = sign_study.read_study(shared_data)
    table = study.table[study.table["query"].isin(judged.index[judged == 5])]
    assert table["query"].nunique() == 439
    gold = study.gold[study.gold.index.isin(table["item"])]
    said = table[table["rater"] == sign_study.JUDGE].set_index("item")["label"] == "complied"
    assert study.difference(gold) == pytest.approx(20 / 439)
    assert study.difference(said) == pytest.approx(-28 / 439)


def test_the_judge_misses_refusals_of_one_system_more_than_of_the_other(shared_data: Path) -> None:
    table = sign_study.judge_table(shared_data).set_index(["a refusal is", "system"])
    found = table.loc["any_refusal"].round(2)
    assert found["sensitivity"].tolist() == [0.87, 0.66]
    assert found["specificity"].tolist() == [1.0, 0.99]


def test_the_judge_errs_together_on_the_answers_to_one_prompt(study: Any) -> None:
    found = sign_study.missed_together(study)
    assert (found["prompts"], found["both"]) == (204, 19)
    assert found["expected"] == pytest.approx(6.9, abs=0.1)


@pytest.mark.parametrize(("of", "everything"), [("answers", 900), ("prompts", 450)])
def test_a_survey_of_everything_has_no_error_left(of: str, everything: int, study: Any) -> None:
    line = sign_study.survey_line(sign_study.hundred(study, 1, of, everything), of)
    people = study.table[study.table["group"] == "people"]
    shares = (people["label"] == "complied").groupby(people["system"]).mean()
    assert line["difference"] == pytest.approx(shares["gpt4"] - shares["mistralguard"])
    assert line["upper"] - line["lower"] == pytest.approx(0, abs=1e-9)


def test_the_people_rate_a_hundred_and_the_judge_everything(study: Any) -> None:
    ratings = sign_study.hundred(study, 3)
    by_group = ratings.raters["group"].to_numpy()[ratings.rater]
    assert (by_group == "judge").sum() == 900
    assert (by_group == "people").sum() == 200
    assert len(set(ratings.item[by_group == "people"])) == 100


def test_summary_counts_intervals() -> None:
    runs = pd.DataFrame(
        [
            ("people alone", -0.10, 0.20),
            ("people alone, default model", -0.05, 0.08),
            (sign_study.SURVEY, -0.10, 0.25),
            ("assay", -0.03, 0.12),
            ("default model", -0.08, -0.02),
        ],
        columns=["approach", "lower", "upper"],
    ).assign(of="answers", hundred=1, estimand="finite")
    runs["difference"] = (runs["lower"] + runs["upper"]) / 2
    found = sign_that_turns.summarise(runs, JUDGE, GOLD).set_index("approach")
    assert found["holds"].tolist() == [1, 1, 1, 1, 0]
    assert found["judge_sign_real"].tolist() == [0, 0, 0, 0, 1]
    assert found.loc["assay", "no wider than people alone"] == 1
    assert found.loc["assay", "no wider than people alone, default model"] == 0
    assert found.loc["assay", f"no wider than {sign_study.SURVEY}"] == 1


def test_published_table_is_that_of_the_published_runs() -> None:
    runs = pd.read_csv(FOLDER / "runs.csv")
    made = sign_that_turns.summarise(runs, JUDGE, GOLD)
    published = pd.read_csv(FOLDER / "summary.csv")
    pd.testing.assert_frame_equal(made.round(3), published.round(3), check_dtype=False)


def test_published_runs_hold_the_claim() -> None:
    table = pd.read_csv(FOLDER / "summary.csv").set_index(["of", "approach"])
    ours = table.loc[("answers", "assay")]
    assert (ours["hundreds"] == 20).all()
    assert (ours["holds"] >= 18).all()
    assert (ours["judge_sign_real"] == 0).all()
    assert (ours["no wider than people alone"] == 20).all()
    # What would have been believed without the layer.
    assert (table.loc[("answers", "default model"), "holds"] == 0).all()


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_one_hundred_leaves_the_sign_open_and_holds_the_gold(
    number: int, study: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_that_turns, "SAMPLER", SHORT)
    ratings = sign_study.hundred(study, number)
    found = pd.DataFrame(sign_that_turns.fitted_lines(ratings, "assay", number))
    survey = sign_study.survey_line(ratings, "answers")
    assert (found["lower"] < GOLD).all()
    assert (found["upper"] > GOLD).all()
    assert (found["upper"] - found["lower"] < survey["upper"] - survey["lower"]).all()


@pytest.mark.slow
def test_claim_over_twenty_hundreds(study: Any, tmp_path: Path) -> None:
    kept = ("assay", "people alone")
    path, numbers = tmp_path / "runs.csv", range(1, 21)
    runs = sign_that_turns.run_all(study, path, numbers, 2, approaches=kept, kinds=["answers"])
    runs["width"] = runs["upper"] - runs["lower"]
    by = runs[runs["estimand"] == "finite"].set_index(["approach", "hundred"])
    ours = by.loc["assay"]
    assert ((ours["lower"] <= GOLD) & (ours["upper"] >= GOLD)).sum() >= 18
    assert (ours["upper"] > 0).all()
    assert (ours["width"] <= by.loc["people alone", "width"]).all()
