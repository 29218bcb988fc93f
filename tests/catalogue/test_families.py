"""Every rater family, layer and prevalence of the catalogue: loads, builds, simulates, fits."""

import re
import tomllib
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitWarning, ModelError, UnknownNameError
from assay.data.ratings import Ratings
from assay.data.task_files import catalogue_entry, catalogue_names, catalogue_path
from assay.inference.density import make_density
from assay.inference.optimise import prior_centre
from assay.modelling.families import default_priors, family_class
from assay.modelling.families.lean import LeanPrior
from assay.modelling.prevalence import default_priors as prevalence_priors
from assay.modelling.prevalence import prevalence_class
from assay.modelling.priors import Prior, parse_prior
from assay.modelling.rater_model import CategoricalRaterModel
from assay.modelling.spec import is_layer, make_spec, parse_recipe
from assay.modelling.structure import (
    COPIES,
    REPEATS,
    Structure,
    build_structure,
    refuse_idle,
    used_priors,
)

TASKS = catalogue_names("tasks")
RATERS = catalogue_names("raters")
LAYERS = [name for name in RATERS if is_layer(name)]
FAMILIES = [name for name in RATERS if name not in LAYERS]
PREVALENCES = catalogue_names("prevalence")
KEYS = {"name", "title", "description", "equation", "references", "priors"}
NOT_FOR = {
    "halo": ("relevance", "single"), "joint": ("relevance", "single"),
    "ordinal": ("single",), "scored": ("single",),
}  # fmt: skip
"""One label has no dependence; classes without an order have no thresholds, and no scores."""
EVERYWHERE = [(t, r) for t in TASKS for r in RATERS if t not in NOT_FOR.get(r, ())]


def spec_of(name: str) -> dict[str, Any]:
    """How a model with this entry is written."""
    recipe = f"hierarchical + {name}" if name in LAYERS else name
    if name == "perception":  # which asks of difficulty, where there is one
        recipe += " + item_difficulty"
    return {"raters": recipe, "reference": "gold" if name == "perception" else None}


@cache
def simulated(task: str, name: str, n_items: int = 20, **options: object) -> Ratings:
    """Ratings from a model with this entry, in two groups, systems and sessions."""
    return assay.simulate(
        task,
        **{**spec_of(name), **options},
        n_items=n_items,
        groups={"human": 2, "model": 2},
        ratings_per_item=2,
        n_systems=2,
        n_clusters=5,
        sessions=2,
        gold=0.8 if name == "perception" else 0.0,
        rng=3,
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("raters", n) for n in RATERS), *(("prevalence", n) for n in PREVALENCES)],
)
def test_entry_is_complete(kind: str, name: str):
    entry = tomllib.loads(catalogue_path(kind, f"{name}.toml").read_text(encoding="utf-8"))
    assert set(entry) - {"layer", "idle_if", "other_names"} == KEYS
    assert set(entry.get("idle_if", {})) <= set(entry["priors"])
    assert entry["name"] == name
    assert entry["description"].endswith(".")
    assert entry["references"]
    assert entry["priors"]


@pytest.mark.parametrize("name", FAMILIES)
def test_family_is_found_by_its_name(name: str):
    assert family_class(name).name == name
    assert default_priors(name)
    assert str(parse_recipe(name)) == name


@pytest.mark.parametrize("name", LAYERS)
def test_layer_stands_on_a_family(name: str):
    assert default_priors(name)
    assert str(parse_recipe(name)) == f"hierarchical + {name}"
    with pytest.raises(UnknownNameError, match="is a layer", check=refusal("unknown-family")):
        family_class(name)


@pytest.mark.parametrize("name", PREVALENCES)
def test_prevalence_is_found_by_its_name(name: str):
    assert prevalence_class(name).name == name
    assert prevalence_priors(name)


@pytest.mark.parametrize("name", RATERS)
def test_entry_has_a_card(name: str):
    """A page that names every prior with the value that the entry has."""
    card = catalogue_path("raters", f"{name}.md").read_text(encoding="utf-8")
    entry = tomllib.loads(catalogue_path("raters", f"{name}.toml").read_text(encoding="utf-8"))
    assert card.startswith(f"# {entry['title']}\n")
    for heading in ("## Model", "## Assumptions", "## Priors", "## When it fails", "## References"):
        assert heading in card
    for prior, value in entry["priors"].items():
        assert f"| `{prior}` | `{value}` |" in card
    assert len(card.splitlines()) < 100


