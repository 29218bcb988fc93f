"""The density on unconstrained numbers: prior + Jacobian + likelihood, its gradient, and PyMC's."""

import numpy as np
import pytest
from scipy import stats
from small import (
    FAMILIES,
    SHIPPED,
    in_sessions,
    repeated,
    resolved,
    small_ratings,
    task_named,
    with_covariates,
    with_scores,
    with_strengths,
)

from assay.inference.density import Density, make_density, unconstrain
from assay.modelling.parameters import Parameter
from assay.modelling.pymc_model import model_of
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

RECIPES: dict[str, dict] = {
    "scores": {"raters": "scored + drift"},
    "easy and hard": {"raters": "hierarchical + item_difficulty"},
    "continuous": {"raters": "one_coin + item_difficulty_continuous"},
    "by rater": {"raters": "hierarchical + item_difficulty_by_rater"},
    "by class": {"raters": "one_coin + item_difficulty_by_class + drift"},
    "drift": {"raters": "pooled + drift"},
    "lapses": {"raters": "hierarchical + lapses + item_difficulty"},
    "halo": {"raters": "hierarchical + halo + item_difficulty"},
    "bias": {"raters": "dawid_skene + system_bias"},
    "misread": {"raters": "hierarchical + misreading + item_difficulty"},
    "misread, one node": {"raters": "pooled + misreading", "prevalence": "dirichlet"},
    "gold": {"raters": "hierarchical", "reference": "gold"},
    "default, gold": {"reference": "gold"},
    "group": {"reference": "human", "raters": "class_conditional + item_difficulty + drift"},
    "mixed": {
        "reference": "human",
        "raters": {"human": "mace + drift", "model": "scored + item_difficulty"},
    },
    "joint": {"raters": "joint + item_difficulty", "prevalence": "dirichlet"},
    "ordinal": {"raters": "ordinal + drift", "replicates": "independent"},
    "copies": {"raters": "hierarchical + item_difficulty", "copies": {"r1": "r0", "r3": "r1"}},
}


def structure_of_all(name: str, family: str, resolve: str, **options: object) -> Structure:
    """A structure with warned, blocked and soft rules, missing answers, systems and clusters."""
    task = with_strengths(task_named(name), ("hard", "soft"), ("block", "warn"))
    ratings = small_ratings(
        task, 3, items=12, systems=2, clusters=6, missing=0.15, resolve=resolve, known=True
    )
    return build_structure(ratings, make_spec(family, **options))


def structure_with_layers(name: str, recipe: str, items: int = 9) -> Structure:
    """A structure with sessions, scores, repeated ratings, systems and clusters."""
    task = with_strengths(task_named(name), ("hard", "soft"), ("block", "warn"))
    few = small_ratings(task, 4, items=items, systems=2, clusters=3, missing=0.1, known=True)
    ratings = with_scores(in_sessions(repeated(few, 4, share=0.3), 4), 4)
    return build_structure(ratings, make_spec(**RECIPES[recipe]))


def structure_with_covariates(name: str) -> Structure:
    """A structure with a formula, systems and clusters."""
    ratings = small_ratings(task_named(name), 3, items=12, systems=2, clusters=6)
    formula = "~ length * language + (1 | source)"
    return build_structure(with_covariates(ratings, 3), make_spec(formula=formula))


def somewhere(density: Density, seed: int, scale: float = 0.7) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal(density.size)


def differences(density: Density, x: np.ndarray, step: float = 2e-3) -> np.ndarray:
    """Central differences of the fourth order."""
    found = np.empty_like(x)
    for n in range(len(x)):
        along = step * np.eye(len(x))[n]
        near = density(x + along)[0] - density(x - along)[0]
        far = density(x + 2 * along)[0] - density(x - 2 * along)[0]
        found[n] = (8 * near - far) / (12 * step)
    return found


