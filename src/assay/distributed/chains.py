"""Chains of NUTS on the workers of a Dask cluster: each is a task, with the same bits as here."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.distributed.spreading import same, sending
from assay.progress import Board, progress_bar
from assay.sampling import chain_seeds, sample_chain, together
from assay.walks import Start, Walk

Floats = NDArray[np.float64]


def sample_chains(
    client: Any,
    density: Density,
    start: Start,
    *,
    draws: int,
    tune: int,
    chains: int,
    seed: int,
    target_accept: float,
    progress: bool,
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample as :func:`assay.sampling.sample_nuts` does, each chain on a worker of ``client``.

    All else is as there, but that ``progress`` moves when a chain has ended.
    """
    walk = Walk(
        density=replace(density, threads=1),
        start=start,
        draws=draws,
        tune=tune,
        target_accept=target_accept,
    )
    seeds = chain_seeds(seed, chains)
    with sending():
        given = client.submit(same, walk, pure=False)
    found = client.map(sample_chain, [given] * chains, seeds, pure=False)
    total = draws + tune
    with progress_bar(chains, total, show=progress) as show:
        board = Board(chains, total, show)
        for n, future in enumerate(found):
            board.tell({n: (total, int(np.sum(future.result().get("diverging", 0))))})
    return together(client.gather(found))
