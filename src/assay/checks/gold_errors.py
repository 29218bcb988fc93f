"""Known truth that all raters of an item contradict: errors in it, or raters who err together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.text import counted, some
from assay._util.typing import Bools, Ints
from assay.checks.findings import Finding, Part, findings_on
from assay.data.ratings import Ratings

_on_truth = findings_on("truth")
LEAST_RATERS = 3
"""Least number of raters who answer an item alike."""
MAX_CHANCE = 0.01
"""Largest probability of so many items by chance at which they are a warning."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Contradicted:
    """Items whose raters all contradict the known truth.

    table : a line for each item and label: ``item``, ``label``, ``truth``, ``raters_say``,
        ``raters``
    expected : number of such items if raters err independently, as often as on all known items
    p : probability of at least as many
    known : number of items with known truth and enough raters
    """

    table: pd.DataFrame
    expected: float
    p: float
    known: int

    @property
    def matters(self) -> bool:
        """Whether there are more such items than raters who err independently explain."""
        return len(self.table) > 0 and self.p <= MAX_CHANCE


def contradicted_gold(ratings: Ratings) -> Contradicted:
    """Return the items whose raters, three or more, all contradict the known truth.

    Error rates leave the item out, and are smoothed by half an error and half a right answer.
    """
    from scipy.stats import poisson

    lines: list[pd.DataFrame] = []
    expected, known = 0.0, 0
    for n, label in enumerate(ratings.task.labels):
        truth = ratings.truth[:, n]
        rows = np.flatnonzero(
            (ratings.answers[:, n] >= 0) & (truth[ratings.item] >= 0) & (ratings.replicate == 0)
        )
        item, said = ratings.item[rows], ratings.answers[rows, n].astype(np.int64)
        wrong = said != truth[item]
        count = np.bincount(item, minlength=len(truth))
        enough = count >= LEAST_RATERS
        if not enough.any():
            continue
        known += int(enough.sum())
        expected += _expected(ratings.rater[rows], item, wrong, enough)
        lowest, highest = _ends(item, said, len(truth))
        alike = enough & (lowest == highest) & (lowest != truth)
        names, at = np.array(label.classes, object), np.flatnonzero(alike)
        lines.append(
            pd.DataFrame({
                "item": ratings.items.index[at], "label": label.name, "truth": names[truth[at]],
                "raters_say": names[lowest[at]], "raters": count[at],
            })
        )  # fmt: skip
    columns = ["item", "label", "truth", "raters_say", "raters"]
    table = pd.concat(lines, ignore_index=True) if lines else pd.DataFrame(columns=columns)
    p = float(poisson.sf(len(table) - 1, expected)) if len(table) else 1.0
    return Contradicted(table=table, expected=expected, p=p, known=known)


def _expected(rater: Ints, item: Ints, wrong: Bools, enough: Bools) -> float:
    """Return the expected number of items that all raters get wrong independently."""
    errors = np.bincount(rater, weights=wrong)[rater] - wrong
    others = np.bincount(rater)[rater] - 1
    logs = np.log((errors + 0.5) / (others + 1))
    return float(np.exp(np.bincount(item, weights=logs, minlength=len(enough)))[enough].sum())


def _ends(item: Ints, said: Ints, items: int) -> tuple[Ints, Ints]:
    """Return the lowest and the highest answer of each item; -1 without an answer."""
    lowest, highest = np.full(items, np.iinfo(np.int64).max), np.full(items, -1)
    np.minimum.at(lowest, item, said)
    np.maximum.at(highest, item, said)
    return np.where(highest < 0, -1, lowest), highest


def gold_error_warning(found: Contradicted) -> str:
    """Name the items, say what they mean and what to do."""
    items = list(dict.fromkeys(found.table["item"].astype(str)))
    return (
        f"All raters contradict the known truth of {counted(len(items), 'item')} of {found.known} "
        f"({some(items)}); {found.expected:.1f} are expected by chance. The known truth is wrong "
        "there, or raters err together. Check it, and leave out what is doubtful, since a fit "
        "takes known truth as certain"
    )


def check_gold_errors(ratings: Ratings) -> Part:
    """Report the items whose raters all contradict the known truth."""
    found = contradicted_gold(ratings)
    if not len(found.table):
        return Part()
    finding: Finding = _on_truth(
        "warning" if found.matters else "note",
        gold_error_warning(found),
        code="gold-contradicted",
        numbers={"items": len(found.table), "expected": found.expected, "p": found.p},
    )
    return Part(findings=(finding,), tables={"gold_contradicted": found.table})