def prior_at(parameter: Parameter, value: np.ndarray, free: np.ndarray) -> float:
    """Log prior density with the Jacobian, from scipy's distributions."""
    numbers = [np.broadcast_to(v, value.shape) for v in parameter.prior.values]
    match parameter.prior.name:
        case "Normal":
            return float(stats.norm(*numbers).logpdf(value).sum())
        case "HalfNormal":
            return float((stats.halfnorm(scale=numbers[0]).logpdf(value) + free).sum())
        case "Exponential":
            return float((stats.expon(scale=1 / numbers[0]).logpdf(value) + free).sum())
        case "Gamma":
            shape, rate = numbers
            return float((stats.gamma(shape, scale=1 / rate).logpdf(value) + free).sum())
        case "Beta":
            return float(
                (stats.beta(*numbers).logpdf(value) + np.log(value) + np.log1p(-value)).sum()
            )
    rows = zip(
        value.reshape(-1, value.shape[-1]), numbers[0].reshape(-1, value.shape[-1]), strict=True
    )
    return float(
        sum(stats.dirichlet(a).logpdf(p / p.sum()) + _simplex_jacobian(p) for p, a in rows)
    )


def joint_at(structure: Structure, values: dict[str, np.ndarray]) -> float:
    return lean_at(structure, values) + names_at(structure, values)


def names_at(structure: Structure, values: dict[str, np.ndarray]) -> float:
    """What the prior of class names adds: each class's own answer against all, to the power 10."""
    raters, layout, total = structure.parts[0].raters, structure.parts[0].family.layout, 0.0
    if raters.crowd is None or "answer_rate" not in values:
        return total
    answer, cell = 0, 0
    long = [n for n, label in enumerate(structure.ratings.task.labels) if len(label.classes) > 2]
    for place, n in enumerate(long):
        count = len(structure.ratings.task.labels[n].classes)
        share = np.zeros(len(raters.groups))
        for rater, group in enumerate(raters.group):
            share[group] += raters.crowd[rater, n]
        for k in range(count):
            mean = np.zeros(count)
            for g in range(len(raters.groups)):
                rate = values["answer_rate"][g, answer : answer + count]
                rate = rate / rate.mean()
                offset = values["confusion_mean"][g, cell : cell + count]
                odds = rate * np.exp(offset)
                odds[k] = rate[k] + np.exp(values["ability_mean"][g, place] + offset[k])
                mean += share[g] / share.sum() * odds / odds.sum()
            if raters.alone[n]:
                total += float(np.log(mean[k] ** 10 / (mean**10).sum()))
            cell += count
        answer += count
    assert layout.asked_rows >= answer
    return total


def lean_at(structure: Structure, values: dict[str, np.ndarray]) -> float:
    """What the prior of the lean adds: it takes the place of the one that the logits give it.

    Given the SDs the lean is normal: a sum of independent means and offsets.
    """
    raters, layout, total = structure.parts[0].raters, structure.parts[0].family.layout, 0.0
    if raters.crowd is None or "logit_offset" not in values:
        return total
    priors = {p.name: p.prior for p in structure.parameters()}
    centre, width = (
        np.broadcast_to(v, values["logit_mean"].shape) for v in priors["logit_mean"].values
    )
    for n, label in enumerate(structure.ratings.task.labels):
        if len(label.classes) > 2 or not raters.alone[n] or not raters.crowd[:, n].any():
            continue
        found, usual, variance = 0.0, 0.0, 0.0
        cells = [row for row, _ in layout.cells]
        if "answer_rate" in values:  # longer rows have no logits
            cells = [row for row in cells if layout.row_classes[row] == 2]
        for cell, row in enumerate(cells):
            if layout.labels[row] != n:
                continue
            sign = 1 if layout.true_classes[row] == 1 else -1
            for g in range(len(raters.groups)):
                members = np.flatnonzero(raters.group == g)
                share = raters.crowd[members, n] * sign / 2
                sd, offset = values["logit_sd"][g, cell], values["logit_offset"][members, cell]
                found += share.sum() * values["logit_mean"][g, cell] + sd * (share @ offset)
                usual += share.sum() * centre[g, cell]
                variance += (share.sum() * width[g, cell]) ** 2 + sd**2 * (share @ share)
        wanted = structure.parts[0].family.priors["lean"].values
        total += stats.norm(*wanted).logpdf(found)
        total -= stats.norm(usual, np.sqrt(variance)).logpdf(found)
    return float(total)


