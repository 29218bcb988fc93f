"""NUTS through NumPyro on the density in JAX: on a GPU where there is one."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.caches import is_writable, user_cache
from assay.effort import Effort
from assay.jax_density import JaxDensity, double_precision
from assay.partition import cores
from assay.progress import Board, progress_bar
from assay.walks import Start

Floats = NDArray[np.float64]
STATISTICS = ("lp", "diverging", "n_steps", "step_size", "energy")
CHUNK = 25
"""Iterations between two looks at the progress; an interrupted run ends within so many."""


def sample_nuts(
    density: JaxDensity,
    start: Start,
    effort: Effort,
    seed: int,
    *,
    together: bool | None = None,
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample with NumPyro, in units of the posterior's width at the mode.

    Parameters
    ----------
    density : JaxDensity
        From :func:`assay.jax_density.make_jax_density`.
    start : Start
    effort : Effort
    seed : int
        The same seed gives the same bits on one machine's CPU; a GPU adds up in any order.
    together : bool, optional
        Whether chains advance in step as one computation, or each in a thread. By default
        together unless on a CPU, where waiting for the longest trajectory costs more.

    Returns
    -------
    x : ndarray (chain, draw, value)
    stats : dict of ndarray (chain, draw)
        ``lp``, ``diverging``, ``n_steps``, ``tree_depth``, ``step_size``, ``energy``.

    Examples
    --------
    >>> import assay
    >>> from scipy.sparse import csr_array
    >>> from assay.effort import Effort
    >>> from assay.jax_density import make_jax_density
    >>> from assay.model import build_structure
    >>> from assay.spec import make_spec
    >>> ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    >>> density = make_jax_density(build_structure(ratings, make_spec("pooled", "dirichlet")))
    >>> start = Start(centre=np.zeros(density.size), root=csr_array(np.eye(density.size)))
    >>> x, stats = sample_nuts(density, start, Effort(draws=5, tune=20, chains=1), seed=1)
    >>> x.shape == (1, 5, density.size)
    True
    """
    import jax

    _keep_compiled()
    if together is None:
        together = jax.default_backend() != "cpu"
    chains, tune, total = effort.chains, effort.tune, effort.total
    points = np.random.default_rng(seed).standard_normal((chains, density.size))
    centre, scale = np.asarray(start.centre, float), np.asarray(start.scale, float)
    data = (density.constants, centre, scale)
    with double_precision(), progress_bar(chains, total, show=effort.progress) as show:
        keys = jax.random.split(jax.random.key(seed), chains)
        begin, advance = _iterations(density, tune, effort.target_accept)
        if together:
            begin, advance = jax.vmap(begin, (None, 0, 0)), jax.vmap(advance, (None, 0))
        first: Any = slice(None) if together else 0
        begin = jax.jit(begin).lower(data, keys[first], points[first]).compile()
        state = begin(data, keys[first], points[first])
        advance = jax.jit(advance).lower(data, state).compile()
        board = Board(chains, total, show)
        walk = _Walk(begin=begin, advance=advance, data=data, tune=tune, board=board)
        tracks = walk.together(keys, points) if together else walk.in_threads(keys, points)
    z, *stats = (track[:, tune:total] for track in tracks)
    found = dict(zip(STATISTICS, stats, strict=True))
    found["tree_depth"] = np.ceil(np.log2(found["n_steps"] + 1)).astype(np.int64)
    return centre + scale * z, found


def _iterations(
    density: JaxDensity, tune: int, target_accept: float
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return NUTS of one chain, to be compiled.

    Returns
    -------
    begin : callable
        ``begin(data, key, z)`` is the state of the chain at a point.
    advance : callable
        ``advance(data, state)`` is the state ``CHUNK`` iterations later, and what is kept of them.
    """
    import jax
    from numpyro.infer.hmc import hmc

    def potential(constants: Any, centre: Any, scale: Any) -> Callable[[Any], Any]:
        return lambda z: -density.function(constants, centre + scale * z)

    initialise, iterate = hmc(potential_fn_gen=potential, algo="NUTS")

    def begin(data: Any, key: Any, z: Any) -> Any:
        return initialise(z, tune, target_accept_prob=target_accept, model_args=data, rng_key=key)

    def step(state: Any, data: Any) -> tuple[Any, tuple[Any, ...]]:
        state = iterate(state, data)
        size = state.adapt_state.step_size
        height = -state.potential_energy
        return state, (state.z, height, state.diverging, state.num_steps, size, state.energy)

    def advance(data: Any, state: Any) -> Any:
        return jax.lax.scan(lambda state, _: step(state, data), state, length=CHUNK)

    return begin, advance


def _keep_compiled() -> None:
    """Keep what JAX compiles on disk, unless it has a folder already or home cannot be written.

    The data are no part of what is compiled: fits of one shape share an entry.
    """
    import jax

    if jax.config.jax_compilation_cache_dir is not None:
        return
    folder = user_cache() / "jax"
    if is_writable(folder):
        jax.config.update("jax_compilation_cache_dir", str(folder))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Walk:
    """Runs compiled chains, and says how far they are."""

    begin: Callable[..., Any]
    advance: Callable[..., Any]
    data: Any
    tune: int
    board: Board
    stop: Event = field(default_factory=Event)

    def together(self, keys: Any, points: Floats) -> list[NDArray[Any]]:
        """All chains in step: arrays (chain, iteration, ...)."""
        return self._walk(keys, points, range(len(points)))

    def in_threads(self, keys: Any, points: Floats) -> list[NDArray[Any]]:
        """Each chain in a thread, as many at once as there are cores."""
        with ThreadPoolExecutor(min(len(points), cores())) as pool:
            running = [
                pool.submit(self._walk, key, point, [n])
                for n, (key, point) in enumerate(zip(keys, points, strict=True))
            ]
            try:
                chains = [future.result() for future in running]
            except BaseException:  # an interrupted run does not go on in its threads
                self.stop.set()
                raise
        return [np.stack(arrays) for arrays in zip(*chains, strict=True)]

    def _walk(self, key: Any, point: Floats, chains: Sequence[int]) -> list[NDArray[Any]]:
        """Go on by chunks; ``chains`` of them all walk here."""
        pieces = []
        with double_precision():  # which a thread has for itself
            here = self.begin(self.data, key, point)
            for first in range(0, self.board.total, CHUNK):
                if self.stop.is_set():
                    break
                here, kept = self.advance(self.data, here)
                pieces.append([np.asarray(array) for array in kept])
                self._look(first, pieces[-1][2], chains)
        return [np.concatenate(arrays, axis=point.ndim - 1) for arrays in zip(*pieces, strict=True)]

    def _look(self, first: int, diverging: NDArray[Any], chains: Sequence[int]) -> None:
        """Count the divergent draws after the warm-up, and show how far the chains are."""
        total, before = self.board.total, self.board.state
        kept = slice(max(self.tune - first, 0), total - first)
        done = min(first + CHUNK, total)
        counts = zip(chains, np.atleast_2d(diverging)[:, kept].sum(axis=1), strict=True)
        self.board.tell({n: (done, before[n][1] + int(more)) for n, more in counts})
