"""The protocol of executors, which compute parts of a fit on workers.

``fit`` needs only this protocol. :func:`assay.dask_executor` makes an executor of a Dask cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from assay._util.errors import ArgumentError
from assay._util.validation import written

EXAMPLE = "assay.dask_executor('tcp://10.0.0.1:8786')"


@runtime_checkable
class Executor(Protocol):
    """Workers that keep parts (the values of :meth:`send` and :meth:`map`) and compute on them.

    Parts lost with their worker are computed again, so a function must be deterministic.
    """

    def ready(self, *, show: bool = False) -> None:
        """Wait until a worker is there; FitError is raised if none comes."""

    def send(self, value: Any) -> Any:
        """Send a value to the workers; return it as a part."""

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Apply a function to each tuple of arguments, values or parts; return parts."""

    def gather(self, parts: Sequence[Any], *, to_the_end: bool = False) -> list[Any]:
        """Return the values of parts; each one counts as a step of the progress display. A failure
        or an interruption cancels them, ``to_the_end`` only when no worker computes them.
        """

    def each(self, parts: Sequence[Any]) -> Iterator[Any]:
        """Yield the values of parts in their order; workers then forget them."""

    def close(self) -> None:
        """Release the workers."""


def same(value: Any) -> Any:
    """Return the argument; as a task, it stores a value on a worker."""
    return value


def require_executor(given: Any, client: Any) -> Executor:
    """Return an executor, or raise ArgumentError; ``client=`` is its former name."""
    if client is not None:
        raise ArgumentError(
            "`client=` is now called `executor=`. Give `executor=assay.dask_executor(client)`, "
            "with a client or the address of its scheduler",
            code="executor-argument",
        )
    if not isinstance(given, Executor):
        raise ArgumentError(
            f"`executor={written(given)}` is not an executor. assay.dask_executor makes one from "
            f"the address of a scheduler: `executor={EXAMPLE}`",
            code="executor-argument",
        )
    return given