def _simplex_jacobian(p: np.ndarray) -> float:
    """Log determinant of d p[:-1] / d free, where p = softmax(free, -sum(free))."""
    last = len(p) - 1
    matrix = p[:last, None] * (np.eye(last) - (p[:last] - p[last])[None, :])
    return float(np.linalg.slogdet(matrix)[1])


@pytest.mark.parametrize(("name", "resolve"), resolved(*SHIPPED, "gated"))
@pytest.mark.parametrize("family", FAMILIES)
def test_value_and_gradient(name: str, family: str, resolve: str):
    agree(structure_of_all(name, family, resolve))


@pytest.mark.parametrize("name", ["retrieval", "gated"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_value_and_gradient_with_layers(recipe: str, name: str):
    agree(structure_with_layers(name, recipe))


@pytest.mark.parametrize("name", ["retrieval", "gated"])
def test_value_and_gradient_with_covariates(name: str):
    agree(structure_with_covariates(name))


def agree(structure: Structure) -> None:
    """Prior and Jacobian by scipy, likelihood by the tables, gradient by differences."""
    density = make_density(structure)
    x = somewhere(density, 1)
    value, gradient = density(x)
    values = density.constrain(x)
    prior = 0.0
    for n, parameter in enumerate(density.parameters):
        free = x[density.starts[n] : density.starts[n + 1]].reshape(parameter.free_shape)
        prior += prior_at(parameter, values[parameter.name], free)
    assert value == pytest.approx(
        prior + joint_at(structure, values) + structure.log_likelihood(values),
        abs=1e-9,
        rel=1e-12,
    )
    numeric = differences(density, x)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)
    assert np.abs(gradient).max() > 0.1


def structure_without_truth(name: str, family: str) -> Structure:
    """Two groups of raters, who alone say what is true."""
    ratings = small_ratings(task_named(name), 5, items=12, raters=5, missing=0.2)
    return build_structure(ratings, make_spec(family))


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("ais", "hierarchical"), ("gated", "hierarchical + item_difficulty"),
        ("relevance", "ability_bias"), ("single", "ability_bias + item_difficulty"),
        ("gated", "ability_bias + item_difficulty"),
    ],
)  # fmt: skip
def test_value_and_gradient_where_raters_alone_say_what_is_true(name: str, family: str):
    structure = structure_without_truth(name, family)
    assert structure.joint_priors
    agree(structure)


