"""Page one is never surer than the fit: what may turn a comparison stands in the answer."""

import itertools
import json
import re
import shlex
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.checks.departures.report import MEANINGS
from assay.comparison.claim_tests import Deciding
from assay.data.ratings import Ratings
from assay.reporting.advice import _deciding, next_step, not_known
from assay.reporting.answers import _best_of_many
from assay.reporting.data import data_section
from assay.reporting.front import _hedged
from assay.reporting.material import Material
from assay.reporting.misfits import misfit_section
from assay.reporting.page import Bullets, Finding, Front
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
QUICK: dict[str, Any] = {"method": "laplace", "draws": 100, "chains": 2, "starts": 1, "rng": 1}
RUN = "assay run study.csv --item question --item system -o found"
JUDGED: dict[str, Any] = {
    "raters": {"model": "hierarchical + system_bias", "person": "hierarchical"},
    "prevalence": "dirichlet",
}


def trusted(ratings: Ratings, **model: Any) -> xr.DataTree:
    """Fit quickly, without the warnings that the approximation is rough."""
    fit = assay.fit(ratings, **QUICK, **model)
    notes = [one for one in json.loads(fit.attrs["warnings"]) if "laplace" not in one["code"]]
    fit.attrs = {**fit.attrs, "warnings": json.dumps(notes)}
    return fit


def directed(ratings: Ratings, good: str) -> Ratings:
    label = replace(ratings.task.labels[0], better=good)
    return replace(ratings, task=replace(ratings.task, labels=(label,)))


def front_of(fit: xr.DataTree, **more: Any) -> Front:
    front = make_page(Material(fit=fit, budget=False, short=True, **more)).front
    assert front is not None
    return front


def judged(seed: int, *, people: bool) -> Ratings:
    """Read ratings by one judge, and a sample by people, or with known truth."""
    rng = np.random.default_rng(seed)
    rows = []
    for n, system in itertools.product(range(80), ("new", "old")):
        right = rng.random() < 0.6
        said = right or rng.random() < (0.6 if system == "new" else 0.1)
        row = {"q": f"q{n}", "system": system, "truth": None, "group": "llm"}
        rows.append(row | {"rater": "judge", "ok": ("no", "yes")[said]})
        if n < 20 and people:
            rows += [
                row | {"rater": name, "group": "human", "ok": ("no", "yes")[right]}
                for name in ("x", "y")
            ]
        elif n < 20:
            rows[-1]["truth"] = ("no", "yes")[right]
    table = pd.DataFrame(rows)
    if people:
        return assay.read_ratings(table.drop(columns="truth"), item=["q", "system"])
    told = table.drop(columns="group").rename(columns={"truth": "gold"})
    return assay.read_ratings(told, item=["q", "system"], labels="ok", truth={"ok": "gold"})


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("good", ["", "yes"])
def test_double_sampling_hedges_the_answer_and_the_box_has_its_remedy(
    typed: bool, good: str
) -> None:
    fit = trusted(directed(assay.load_example("judge_study"), good))
    fit.attrs = {**fit.attrs, "command": RUN * typed}
    front = front_of(fit)
    said = dict(front.sentences)
    why = "the error rate of model may differ by system"
    assert said["Answer"].endswith(f"This is not certain because {why}.")
    assert said["How sure"].endswith("leave this out.")
    assert said["Not known"].startswith(f"Whether the comparison is right: {why}.")
    assert re.match(r"Run the commands? in the box", said["What to do next"])
    assert "see the section" not in " ".join(front.cautions)
    assert "its sign can turn" in " ".join(front.cautions)
    last = front.command.splitlines()[-1]
    if typed:
        words = shlex.split(last)
        given = [b for a, b in itertools.pairwise(words) if a in ("--raters", "--prevalence")]
        assert given == ["model=hierarchical + system_bias", "person=hierarchical", "dirichlet"]
    else:
        assert f"raters={JUDGED['raters']!r}, prevalence='dirichlet'" in last
    claim = dict(front_of(fit, claims=("chatty > formal on prevalence[correct=yes]",)).sentences)
    assert claim["Answer"].endswith(f"This is not certain because {why}.")
    assert "cluster" not in claim["What to do next"]  # more of the same data would not tell


