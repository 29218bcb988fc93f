"""What workers did, brought here: counted as it comes, and called off if nobody waits for it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from assay.progress import steps


@contextmanager
def called_off(client: Any, futures: Sequence[Any]) -> Iterator[None]:
    """Call futures off if their results are not waited for to the end.

    Workers would go on with them as long as somebody holds the error.
    """
    try:
        yield
    except BaseException:
        client.cancel(futures)
        raise


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Return the results of futures, each a step of the present wait."""
    from distributed import as_completed

    step = steps()
    with called_off(client, futures):
        for future in as_completed(futures):
            if future.status != "finished":
                break  # its error is raised below
            step(1)
        found: list[Any] = client.gather(futures)
    return found
