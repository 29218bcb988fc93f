"""Ctrl-C: what must not be cut short comes to its end first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


@contextmanager
def unbroken() -> Iterator[None]:
    """Let Ctrl-C wait until what is done here is done.

    Zarr goes on by itself with what an interrupt leaves behind, and HDF5 drops interrupts that
    come while it calls back.
    """
    handler = signal.getsignal(signal.SIGINT)
    # Other threads get no signals, and a handler that is none of Python's stays where it is.
    if not callable(handler) or current_thread() is not main_thread():
        yield
        return
    held: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if held:
            handler(*held[0])


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C that came while a compiled function gave its result back.

    Python calls that a SystemError.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
