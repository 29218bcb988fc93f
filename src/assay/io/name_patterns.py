"""Names of columns that have a rater, and a question or a system: ``ann_tone``, ``gpt4_ann1``."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from assay.io.likely_columns import MOST_CLASSES
from assay.io.names import (
    ALL_KNOWN,
    EXPERTS,
    SYSTEM_NAMES,
    bare,
    names_answer,
    names_criterion,
    names_question,
    names_system,
    words_in,
    words_of,
)

RATER, LABEL, SYSTEM = "{rater}", "{label}", "{system}"
"""Slots of a pattern of names of columns, such as ``{rater}_{label}`` or ``{system}_{rater}``."""
BETWEEN = re.compile(r"[\s_.:/|-]+")
"""What stands between the two parts of such a name."""
FEWEST = 2
"""Fewest raters, and fewest questions."""
MOST_LABELS = 8
"""Most questions; beyond, the parts of names are rather items."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A pattern of names, the raters and labels in them, and the column of each pair.

    ``turned`` is a pattern of raters and questions that fits too. Systems stand in the place of
    the labels if the pattern says so.
    """

    pattern: str
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    columns: Mapping[tuple[str, str], str]
    turned: str = ""


def find_grid(frame: pd.DataFrame, columns: Sequence[str]) -> Grid | None:
    """Find raters and questions in the names of columns; None if there is no full grid.

    The columns of a question share their few values. Where a rater's do too, names decide.

    >>> names = ["ann_tone", "ann_ok", "ben_tone", "ben_ok"]
    >>> frame = pd.DataFrame([["calm", "no"] * 2, ["sad", "yes"] * 2], columns=names)
    >>> find_grid(frame, names).pattern
    '{rater}_{label}'
    """
    own = [c for c in columns if bare(c) not in ALL_KNOWN]
    few = {c: words for c in own if (words := few_values(frame[c]))}
    parted = [_parted(few, at=at, rater_first=first) for at in (0, -1) for first in (True, False)]
    found = [grid for grid in parted if grid is not None and _likelihood(grid) >= 0]
    best = max(found, key=_likelihood, default=None)
    if best is None:
        return None
    turned = [grid.pattern for grid in found if grid.raters == best.labels]
    of_systems = [one for one in found if all(map(_is_system, one.labels))]
    if of_systems and all(map(_may_be_rater, of_systems[0].raters)):
        other = of_systems[0]
        pattern = other.pattern.replace(LABEL, SYSTEM)
        return replace(other, pattern=pattern, turned=best.pattern)
    return replace(best, turned=next(iter(turned), ""))


def few_values(column: "pd.Series[str]") -> frozenset[str]:
    """Return the values of a column, if they are few."""
    words = words_in(column)
    return frozenset(words) if 1 <= len(words) <= MOST_CLASSES else frozenset()


def _parted(few: Mapping[str, frozenset[str]], *, at: int, rater_first: bool) -> Grid | None:
    """Part names at the first or last sign between words; None unless all pairs are there."""
    pairs: dict[tuple[str, str], str] = {}
    signs = set()
    for column in few:
        between = list(BETWEEN.finditer(column))
        if not between:
            continue
        sign = between[at]
        parts = (column[: sign.start()], column[sign.end() :])
        if not all(parts):
            continue
        pairs[parts if rater_first else parts[::-1]] = column
        signs.add(sign[0])
    raters = tuple(dict.fromkeys(rater for rater, _ in pairs))
    labels = tuple(dict.fromkeys(label for _, label in pairs))
    whole = len(raters) >= FEWEST and len(labels) >= FEWEST and len(signs) == 1
    if not whole or len(labels) > MOST_LABELS or len(pairs) != len(raters) * len(labels):
        return None
    for label in labels:
        held = [few[pairs[rater, label]] for rater in raters]
        most = max(held, key=len)  # the others have its values, but for one at most
        if not all(own <= most or len(own & most) >= max(2, len(own) - 1) for own in held):
            return None
    slots = (RATER, LABEL) if rater_first else (LABEL, RATER)
    pattern = signs.pop().join(slots)
    return Grid(pattern=pattern, raters=raters, labels=labels, columns=pairs)


def _likelihood(grid: Grid) -> float:
    """Return how much the parts look like raters and questions, from -1 to 1."""
    return float(np.mean([*map(_looks, grid.raters), *(-_looks(name) for name in grid.labels)]))


def _looks(name: str) -> int:
    """Return 1 for the name or number of a rater, -1 for that of a question, else 0."""
    if name.isdigit() or EXPERTS & set(words_of(name)):
        return 1
    return -1 if names_criterion(name) or names_question(name) else 0


def _is_system(name: str) -> bool:
    told = names_system(name) or bool(SYSTEM_NAMES & set(words_of(name)))
    return told and _looks(name) != -1


def _may_be_rater(name: str) -> bool:
    return _looks(name) != -1 and not names_answer(name)


def parts_of(columns: Sequence[str], pattern: str) -> dict[tuple[str, str], str]:
    """Return the rater and the label, or system, of each column of a pattern. A sign between the
    slots that stands in a name twice parts it where fewest names result.

    >>> list(parts_of(["a_1_tone", "a_2_tone", "text"], "{rater}_{label}"))
    [('a_1', 'tone'), ('a_2', 'tone')]
    """
    ways, pattern = [], pattern.replace(SYSTEM, LABEL)
    for greedy in ("(?P<{}>.+)", "(?P<{}>.+?)"):
        text = re.escape(pattern)
        for slot in (RATER, LABEL):
            text = text.replace(re.escape(slot), greedy.format(slot.strip("{}")), 1)
        hits = [(c, found) for c in columns if (found := re.fullmatch(text, c))]
        pairs = {(found["rater"], found["label"]): c for c, found in hits}
        raters, labels = Counter(r for r, _ in pairs), Counter(q for _, q in pairs)
        # A name such as doc_id, of which both parts stand alone, is no rater's answer.
        ways.append({(r, q): c for (r, q), c in pairs.items() if raters[r] > 1 or labels[q] > 1})
    return min(ways, key=lambda way: sum(len(set(part)) for part in zip(*way, strict=True)))
