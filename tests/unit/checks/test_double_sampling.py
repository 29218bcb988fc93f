"""check proposes a bias by system where one instrument rated all, and the others a sample."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import FitWarning
from assay.checks import Check, Finding, check
from assay.checks.double_sampling import (
    MEASURED,
    PLAIN,
    SCORES,
    TOPIC,
    double_sampling,
)
from assay.cli.arguments import in_options
from assay.data.ratings import Ratings
from assay.display.notes import doubts
from assay.inference.diagnostics import fit_warnings
from assay.inference.fit import fit
from assay.io import read_ratings

SIZE = 60
SYSTEMS = ("one", "two")
WHOLE = {"judge": 1.0, "p1": 0.3, "p2": 0.3}
GROUPS = {"judge": "llm", "judge2": "llm2", "p1": "people", "p2": "people"}


RECIPE = f"{PLAIN} + system_bias"


def study(
    shares: dict[str, float] = WHOLE, *, group: bool = True, systems: tuple[str, ...] = SYSTEMS
) -> pd.DataFrame:
    """Each rater rates the first share of each system's items."""
    rng = np.random.default_rng(3)
    lines = [
        (f"{system}/{n}", n, system, rater, rng.choice(["x", "y"]))
        for rater, share in shares.items()
        for system in systems
        for n in range(int(share * SIZE))
    ]
    table = pd.DataFrame(lines, columns=["item", "query", "system", "rater", "label"])
    return table.assign(group=table["rater"].map(GROUPS)) if group else table


def read(table: pd.DataFrame, **options: object) -> Ratings:
    return read_ratings(table, task="single", cluster="query", system="system", **options)  # type: ignore[arg-type]


def said(report: Check) -> list[Finding]:
    return [finding for finding in report.findings if finding.topic == TOPIC]


@pytest.mark.parametrize("answers", [False, True])
def test_a_judge_that_gives_scores_is_an_instrument_too(answers: bool) -> None:
    table = study()
    judged = table["rater"] == "judge"
    table["score"] = np.where(judged, np.where(table["label"] == "y", 0.9, 0.2), np.nan)
    if not answers:
        table.loc[judged, "label"] = None
    (found,) = said(check(read(table, score="score")))
    assert found.code == "double-sampling"
    assert "one, two were rated by llm" in found.text
    assert (SCORES in found.text) == (not answers)


def test_a_fit_with_one_error_rate_for_both_systems_warns() -> None:
    ratings, effort = read(study()), {"method": "map", "draws": 5, "chains": 1, "starts": 1}
    with pytest.warns(FitWarning):
        plain = fit(ratings, **effort)  # type: ignore[arg-type]
    (turned,) = (note for note in doubts(plain) if note.code == "double-sampling")
    assert f'"llm": "{RECIPE}"' in turned
    raters = {"llm": RECIPE, "people": PLAIN}
    with pytest.warns(FitWarning, match=r"\[double-sampling\]$"):  # held in 2 of 20 samples
        fit(ratings, raters=raters, **effort)  # type: ignore[arg-type]
    mended = fit(ratings, raters=raters, prevalence="dirichlet", **effort)  # type: ignore[arg-type]
    assert "double-sampling" not in [note.code for note in fit_warnings(mended)]


def test_a_judge_of_everything_beside_a_sample_gets_the_layer_proposed() -> None:
    report = check(read(study()))
    (finding,) = said(report)
    assert finding.level == "warning"
    assert finding.code == "double-sampling"
    assert "one, two were rated by llm" in finding.text
    assert "(18 of 60 of one, 18 of 60 of two)" in finding.text
    assert f'raters={{"llm": "{RECIPE}", "people": "{PLAIN}"}}' in finding.text
    assert 'prevalence="dirichlet"' in finding.text
    assert report.tables["double_sampling"].to_dict("list") == {
        "system": ["one", "two"], "items": [60, 60], "sample": [18, 18],
    }  # fmt: skip


def test_the_measured_numbers_are_those_of_the_published_study() -> None:
    folder = Path(__file__).parents[3] / "benchmarks/dependence/results/sign_that_turns"
    table = pd.read_csv(folder / "summary.csv").query("of == 'answers' and estimand == 'finite'")
    line = table.set_index("approach")
    assert set(line["hundreds"]) == {20}
    told = re.findall(r"(\d+) of 20", MEASURED)
    assert list(map(int, told)) == [
        line.loc["default model", "judge_sign_real"],
        line.loc["bias by system, prompts linked", "holds"],
        line.loc["assay", "holds"],
    ]


def test_the_proposed_options_are_those_of_the_command() -> None:
    from assay.cli.fitting_options import Fitting

    (finding,) = said(check(read(study())))
    said_here = re.search(r"--raters .* --prevalence dirichlet", in_options(finding.text))
    assert said_here is not None
    words = shlex.split(said_here[0])
    raters = [text for option, text in pairwise(words) if option == "--raters"]
    assert Fitting(raters=raters)._families() == {"llm": RECIPE, "people": PLAIN}


