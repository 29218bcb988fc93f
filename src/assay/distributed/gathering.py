"""What workers did, brought here: counted as it comes, and called off if nobody waits for it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from assay.progress import steps

PAUSE = 0.1
"""Seconds between two looks at what a worker does."""


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


def until_ended(client: Any, futures: Sequence[Any]) -> None:
    """Wait until no worker is at work on any of some futures.

    What has begun when it is called off goes on to its end.
    """
    client.run(_until_ended, {future.key for future in futures})


async def _until_ended(keys: set[str], dask_worker: Any) -> None:
    while any(task.key in keys for task in dask_worker.state.executing):
        await asyncio.sleep(PAUSE)


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
