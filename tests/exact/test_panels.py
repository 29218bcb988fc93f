"""Effects of systems on a cluster: the likelihood by enumeration, draws with those frequencies."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import replace

import brute
import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy import stats
from scipy.sparse import csr_array
from small import draw_values, small_ratings, stacked, task_named

from assay.data.ratings import Ratings
from assay.fits import latent_states
from assay.fits.answer_draws import _draw_nodes
from assay.fits.latent_states import predict_states, running_prevalence, sample_states
from assay.inference.coordinates import Preconditioner, Start, arrays_of
from assay.inference.density import Density, make_density
from assay.inference.optimise import prior_centre
from assay.likelihood import partition
from assay.likelihood.c_functions import c_functions, cards
from assay.modelling.prevalence.design import find_panels
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

U, WEIGHT = hermegauss(60)
WEIGHT = WEIGHT / WEIGHT.sum()
DRAWS = 8_000
RECIPES = {
    "plain": {"raters": "hierarchical"},
    "default": {},
    "continuous": {"raters": "one_coin + item_difficulty_continuous"},
    "groups": {"raters": "pooled", "reference": "human"},
    "misread": {"raters": "hierarchical + misreading"},
}


def ratings_of(name: str, seed: int, items: int = 36) -> Ratings:
    """Six clusters of two systems; some items are shown by both."""
    return small_ratings(
        task_named(name), seed, missing=0.1, known=True, items=items, systems=2, clusters=6
    )


def structure_of(name: str, seed: int, **options: object) -> Structure:
    structure = build_structure(ratings_of(name, seed), make_spec(**options))
    assert structure.prevalence.has_panels
    return structure


def values_of(structure: Structure, seed: int, rho: float) -> dict[str, np.ndarray]:
    return draw_values(structure, seed) | {"system_correlation": np.array(rho)}


def panels_of(structure: Structure) -> list[list[list[int]]]:
    """Items by cluster and by the systems that show them."""
    shown = structure.ratings.panels.groupby("item")["system"].agg(lambda s: tuple(sorted(set(s))))
    found = []
    for items in brute.clusters(structure):
        by_systems: dict[tuple, list[int]] = {}
        for i in items:
            by_systems.setdefault(shown[i], []).append(i)
        found.append(list(by_systems.values()))
    return found


def effects(rho: float) -> Iterator[tuple[float, list[tuple[float, float]]]]:
    """Weights of the cluster's effect, and the panel's effects given it with theirs."""
    for u, w in zip(U, WEIGHT, strict=True):
        inner = math.sqrt(rho) * u + math.sqrt(1 - rho) * U
        yield w, list(zip(inner, WEIGHT, strict=True))


def log_likelihoods(structure: Structure, values: dict, rho: float) -> list[float]:
    """Log-likelihood of each cluster, by Gauss-Hermite rules for u and v."""
    given, prior = brute.evidence(structure, values)

    def of_panel(items: list[int], inner: list[tuple[float, float]], read: brute.Vector) -> float:
        parts = given(read)
        return math.fsum(
            w * math.prod(float((prior[i](t) * parts[i]).sum()) for i in items) for t, w in inner
        )

    return [
        math.log(
            math.fsum(
                chance * w * math.prod(of_panel(p, inner, read) for p in panels)
                for chance, read in brute.readings(
                    structure, values, [i for p in panels for i in p]
                )
                for w, inner in effects(rho)
            )
        )
        for panels in panels_of(structure)
    ]


@pytest.mark.parametrize(
    ("name", "rho", "raters"),
    [
        *(
            (name, rho, "hierarchical")
            for name in ("retrieval", "gated")
            for rho in (0.1, 0.6, 0.9)
        ),
        ("retrieval", 0.6, "hierarchical + misreading"),
    ],
)
def test_marginal_likelihood(name: str, rho: float, raters: str):
    structure = structure_of(name, 1, raters=raters)
    values = values_of(structure, 1, rho)
    by_cluster = log_likelihoods(structure, values, rho)
    found = sample_states(structure, stacked(values), np.random.default_rng(1))
    np.testing.assert_allclose(found.log_likelihood[0], by_cluster, atol=1e-5)
    assert structure.log_likelihood(values) == pytest.approx(sum(by_cluster), abs=1e-5)


def test_systems_that_agree_in_everything_share_the_effect_of_their_cluster():
    structure = structure_of("retrieval", 12)
    shared = build_structure(structure.ratings, structure.spec, by_panel=False)
    values = values_of(structure, 2, 1.0)
    expected = shared.log_likelihood(values)
    assert structure.log_likelihood(values) == pytest.approx(expected, abs=1e-6)
    apart = structure.log_likelihood(values | {"system_correlation": np.array(0.0)})
    assert abs(apart - expected) > 0.01


@pytest.mark.parametrize("recipe", RECIPES)
def test_gradient(recipe: str):
    density = make_density(structure_of("retrieval", 3, **RECIPES[recipe]))
    x = 0.7 * np.random.default_rng(3).standard_normal(density.size)
    numeric = np.empty(density.size)
    for n, along in enumerate(2e-3 * np.eye(density.size)):
        near = density(x + along)[0] - density(x - along)[0]
        far = density(x + 2 * along)[0] - density(x - 2 * along)[0]
        numeric[n] = (8 * near - far) / 0.024
    found = density(x)[1]
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-6)
    assert abs(found[density.names().index("system_correlation")]) > 1e-3


def test_pymc_and_the_sampler_see_the_same_density():
    from pytensor.compile.mode import Mode

    from assay.modelling.pymc_model import model_of

    structure = structure_of("retrieval", 13, raters="pooled")
    density = make_density(structure)
    x = 0.5 * np.random.default_rng(4).standard_normal(density.size)
    value, gradient = density(x)
    assert at_point(density, x)[0] == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(at_point(density, x)[1], gradient, rtol=1e-8, atol=1e-8)
    model = model_of(structure)
    point = {}
    pieces = np.split(x, density.starts[1:-1])
    for parameter, numbers in zip(density.parameters, pieces, strict=True):
        variable = model.rvs_to_values[model[parameter.name]]
        point[variable.name] = numbers.reshape(parameter.free_shape)
    logp = model.compile_logp(mode=Mode(linker="py", optimizer=None))
    assert float(logp(point)) == pytest.approx(value, abs=1e-8)


def at_point(density: Density, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Call the compiled density as the sampler does, where no unknown has another scale."""
    start = Start(centre=np.zeros(density.size), root=csr_array(np.eye(density.size)))
    walk = Preconditioner(density=density, start=start, draws=1, tune=1, target_accept=0.8)
    arrays = arrays_of(walk)
    # The last seven: centre, root (values, row starts, columns), scores, their rates, an address.
    arrays[-7:-4] = start.centre, start.root.data, np.asarray(start.root.indptr, np.int64)
    arrays[-4:-1] = np.asarray(start.root.indices, np.int64), np.zeros(0, np.int64), np.zeros(0)
    table, value, gradient = cards(*arrays), np.zeros(1), np.zeros(len(x))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
    place = [a.ctypes.data for a in (x, gradient, value, table)]
    assert call(c_functions()[0].address)(len(x), *place) == 0
    return float(value[0]), gradient


