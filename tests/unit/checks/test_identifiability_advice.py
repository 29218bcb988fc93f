"""What check advises can be followed: each recipe and reference that it names builds a model."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.inference.assumptions import unread_scores
from assay.inference.data_counts import count_data
from assay.modelling.layers.reference import check_reference
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

ARGUMENT = re.compile(r"\b(raters|prevalence|reference|gold_chosen)=(\{[^}]*\}|'[^']*'|\"[^\"]*\")")


def rated(
    raters: dict[str, str],
    *,
    labels: tuple[Label, ...] = (Label(name="label", classes=("no", "yes")),),
    items: int = 60,
    share: dict[str, float] | None = None,
    systems: int = 1,
    known: int = 0,
    scored: tuple[str, ...] = (),
    scores_alone: bool = False,
) -> Ratings:
    """Ratings by raters of groups; some rate a share of the items, some give scores."""
    rng = np.random.default_rng(1)
    truth = {la.name: rng.integers(len(la.classes), size=items) for la in labels}
    lines = []
    for rater, group in raters.items():
        for i in np.flatnonzero(rng.random(items) < (share or {}).get(rater, 1.0)):
            line = {"item": f"i{i}", "rater": rater, "group": group, "system": f"s{i % systems}"}
            for la in labels:
                right = rng.random() < 0.8
                said = truth[la.name][i] if right else rng.integers(len(la.classes))
                gives = rater in scored and (la.ordered or len(la.classes) == 2)
                line[la.name] = "" if gives and scores_alone else la.classes[said]
                line[f"{la.name}_truth"] = la.classes[truth[la.name][i]] if i < known else ""
                line[f"{la.name}_score"] = (
                    rng.beta(2 + 2 * said, 2 + 2 * (len(la.classes) - 1 - said)) if gives else None
                )
            lines.append(line)
    names = [la.name for la in labels]
    able = [la.name for la in labels if la.ordered or len(la.classes) == 2]
    table = pd.DataFrame(lines).drop(columns=["system"] if systems == 1 else [])
    extra: dict[str, Any] = {"score": {n: f"{n}_score" for n in able}} if scored else {}
    if known:
        extra["truth"] = {n: f"{n}_truth" for n in names}
    return assay.read_ratings(
        table, task=Task(name="own", labels=labels), labels={n: n for n in names}, **extra
    )


GRADE = Label(name="grade", classes=("low", "mid", "high"), ordered=True)
TOPIC = Label(name="topic", classes=("arts", "law", "sports"))
BINARY = Label(name="label", classes=("no", "yes"))
PEOPLE = {"ann": "people", "bob": "people", "cy": "people"}
JUDGE = {"judge": "models", **PEOPLE}
SAMPLE = {"ann": 0.3, "bob": 0.3, "cy": 0.3}
THREE = {f"{group}{n}": group for group in ("gold", "groups", "crowd") for n in range(2)}

STUDIES: dict[str, Callable[[], Ratings]] = {
    "an order": lambda: rated(PEOPLE, labels=(GRADE, BINARY)),
    "an order beside none": lambda: rated(PEOPLE, labels=(GRADE, TOPIC)),
    "scores": lambda: rated(JUDGE, scored=("judge",)),
    "scores of all": lambda: rated(PEOPLE, scored=tuple(PEOPLE), scores_alone=True),
    "scores of ordered classes": lambda: rated(JUDGE, labels=(GRADE,), scored=("judge",)),
    "scores beside no order": lambda: rated(JUDGE, labels=(GRADE, TOPIC), scored=("judge",)),
    "a judge": lambda: rated(JUDGE, systems=2, share=SAMPLE),
    "a judge of several labels": lambda: rated(
        JUDGE, labels=(BINARY, TOPIC), systems=2, share=SAMPLE
    ),
    "a judge who gives scores": lambda: rated(
        JUDGE, systems=2, share=SAMPLE, scored=("judge",), scores_alone=True
    ),
    "a judge beside the truth": lambda: rated({"judge": "models"}, systems=2, known=20),
    "slots": lambda: rated({f"rater_{n}": "all" for n in range(3)}),
    "some truth": lambda: rated(PEOPLE, known=12),
    "more truth": lambda: rated(PEOPLE, known=40),
    "models of a family": lambda: rated({"gpt-4": "m", "gpt-4o": "m", "claude-3": "m"}),
    "two groups": lambda: rated({"m1": "models", "m2": "models", **PEOPLE}),
    "three groups": lambda: rated(
        {f"{group}{n}": group for group in ("a", "b", "c") for n in range(2)}
    ),
    "groups of odd names": lambda: rated(THREE),
}


def advised(texts: list[str]) -> list[dict[str, Any]]:
    """The calls that sentences advise: references one by one, a recipe with its prevalence."""
    found: list[dict[str, Any]] = []
    for text in texts:
        told = ARGUMENT.findall(text)
        arguments = [(name, json.loads(value.replace("'", '"'))) for name, value in told]
        model = {name: value for name, value in arguments if name in ("raters", "prevalence")}
        found += [model] if model else []
        chosen = {name: value for name, value in arguments if name == "gold_chosen"}
        for name, value in arguments:
            if name == "reference":
                found.append({name: value, **(chosen if value == "gold" else {})})
    return found


@pytest.mark.parametrize("study", STUDIES)
def test_what_check_advises_can_be_followed(study: str) -> None:
    ratings = STUDIES[study]()
    for call in advised([finding.text for finding in assay.check(ratings).findings]):
        spec = make_spec(
            call.get("raters", "hierarchical"),
            call.get("prevalence", "loglinear"),
            call.get("reference"),
            gold_chosen=call.get("gold_chosen", "random"),
        )
        check_reference(ratings, spec.reference)
        assert build_structure(ratings, spec).parts, call


@pytest.mark.parametrize(
    ("study", "calls"),
    [
        ("an order", [{"raters": "ordinal"}]),
        ("an order beside none", []),
        ("scores", [{"raters": {"models": "scored", "people": "hierarchical"}}]),
        ("scores beside no order", [{"raters": "hierarchical"}]),
        ("slots", [{"raters": "pooled"}]),
        ("some truth", []),
        ("more truth", [{"reference": "gold"}]),
        ("two groups", [{"reference": "models"}, {"reference": "people"}]),
    ],
)
def test_the_advice_is_there_where_it_can_be_followed(
    study: str, calls: list[dict[str, Any]]
) -> None:
    said = advised([finding.text for finding in assay.check(STUDIES[study]()).findings])
    assert [call for call in said if call in calls] == calls
    assert calls or not said


@pytest.mark.parametrize("named", [BINARY, TOPIC], ids=["binary", "no order"])
def test_a_fit_names_the_family_of_scores_only_where_it_takes_them(named: Label) -> None:
    """Two judges of one group: one gives scores alone, the other answers a label besides."""
    ratings = rated({"j": "models", "k": "models"}, labels=(GRADE, named), scored=("j",))
    alone = ratings.rater == 0
    ratings = replace(ratings, answers=np.where(alone[:, None], MISSING, ratings.answers))
    structure = build_structure(ratings, make_spec("hierarchical"))
    (said,) = unread_scores(structure, count_data(ratings, structure.parts, ratings.systems))
    assert bool(advised([said])) == (named is BINARY)


def test_a_judge_among_raters_of_one_group_gets_the_groups_that_the_advice_names() -> None:
    ratings = rated(dict.fromkeys(JUDGE, "all"), systems=2, share=SAMPLE)
    said = [f.text for f in assay.check(ratings).findings if f.topic == "bias by system"]
    (call,) = advised(said)
    assert "give it a rater group of its own (`group=`)" in said[0]
    groups = np.where(ratings.raters.index == "judge", "judge", "others")
    ratings = replace(ratings, raters=ratings.raters.assign(group=groups))
    assert build_structure(ratings, make_spec(call["raters"], call["prevalence"])).parts
