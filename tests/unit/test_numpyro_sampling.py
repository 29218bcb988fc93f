import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import numpyro_sampling, sampling
from assay.density import Density, make_density
from assay.effort import Effort
from assay.jax_density import make_jax_density
from assay.laplace import mode_root
from assay.model import build_structure
from assay.modes import find_modes
from assay.numpyro_sampling import CHUNK, sample_nuts
from assay.peaks import Mode
from assay.spec import make_spec
from assay.walks import Start

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("numpyro", reason="NumPyro is not installed")

Draws = tuple[np.ndarray, dict[str, np.ndarray]]
EFFORT = Effort(draws=510, tune=290, chains=3, target_accept=0.8)
SEED = 5


class Small:
    """A small model, its mode, and a sample of it."""

    def __init__(self) -> None:
        ratings = assay.simulate("single", n_items=40, n_raters=4, classes=("no", "yes"), rng=3)
        structure = build_structure(ratings, make_spec("class_conditional", "dirichlet"))
        self.density: Density = make_density(structure)
        self.jax = make_jax_density(structure)
        self.mode: Mode = find_modes(structure, self.density, np.random.default_rng(0), starts=1)[0]
        self.start = Start(centre=self.mode.x, root=mode_root(self.density, self.mode))

    def draws(self, seed: int = SEED, *, together: bool | None = None, **changes: Any) -> Draws:
        effort = replace(EFFORT, **changes)
        return sample_nuts(self.jax, self.start, effort, seed, together=together)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Keep compiled code in a folder of the tests."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    return Small()


@pytest.fixture(scope="module")
def sampled(small: Small) -> Draws:
    return small.draws()


def standard_error(x: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the means of (chain, draw, value)."""
    from arviz_stats.base.array import BaseArray

    statistics: Any = BaseArray()
    ess = statistics.ess(x, chain_axis=0, draw_axis=1, method="mean")
    return np.asarray(x.reshape(-1, x.shape[-1]).std(axis=0) / np.sqrt(ess))


def same_means(x: np.ndarray, y: np.ndarray) -> None:
    """Means agree within five standard errors, in all values; and so do squares."""
    for transform in (lambda v: v, np.square):
        a, b = transform(x), transform(y)
        error = np.hypot(standard_error(a), standard_error(b))
        apart = np.abs(a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))) / error
        assert apart.max() < 5


def test_posterior_is_that_of_nutpie(small: Small, sampled: Draws):
    other, _ = sampling.sample_nuts(small.density, small.start, EFFORT, SEED)
    assert sampled[0].shape == other.shape
    same_means(sampled[0], other)


def test_statistics_are_those_of_the_draws(small: Small, sampled: Draws):
    x, stats = sampled
    assert x.shape == (3, 510, small.density.size)
    assert {value.shape for value in stats.values()} == {(3, 510)}
    for chain, draw in ((0, 0), (1, 300), (2, 509)):
        assert stats["lp"][chain, draw] == pytest.approx(small.density(x[chain, draw])[0], rel=1e-9)
    assert (2.0 ** stats["tree_depth"] > stats["n_steps"]).all()
    assert (stats["n_steps"] >= 1).all()
    assert (stats["energy"] >= -stats["lp"]).all()
    assert (np.ptp(stats["step_size"], axis=1) == 0).all()
    assert stats["diverging"].dtype == bool
    assert stats["diverging"].mean() < 0.05


def test_chains_differ_and_a_seed_repeats_them(small: Small, sampled: Draws):
    x, _ = sampled
    assert np.abs(x[0] - x[1]).max() > 0.1
    again, _ = small.draws()
    np.testing.assert_array_equal(again, x)
    other, _ = small.draws(seed=6, draws=10)
    assert not np.isin(other, x).any()


def test_chains_together_have_the_same_posterior(small: Small, sampled: Draws):
    x, stats = small.draws(together=True)
    assert x.shape == sampled[0].shape
    assert {value.shape for value in stats.values()} == {(3, 510)}
    same_means(x, sampled[0])


@pytest.mark.parametrize("together", [False, True])
def test_progress_counts_all_chains(small: Small, monkeypatch: pytest.MonkeyPatch, together: bool):
    reports: list[tuple[list[int], int]] = []

    def note(state: list[tuple[int, int]]) -> None:
        finished, diverged = zip(*state, strict=True)
        reports.append((list(finished), sum(diverged)))

    monkeypatch.setattr(numpyro_sampling, "progress_bar", lambda *_, show: nullcontext(note))
    _, stats = small.draws(together=together)
    assert reports[-1] == ([800, 800, 800], stats["diverging"].sum())
    assert len(reports) == 800 // CHUNK * (1 if together else 3)
    done = [sum(finished) for finished, _ in reports]
    assert done == sorted(done)


def test_an_interrupted_run_stops_its_chains(small: Small, monkeypatch: pytest.MonkeyPatch):
    looks = []

    def interrupt(walk: Any, first: int, *rest: Any) -> None:
        looks.append(first)
        raise KeyboardInterrupt

    monkeypatch.setattr(numpyro_sampling._Walk, "_look", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small.draws()
    assert set(looks) == {0}


def test_where_compiled_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    chosen = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", None)
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        numpyro_sampling._keep_compiled()
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "assay" / "jax")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
        numpyro_sampling._keep_compiled()
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "assay" / "jax")
        (tmp_path / "file").touch()
        jax.config.update("jax_compilation_cache_dir", None)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        numpyro_sampling._keep_compiled()
        assert jax.config.jax_compilation_cache_dir is None
    finally:
        jax.config.update("jax_compilation_cache_dir", chosen)