def test_the_fit_of_the_remedy_needs_no_hedge() -> None:
    fit = trusted(directed(assay.load_example("judge_study"), "yes"), **JUDGED)
    front = front_of(fit)
    assert "error rate" not in str(front.sentences)
    assert "system_bias" not in front.command


@pytest.mark.parametrize("people", [True, False])
def test_in_other_studies_of_one_judge_too(people: bool) -> None:
    ratings = judged(3, people=people)
    front = front_of(trusted(ratings, raters="hierarchical"))
    who = "llm" if people else "judge"
    assert f"the error rate of {who} may differ by system" in dict(front.sentences)["Answer"]
    assert "hierarchical + system_bias" in front.command
    assert "prevalence='dirichlet'" in front.command


def test_an_answer_that_names_no_system_or_has_a_reason_gets_no_other_reason() -> None:
    doubt = Finding(weight=1, text="", code="", hedge="it may turn")
    assert _hedged("A leads.", "P = 0.9.", [doubt]) == (
        "A leads. This is not certain because it may turn.",
        "P = 0.9. Intervals and probabilities leave this out.",
    )
    for text in (
        "No system can be called best because of B.",
        "A leads. This lead is not certain because of B.",
    ):
        assert _hedged(text, "P.", [doubt]) == (text, "P.")
    assert _hedged("A leads.", "P.", []) == ("A leads.", "P.")


def test_the_expected_loss_is_not_called_the_loss_if_another_system_is_best() -> None:
    """The mean of a loss over all draws is less than that over draws in which there is one."""
    draws = np.r_[np.zeros(87), np.full(13, 0.0235)]
    ranked = pd.DataFrame(
        {"metric": "m", "system": ["a", "b"], "expected_loss": [draws.mean(), 0.2],
         "p_best": [0.87, 0.13]}
    )  # fmt: skip
    material: Any = SimpleNamespace(titles={"m": "M"}, level=0.95)
    _, sure = _best_of_many(material, ranked)
    assert "if it is not" not in sure
    assert sure.endswith("choosing it loses 0.003 on average, counted as 0 where it is best.")


@pytest.fixture(scope="module")
def systems() -> xr.DataTree:
    ratings = assay.simulate(
        "single", n_items=80, n_systems=2, n_raters=3, classes=["no", "yes"], rng=2
    )
    return trusted(ratings)


def with_misfit(fit: xr.DataTree, *lines: tuple[str, str]) -> Material:
    """Return material whose model does not reproduce some features."""
    material = Material(fit=fit, budget=False, short=True)
    label = fit_label(material)
    table = pd.DataFrame(
        [
            {"check": check, "group": "", "label": label, "quantity": quantity, "observed": 9.0,
             "expected": 0.0, "lower": 0.0, "upper": 1.0, "tail": 0.001}
            for check, quantity in lines
        ]
    )  # fmt: skip
    material.__dict__["predictive"] = table
    return material


def fit_label(material: Material) -> str:
    return material.ratings.task.label_names[0]


def test_a_misfit_of_favoured_systems_hedges_the_comparison(systems: xr.DataTree) -> None:
    asked = MEANINGS["rater-by-system"].asked
    material = with_misfit(systems, ("independence", asked))
    front = make_page(material).front
    assert front is not None
    said = dict(front.sentences)
    assert "raters may favour a system, which the model does not reproduce" in said["Not known"]
    assert "raters may favour a system" in said["Answer"]
    # No part of the page says that there is no problem.
    texts = [t for b in data_section(material).blocks if isinstance(b, Bullets) for t in b.items]
    (told,) = [text for text in texts if "no test found" in text]
    assert f"But the fitted model does not reproduce {asked}" in told


