"""``dask_executor``: workers of a Dask cluster, for ``fit`` and ``fit_dataset``."""

import asyncio
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from assay._util.errors import ArgumentError, FitError
from assay._util.progress import steps, waiting
from assay._util.validation import written
from assay.inference.executors import same

PATIENCE = 20.0
"""Seconds to wait for a scheduler."""
FIRST_WORKER = 300.0
"""Seconds to wait for a worker, since an adaptive cluster first starts machines."""
PAUSE = 0.1
"""Seconds between two checks of a worker."""
LARGE_GRAPH = "Sending large graph"
"""Dask's warning of data inside tasks, where they survive the loss of a worker."""


def dask_executor(address: Any) -> "DaskExecutor":
    """Connect to a Dask cluster whose workers compute a fit.

    Parameters
    ----------
    address : str or distributed.Client
        Address of the scheduler, such as ``"tcp://10.0.0.1:8786"``, or a client of the cluster.

    Returns
    -------
    DaskExecutor
        For ``fit(executor=)`` and ``fit_dataset(executor=)``. As a context manager it closes the
        connection at the end, but not a given client.

    Raises
    ------
    ArgumentError
        If the address is neither text nor a client, or the client cannot be used.
    FitError
        If Dask is not installed (extra ``assay[dask]``), or no scheduler answers.

    Examples
    --------
    >>> import assay
    >>> with assay.dask_executor("tcp://10.0.0.1:8786") as executor:  # doctest: +SKIP
    ...     fit = assay.fit(ratings, executor=executor)
    """
    try:
        from distributed import Client
    except ImportError:
        raise FitError(
            "a Dask cluster needs the extra: pip install 'assay[dask]'", code="extra-not-installed"
        ) from None
    if not isinstance(address, str):
        _require_client(address)
        return DaskExecutor(client=address, own=False)
    try:
        return DaskExecutor(client=Client(address, timeout=PATIENCE), own=True)
    except (OSError, TimeoutError, ValueError) as error:
        raise FitError(
            f"no Dask scheduler answers at {address}: {error}", code="dask-cluster"
        ) from None


@dataclass(frozen=True, kw_only=True, eq=False)
class DaskExecutor:
    """An :class:`~assay.inference.executors.Executor` for a Dask cluster, with futures as parts.

    ``own`` says whether the client was made here and is closed with the executor.
    """

    client: Any
    own: bool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ready(self, *, show: bool = False) -> None:
        """Run an empty task, so that an adaptive cluster starts a worker; wait for busy workers."""
        _require_client(self.client)
        with _in_words(), waiting("waiting for a worker", show=show):
            done = self.client.submit(bool, pure=False)
            while True:
                try:
                    done.result(timeout=FIRST_WORKER)
                    return
                except TimeoutError:
                    if not self.client.scheduler_info()["workers"]:
                        break
        address = self.client.scheduler.address
        raise FitError(
            f"no worker has joined the Dask scheduler at {address} in {FIRST_WORKER:.0f} seconds; "
            f"start some: dask worker {address}",
            code="dask-cluster",
            numbers={"seconds": FIRST_WORKER},
        )

    def send(self, value: Any) -> Any:
        """Send a value to a worker, inside a task."""
        (part,) = self.map(same, [value])
        return part

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Make a task of each tuple of arguments.

        Tasks are not pure, as a cluster may still hold the former content of a changed file.
        """
        with _in_words(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", LARGE_GRAPH, UserWarning)
            found: list[Any] = self.client.map(function, *arguments, pure=False)
        return found

    def gather(self, parts: Sequence[Any], *, to_the_end: bool = False) -> list[Any]:
        """Return the values of parts, counting them as they come."""
        from distributed import as_completed

        step = steps()
        with _in_words(), self._called_off(parts, to_the_end=to_the_end):
            for future in as_completed(parts):
                if future.status != "finished":
                    break  # client.gather raises its error
                step(1)
            found: list[Any] = self.client.gather(parts)
        return found

    def each(self, parts: Sequence[Any]) -> Iterator[Any]:
        """Yield the values of parts one after the other."""
        with _in_words(), self._called_off(parts):
            for future in parts:
                value = future.result()
                future.release()
                yield value

    def close(self) -> None:
        """Close the connection, if it was made here."""
        if self.own:
            self.client.close()

    @contextmanager
    def _called_off(self, futures: Sequence[Any], *, to_the_end: bool = False) -> Iterator[None]:
        """Cancel futures if an error interrupts the wait: workers would go on while the error is
        referenced. Tasks that have begun run to the end.
        """
        try:
            yield
        except BaseException as error:
            self.client.cancel(futures)
            if to_the_end and isinstance(error, (KeyboardInterrupt, OSError)):
                self.client.run(_until_ended, {future.key for future in futures})
            raise


async def _until_ended(keys: set[str], dask_worker: Any) -> None:
    while any(task.key in keys for task in dask_worker.state.executing):
        await asyncio.sleep(PAUSE)


@contextmanager
def _in_words() -> Iterator[None]:
    """Turn the loss of a scheduler, or of workers by one task, into FitError."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CommClosedError, FutureCancelledError) as error:
        raise FitError(
            f"the Dask scheduler was lost during the run: {error}", code="dask-cluster"
        ) from None
    except KilledWorker as error:
        raise FitError(
            f"several workers died of one task ({error.task}), usually for lack of memory. Write "
            "smaller files, or give each worker more memory",
            code="dask-cluster",
        ) from None


def _require_client(given: Any) -> None:
    """Raise ArgumentError unless the argument is a connected synchronous client."""
    from distributed import Client

    if not isinstance(given, Client):
        raise ArgumentError(
            f"`address={written(given)}`; it must be the address of a scheduler, such as "
            "'tcp://10.0.0.1:8786', or a distributed.Client",
            code="dask-client",
        )
    if given.asynchronous:
        raise ArgumentError(
            "the Dask client is asynchronous, which is not supported. Make one without "
            "`asynchronous=True`",
            code="dask-client",
        )
    if given.status != "running":
        raise ArgumentError(
            f"the Dask client is {given.status}; connect it again", code="dask-client"
        )