@pytest.mark.parametrize(("task", "name"), EVERYWHERE)
def test_simulates_and_has_a_finite_density(task: str, name: str):
    for prevalence in PREVALENCES if name in FAMILIES else PREVALENCES[-1:]:
        ratings = simulated(task, name, prevalence=prevalence)
        assert (ratings.answers != -1).all()
        structure = build_structure(ratings, make_spec(**spec_of(name), prevalence=prevalence))
        density = make_density(structure)
        for x in (prior_centre(density), np.zeros(density.size)):
            value, gradient = density(x)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()
        assert len(density.names()) == density.size == len(set(density.names()))
        drawn = {k: np.asarray(v) for k, v in ratings.simulated.values.items()}
        assert np.isfinite(structure.log_likelihood(drawn))
        assert {p.name: p.shape for p in structure.parameters()} == {
            k: v.shape for k, v in drawn.items()
        }


@pytest.mark.parametrize("name", RATERS)
def test_arviz_takes_its_parameters(name: str):
    """ArviZ gives names of its own to dims that it makes, and refuses data that have them.

    Tasks that bring no dims and no parameters of their own are one case.
    """
    import arviz

    seen: set[tuple[str, tuple[str, ...]]] = set()
    for task in TASKS:
        if task in NOT_FOR.get(name, ()):
            continue
        ratings = simulated(task, name)
        structure = build_structure(ratings, make_spec(**spec_of(name)))
        drawn = {k: np.asarray(v) for k, v in ratings.simulated.values.items()}
        dims = {p.name: p.dims for p in structure.parameters()}
        assert set(dims) == set(drawn)
        new = {k: v for k, v in drawn.items() if (k, dims[k]) not in seen}
        seen |= {(k, dims[k]) for k in new}
        if not new:
            continue
        values = {k: np.broadcast_to(v, (2, 4, *v.shape)) for k, v in new.items()}
        posterior = xr.Dataset({k: (["chain", "draw", *dims[k]], v) for k, v in values.items()})
        table = arviz.summary(posterior, kind="stats")
        assert len(table) == sum(v.size for v in new.values())


def another(prior: Prior) -> str:
    """Write a prior of the same kind with other numbers."""
    return f"{prior.name}({', '.join(str(v * 0.8 + 0.07) for v in prior.values)})"


def numbers(structure: Structure) -> dict[str, list[np.ndarray]]:
    """Numbers of the prior of each unknown, and of the leans of all raters."""
    found = {p.name: [np.asarray(v) for v in p.prior.values] for p in structure.parameters()}
    leans = [prior for prior in structure.joint_priors if isinstance(prior, LeanPrior)]
    return found | {
        "lean": [np.asarray(v) for lean in leans for v in lean.prior.values],
        "lean_spread": [np.asarray(v) for pool in structure.pools for v in pool.spread.values],
    }


def alike(a: dict[str, list[np.ndarray]], b: dict[str, list[np.ndarray]]) -> bool:
    return all(np.array_equal(x, y) for name in a for x, y in zip(a[name], b[name], strict=True))