@pytest.mark.parametrize(
    ("check", "quantity", "told"),
    [
        ("independence", MEANINGS["rater-by-cluster"].asked, "hether raters misread whole clu"),
        ("unanimity", "all say yes", "ow sure the labels are: raters agree otherwise"),
        ("answers", "no", "hether shares are right: raters give some answers otherwise"),
        ("repeats", "ann says the same again", "ow reliable raters are"),
    ],
)
def test_a_misfit_stands_under_not_known(
    systems: xr.DataTree, check: str, quantity: str, told: str
) -> None:
    material = with_misfit(systems, (check, quantity))
    findings = misfit_section(material).findings
    assert told in not_known(material, findings)
    assert told not in not_known(material)


def unnamed(*, named: bool, items: int = 15) -> Ratings:
    rng = np.random.default_rng(4)
    truth = rng.random(items) < 0.5
    rows = [
        (f"t{n}", "yes" if truth[n] == (rng.random() < 0.8) else "no")
        for n in range(items)
        for _ in range(5)
    ]
    table = pd.DataFrame(rows, columns=["item", "answer"])
    if named:
        return assay.read_ratings(table.assign(rater=[f"r{n % 5}" for n in range(len(rows))]))
    return assay.read_ratings(table)


def test_raters_without_names_are_not_ranked_and_no_more_truth_is_asked_than_there_is() -> None:
    fit = trusted(unnamed(named=False))
    assert assay.rater_standing(fit)["p_worse"].isna().all()
    page = make_page(Material(fit=fit, budget=False))
    assert page.front is not None
    said = dict(page.front.sentences)
    assert said["Weakest rater"].startswith("Unknown: the raters have no names")
    assert "15 items" in f"{said['What to do next']} {page.front.command_notes}"
    assert "30 items" not in f"{said['What to do next']} {page.front.command_notes}"
    assert page.front.picture is not None
    assert "5 raters without names" in page.front.picture.svg
    (standing,) = page.shown_tables["standing"].rows
    assert standing.cells[:2] == ("5 raters without names", "75")
    assert len(page.tables["standing"]) == 5  # files keep a line for each


def test_raters_of_one_pooled_recipe_are_not_ranked_either() -> None:
    fit = trusted(unnamed(named=True), raters="pooled")
    said = dict(front_of(fit).sentences)
    assert said["Weakest rater"].startswith("Unknown: the model has the same error rates for all")
    own = dict(front_of(trusted(unnamed(named=True))).sentences)
    assert "P(worse than the median" in own["Weakest rater"]


def study(clusters: int, ratings: int) -> Any:
    items = pd.DataFrame({"cluster": range(clusters)})
    return SimpleNamespace(
        ratings=SimpleNamespace(items=items, answers=np.zeros((ratings, 1))), verdicts=()
    )


def deciding(clusters: int | None, ratings: int | None) -> Deciding:
    return Deciding(verdict="supported", clusters=clusters, ratings_per_item=ratings, sentence="")


def test_data_out_of_reach_are_not_advised() -> None:
    given = study(150, 300)
    told = _deciding(given, deciding(838, None), "to tell A from B", "no amount")
    assert told == "collect about 840 more clusters (now 150), to tell A from B"
    assert _deciding(given, deciding(40_000, None), "", "no amount") == "no amount"
    assert _deciding(given, deciding(None, None), "", "no amount") == "no amount"
    told = _deciding(given, deciding(840, 3), "to tell", "no amount")
    assert told.startswith("collect about 3 more ratings of each item")


def test_an_open_comparison_says_which_data_would_decide_it(systems: xr.DataTree) -> None:
    material = Material(fit=systems)
    a, b = material.order
    metric = material.comparison.pairs["metric"].iloc[0]
    decides = assay.check_claim(systems, f"{a} > {b} on {metric}").would_decide
    assert decides is not None  # the sign is open
    text = next_step(material, [])
    assert f"to tell {a} from {b}" in text or f"between {a} and {b}" in text
    assert "narrower" not in text
