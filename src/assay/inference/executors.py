"""Who computes on the parts of a fit that this process does not keep: an executor.

``fit`` knows this protocol alone. :func:`assay.dask_executor` makes an executor of a Dask cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from assay._util.errors import ArgumentError
from assay._util.validation import written

EXAMPLE = "assay.dask_executor('tcp://10.0.0.1:8786')"


@runtime_checkable
class Executor(Protocol):
    """Workers that keep parts and compute on them.

    A part is what :meth:`send` and :meth:`map` return. Its value stays with a worker, and later
    calls of :meth:`map` take the part in place of the value. Parts that are lost with their worker
    are made again, so a function must give the same value each time.
    """

    def ready(self, *, show: bool = False) -> None:
        """Wait until there is a worker; raises FitError if none comes."""

    def send(self, value: Any) -> Any:
        """Give a value to the workers; returns it as a part."""

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Apply a function to each tuple of arguments, values or parts; returns parts."""

    def gather(self, parts: Sequence[Any], *, to_the_end: bool = False) -> list[Any]:
        """Bring values here, each a step of the present wait.

        If this fails or is interrupted, the parts are called off. With ``to_the_end`` no worker is
        at work on them any more when Ctrl-C or an OSError leaves this function.
        """

    def each(self, parts: Sequence[Any]) -> Iterator[Any]:
        """Bring values here one after the other, in their order; workers then forget them."""

    def close(self) -> None:
        """Let go of the workers."""


def same(value: Any) -> Any:
    """Return a value: the work of a worker that is to keep it."""
    return value


def require_executor(given: Any, client: Any) -> Executor:
    """Return an executor; refuse what is none, and ``client=``, its former name.

    Raises
    ------
    ArgumentError
    """
    if client is not None:
        raise ArgumentError(
            "`client=` is now `executor=`; give `executor=assay.dask_executor(client)`, of a "
            "client or of the address of its scheduler",
            code="executor-argument",
        )
    if not isinstance(given, Executor):
        raise ArgumentError(
            f"`executor={written(given)}`; it must be an executor, which assay.dask_executor makes "
            f"of the address of a scheduler: `executor={EXAMPLE}`",
            code="executor-argument",
        )
    return given
