"""Classes have the names that most raters give them, where raters alone say what is true."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.inference.density import make_density
from assay.modelling.families.class_names import ClassNamesPrior
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

WEAK = {"mean_correct": "Normal(0.5, 1)", "mean_other": "Normal(0, 1)"}


def ratings_of(groups: str = "aaa", known: bool = False) -> Ratings:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"item": np.repeat(np.arange(20), len(groups))})
    table["rater"] = np.tile([f"r{n}" for n in range(len(groups))], 20)
    table["group"] = np.tile(list(groups), 20)
    table["colour"] = np.array(["red", "green", "blue"])[rng.integers(3, size=len(table))]
    if known:
        table["truth"] = np.where(table["item"] == 3, "red", "")
    return assay.read_ratings(table, truth="truth" if known else None)


def structure_of(ratings: Ratings, **options: object) -> Structure:
    return build_structure(ratings, make_spec("ability_bias", **options))


def names_prior(structure: Structure) -> list[ClassNamesPrior]:
    return [prior for prior in structure.joint_priors if isinstance(prior, ClassNamesPrior)]


def at(structure: Structure, ability: list[float], mean: list[list[float]]) -> np.ndarray:
    """What the prior adds by class, if groups have these abilities and other answers these odds."""
    density = make_density(structure)
    values = density.constrain(np.zeros(density.size))
    values["ability_mean"] = np.array(ability)[:, None]
    values["confusion_mean"] = np.array(mean)
    values["answer_rate"] = np.ones_like(values["answer_rate"])
    (prior,) = names_prior(structure)
    return np.asarray(prior.log_density(values, np))


def test_a_class_that_raters_call_by_another_name_costs() -> None:
    flat, taken = np.zeros(9), np.zeros(9)
    taken[1] = np.log(8)  # the first class is called by the second's name, 8 : 1 + e
    structure = structure_of(ratings_of())
    good, bad = at(structure, [1.0], [flat]), at(structure, [1.0], [taken])
    own = 1 + np.e
    assert good == pytest.approx(-np.log1p(2 * own**-10.0))
    assert bad[1:] == pytest.approx(good[1:])
    assert bad[0] == pytest.approx(-np.log1p((8 / own) ** 10 + own**-10.0))
    assert bad[0] < -7


def test_a_small_group_may_have_other_names_than_the_crowd() -> None:
    flat, taken = np.zeros(9), np.zeros(9)
    taken[1] = np.log(50)
    few, many = (structure_of(ratings_of(groups)) for groups in ("aaab", "abbb"))
    assert at(few, [3.0, 0.0], [flat, taken])[0] > -0.1
    assert at(many, [3.0, 0.0], [flat, taken])[0] < -5


@pytest.mark.parametrize("options", [{}, {"reference": "a"}])
def test_known_truth_and_references_have_names_of_their_own(options: dict) -> None:
    ratings = ratings_of("aab", known=not options)
    assert names_prior(structure_of(ratings, **options)) == []


def test_draws_have_this_prior() -> None:
    """Means of draws are those of draws from the other priors, weighed by this one."""
    structure = structure_of(ratings_of(), priors=WEAK)
    (prior,) = names_prior(structure)
    rng = np.random.default_rng(4)
    plain = [{p.name: p.draw(rng) for p in structure.parameters()} for _ in range(4000)]
    weight = np.array([np.exp(prior.log_density(one, np).sum()) for one in plain])
    drawn = [structure.draw(rng) for _ in range(1500)]
    assert weight.mean() < 0.5  # it matters here

    def rate(one: dict) -> float:
        return float(np.exp(prior.parts[0].log_confusion(one, np)[0, 0, 0]))

    usual, found = (np.array([rate(one) for one in some]) for some in (plain, drawn))
    wanted = np.average(usual, weights=weight)
    error = np.sqrt(
        (weight**2 * (usual - wanted) ** 2).sum() / weight.sum() ** 2 + found.var() / len(found)
    )
    assert abs(found.mean() - wanted) < 4 * error
    assert abs(usual.mean() - wanted) > 10 * error


def test_priors_without_names_are_refused() -> None:
    structure = structure_of(
        ratings_of(), priors={"mean_correct": "Normal(-9, 0.01)", "mean_other": "Normal(9, 0.01)"}
    )
    with pytest.raises(ModelError, check=refusal("classes-without-names")):
        structure.draw(np.random.default_rng(1))
