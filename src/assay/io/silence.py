"""Who said nothing: abstentions, items without any answer, raters who only abstained."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import Codes, first_rows
from assay._util.plurals import counted, does, some


@dataclass(frozen=True, kw_only=True)
class Silence:
    """What ratings lack.

    Attributes
    ----------
    ratings, abstentions : int
        All ratings, and those that answer nothing.
    items, unanswered : int
        All items, and those without any answer.
    raters : tuple of str
        Those who only abstained.
    """

    ratings: int
    abstentions: int
    items: int
    unanswered: int
    raters: tuple[str, ...]

    def notes(self) -> list[str]:
        """Say it; all of these are kept."""
        found = []
        if self.abstentions:
            found.append(
                f"{counted(self.abstentions, 'rating', 'answer')} no label: an abstention each"
            )
        if self.unanswered:
            one = self.unanswered == 1
            found.append(
                f"{self.unanswered} of {counted(self.items, 'item')} "
                f"{does(self.unanswered, 'have')} no answer; "
                f"{'it keeps its place' if one else 'they keep their places'}"
            )
        if self.raters:
            found.append(
                f"{counted(len(self.raters), 'rater')} only abstained: {some(self.raters)}"
            )
        return found


def find_silence(
    item: Codes,
    rater: Codes,
    abstained: NDArray[np.bool_],
    *,
    items: int,
    raters: "pd.Index[str]",
) -> Silence:
    """Find what ratings lack.

    Parameters
    ----------
    item, rater : ndarray (rating)
        Positions.
    abstained : ndarray (rating)
    items : int
        How many there are.
    raters : Index
        Their names.

    Examples
    --------
    >>> item, rater, abstained = np.array([0, 0]), np.array([0, 1]), np.array([False, True])
    >>> find_silence(item, rater, abstained, items=2, raters=pd.Index(["a", "b"])).notes()[1:]
    ['1 of 2 items has no answer; it keeps its place', '1 rater only abstained: b']
    """
    return Silence(
        ratings=len(item),
        abstentions=int(abstained.sum()),
        items=items,
        unanswered=int((first_rows(item[~abstained], items) < 0).sum()),
        raters=tuple(raters[first_rows(rater[~abstained], len(raters)) < 0]),
    )
