"""Chains of NUTS on the workers of a Dask cluster: each is a task, with the same bits as here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.distributed.gathering import called_off
from assay.distributed.spreading import same, sending
from assay.effort import Effort
from assay.progress import Board, progress_bar
from assay.sampling import chain_seeds, sample_chain, together
from assay.walks import Start, walk_of

Floats = NDArray[np.float64]


def sample_chains(
    density: Density, start: Start, effort: Effort, seed: int
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample as :func:`assay.sampling.sample_nuts` does, each chain on a worker of the client.

    All else is as there, but that the progress bar moves when a chain has ended.
    """
    walk, chains, client = walk_of(density, start, effort), effort.chains, effort.client
    with sending():
        given = client.submit(same, walk, pure=False)
    found = client.map(sample_chain, [given] * chains, chain_seeds(seed, chains), pure=False)
    with (
        called_off(client, found),
        progress_bar(chains, effort.total, show=effort.progress) as show,
    ):
        board = Board(chains, effort.total, show)
        for n, future in enumerate(found):
            board.tell({n: (effort.total, int(np.sum(future.result().get("diverging", 0))))})
        return together(client.gather(found))
