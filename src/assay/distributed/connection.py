"""The client of a Dask cluster: one that is given, or one of the scheduler at an address."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.arguments import written
from assay.errors import ArgumentError, FitError
from assay.progress import waiting

PATIENCE = 20.0
"""Seconds in which a scheduler has to answer."""
FIRST_WORKER = 300.0
"""Seconds in which a worker has to be there: a cluster that grows with its work starts machines."""


@contextmanager
def connected(client: Any, *, show: bool = False) -> Iterator[Any]:
    """Yield a client: the one that is given, or one of the scheduler at an address.

    Parameters
    ----------
    client : distributed.Client or str
    show : bool
        Whether to say that the cluster has no worker yet.

    Raises
    ------
    ArgumentError
        If it is neither.
    FitError
        If there is no Dask, no scheduler, no worker, or a task that no worker survives.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise FitError("a Dask cluster needs the extra: pip install 'assay[dask]'") from None
    if not isinstance(client, str):
        _require_client(client)
    try:
        found = Client(client, timeout=PATIENCE) if isinstance(client, str) else client
    except (OSError, TimeoutError, ValueError) as error:
        raise FitError(f"no Dask scheduler answers at {client}: {error}") from None
    try:
        with waiting("waiting for a worker", show=show):
            require_worker(found)
        yield found
    except (CommClosedError, FutureCancelledError) as error:
        raise FitError(f"the Dask scheduler was lost on the way: {error}") from None
    except KilledWorker as error:
        raise FitError(
            f"several workers died of one task ({error.task}), most often for want of memory: "
            "write smaller files, or give each worker more"
        ) from None
    finally:
        if found is not client:
            found.close()


def _require_client(given: Any) -> None:
    """Refuse what is no client, or one that cannot be waited for here."""
    from distributed import Client

    if not isinstance(given, Client):
        raise ArgumentError(
            f"client={written(given)}; it must be a distributed.Client, or the address of a "
            "scheduler, such as 'tcp://10.0.0.1:8786'"
        )
    if given.asynchronous:
        raise ArgumentError(
            f"client={written(given)}; it is asynchronous, and nothing here awaits it: make one "
            "without asynchronous=True"
        )
    if given.status != "running":
        raise ArgumentError(f"client={written(given)}; it is {given.status}: connect it again")


def require_worker(client: Any) -> None:
    """Have some worker do nothing, so that a cluster that grows with its work starts one.

    Workers that are busy are waited for.

    Raises
    ------
    FitError
        If there is none in time.
    """
    done = client.submit(bool, pure=False)
    while True:
        try:
            done.result(timeout=FIRST_WORKER)
            return
        except TimeoutError:
            if not client.scheduler_info()["workers"]:
                break
    address = client.scheduler.address
    raise FitError(
        f"no worker has come to the Dask scheduler at {address} in {FIRST_WORKER:.0f} seconds; "
        f"start some: dask worker {address}"
    )
