"""Every rater family and prevalence of the catalogue: loads, builds, simulates, is finite."""

import tomllib

import numpy as np
import pytest

import assay
from assay.catalogue import catalogue_names, catalogue_path
from assay.density import make_density
from assay.families import default_priors, family_class
from assay.model import build_structure, make_spec
from assay.modes import prior_centre
from assay.prevalence import default_priors as prevalence_priors
from assay.prevalence import prevalence_class

TASKS = catalogue_names("tasks")
RATERS = catalogue_names("raters")
PREVALENCES = catalogue_names("prevalence")
KEYS = {"name", "title", "description", "equation", "references", "priors"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("raters", n) for n in RATERS), *(("prevalence", n) for n in PREVALENCES)],
)
def test_entry_is_complete(kind: str, name: str):
    entry = tomllib.loads(catalogue_path(kind, f"{name}.toml").read_text(encoding="utf-8"))
    assert set(entry) == KEYS
    assert entry["name"] == name
    assert entry["description"].endswith(".")
    assert entry["references"]
    assert entry["priors"]


@pytest.mark.parametrize("name", RATERS)
def test_family_is_found_by_its_name(name: str):
    assert family_class(name).name == name
    assert default_priors(name)


@pytest.mark.parametrize("name", PREVALENCES)
def test_prevalence_is_found_by_its_name(name: str):
    assert prevalence_class(name).name == name
    assert prevalence_priors(name)


@pytest.mark.parametrize("name", RATERS)
def test_family_has_a_card(name: str):
    """A page that names every prior with the value that the entry has."""
    card = catalogue_path("raters", f"{name}.md").read_text(encoding="utf-8")
    entry = tomllib.loads(catalogue_path("raters", f"{name}.toml").read_text(encoding="utf-8"))
    assert card.startswith(f"# {entry['title']}\n")
    for heading in ("## Model", "## Assumptions", "## Priors", "## When it fails", "## References"):
        assert heading in card
    for prior, value in entry["priors"].items():
        assert f"| `{prior}` | `{value}` |" in card
    assert len(card.splitlines()) < 80


@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize("raters", RATERS)
@pytest.mark.parametrize("task", TASKS)
def test_simulates_and_has_a_finite_density(task: str, raters: str, prevalence: str):
    ratings = assay.simulate(
        task,
        raters=raters,
        prevalence=prevalence,
        n_items=20,
        groups={"human": 2, "model": 2},
        ratings_per_item=2,
        n_systems=2,
        n_clusters=5,
        rng=3,
    )
    assert (ratings.answers != -1).all()
    structure = build_structure(ratings, make_spec(raters, prevalence))
    density = make_density(structure)
    for x in (prior_centre(density), np.zeros(density.size)):
        value, gradient = density(x)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
    assert len(density.names()) == density.size == len(set(density.names()))
    simulated = {k: np.asarray(v) for k, v in ratings.simulated.values.items()}
    assert np.isfinite(structure.log_likelihood(simulated))
    assert {p.name: p.shape for p in structure.parameters()} == {
        k: v.shape for k, v in simulated.items()
    }


@pytest.mark.parametrize("raters", RATERS)
@pytest.mark.parametrize("task", TASKS)
def test_priors_are_better_than_chance_without_forbidding_adversaries(task: str, raters: str):
    ratings = assay.simulate(task, raters=raters, n_items=5, n_raters=2, ratings_per_item=1, rng=1)
    family = build_structure(ratings, make_spec(raters)).family
    rng = np.random.default_rng(1)
    layout = family.layout
    right = []
    for _ in range(400):
        table = family.log_confusion({p.name: p.draw(rng) for p in family.parameters()}, np)
        rows = np.arange(layout.asked_rows)
        right.append(np.exp(table[:, rows, np.array(layout.true_classes)]).mean(axis=0))
    chance = 1 / layout.row_classes
    assert (np.mean(right, axis=0) > chance + 0.05).all()
    assert (np.array(right) < chance).mean() > 0.005