@pytest.mark.parametrize("name", ["retrieval", "ais", "single"])
def test_value_and_gradient_with_a_dirichlet_prevalence(name: str):
    structure = structure_of_all(name, "dawid_skene", "retry", prevalence="dirichlet")
    density = make_density(structure)
    x = somewhere(density, 2)
    np.testing.assert_allclose(density(x)[1], differences(density, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("prior", ["HalfNormal(0.3)", "Exponential(2)", "Gamma(2, 3)"])
def test_priors_of_a_scale(prior: str):
    structure = structure_of_all("retrieval", "hierarchical", "retry", priors={"sd": prior})
    density = make_density(structure)
    x = somewhere(density, 3)
    values, total = density.constrain(x), 0.0
    for n, parameter in enumerate(density.parameters):
        free = x[density.starts[n] : density.starts[n + 1]].reshape(parameter.free_shape)
        total += prior_at(parameter, values[parameter.name], free)
    assert density(x)[0] == pytest.approx(
        total + joint_at(structure, values) + structure.log_likelihood(values), abs=1e-9
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_unconstrain_is_the_inverse_of_constrain(family: str):
    density = make_density(structure_of_all("gated", family, "retry"))
    x = somewhere(density, 4)
    np.testing.assert_allclose(unconstrain(density, density.constrain(x)), x, atol=1e-11)


@pytest.mark.parametrize("far", [-1000.0, 60.0])
@pytest.mark.parametrize("recipe", ["by rater", "joint", "easy and hard"])
def test_what_is_rounded_to_the_edge_of_its_range_stays_finite(recipe: str, far: float):
    density = make_density(structure_with_layers("retrieval", recipe))
    bounded = [p.prior.name not in ("Normal", "Dirichlet") for p in density.parameters]
    sizes = np.diff(density.starts)
    x = np.where(np.repeat(bounded, sizes), far, 0.0)
    assert np.isfinite(unconstrain(density, density.constrain(x))).all()


def _against_pymc(structure: Structure, mode: object) -> None:
    """Value and gradient at two points."""
    import pytensor

    model, density = model_of(structure), make_density(structure)
    places = model.value_vars
    terms = [term.sum() for term in model.logp(sum=False)]
    total = sum(terms[1:], start=terms[0])  # one by one: the interpreter adds no more than 32
    outputs = [total, *pytensor.grad(total, places)]
    play = pytensor.function(places, outputs, mode=mode)
    for seed in (5, 6):
        x = somewhere(density, seed)
        pieces = [
            x[density.starts[n] : density.starts[n + 1]].reshape(p.free_shape)
            for n, p in enumerate(density.parameters)
        ]
        value, gradient = density(x)
        found, *by_place = play(*pieces)
        assert float(found) == pytest.approx(value, rel=1e-12, abs=1e-10)
        along = np.concatenate([np.ravel(g) for g in by_place])
        np.testing.assert_allclose(along, gradient, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_pymc_agrees_without_compiling():
    ratings = small_ratings(task_named("retrieval"), 3, items=6, clusters=None, missing=0.2)
    _against_pymc(build_structure(ratings, make_spec()), _interpreted())


@pytest.mark.parametrize("name", [pytest.param("relevance", marks=pytest.mark.slow), "gated"])
def test_pymc_agrees_where_raters_alone_say_what_is_true(name: str):
    _against_pymc(structure_without_truth(name, "ability_bias"), _interpreted())


@pytest.mark.parametrize("recipe", ["easy and hard", "gold", "default, gold"])
def test_pymc_agrees_with_layers(recipe: str):
    _against_pymc(structure_with_layers("ais", recipe, items=5), _interpreted())


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_pymc_agrees_with_every_layer(recipe: str):
    _against_pymc(structure_with_layers("gated", recipe), _interpreted())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["grounding", "gated", "single"])
def test_pymc_agrees_for_every_family(name: str, family: str):
    for resolve in ("retry", "repair"):
        _against_pymc(structure_of_all(name, family, resolve), _interpreted())


@pytest.mark.slow
def test_pymc_agrees_with_covariates():
    _against_pymc(structure_with_covariates("ais"), _interpreted())


def test_pymc_agrees_as_rewritten():
    """With all that PyTensor does to a graph before it compiles it, which takes a minute."""
    from pytensor.compile.mode import Mode

    played = Mode(linker="py", optimizer="fast_run")
    _against_pymc(structure_of_all("retrieval", "hierarchical", "repair"), played)


@pytest.mark.slow
def test_pymc_agrees_compiled():
    """In CI the sampler of PyMC compiles a model."""
    _against_pymc(structure_of_all("retrieval", "hierarchical", "repair"), None)


def _interpreted() -> object:
    from pytensor.compile.mode import Mode

    return Mode(linker="py", optimizer=None)
