"""The density on unconstrained numbers: prior + Jacobian + likelihood, its gradient, and PyMC's."""

import numpy as np
import pytest
from scipy import stats
from small import SHIPPED, small_ratings, task_named, with_strengths

from assay.density import Density, make_density, unconstrain
from assay.model import Structure, build_structure, make_spec, model_of
from assay.priors import Parameter

FAMILIES = ("hierarchical", "dawid_skene", "one_coin", "class_conditional", "pooled")


def structure_of_all(name: str, family: str, resolve: str, **options: object) -> Structure:
    """A structure with warned, blocked and soft rules, missing answers, systems and clusters."""
    task = with_strengths(task_named(name), ("hard", "soft"), ("block", "warn"))
    ratings = small_ratings(
        task, 3, items=12, systems=2, clusters=6, missing=0.15, resolve=resolve, known=True
    )
    return build_structure(ratings, make_spec(family, **options))


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


def _simplex_jacobian(p: np.ndarray) -> float:
    """Log determinant of d p[:-1] / d free, where p = softmax(free, -sum(free))."""
    last = len(p) - 1
    matrix = p[:last, None] * (np.eye(last) - (p[:last] - p[last])[None, :])
    return float(np.linalg.slogdet(matrix)[1])


@pytest.mark.parametrize("resolve", ["retry", "repair"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_value_and_gradient(name: str, family: str, resolve: str):
    structure = structure_of_all(name, family, resolve)
    density = make_density(structure)
    x = somewhere(density, 1)
    value, gradient = density(x)
    values = density.constrain(x)
    prior = 0.0
    for n, parameter in enumerate(density.parameters):
        free = x[density.starts[n] : density.starts[n + 1]].reshape(parameter.free_shape)
        prior += prior_at(parameter, values[parameter.name], free)
    assert value == pytest.approx(prior + structure.log_likelihood(values), abs=1e-9, rel=1e-12)
    numeric = differences(density, x)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)
    assert np.abs(gradient).max() > 0.1


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
    assert density(x)[0] == pytest.approx(total + structure.log_likelihood(values), abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_unconstrain_is_the_inverse_of_constrain(family: str):
    density = make_density(structure_of_all("gated", family, "retry"))
    x = somewhere(density, 4)
    np.testing.assert_allclose(unconstrain(density, density.constrain(x)), x, atol=1e-11)


def _against_pymc(structure: Structure, mode: object) -> None:
    """Value and gradient at two points, PyMC's transformed variables filled by name."""
    model, density = model_of(structure), make_density(structure)
    free = {
        model.rvs_to_values[rv].name: p
        for rv, p in zip(model.free_RVs, density.parameters, strict=True)
    }
    names = list(free)
    logp, dlogp = model.compile_logp(mode=mode), model.compile_dlogp(mode=mode)
    for seed in (5, 6):
        x = somewhere(density, seed)
        pieces = {}
        for n, name in enumerate(names):
            shape = free[name].free_shape
            pieces[name] = x[density.starts[n] : density.starts[n + 1]].reshape(shape)
        value, gradient = density(x)
        assert float(logp(pieces)) == pytest.approx(value, rel=1e-12, abs=1e-10)
        np.testing.assert_allclose(dlogp(pieces), gradient, rtol=1e-9, atol=1e-9)


def test_pymc_agrees_without_compiling():
    ratings = small_ratings(task_named("retrieval"), 3, items=6, clusters=None, missing=0.2)
    _against_pymc(build_structure(ratings, make_spec()), _interpreted())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["grounding", "gated", "single"])
def test_pymc_agrees_for_every_family(name: str, family: str):
    for resolve in ("retry", "repair"):
        _against_pymc(structure_of_all(name, family, resolve), _interpreted())


@pytest.mark.slow
def test_pymc_agrees_compiled():
    _against_pymc(structure_of_all("retrieval", "hierarchical", "repair"), None)


def _interpreted() -> object:
    from pytensor.compile.mode import Mode

    return Mode(linker="py", optimizer="fast_compile")
