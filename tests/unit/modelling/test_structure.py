"""Priors that are given by name are read, or refused with the reason; those of a file may idle."""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitWarning, ModelError
from assay.comparison.refit import refit
from assay.data.ratings import Ratings, take_ratings
from assay.evaluation import prior_metrics
from assay.fits.view import FitView
from assay.inference.settings import SamplerSettings
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure, idle_priors, refuse_idle, used_priors
from assay.validation.variants import variants_of

ONE = {"n_items": 40, "n_raters": 4, "rng": 1}
TWO = {**ONE, "groups": {"crowd": 2, "expert": 2}}
BINARY = {"classes": ("no", "yes")}
EACH = {"crowd": "hierarchical", "expert": "pooled"}
HARD = {"crowd": "pooled + item_difficulty", "expert": "one_coin + item_difficulty"}
BOTH = "more specific priors replace it: "

# task and sizes, recipe, the priors that idle, and why
IDLE: dict[str, tuple[dict[str, Any], Any, dict[str, str], str]] = {
    "no binary label": (ONE, "hierarchical", {"mean_binary": "Normal(2, 1)"}, "no label has two"),
    "no longer label": (
        ONE | BINARY, "hierarchical", {"mean_correct": "Normal(2, 1)"}, "no label has three",
    ),
    "binary labels have no widths": (
        ONE | BINARY, "ordinal", {"width_sd": "HalfNormal(1)"}, "no label has three classes",
    ),
    "of a group": (
        TWO, "hierarchical", {"expert.mean_binary": "Normal(2, 1)"}, "no label has two classes",
    ),
    "one label": (ONE, "pooled", {"interaction_sd": "HalfNormal(1)"}, "no two labels"),
    "no clusters": (ONE, "pooled", {"cluster_loading": "Normal(0, 1)"}, "fewer than five clusters"),
    "one system": (ONE, "pooled", {"system_sd": "HalfNormal(1)"}, "not of two systems"),
    "no ranks": (ONE, "pooled", {"rank_sd": "HalfNormal(1)"}, "two ranks"),
    "no strata": (ONE, "pooled", {"stratum_sd": "HalfNormal(1)"}, "two strata"),
    "no grouping": (ONE, "pooled", {"grouping_sd": "HalfNormal(1)"}, "no formula has a term"),
    "no covariates": (ONE, "pooled", {"coefficient": "Normal(0, 1)"}, "no formula has covariates"),
    "no soft rule": (ONE, "pooled", {"penalty": "HalfNormal(1)"}, "no rule of the task is soft"),
    "no repeated rating": (
        ONE, "pooled", {"consistency_mean": "Normal(1, 1)"}, "no rater rated an item",
    ),
    "a family that another group has": (
        TWO, EACH, {"expert.sd": "HalfNormal(2)"}, "no parameter of expert uses it",
    ),
    "of the items, not of a group": (
        TWO, EACH, {"expert.main": "Normal(0, 1)"}, "no parameter of expert uses it",
    ),
    "items have one difficulty": (
        TWO, HARD, {"crowd.hard_share": "Beta(1, 9)"}, "the model has hard_share",
    ),
    "both groups have their own": (
        TWO, "hierarchical",
        {"sd": "HalfNormal(1)", "crowd.sd": "HalfNormal(2)", "expert.sd": "HalfNormal(3)"},
        f"  sd: {BOTH}crowd.sd, expert.sd",
    ),
    "both raters of a group have their own": (
        TWO, "one_coin",
        {"expert.accuracy": "Beta(9, 1)"} | {f"rater_{n}.accuracy": "Beta(8, 1)" for n in (3, 4)},
        "  expert.accuracy: no parameter of expert uses it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IDLE)
def test_a_prior_that_nothing_reads_is_refused_with_the_reason(name: str):
    sizes, raters, priors, words = IDLE[name]
    structure = build_structure(
        assay.simulate("single", **sizes), make_spec(raters=raters, priors=priors)
    )
    with pytest.raises(ModelError, check=refusal("prior-unused")) as caught:
        refuse_idle(structure, priors)
    message = str(caught.value)
    assert words in message
    assert f"the model has {', '.join(used_priors(structure))}" in message
    for key in set(priors) - set(idle_priors(structure, priors)):
        assert f"  {key}:" not in message


def test_a_prior_of_nobody_names_the_raters_that_there_are():
    """Not the prior without its owner, which would be that of all raters."""
    ratings = assay.simulate("single", **TWO)
    for key in ("ratr_3.accuracy", "rater 3.accuracy"):
        with pytest.raises(ModelError, check=refusal("unknown-rater")):
            build_structure(ratings, make_spec("one_coin", priors={key: "Beta(9, 1)"}))
    with pytest.raises(
        ModelError, match=r"is not used by.*did you mean accuracy", check=refusal("prior-unknown")
    ):
        build_structure(ratings, make_spec("one_coin", priors={"rater_3.acuracy": "Beta(9, 1)"}))


def with_columns(ratings: Ratings) -> Ratings:
    """Items with a stratum, a length and a source."""
    number = np.arange(len(ratings.items))
    columns = {"stratum": number % 2, "length": number**0.5, "source": number % 3}
    return replace(ratings, items=ratings.items.assign(**columns))


def with_a_soft_rule(ratings: Ratings) -> Ratings:
    rule = ratings.task.rules[0].name
    return replace(ratings, task=ratings.task.with_truths({rule: "soft"}))


# task, sizes, what is specified besides, the priors that are read, and what is done to the ratings
READ: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, str], Any]] = {
    "clusters, systems and ranks": (
        "retrieval", ONE | {"n_items": 60, "n_systems": 2, "n_clusters": 6}, {},
        {"cluster_loading": "Normal(0, 1)", "system_sd": "Gamma(2, 1)", "rank_sd": "Gamma(2, 1)"},
        None,
    ),
    "strata, covariates and groupings": (
        "single", ONE, {"formula": "~ length + (1 | source)"},
        {"stratum_sd": "Gamma(2, 1)", "grouping_sd": "Gamma(2, 1)", "coefficient": "Normal(0, 2)"},
        with_columns,
    ),
    "soft rule": ("retrieval", ONE, {}, {"penalty": "HalfNormal(1)"}, with_a_soft_rule),
    "repeated ratings": (
        "single", ONE | {"replicates": 2}, {}, {"consistency_mean": "Normal(1, 1)"}, None,
    ),
    "difficulty of one group": (
        "single", TWO, {"raters": {"crowd": "pooled + item_difficulty", "expert": "pooled"}},
        {"crowd.hard_share": "Beta(1, 9)", "crowd.difficulty_rate": "HalfNormal(1)"}, None,
    ),
    "a rater, a group, and all others": (
        "single", TWO, {"raters": "one_coin"},
        {"rater_1.accuracy": "Beta(9, 1)",
         "expert.accuracy": "Beta(8, 1)", "accuracy": "Beta(3, 1)"},
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_prior_that_is_read_is_taken(name: str):
    task, sizes, spec, priors, change = READ[name]
    ratings = assay.simulate(task, **sizes)
    structure = build_structure(
        ratings if change is None else change(ratings), make_spec(**spec, priors=priors)
    )
    refuse_idle(structure, priors)
    used = used_priors(structure)
    for key, text in priors.items():
        assert str(used[key]) == text


CALLS: dict[str, Callable[[Ratings, Any], Any]] = {
    "fit": lambda ratings, priors: mode_of(ratings, priors=priors),
    "build_model": lambda ratings, priors: assay.build_model(ratings, priors=priors),
    "prior_metrics": lambda ratings, priors: prior_metrics(ratings, priors=priors, draws=5),
    "simulate": lambda _, priors: assay.simulate("single", **ONE, priors=priors),
}


def mode_of(ratings: Ratings, **spec: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(
            ratings, **spec, method="map", draws=5, chains=1, starts=1, rng=1, progress=False
        )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Priors for labels with two classes and with more."""
    lines = ["[priors]", 'mean_binary = "Normal(2, 1)"', 'mean_correct = "Normal(3, 1)"']
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("call", CALLS)
def test_what_is_named_has_to_be_read_and_what_a_file_holds_need_not(call: str, file: Path):
    ratings = assay.simulate("single", **ONE)
    for named in ({"mean_binary": "Normal(2, 1)"}, [file, {"mean_binary": "Normal(2, 1)"}]):
        with pytest.raises(ModelError, check=refusal("prior-unused")):
            CALLS[call](ratings, named)
    for priors in (
        file,
        str(file),
        [file, {"mean_other": "Normal(0, 1)"}],
        {"mean_other": "Normal(0, 1)"},
    ):
        CALLS[call](ratings, priors)
    file.write_text('[priors]\nmean_binry = "Normal(2, 1)"', encoding="utf-8")
    with pytest.raises(ModelError, match="'mean_binry' is not", check=refusal("prior-unknown")):
        CALLS[call](ratings, file)


def test_all_that_idles_is_said_at_once():
    named = {"mean_binary": "Normal(2, 1)", "penalty": "HalfNormal(1)", "sd": "HalfNormal(1)"}
    with pytest.raises(ModelError) as caught:
        assay.simulate("single", **ONE, priors=named)
    assert "  mean_binary: no label has two classes\n  penalty: no rule" in str(caught.value)
    assert "the model has main, mean_correct, mean_other, sd, lean_spread." in str(caught.value)


def test_a_fit_says_which_priors_of_a_file_it_had_no_use_for(file: Path):
    tree = mode_of(assay.simulate("single", **ONE), priors=file)
    (told,) = (text for text in json.loads(tree.attrs["assumptions"]) if "priors" in text)
    assert told.endswith("your priors: mean_binary (no label has two classes).")
    assert FitView.of(tree).spec.priors["mean_correct"] == "Normal(3, 1)"


def test_a_message_lists_some_of_many_priors():
    own = {f"rater_{n}.accuracy": "Beta(2, 1)" for n in range(1, 41)}
    named = own | {"penalty": "HalfNormal(1)"}
    with pytest.raises(ModelError, check=refusal("prior-unused")):
        assay.simulate("single", **ONE | {"n_raters": 40}, raters="one_coin", priors=named)


def test_later_priors_go_before_earlier_ones(file: Path):
    spec = make_spec(priors=[file, {"mean_binary": "Normal(1, 1)"}])
    assert spec.priors == {"mean_binary": "Normal(1, 1)", "mean_correct": "Normal(3, 1)"}


# -- refits --------------------------------------------------------------------------


def test_a_refit_takes_the_priors_that_its_ratings_have_a_use_for(file: Path):
    ratings = assay.simulate("single", **ONE, replicates=2)
    tree = mode_of(
        ratings, priors=[file, {"consistency_mean": "Normal(1, 1)", "bias_sd": "HalfNormal(2)"}]
    )
    once = take_ratings(ratings, ratings.replicate == ratings.replicate.min())
    again, _ = refit(tree, once, SamplerSettings(draws=5, tune=5, chains=1))
    assert set(FitView.of(again).spec.priors) == {"bias_sd", "mean_correct"}


def test_stability_varies_the_priors_that_are_read():
    tree = mode_of(
        assay.simulate("single", **TWO), raters={"crowd": "hierarchical", "expert": "one_coin"},
        priors={"expert.accuracy": "Beta(8, 2)", "main": "Normal(0, 1)"},
    )  # fmt: skip
    kinds = dict.fromkeys(("rater", "rule", "kernel", "dependence"), False) | {"prior": True}
    raters, _, prevalence, _ = (v.changes["priors"] for v in variants_of(FitView.of(tree), kinds))
    assert raters == {
        "mean_correct": "Normal(2.5, 1.6)", "mean_other": "Normal(0, 1)", "sd": "HalfNormal(2)",
        "expert.accuracy": "Beta(2, 0.5)", "main": "Normal(0, 1)",
    }  # fmt: skip
    assert prevalence == {"main": "Normal(0, 2)", "expert.accuracy": "Beta(8, 2)"}
