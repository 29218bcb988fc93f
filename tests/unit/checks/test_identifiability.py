"""What check says of small data and of known truth holds together; its advice can be followed."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks import Finding
from assay.checks.findings import Check
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.inference.assumptions import unread_scores
from assay.inference.data_counts import count_data
from assay.io import read_ratings
from assay.modelling.layers.reference import check_reference
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from assay.reporting.data import data_section
from assay.reporting.material import Material
from assay.reporting.metrics import metrics_section


def rated(times: dict[int, int], n_raters: int = 3, classes: str = "ab") -> list[Finding]:
    """Check so many items, by how many raters rate each; nearly all answers are right."""
    rng = np.random.default_rng(8)
    lines = []
    for item, count in enumerate(np.repeat(list(times), list(times.values()))):
        truth = item % len(classes)
        for rater in rng.permutation(n_raters)[:count]:
            said = truth if rng.random() < 0.9 else rng.integers(len(classes))
            lines.append((f"i{item}", f"rater {rater}", classes[said]))
    table = pd.DataFrame(lines, columns=["item", "rater", "label"])
    return list(assay.check(assay.read_ratings(table, task="single")).findings)


def about_reliability(found: list[Finding]) -> Finding:
    (finding,) = [
        f
        for f in found
        if f.code in ("learnable-reliability", "reliability-from-prior", "agreement-alone")
    ]
    return finding


def leaning(found: list[Finding]) -> str:
    return "\n".join(f.text for f in found if f.topic == "dependence on the prior")


@pytest.mark.parametrize("times", [{3: 10}, {2: 10}, {1: 30}, {1: 30, 3: 10}, {1: 30, 2: 1}])
@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_little_is_never_said_to_be_enough(times: dict[int, int], classes: str) -> None:
    found = rated(times, classes=classes)
    said = about_reliability(found)
    assert said.level == "warning"
    assert said.leans
    assert said.code == "reliability-from-prior"
    assert "no-prior-leaning" not in [f.code for f in found]


@pytest.mark.parametrize("once", [0, 5])
def test_items_with_one_rater_do_not_take_from_what_others_tell(once: int) -> None:
    said = about_reliability(rated({3: 60, 1: once}))
    assert said.level == "note"
    assert not said.leans
    assert said.code == "learnable-reliability"
    assert said.numbers == pytest.approx({"items": 60, "spread": 0.03873}, rel=1e-3)
    assert said.text.endswith("from shared items")


def test_how_well_a_reliability_can_be_known_is_its_sd() -> None:
    right = np.random.default_rng(9).random((20_000, 60)) < 0.9
    assert right.mean(axis=1).std() == pytest.approx(0.04, abs=0.005)


def test_many_items_of_few_of_each_class_are_little() -> None:
    found = rated({3: 100}, classes="abcdefgh")
    said = about_reliability(found)
    assert (said.code, said.numbers) == ("reliability-from-prior", {"items": 100})
    assert said.leans


def test_a_seldom_class_is_left_out_of_what_can_be_learned() -> None:
    found = rated({3: 120}, classes="a" * 9 + "b")
    assert "b on about" in leaning(found)
    assert about_reliability(found).text.endswith(
        ", except for the classes that depend on the prior"
    )
    assert about_reliability(rated({3: 120})).text.endswith("from shared items")


def test_of_a_crowd_the_mean_alone_is_learned() -> None:
    found = rated({3: 120}, n_raters=90)
    (few,) = (f for f in found if f.code == "few-shared-items")
    assert (few.numbers["of"], few.numbers["items"]) == (90, 10)
    said = about_reliability(found)
    assert said.code == "learnable-reliability"
    assert "mean reliability" in said.text


@pytest.mark.parametrize(("triples", "how"), [(0, "not"), (2, "hardly")])
def test_pairs_tell_which_way_raters_err_neither_here_nor_there(triples: int, how: str) -> None:
    found = rated({2: 98, 3: triples}, n_raters=5)
    (pairs,) = (f for f in found if f.code == "two-ratings-items")
    assert pairs.numbers == {"items": 98, "settled": triples, "wanted": 20 - triples}
    said = about_reliability(found)
    assert (said.code, said.numbers) == ("agreement-alone", {"items": 98 + triples})
    assert said.text.endswith(f"but {how} the direction of errors")


def test_more_items_than_there_are_are_asked_for_in_words() -> None:
    assert "for at least 20 such items (there are 10)" in leaning(rated({2: 10}))
    assert "for at least 20 such items (there is 1)" in leaning(rated({2: 1, 1: 9}))


@pytest.mark.parametrize(("column", "word"), [("system", "systems"), ("stratum", "strata")])
def test_pairs_of_two_populations_tell_as_far_as_these_differ(column: str, word: str) -> None:
    """Hui and Walter's design: what two raters an item leave open, the populations tell."""
    rows = [(n, r, "ab"[n % 2], "AB"[n % 3 == 0]) for n in range(80) for r in "xy"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", column])
    found = list(assay.check(assay.read_ratings(table, task="single")).findings)
    assert f"and on differences between {word}" in leaning(found)
    said = about_reliability(found).text
    assert said.endswith(f"; differences between {word} inform the direction of errors")


ARGUMENT = re.compile(r"\b(raters|prevalence|reference|gold_chosen)=(\{[^}]*\}|'[^']*'|\"[^\"]*\")")


def rated_by(
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
    "an order": lambda: rated_by(PEOPLE, labels=(GRADE, BINARY)),
    "an order beside none": lambda: rated_by(PEOPLE, labels=(GRADE, TOPIC)),
    "scores": lambda: rated_by(JUDGE, scored=("judge",)),
    "scores of all": lambda: rated_by(PEOPLE, scored=tuple(PEOPLE), scores_alone=True),
    "scores of ordered classes": lambda: rated_by(JUDGE, labels=(GRADE,), scored=("judge",)),
    "scores beside no order": lambda: rated_by(JUDGE, labels=(GRADE, TOPIC), scored=("judge",)),
    "a judge": lambda: rated_by(JUDGE, systems=2, share=SAMPLE),
    "a judge of several labels": lambda: rated_by(
        JUDGE, labels=(BINARY, TOPIC), systems=2, share=SAMPLE
    ),
    "a judge who gives scores": lambda: rated_by(
        JUDGE, systems=2, share=SAMPLE, scored=("judge",), scores_alone=True
    ),
    "a judge beside the truth": lambda: rated_by({"judge": "models"}, systems=2, known=20),
    "slots": lambda: rated_by({f"rater_{n}": "all" for n in range(3)}),
    "some truth": lambda: rated_by(PEOPLE, known=12),
    "more truth": lambda: rated_by(PEOPLE, known=40),
    "models of a family": lambda: rated_by({"gpt-4": "m", "gpt-4o": "m", "claude-3": "m"}),
    "two groups": lambda: rated_by({"m1": "models", "m2": "models", **PEOPLE}),
    "three groups": lambda: rated_by(
        {f"{group}{n}": group for group in ("a", "b", "c") for n in range(2)}
    ),
    "groups of odd names": lambda: rated_by(THREE),
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
    ratings = rated_by({"j": "models", "k": "models"}, labels=(GRADE, named), scored=("j",))
    alone = ratings.rater == 0
    ratings = replace(ratings, answers=np.where(alone[:, None], MISSING, ratings.answers))
    structure = build_structure(ratings, make_spec("hierarchical"))
    (said,) = unread_scores(structure, count_data(ratings, structure.parts, ratings.systems))
    assert bool(advised([said])) == (named is BINARY)


def test_a_judge_among_raters_of_one_group_gets_the_groups_that_the_advice_names() -> None:
    ratings = rated_by(dict.fromkeys(JUDGE, "all"), systems=2, share=SAMPLE)
    said = [f.text for f in assay.check(ratings).findings if f.topic == "bias by system"]
    (call,) = advised(said)
    assert "give it a rater group of its own (`group=`)" in said[0]
    groups = np.where(ratings.raters.index == "judge", "judge", "others")
    ratings = replace(ratings, raters=ratings.raters.assign(group=groups))
    assert build_structure(ratings, make_spec(call["raters"], call["prevalence"])).parts


SIZE = 120


def once(*, raters: int, known: int) -> pd.DataFrame:
    """Each item has one rating; the truth of the first items is known."""
    rng = np.random.default_rng(4)
    truth = rng.random(SIZE) < 0.4
    said = np.where(rng.random(SIZE) < 0.85, truth, ~truth)
    return pd.DataFrame(
        {
            "item": np.arange(SIZE),
            "rater": [f"judge {n % raters}" for n in range(SIZE)],
            "label": np.where(said, "yes", "no"),
            "gold": np.where(np.arange(SIZE) < known, np.where(truth, "yes", "no"), ""),
        }
    )


def checked(*, raters: int, known: int) -> Check:
    return assay.check(read_ratings(once(raters=raters, known=known), task="single", truth="gold"))


def codes(report: Check) -> set[str]:
    return {f.code for f in report.findings}


def numbers(report: Check, code: str) -> dict[str, float]:
    """Return the numbers of the one finding of a code."""
    (found,) = (f for f in report.findings if f.code == code)
    return dict(found.numbers)


@pytest.mark.parametrize("raters", [1, 3])
def test_known_truth_tells_errors_where_no_item_has_two_raters(raters: int) -> None:
    report = checked(raters=raters, known=100)
    assert not report.at_least("problem")
    told = numbers(report, "errors-from-known-truth")
    assert told == {"items": 0, "of": SIZE, "known": 100}
    assert numbers(report, "learnable-reliability")["items"] == 100
    assert ("connected-raters" if raters > 1 else "one-rater-known-truth") in codes(report)


def test_little_known_truth_tells_little() -> None:
    report = checked(raters=3, known=5)
    assert numbers(report, "reliability-from-prior") == {"items": 5, "wanted": 100}
    assert numbers(report, "single-rating-items")["telling"] == 5
    assert "learnable-reliability" not in codes(report)


@pytest.mark.parametrize("size", [300, 3000])
def test_how_many_items_tell_counts_and_not_their_share(size: int) -> None:
    rows = [(n, r) for n in range(size) for r in ("ab" if n < 110 else "a")]
    table = pd.DataFrame(rows, columns=["item", "rater"]).assign(label="no")
    table.loc[table["item"] % 3 == 0, "label"] = "yes"
    report = assay.check(read_ratings(table, task="single"))
    assert "reliability-from-prior" not in codes(report)
    assert numbers(report, "agreement-alone") == {"items": 110}


def test_without_it_nothing_tells_errors() -> None:
    table = once(raters=3, known=0).drop(columns="gold")
    report = assay.check(read_ratings(table, task="single"))
    (problem,) = report.at_least("problem")
    assert (problem.code, problem.numbers) == ("no-shared-items", {"items": 0, "of": SIZE})
    assert numbers(report, "unconnected-raters")["parts"] == 3
    assert "near-duplicates-untold" in codes(report)
    assert "no-near-duplicates" not in codes(report)
    assert numbers(report, "single-rating-items") == {"items": SIZE, "of": SIZE, "share": 1}


def test_one_is_singular() -> None:
    table = once(raters=1, known=0).assign(item=1, rater="one").iloc[:1]
    report = assay.check(read_ratings(table, task="relevance", labels="label"))
    said = "\n".join(f.text for f in report.findings)
    assert "1 rater in one group" in said
    assert "1 cluster (each item is its own)" in said
    assert "no-near-duplicates" not in codes(report)


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_report_says_first_what_the_data_cannot_tell() -> None:
    table = once(raters=3, known=0).drop(columns="gold")
    ratings = read_ratings(table, task="single")
    material = Material(fit=assay.fit(ratings, method="map", draws=50, chains=1, rng=1))
    (finding,) = data_section(material).findings
    assert finding.code == "no-shared-items"
    assert finding.text.startswith("0 of 120 items ")
    assert finding.weight > 90
    assert metrics_section(material).findings == ()