def test_the_proposed_model_can_be_fitted() -> None:
    recipes = {"llm": RECIPE, "people": PLAIN}
    tree = fit(
        read(study()), raters=recipes, prevalence="dirichlet", method="map", draws=5, chains=1,
        starts=1, rng=1, progress=False,
    )  # fmt: skip
    assert {"system_bias_sd", "state_share"} <= {
        str(name).split(".")[-1] for name in tree["posterior"].data_vars
    }


@pytest.mark.parametrize(("share", "all_of_them"), [(0.97, True), (0.93, False)])
def test_a_few_lost_answers_are_no_sample(share: float, all_of_them: bool) -> None:
    panels = study({"judge": 1.0}).rename(columns={"query": "cluster"})
    table = study({"judge": share, "p1": 0.3}).drop(columns="system")
    ratings = read_ratings(table, task="single", panels=panels[["system", "cluster", "item"]])
    assert len(ratings.items) == 2 * SIZE
    assert (double_sampling(ratings) is not None) == all_of_them


def test_known_truth_is_a_sample_too() -> None:
    table = study({"judge": 1.0}, group=False)
    truth = table[table["query"] < 20][["item", "label"]]
    (finding,) = said(check(read(table, truth=truth)))
    assert (finding.code, finding.level) == ("double-sampling", "warning")
    assert finding.numbers == {
        "checked one": 20, "items one": 60, "checked two": 20, "items two": 60,
    }  # fmt: skip
    assert f'raters="{RECIPE}", prevalence="dirichlet"' in finding.text


def test_several_judges_get_the_layer_each() -> None:
    (finding,) = said(check(read(study(WHOLE | {"judge2": 1.0}))))
    assert f'"llm": "{RECIPE}", "people": "{PLAIN}"' not in finding.text
    assert f'"llm": "{RECIPE}", "llm2": "{RECIPE}", "people": "{PLAIN}"' in finding.text


def test_of_raters_without_groups_it_is_asked_what_they_are() -> None:
    (finding,) = said(check(read(study(group=False))))
    assert finding.level == "note"
    assert "If judge is " in finding.text
    assert "(`group=`)" in finding.text


def test_a_system_with_a_few_checked_items_is_named() -> None:
    table = study()
    rare = (table["rater"] != "judge") & (table["system"] == "two") & (table["query"] >= 4)
    both, few = said(check(read(table[~rare])))
    assert (both.code, few.code) == ("double-sampling", "double-sampling-few")
    assert few.numbers == {"systems": 1, "items": 10}
    assert "(two 4)" in few.text


def test_of_several_labels_the_price_of_the_prevalence_is_said() -> None:
    table = study().rename(columns={"label": "misleading"}).replace({"x": "yes", "y": "no"})
    ratings = read_ratings(table, task="retrieval", cluster="query", system="system")
    last = said(check(ratings))[-1]
    assert (last.code, last.numbers) == ("dirichlet-labels", {"labels": 3})


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(study({"judge": 1.0, "p1": 1.0, "p2": 0.5}), id="people rated all too"),
        pytest.param(study({"judge": 1.0, "p1": 0.9}), id="people rated nearly all"),
        pytest.param(study({"judge": 1.0, "judge2": 1.0}), id="two judges and nobody else"),
        pytest.param(study({"judge": 0.5, "p1": 0.3}).query("system == 'one'"), id="one system"),
        pytest.param(study({"judge": 1.0}), id="the judge alone"),
        pytest.param(study({"p1": 1.0, "p2": 1.0, "x": 0.2}, group=False), id="two of one group"),
        pytest.param(
            study(WHOLE).query("rater != 'judge' or system == 'one'"), id="the judge saw one system"
        ),
    ],
)
def test_other_designs_get_no_such_word(table: pd.DataFrame) -> None:
    assert said(check(read(table))) == []


def test_items_of_both_systems_have_no_bias() -> None:
    table = study(systems=("one",)).rename(columns={"query": "cluster"})
    panels = pd.concat([table.drop_duplicates("item").assign(system=name) for name in SYSTEMS])
    ratings = read_ratings(
        table.drop(columns=["system", "cluster"]), task="single",
        panels=panels[["system", "cluster", "item"]],
    )  # fmt: skip
    assert list(ratings.systems) == list(SYSTEMS)
    assert double_sampling(ratings) is None


@pytest.mark.slow
def test_the_study_of_a_sign_that_turns(shared_data: Path) -> None:
    table = pd.read_csv(shared_data / "xstest" / "annotations.csv")
    table = table[table["system"].isin(["gpt4", "mistralguard"])]
    table = table[table["rater"].isin(["gpt4_judge", "human_1", "human_2"])]
    table["group"] = np.where(table["rater"] == "gpt4_judge", "judge", "people")
    table["label"] = table["any_refusal"].astype(str)
    table = table[["item", "query", "system", "rater", "group", "label"]]
    assert said(check(read(table))) == []
    chosen = np.random.default_rng(1).choice(table["item"].unique(), 100, replace=False)
    kept = table[(table["group"] == "judge") | table["item"].isin(chosen)]
    (finding,) = said(check(read(kept)))
    assert f'"judge": "{RECIPE}", "people": "{PLAIN}"' in (finding.text)