def chi_squared(observed: np.ndarray, expected: np.ndarray) -> float:
    """p-value of counts against probabilities; rare outcomes are merged."""
    rare = expected * observed.sum() < 5
    seen = np.append(observed[~rare], observed[rare].sum())
    hoped = np.append(expected[~rare], expected[rare].sum()) * observed.sum()
    keep = hoped > 0
    return float(stats.chisquare(seen[keep], hoped[keep] * seen.sum() / hoped[keep].sum()).pvalue)


def joint(structure: Structure, tables: list, panels: list, pair: list[int], rho: float):
    """P(states of two items of a cluster), the others summed out: (state, state)."""
    count = len(structure.prevalence.space.states)
    found = np.zeros((count, count))
    for w, inner in effects(rho):
        total = np.ones((count, count))
        for items in panels:
            own = np.zeros((count, count))
            for t, v in inner:
                factors = np.ones((count, count))
                for i in items:
                    chance = tables[i](t)
                    if i == pair[0]:
                        factors = factors * chance[:, None]
                    elif i == pair[1]:
                        factors = factors * chance[None, :]
                    else:
                        factors = factors * chance.sum()
                own += v * factors
            total = total * own
        found += w * total
    return found / found.sum()


@pytest.mark.parametrize("same_panel", [True, False])
def test_drawn_states_of_two_items(same_panel: bool, monkeypatch: pytest.MonkeyPatch):
    """Given the ratings, and of new clusters; in one panel, and in two panels of a cluster."""
    structure, rho = structure_of("relevance", 5), 0.3
    values = values_of(structure, 5, rho) | {"cluster_loading": np.array([3.0, 1.0])}
    given, prior = brute.parts(structure, values), brute.by_difficulty(structure, values)
    panels = next(p for p in panels_of(structure) if len(p) > 1 and len(p[0]) > 1)
    pair = panels[0][:2] if same_panel else [panels[0][0], panels[1][0]]
    rated = [lambda t, i=i: (prior[i](t) * given[i]).sum(axis=0) for i in range(len(prior))]
    monkeypatch.setattr(partition, "PIECE", 20)
    assert len(latent_states.shares(structure.pattern.data)) > 1
    drawn = sample_states(structure, stacked(values, DRAWS), np.random.default_rng(5))
    counts = np.bincount(drawn.states[:, pair[0]] * 3 + drawn.states[:, pair[1]], minlength=9)
    expected = joint(structure, rated, panels, pair, rho)
    assert chi_squared(counts, expected.ravel()) > 1e-4
    alone = [expected.sum(axis=1), expected.sum(axis=0)]
    np.testing.assert_allclose(drawn.probabilities[pair], alone, atol=1e-6)
    anew = brute.of_all_items(structure, values)
    running = running_prevalence(structure, stacked(values, DRAWS))
    states = predict_states(structure, running, np.random.default_rng(6))
    counts = np.bincount(states[:, pair[0]] * 3 + states[:, pair[1]], minlength=9)
    assert chi_squared(counts, joint(structure, anew, panels, pair, rho).ravel()) > 1e-4


