"""Page one is never surer than the fit: what may turn a comparison stands in the answer."""

import itertools
import re
import shlex
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pages import trusted

import assay
from assay.data.ratings import Ratings
from assay.reporting.answers import _best_of_many
from assay.reporting.front import _hedged
from assay.reporting.material import Material
from assay.reporting.page import Finding, Front
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
RUN = "assay run study.csv --item question --item system -o found"
PLAIN = "hierarchical + item_difficulty"
JUDGED: dict[str, Any] = {
    "raters": {"model": f"{PLAIN} + system_bias", "person": PLAIN},
    "prevalence": "dirichlet",
}


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
@pytest.mark.parametrize("good", ["", pytest.param("yes", marks=pytest.mark.slow)])
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
    if not good:  # the sign needs its metric
        assert said["How sure"].startswith("chatty minus formal in Share of correct = yes: ")
    assert said["Not known"].startswith(f"Whether the comparison is right: {why}.")
    assert re.match(r"Run the commands? in the box", said["What to do next"])
    assert "see the section" not in " ".join(front.cautions)
    assert "its sign can turn" in " ".join(front.cautions)
    last = front.command.splitlines()[-1]
    if typed:
        words = shlex.split(last)
        given = [b for a, b in itertools.pairwise(words) if a in ("--raters", "--prevalence")]
        assert given == [f"model={PLAIN} + system_bias", f"person={PLAIN}", "dirichlet"]
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
    assert "hierarchical + item_difficulty + system_bias" in front.command
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
