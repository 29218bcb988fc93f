"""Families that contain each other have one likelihood at the same confusions."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from small import SHIPPED, draw_values, small_ratings, task_named, with_strengths

from assay.inference.density import make_density
from assay.modelling.families import Family
from assay.modelling.rater_model import CategoricalRaterModel
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def structure_of(name: str, family: str) -> Structure:
    return build_structure(
        small_ratings(task_named(name), 6, items=12, missing=0.1), make_spec(family)
    )


def family_of(structure: Structure) -> Family:
    """The family of the one part."""
    (part,) = structure.parts
    assert isinstance(part, CategoricalRaterModel)
    return part.family


def spread(structure: Structure, accuracy: np.ndarray) -> dict[str, np.ndarray]:
    """Confusions with one accuracy per rater, as rows of Dirichlet blocks."""
    found = {}
    for parameter in family_of(structure).parameters():
        _, rows, classes = parameter.shape
        table = np.repeat(((1 - accuracy) / (classes - 1))[:, None, None], rows, 1).repeat(
            classes, 2
        )
        for n, row in enumerate(parameter.coords[parameter.dims[1]]):
            label, true = row.split("=")
            names = structure.ratings.task.classes[label]
            table[:, n, names.index(true)] = accuracy
        found[parameter.name] = table
    return found


@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_one_coin_within_class_conditional_within_dawid_skene(name: str):
    coin, conditional, full = (
        structure_of(name, f) for f in ("one_coin", "class_conditional", "dawid_skene")
    )
    values = draw_values(coin, 6)
    accuracy = values["accuracy"]
    rows = family_of(conditional).layout.asked_rows
    here = coin.log_likelihood(values)
    by_class = {**values, "accuracy": np.repeat(accuracy[:, None], rows, axis=1)}
    assert conditional.log_likelihood(by_class) == pytest.approx(here, abs=1e-9)
    assert full.log_likelihood(values | spread(full, accuracy)) == pytest.approx(here, abs=1e-9)


@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_hierarchical_without_spread_is_pooled(name: str):
    hierarchical, pooled = structure_of(name, "hierarchical"), structure_of(name, "pooled")
    values = draw_values(hierarchical, 7)
    values["logit_sd"] = np.full_like(values["logit_sd"], 1e-14)
    values["logit_mean"] = np.repeat(values["logit_mean"][:1], len(values["logit_mean"]), axis=0)
    layout = family_of(hierarchical).layout
    table = np.exp(family_of(hierarchical).log_confusion(values, np))[0]
    rows = {
        f"confusion_{k}": table[layout.row_classes == k, :k]
        for k in set(layout.row_classes.tolist())
    }
    expected = pooled.log_likelihood(values | rows)
    assert hierarchical.log_likelihood(values) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_ability_bias_with_equal_rates_and_raters_is_hierarchical(name: str):
    """A right answer has the rate 1 and what ability adds."""
    hierarchical, more = structure_of(name, "hierarchical"), structure_of(name, "ability_bias")
    values = draw_values(more, 7)
    for key in ("logit_sd", "ability_sd", "class_sd", "bias_sd"):
        if key in values:
            values[key] = np.zeros_like(values[key])
    if "answer_rate" in values:
        values["answer_rate"] = np.ones_like(values["answer_rate"])
    kept = {p.name: values.get(p.name) for p in hierarchical.parameters()}
    layout = family_of(more).layout
    long = [n for n, classes in enumerate(layout.classes) if classes > 2]
    plain, binary, other = draw_values(hierarchical, 7), count(), count()
    kept |= {name: np.zeros_like(plain[name]) for name in ("logit_sd", "logit_offset")}
    mean = plain["logit_mean"]
    for cell, (row, reported) in enumerate(layout.cells):
        if layout.labels[row] not in long:
            mean[:, cell] = values["logit_mean"][:, next(binary)]
            continue
        mean[:, cell] = values["confusion_mean"][:, next(other)]
        if layout.true_classes[row] == reported:
            ability = values["ability_mean"][:, long.index(layout.labels[row])]
            mean[:, cell] = np.log1p(np.exp(mean[:, cell] + ability))
    kept["logit_mean"] = mean
    expected = hierarchical.log_likelihood(kept)
    assert more.log_likelihood(values) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["retrieval", "grounding", "generation", "ais"])
def test_ability_bias_is_hierarchical_where_all_labels_have_two_classes(name: str):
    """In every number: the same unknowns with the same priors."""
    one, other = (make_density(structure_of(name, f)) for f in ("hierarchical", "ability_bias"))
    assert one.names() == other.names()
    x = np.random.default_rng(8).normal(size=one.size)
    assert other(x)[0] == one(x)[0]


def test_pooled_is_dawid_skene_with_equal_raters():
    pooled, full = structure_of("grounding", "pooled"), structure_of("grounding", "dawid_skene")
    values = draw_values(pooled, 8)
    each = np.repeat(values["confusion_2"][None], 4, axis=0)
    expected = full.log_likelihood(values | {"confusion_2": each})
    assert pooled.log_likelihood(values) == pytest.approx(expected, abs=1e-9)


def test_a_rule_that_is_off_everywhere_is_no_rule():
    task = task_named("retrieval")
    off = replace(task, rules=tuple(replace(r, truth="off", response="off") for r in task.rules))
    none = replace(task, rules=())
    ratings = small_ratings(off, 3, missing=0.2)
    first = build_structure(ratings, make_spec())
    second = build_structure(replace(ratings, task=none), make_spec())
    values = draw_values(first, 3)
    assert first.log_likelihood(values) == second.log_likelihood(values)
    x = np.linspace(-1, 1, make_density(first).size)
    assert make_density(first)(x)[0] == make_density(second)(x)[0]


@pytest.mark.parametrize("resolve", ["retry", "repair"])
def test_a_warning_that_nobody_heeds_is_no_rule_and_one_that_all_heed_blocks(resolve: str):
    base = task_named("retrieval")
    ratings = small_ratings(base, 4, items=12, resolve=resolve)  # obeys the blocked rules
    values, found = {}, {}
    for strength in ("block", "off", "warn"):
        task = with_strengths(base, ("hard",), (strength,))
        structure = build_structure(replace(ratings, task=task), make_spec())
        if strength == "block":
            values = draw_values(structure, 4)
        if strength == "warn":
            found["heeded"] = structure.log_likelihood(values | {"warn_omega": np.full(2, 1e-15)})
            found["ignored"] = structure.log_likelihood(values | {"warn_omega": np.ones(2)})
        else:
            found[strength] = structure.log_likelihood(values)
    assert found["ignored"] == pytest.approx(found["off"], abs=1e-9)
    if resolve == "retry":
        assert found["heeded"] == pytest.approx(found["block"], abs=1e-9)
    assert found["block"] != pytest.approx(found["off"], abs=0.1)