@pytest.mark.parametrize(("task", "name"), EVERYWHERE)
def test_a_prior_can_be_given_where_it_changes_the_model_and_nowhere_else(task: str, name: str):
    """Of all priors that the recipe and the prevalence could have; the card lists those it has."""
    ratings, prevalence = simulated(task, name), "loglinear"
    plain = build_structure(ratings, make_spec(**spec_of(name)))
    parts = {**dict.fromkeys(plain.spec.rater_parts, "raters"), prevalence: "prevalence"}
    entries = [catalogue_entry(kind, part, called=part) for part, kind in parts.items()]
    whole = {
        "consistency_mean": "Normal(0, 1.5)", "consistency_sd": "HalfNormal(1)",
        "copied": "Beta(1, 1)",
    }  # fmt: skip
    known = whole | {k: v for e in entries for k, v in e["priors"].items()}
    reasons = {"copied": COPIES}
    reasons |= {k: v for entry in entries for k, v in entry.get("idle_if", {}).items()}
    used = used_priors(plain)
    assert set(used) <= set(known)
    given = {prior: another(parse_prior(value)) for prior, value in known.items()}

    def changed(names: set[str]) -> Structure:
        priors = {name: given[name] for name in names}
        return build_structure(ratings, make_spec(**spec_of(name), priors=priors))

    for prior in used:
        assert not alike(numbers(plain), numbers(changed({prior})))
    refuse_idle(changed(set(used)), {prior: given[prior] for prior in used})
    # All at once: the numbers stay as they are, so that no prior has changed any of them.
    idle = changed(set(known) - set(used))
    assert alike(numbers(plain), numbers(idle))
    for prior in set(known) - set(used):
        with pytest.raises(
            ModelError,
            match=re.escape(reasons.get(prior, REPEATS)),
            check=refusal("prior-unused"),
        ):
            refuse_idle(idle, {prior: given[prior]})


@pytest.mark.parametrize("name", RATERS)
def test_priors_of_the_entry_are_those_of_the_model(name: str):
    """Each prior can be replaced by name, and each is read: another value changes the density."""
    long = name in ("ordinal", "ability_bias")
    ratings = simulated("relevance" if long else "retrieval", name)
    plain = make_density(build_structure(ratings, make_spec(**spec_of(name))))
    x = 0.3 * np.random.default_rng(1).standard_normal(plain.size)
    for prior, value in default_priors(name).items():
        if name in ("hierarchical", "joint") and prior in ("mean_correct", "mean_other"):
            continue  # of labels with more than two classes, which this task has not
        if name == "ability_bias" and prior in ("mean_binary", "lean", "sd"):
            continue  # of labels with two classes
        if prior == "lean_spread":
            continue  # of the draws of labels, not of the density
        spec = make_spec(**spec_of(name), priors={prior: another(value)})
        assert make_density(build_structure(ratings, spec))(x)[0] != plain(x)[0]


@pytest.mark.parametrize("name", RATERS)
def test_fits(name: str):
    """A few draws, and everything that is read off them."""
    ratings = simulated("retrieval", name, n_items=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings,
            **spec_of(name),
            draws=8,
            tune=20,
            chains=1,
            starts=1,
            rng=1,
            progress=False,
        )
    assert np.isfinite(fit["sample_stats"]["lp"]).all()
    np.testing.assert_allclose(assay.state_probabilities(fit).sum("state"), 1, atol=1e-9)
    table = assay.rater_reliability(fit)
    assert table.sizes["rater"] == 4
    np.testing.assert_allclose(table.sum("reported_class"), 1, atol=1e-9)
    assert fit.attrs["reference"] == ("gold" if name == "perception" else make_spec().truth)


@pytest.mark.parametrize("name", NOT_FOR)
def test_tasks_that_a_family_is_not_for_are_refused_in_words(name: str):
    for task in NOT_FOR[name]:
        with pytest.raises(ModelError, match=name):
            assay.simulate(task, raters=name, n_items=5, rng=1)


@pytest.mark.parametrize(("task", "name"), [(t, r) for t, r in EVERYWHERE if r in FAMILIES])
def test_priors_are_better_than_chance_without_forbidding_adversaries(task: str, name: str):
    ratings = assay.simulate(task, raters=name, n_items=5, n_raters=2, ratings_per_item=1, rng=1)
    structure = build_structure(ratings, make_spec(name))
    rng = np.random.default_rng(1)
    draws = [{p.name: p.draw(rng) for p in structure.parameters()} for _ in range(400)]
    values = {k: np.stack([d[k] for d in draws]) for k in draws[0]}
    (part,) = structure.parts
    margin = 0.05 if isinstance(part, CategoricalRaterModel) else 0.0
    right = np.diagonal(part.reliability(values), axis1=-2, axis2=-1)
    for n, label in enumerate(ratings.task.labels):
        here, chance = right[:, :, n, : len(label.classes)], 1 / len(label.classes)
        assert (here.mean(axis=(0, 1)) > chance + margin).all()
        assert (here < chance).mean() > 0.005
