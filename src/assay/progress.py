"""Progress on standard error: how far the chains are, and what a wait is for."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, Timer

PATIENCE = 1.0
"""Seconds after which a wait is explained."""
Show = Callable[[list[tuple[int, int]]], None]
"""Takes the finished draws and the divergences of each chain."""


@contextmanager
def waiting(what: str, *, show: bool) -> Iterator[None]:
    """Say what a wait is for, with the seconds so far, once it lasts; gone when it ends."""
    if not show or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    bars = Progress(
        TextColumn(what), SpinnerColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    bars.add_task(what, total=None)
    lock, over = Lock(), False

    def begin() -> None:
        with lock:
            if not over:
                bars.start()

    timer = Timer(PATIENCE, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            over = True
            bars.stop()


@contextmanager
def progress_bar(chains: int, total: int, *, show: bool) -> Iterator[Show | None]:
    """Show a bar over all chains, with rate and time left; yields what it is to be told by."""
    if not show:
        yield None
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
        TextColumn(
            "{task.completed:.0f}/{task.total:.0f} draws, {task.fields[diverged]} divergent"
        ),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=not sys.stderr.isatty(),
    ) as bars:
        bar = bars.add_task("sampling", total=chains * total, diverged=0)

        def update(state: list[tuple[int, int]]) -> None:
            done, diverged = (sum(numbers) for numbers in zip(*state, strict=True))
            bars.update(bar, completed=done, diverged=diverged)

        yield update


class Board:
    """How far each chain is, for the bar over all of them.

    Attributes
    ----------
    total : int
        Draws of a chain at its end, those of the warm-up among them.
    show : callable or None
        Of :func:`progress_bar`.
    state : list of (int, int)
        Finished draws and divergences of each chain.
    """

    def __init__(self, chains: int, total: int, show: Show | None) -> None:
        self.total, self.show = total, show
        self.state = [(0, 0)] * chains

    def tell(self, there: Mapping[int, tuple[int, int]]) -> None:
        """Say how far some chains are: finished draws and divergences by their number."""
        for chain, far in there.items():
            self.state[chain] = far
        if self.show is not None:
            self.show(self.state)

    def finish(self, chain: int) -> None:
        """Say that a chain is at its end."""
        self.tell({chain: (self.total, self.state[chain][1])})