def test_nodes_given_the_states_have_the_correlation_of_the_posterior():
    """Nodes drawn after states that were drawn after nodes are draws of the prior."""
    structure, rho = structure_of("relevance", 6), 0.4
    values = stacked(values_of(structure, 6, rho) | {"cluster_loading": np.array([2.0, 2.0])})
    design, rng = structure.prevalence.design, np.random.default_rng(7)
    table = np.asarray(structure.state_chances(values, np))[0]
    running = running_prevalence(structure, values)
    _, first = np.unique(design.panel, return_index=True)
    cluster, found = design.cluster[first], []
    for _ in range(1500):
        states = predict_states(structure, running, rng)[0]
        nodes = design.nodes[_draw_nodes(structure, values, table, states, rng)[first]]
        found.append([nodes[cluster == c][:2] for c in range(6)])
    pairs = np.reshape(found, (-1, 2))
    assert stats.kstest(pairs[:, 0] + rng.uniform(-0.15, 0.15, len(pairs)), "norm").statistic < 0.03
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(rho, abs=0.04)


def test_other_names_of_the_systems_change_nothing():
    ratings = ratings_of("retrieval", 7)
    turned = ratings.panels.assign(system=ratings.panels["system"].map({"s0": "s1", "s1": "s0"}))
    first, second = (
        build_structure(r, make_spec()) for r in (ratings, replace(ratings, panels=turned))
    )
    values = values_of(first, 7, 0.4)
    by_system = ("system_offset", "hard_share_system_offset")
    swapped = values | {name: values[name][::-1] for name in by_system}
    expected = first.log_likelihood(values)
    assert second.log_likelihood(swapped) == pytest.approx(expected, abs=1e-9)


def test_pieces_add_up(monkeypatch: pytest.MonkeyPatch):
    density = make_density(structure_of("gated", 8))
    x = 0.5 * np.random.default_rng(8).standard_normal(density.size)
    value, gradient = density(x)
    monkeypatch.setattr(partition, "PIECE", 10)
    cut = replace(density, threads=3)
    assert len(cut.pieces) > 1
    assert cut(x)[0] == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(cut(x)[1], gradient, atol=1e-9)
    assert partition.bundle_sizes(density.data).sum() == sum(
        partition.bundle_sizes(piece).sum() for piece in cut.pieces
    )


def test_equal_panels_are_one():
    structure = build_structure(ratings_of("relevance", 9), make_spec("pooled"))
    data, panels = structure.pattern.data, structure.pattern.panels
    assert panels is not None
    assert len(data.panel_start) - 1 == panels.kind.max() + 1 <= len(panels.kind)
    counted = sum(
        data.bundle_counts[data.bundle_start[b] : data.bundle_start[b + 1]].sum() * n
        for b, n in enumerate(data.bundle_weight)
    )
    assert counted == len(panels.kind)


@pytest.mark.parametrize(
    ("systems", "size", "clusters", "there"),
    [(2, 2, 5, True), (2, 2, 4, False), (2, 1, 30, False), (1, 4, 30, False)],
)
def test_when_systems_have_effects_of_their_own(
    systems: int, size: int, clusters: int, there: bool
):
    import assay

    ratings = assay.simulate(
        "relevance", n_items=clusters * systems * size, n_systems=systems, n_clusters=clusters,
        n_raters=2, ratings_per_item=1,
    )  # fmt: skip
    structure = build_structure(ratings, make_spec())
    assert structure.prevalence.has_panels is there
    names = [p.name for p in structure.parameters()]
    assert ("system_correlation" in names) is there
    assert len(structure.tables(draw_values(structure, 1), np).mixing) == (29 if there else 0)


def test_items_of_several_systems_and_of_none_are_panels_of_their_own():
    ratings = ratings_of("relevance", 13, items=60)
    places = ratings.panels[ratings.panels["item"] != 7]
    places = pd.concat([places, places[places["item"] == 6].assign(system="s2")])
    found = find_panels(
        replace(ratings, panels=places), pd.factorize(ratings.items["cluster"])[0].astype(np.int64)
    )
    assert found is not None
    cluster = ratings.items["cluster"].to_numpy()
    assert (found == found[7]).sum() == 1
    assert (found == found[6]).sum() == 1
    owner = pd.Series(pd.factorize(cluster)[0]).groupby(found)
    assert owner.nunique().eq(1).all()
    assert owner.first().is_monotonic_increasing


def test_the_climb_starts_between_no_correlation_and_one():
    density = make_density(structure_of("retrieval", 11))
    assert density.constrain(prior_centre(density))["system_correlation"] == pytest.approx(0.5)
