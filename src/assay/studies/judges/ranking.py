"""Orders of documents by windows that slide from the end of a list to its top."""

from collections.abc import Awaitable, Callable, Sequence

from assay._util.errors import ArgumentError
from assay._util.validation import require_count

Reorder = Callable[[Sequence[int]], Awaitable[list[int] | None]]
"""Takes the numbers of some documents; returns them in order, or None if the answer has none."""


def require_window(window: int, step: int) -> None:
    """Refuse windows that do not overlap, or hold one document.

    Raises
    ------
    ArgumentError
    """
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
    """Order documents, one window after the other.

    Parameters
    ----------
    start : sequence of int
        The order before.
    window, step : int
        Documents of a window, and by how many it moves.
    reorder : callable

    Returns
    -------
    order : list of int
    windows : int
    without_order : int
        Windows whose answer has no order; their documents stay as they were.

    Notes
    -----
    The best documents of a window take part in the next one, so that one pass brings the best
    ``window - step`` of all to the top.

    References
    ----------
    Sun, W. et al. (2023). Is ChatGPT good at search? Investigating large language models as
    re-ranking agents. EMNLP 2023, 14918-14937.
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
    """Return where windows begin and end, from the end of the list to its top.

    Examples
    --------
    >>> window_places(7, window=4, step=2)
    [(3, 7), (1, 5), (0, 3)]
    >>> window_places(1, window=2, step=1)
    []
    """
    if documents < 2:
        return []
    places, last = [], documents
    while True:
        first = max(0, last - window)
        places.append((first, last))
        if first == 0:
            return places
        last -= step
