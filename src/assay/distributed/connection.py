"""The client of a Dask cluster: one that is given, or one of the scheduler at an address."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.errors import FitError

PATIENCE = 20.0
"""Seconds in which a scheduler has to answer."""


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Yield a client: the one that is given, or one of the scheduler at an address.

    Raises
    ------
    FitError
        If there is no Dask, no scheduler, or a task that no worker survives.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise FitError("a Dask cluster needs the extra: pip install 'assay[dask]'") from None
    try:
        found = Client(client, timeout=PATIENCE) if isinstance(client, str) else client
    except (OSError, TimeoutError, ValueError) as error:
        raise FitError(f"no Dask scheduler answers at {client}: {error}") from None
    try:
        yield found
    except KilledWorker as error:
        raise FitError(
            f"several workers died of one task ({error.task}), most often for want of memory: "
            "write smaller files, or give each worker more"
        ) from None
    finally:
        if found is not client:
            found.close()
