"""Arguments of a wrong kind end in words, whatever function they are given to."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import ArgumentError, AssayError, FitError, ModelError
from assay._util.validation import (
    argument,
    cut,
    names_given,
    numbers_given,
    path_given,
    require_choice,
    require_count,
    require_draws,
    written,
)

WRONG = {
    "text": "95",
    "negative": -1,
    "fraction": 3.7,
    "not a number": float("nan"),
    "list": ["x"],
    "numbers": [1, 2],
    "mapping": {"a": 1},
    "path": Path("x"),
    "object": object(),
    "array": np.arange(3),
    "frame": pd.DataFrame({"a": [1]}),
    "dataset": xr.Dataset({"a": 1}),
    "bytes": b"x",
    "nothing": [],
}
TRUTH, SCORES = {"a": 1, "b": 0, "c": 1}, {"a": 0.9, "b": 0.4, "c": 0.4}
COUNTS = pd.DataFrame({"system": ["A", "B"], "successes": [9, 7], "total": [10, 10]})
PAIRS = pd.DataFrame(
    {"item": ["a", "b"], "query_id": ["q", "r"], "query": ["sun", "rain"],
     "document": ["sun shines", "snow"]}
)  # fmt: skip
OF_FIT = {
    "sensitivity_to_abstention": ("odds_ratio", "metric", "estimand", "level", "draws", "when"),
    "check_claim": ("claim", "estimand", "level", "incomplete"),
    "compare": ("by", "metric", "estimand", "level", "rope", "incomplete", "baseline"),
    "compare_raters": ("kind",),
    "sensitivity_to_consensus": ("wrong", "metric", "estimand", "level", "rng"),
    "decide": ("gain", "baseline", "guardrails", "sure", "estimand", "level"),
    "rater_drift": ("level",),
    "expected_width": ("metric", "by", "estimand", "contrast", "incomplete", "level", "rng"),
    "export_labels": ("path", "to"),
    "compare_groups": ("metric", "estimand", "level", "incomplete", "baseline", "scale", "rng"),
    "label_draws": (),
    "label_probabilities": (),
    "methods": (),
    "metrics": ("estimand", "by", "incomplete", "metric", "weights_seed"),
    "group_misperception": ("level",),
    "plot_confusions": ("kind", "raters", "width"),
    "plot_drift": ("level", "width"),
    "plot_labels": ("count", "width"),
    "plot_metrics": ("level", "width"),
    "plot_raters": ("kind", "level", "width"),
    "posterior_predictive_check": ("patterns", "level", "draws", "rng"),
    "rater_consistency": ("level",),
    "rater_decisions": ("threshold", "sure", "level"),
    "rater_spammers": ("level",),
    "rater_reliability": ("kind",),
    "rater_sheets": ("path", "threshold", "sure", "refit", "level", "progress"),
    "rater_standing": ("kind", "threshold", "level"),
    "reliability_by_session": (),
    "report": (
        "path",
        "claims",
        "human",
        "level",
        "table_format",
        "stability",
        "budget",
        "baseline",
        "short",
    ),
    "save": ("path",),
    "rater_calibration": ("level",),
    "compare_baselines": ("human", "human_by", "metric", "estimand", "level", "baseline", "rng"),
    "sensitivity_to_assumptions": (
        "of",
        "metric",
        "estimand",
        "level",
        "incomplete",
        "baseline",
        "raters",
    ),
    "state_probabilities": (),
    "variance_budget": ("metric", "by", "estimand", "contrast", "incomplete"),
}
OF_RATINGS = {
    "agreement": ("ratings", "fit", "labels", "level", "draws", "rng"),
    "ais_study": ("ratings_or_fit",),
    "build_model": ("ratings", "raters", "prevalence", "reference", "priors", "replicates"),
    "check": ("ratings",),
    "fit": (
        "ratings", "raters", "prevalence", "reference", "priors", "replicates", "gold_chosen",
        "method", "target_accept", "rng", "sampler", "keep_interrupted",
    ),
    "prior_metrics": ("ratings", "raters", "prevalence", "metric", "by", "draws", "rng"),
}  # fmt: skip
OF_NEITHER = {
    "compare_counts": ({"table": COUNTS}, ("table", "level", "rope", "baseline", "draws", "rng")),
    "compare_scores": (
        {"truth": TRUTH, "scores": {"one": SCORES, "two": SCORES}},
        ("scores", "metric", "label", "positive", "clusters", "estimand", "level", "rope",
         "baseline"),
    ),
    "load": ({}, ("path",)),
    "load_metrics": ({}, ("path",)),
    "load_task": ({}, ("task",)),
    "metric": ({"name": "of a test"}, ("kind", "better", "limits", "task", "additive")),
    "parse_claim": ({}, ("text",)),
    "plot_agreement": ({}, ("found",)),
    "plot_budget": ({}, ("found",)),
    "plot_comparison": ({}, ("found",)),
    "read_priors": ({}, ("path",)),
    "read_ratings": (
        {"source": pd.DataFrame({"item": [1, 1], "rater": ["a", "b"], "label": ["x", "y"]}),
         "task": "single"},
        ("source", "task", "partial", "resolve", "response", "score_range"),
    ),
    "score_rater": (
        {"truth": TRUTH, "scores": SCORES},
        ("scores", "label", "positive", "gains", "clusters", "by", "metric", "k", "bins",
         "estimand"),
    ),
    "score_table": ({"truth": TRUTH, "scores": {"one": SCORES}}, ("scores", "level")),
    "simulate": (
        {"task": "single"}, ("n_items", "n_raters", "n_systems", "missing", "gold", "partial"),
    ),
    "summarize": ({}, ("dataset",)),
    "train_student": (
        {"pairs": PAIRS, "teacher": {"a": 1, "b": 0}},
        ("pairs", "teacher", "numbers", "embed", "definitions"),
    ),
    "training_chats": (
        {"pairs": PAIRS, "teacher": {"a": 1, "b": 0}, "prompt": "relevance"},
        ("pairs", "teacher", "prompt"),
    ),
    "threshold_sweep": ({"truth": TRUTH, "scores": SCORES}, ("label", "positive", "informed")),
}  # fmt: skip
ALLOWED = {
    ("label", "text"), ("threshold", "negative"), ("gains", "nothing"), ("rope", "fraction"),
    ("rope", "numbers"), ("rng", "nothing"), ("scale", "fraction"), ("width", "fraction"),
    ("odds_ratio", "fraction"), ("odds_ratio", "numbers"), ("priors", "nothing"),
    ("claims", "nothing"), ("human", "nothing"), ("task", "text"), ("path", "text"),
    ("path", "path"), ("teacher", "mapping"),
    ("score_range", "numbers"), ("limits", "numbers"), ("scores", "mapping"),
}  # fmt: skip
"""Of the above, what some function may be given under that name."""


@pytest.fixture(scope="module")
def ratings() -> assay.Ratings:
    return assay.simulate("generation", n_items=24, n_systems=2, n_clusters=12, rng=1)


@pytest.fixture(scope="module")
def tree(ratings: assay.Ratings) -> xr.DataTree:
    return assay.fit(
        ratings, method="map", draws=10, chains=1, starts=1, rng=1, progress=False,
        raters="one_coin",
    )  # fmt: skip


def accepted(function: str, given: dict[str, object], names: tuple[str, ...]) -> list[str]:
    """Give a function each argument in each wrong kind, and name what it takes or falls over."""
    found = []
    for name in names:
        for kind, wrong in WRONG.items():
            if (name, kind) in ALLOWED:
                continue
            try:
                getattr(assay, function)(**{**given, name: wrong})
                found.append(f"{name}: {kind} is taken")
            except AssayError:
                pass
            except Exception as error:
                found.append(f"{name}: {kind} ends in {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("function", OF_FIT)
def test_functions_of_a_fit_say_what_they_take(function: str, tree: xr.DataTree, tmp_path: Path):
    needed = {"check_claim": {"claim": "helpfulness_rate < 1"}, "save": {"path": tmp_path / "f.nc"}}
    needed["decide"] = {"gain": "helpfulness_rate", "baseline": "system_1"}
    needed["export_labels"] = {"path": tmp_path / "labels.jsonl", "to": "huggingface"}
    needed["rater_sheets"] = {"path": tmp_path / "sheets.html", "refit": False}
    needed["report"] = {"path": tmp_path / "report.html", "budget": False}
    given = {"fit": tree, **needed.get(function, {})}
    assert not accepted(function, given, ("fit", *OF_FIT[function]))


@pytest.mark.parametrize("function", OF_RATINGS)
def test_functions_of_ratings_say_what_they_take(function: str, ratings: assay.Ratings):
    first = OF_RATINGS[function][0]
    assert not accepted(function, {first: ratings}, OF_RATINGS[function])


@pytest.mark.parametrize("function", OF_NEITHER)
def test_other_functions_say_what_they_take(function: str):
    given, names = OF_NEITHER[function]
    assert not accepted(function, given, names)


def test_an_argument_error_is_one_of_models_and_of_fits():
    for kind in (AssayError, ModelError, FitError, ValueError):
        with pytest.raises(kind):
            require_count("draws", "many")


def test_more_draws_than_a_table_can_hold_are_refused():
    with pytest.raises(ArgumentError, check=refusal("argument-count", least=1, most=1_000_000)):
        require_draws("draws", 10**30)
    assert require_count("rng", 10**30, least=0) == 10**30


def test_what_is_long_is_named_by_its_kind():
    with pytest.raises(
        ArgumentError, match=r"^`by=a DataFrame`; valid: system$", check=refusal("argument-choice")
    ):
        require_choice("by", WRONG["frame"], ("system",))


def test_one_is_as_good_as_several():
    assert names_given("metric", ("a", "b", "a"), what="metric") == ["a", "b"]
    assert names_given("metric", np.array(["a"]), what="metric") == ["a"]
    assert numbers_given("wrong", np.array([0.1, 0]), lambda x: x < 1, allowed="less") == [0.1, 0]
    assert require_count("draws", np.int64(3)) == 3
    assert path_given("path", "a.nc") == Path("a.nc")


def test_a_label_of_a_metric_may_stand_alone():
    """A text is one label, not its letters."""
    assay.metric("of one label", task="of a test", labels="helpful")(lambda y, mask: y)
    from assay.evaluation.registry import registered

    assert registered("of one label").labels == ("helpful",)


def test_long_arguments_are_named_by_type() -> None:
    assert (written("95"), written(list(range(99)))) == ("'95'", "a list")


def test_only_identifiers_are_marked_as_code() -> None:
    assert (argument("draws", 0), argument("metric 'cost': kind", 3)) == (
        "`draws=0`",
        "metric 'cost': kind=3",
    )


def test_long_texts_are_cut() -> None:
    assert (cut("a\x1b[2J"), cut("word " * 20, most=10)) == ("'a\\x1b[2J'", "'word word ...'")
