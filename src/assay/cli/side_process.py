"""A second process, for work that Python's lock would keep from running beside the first."""

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import active_children, get_context

from assay.cli.garbage import collect_rarely


def load(*modules: str) -> None:
    """Import modules, so that a side process has them when it needs them."""
    for module in modules:
        import_module(module)


def _begin() -> None:
    """Set up the second process."""
    # Ctrl-C reaches both processes; the first one ends the second, which would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()


@contextmanager
def side_process() -> Iterator[ProcessPoolExecutor]:
    """Yield a process that takes one job at a time; an error or Ctrl-C ends it at once."""
    pool = ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        initializer=_begin,
    )
    before = active_children()
    with pool:
        try:
            yield pool
        except BaseException:
            for process in active_children():
                if process not in before:
                    process.kill()
            raise
