"""Order documents by windows that slide from the end of a list to its top."""

from collections.abc import Awaitable, Callable, Sequence

from assay._util.errors import ArgumentError
from assay._util.validation import require_count

Reorder = Callable[[Sequence[int]], Awaitable[list[int] | None]]
"""Function from documents to documents in order; None if the answer has no order."""


def require_window(window: int, step: int) -> None:
    """Refuse windows that hold one document or do not overlap."""
    require_count("window", window, least=2)
    require_count("step", step)
    if step >= window:
        raise ArgumentError(
            f"`step={step}` must be smaller than `window={window}`, so that windows overlap",
            code="argument-count",
        )


async def order_by_windows(
    start: Sequence[int], window: int, step: int, reorder: Reorder
) -> tuple[list[int], int, int]:
    """Order documents; return the order, and the number of windows and of those without an order
    (Sun et al. 2023, EMNLP, 14918-14937). One pass brings the best ``window - step`` to the top.
    """
    order = list(start)
    windows = without = 0
    for first, last in window_places(len(order), window, step):
        found = await reorder(order[first:last])
        windows += 1
        if found is None:
            without += 1
        else:
            order[first:last] = found
    return order, windows, without


def window_places(documents: int, window: int, step: int) -> list[tuple[int, int]]:
    """Return first and last place of each window, from the end of the list to its top."""
    if documents < 2:
        return []
    places, last = [], documents
    while True:
        first = max(0, last - window)
        places.append((first, last))
        if first == 0:
            return places
        last -= step
