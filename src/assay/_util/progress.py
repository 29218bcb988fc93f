"""Progress on standard error, and sections that Ctrl-C does not interrupt."""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, Timer, current_thread, main_thread
from typing import Any

from assay._util.plain_text import plain


@contextmanager
def unbroken() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block.

    An interrupt leaves Zarr with half-done work, and HDF5 drops it during callbacks.
    """
    handler = signal.getsignal(signal.SIGINT)
    # Only the main thread gets signals, and foreign handlers cannot be restored.
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
    """Raise KeyboardInterrupt for the SystemError that Ctrl-C in compiled code causes."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


PATIENCE = 1.0
"""Seconds before a wait is shown."""
BEFORE_FORECAST, LEAST_SHARE = 10.0, 0.1
"""Seconds, and share of the draws, after which a log says how long the others will take."""
PAUSE = 0.1
"""Seconds between updates of a wait."""
Show = Callable[[list[tuple[int, int]]], None]
"""Function of the finished draws and divergences of each chain."""
Step = Callable[[float], None]
"""Function of the amount done since the last call."""
_NOW: ContextVar[Step | None] = ContextVar("wait", default=None)


@contextmanager
def waiting(
    what: str, *, show: bool, total: float | None = None, unit: str = "", stage: bool = False
) -> Iterator[None]:
    """Show what is awaited, for how long and how far, on a terminal; a ``stage`` also in a log.

    ``total`` is the amount to do, if known, and ``unit`` (plural) what :func:`steps` counts.
    """
    shown = show and sys.stderr.isatty()
    if show and stage:
        _log(what)
    with interruptible(), _shown(what, total, unit) if shown else nullcontext():
        yield


def _is_log() -> bool:
    """Whether standard error is that of the process, redirected: no terminal, no notebook."""
    stream = sys.stderr
    return stream is sys.__stderr__ and stream is not None and not stream.isatty()


def _log(text: str) -> None:
    """Write a line to a log; nothing elsewhere."""
    if _is_log():
        sys.stderr.write(f"{plain(text, kept='')}\n")
        sys.stderr.flush()


def _forecast(total: int) -> Show:
    """Return a function that says once, in a log, how long the other draws will take."""
    start, told = time.monotonic(), False

    def update(state: list[tuple[int, int]]) -> None:
        nonlocal told
        done, spent = sum(draws for draws, _ in state), time.monotonic() - start
        if not told and spent >= BEFORE_FORECAST and done >= LEAST_SHARE * total:
            told = True
            left = spent * (total - done) / done
            amount = f"{left / 60:.0f} min" if left >= 60 else f"{left:.0f} s"
            _log(f"sampling: about {amount} left")

    return update


def steps() -> Step:
    """Return the function that advances the current wait, from any thread."""
    return _NOW.get() or _unseen


def _unseen(_: float) -> None:
    """Advance a wait that is not shown."""


@contextmanager
def _shown(what: str, total: float | None, unit: str) -> Iterator[None]:
    bars = _bars(total, unit)
    task = bars.add_task(plain(what, kept=""), total=total)
    lock, over, done, told = Lock(), False, 0.0, 0.0

    def begin() -> None:
        with lock:
            if not over:
                bars.start()

    def step(more: float) -> None:
        nonlocal done, told
        with lock:
            done += more
            now = time.monotonic()
            if now - told >= PAUSE:
                told = now
                bars.update(task, completed=done)

    timer = Timer(PATIENCE, begin)
    timer.daemon = True
    timer.start()
    before = _NOW.set(step)
    try:
        yield
    finally:
        _NOW.reset(before)
        timer.cancel()
        with lock:
            over = True
            bars.stop()


def _bars(total: float | None, unit: str) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    left: list[Any] = [] if total is None else [TimeRemainingColumn(), TextColumn("left")]
    return Progress(
        TextColumn("{task.description}", markup=False),
        SpinnerColumn() if total is None else BarColumn(),
        *([_rate_column(unit)] if unit else []),
        TimeElapsedColumn(),
        *left,
        console=Console(file=sys.stderr),
        transient=True,
    )


def _rate_column(unit: str) -> Any:
    """Return a column with the amount done and the rate per second."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            done = f"{task.completed:.0f}" + (f"/{task.total:.0f}" if task.total else "")
            speed = task.finished_speed or task.speed
            return Text(f"{done} {unit}" + (f", {speed:.3g}/s" if speed else ""))

    return Rate()


@contextmanager
def progress_bar(chains: int, total: int, *, show: bool, tune: int = 0) -> Iterator[Show | None]:
    """Show a bar over all chains; yield the function that updates it.

    ``total`` counts the draws of a chain with those of its warm-up, ``tune``.
    """
    if not show:
        yield None
        return
    if _is_log():
        after = f" after a warm-up of {tune}" if tune else ""
        _log(f"sampling {chains} chains of {total - tune} draws{after}")
        yield _forecast(chains * total)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("sampling"),
        BarColumn(),
        _rate_column("draws"),
        TextColumn("{task.fields[diverged]} divergent"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(file=sys.stderr),
        transient=not sys.stderr.isatty(),
    ) as bars:
        bar = bars.add_task("sampling", total=chains * total, diverged=0)

        def update(state: list[tuple[int, int]]) -> None:
            done, diverged = (sum(numbers) for numbers in zip(*state, strict=True))
            bars.update(bar, completed=done, diverged=diverged)

        yield update


class Board:
    """The progress of each chain.

    total : draws of a whole chain, warm-up included
    state : finished draws and divergences of each chain
    """

    def __init__(self, chains: int, total: int, show: Show | None) -> None:
        self.total, self.show = total, show
        self.state = [(0, 0)] * chains

    def tell(self, there: Mapping[int, tuple[int, int]]) -> None:
        """Update some chains: finished draws and divergences by number of the chain."""
        for chain, far in there.items():
            self.state[chain] = far
        if self.show is not None:
            self.show(self.state)

    def finish(self, chain: int) -> None:
        """Mark a chain as finished."""
        self.tell({chain: (self.total, self.state[chain][1])})
