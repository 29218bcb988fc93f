"""Audits and known truth: how many answers were checked, and whether both agree."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay.checks.findings import Finding, Part, findings_on
from assay.data.gold import contradiction, possible_states
from assay.data.majority_vote import count_answers
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import (
    AUDITED_RIGHT,
    AUDITED_WRONG,
    NOT_AUDITED,
    SOME_WRONG,
    Ratings,
    audited_ratings,
)
from assay.data.states import state_space
from assay.data.task import Label, Task

_on_truth = findings_on("truth")

UNLIKE = 0.001
"""Nominal probability of a false alarm; 0.005 to 0.01 where 20 to 50 items have known truth."""
ROUNDING = 1e-9
FEWEST = 10
"""Clusters on either side from which a comparison is made."""


def check_gold_choice(ratings: Ratings) -> Part:
    """Report whether answers to items of known truth differ from those to other items."""
    told = unlike_gold(ratings)
    if not told:
        return Part()
    text = f"{told}. They show how often raters err together only if they are a random sample, or "
    text += "were chosen on recorded data"
    if ratings.has_truth.sum() >= LAYER_ITEMS:
        text += " (`reference='gold', gold_chosen='recorded'`)"
    numbers = {"items": int(ratings.has_truth.sum())}
    return Part(findings=(_on_truth("note", text, code="gold-unlike-others", numbers=numbers),))


@dataclass(frozen=True, kw_only=True, eq=False)
class GoldSums:
    """Sums over items of known truth and over others; they add over parts of whole clusters.

    known : number of items of known truth
    items, clusters, totals : how many have the value, and its totals (value, 2)
    """

    known: int
    items: Floats
    clusters: Floats
    totals: Floats

    def __add__(self, other: "GoldSums") -> "GoldSums":
        return GoldSums(
            known=self.known + other.known,
            items=self.items + other.items,
            clusters=self.clusters + other.clusters,
            totals=self.totals + other.totals,
        )

    @property
    def means(self) -> Floats:
        """Mean of each value, (value, 2); 0 where no item has it."""
        return np.asarray(self.totals / np.maximum(self.items, 1))


def unlike_gold(ratings: Ratings) -> str:
    r"""Describe how answers to items of known truth clearly differ from others; empty if they do
    not.

    Values :math:`d_i` of item i are, for each label, its share of disagreeing pairs and that of
    each class; :math:`g_i` says whether its truth is known, and c is a cluster:

    .. math::

        t = \frac{\bar d_1 - \bar d_0}{\sqrt{\sum_c \bigl(\sum_{i \in c} u_i\bigr)^2}}, \quad
        u_i = (2 g_i - 1) \frac{d_i - \bar d_{g_i}}{n_{g_i}},

    against Student's t with one degree of freedom less than the smaller number of clusters (at
    least ten), at ``UNLIKE`` with Bonferroni's correction.
    """
    sums = gold_sums(ratings)
    return unlike(ratings.task, sums, squares(ratings, sums))


def gold_sums(ratings: Ratings) -> GoldSums:
    """Return the sums of the compared values."""
    known, cluster = _sides(ratings)
    found = np.zeros((3, len(_names(ratings.task)), 2))
    for n, value in enumerate(_values(ratings)):
        there = np.isfinite(value)
        for k, side in enumerate((known & there, ~known & there)):
            found[:, n, k] = side.sum(), len(np.unique(cluster[side])), value[side].sum()
    items, clusters, totals = found
    return GoldSums(known=int(known.sum()), items=items, clusters=clusters, totals=totals)


def squares(ratings: Ratings, sums: GoldSums) -> Floats:
    """Return the squared errors of the differences of means, summed over clusters, (value,)."""
    known, cluster = _sides(ratings)
    found = []
    for value, means, items in zip(_values(ratings), sums.means, sums.items, strict=True):
        error = (value - np.where(known, *means)) / np.where(known, *np.maximum(items, 1))
        error = np.where(np.isfinite(value), np.where(known, error, -error), 0)
        found.append((np.bincount(cluster, weights=error) ** 2).sum())
    return np.array(found)


def unlike(task: Task, sums: GoldSums, squared: Floats) -> str:
    """Describe the clearest difference, from sums and their squared errors (value,)."""
    from scipy.stats import t

    fewest, names = sums.clusters.min(axis=1), _names(task)
    found = []
    for n in np.flatnonzero(fewest >= FEWEST):
        inside, outside = sums.means[n]
        if abs(inside - outside) > ROUNDING:
            score = abs(inside - outside) / max(np.sqrt(squared[n]), ROUNDING)
            tail = 2 * float(t.sf(score, fewest[n] - 1))
            found.append((tail, f"{names[n]} {inside:.2f} against {outside:.2f}"))
    compared = max(1, int((fewest >= FEWEST).sum()))
    clear = [text for tail, text in sorted(found) if tail < UNLIKE / compared]
    if not clear:
        return ""
    return (
        f"the {sums.known} items of known truth differ from the other items ({clear[0]}), "
        "so they are not a random sample"
    )


def _sides(ratings: Ratings) -> tuple[Bools, Ints]:
    """Return whether the truth of each item is known, and the number of its cluster, (item,)."""
    return ratings.has_truth, pd.factorize(ratings.items["cluster"])[0].astype(np.int64)


def _shown(label: Label) -> range:
    """Return the classes whose shares are compared: of two classes, only one."""
    return range(1, 2) if len(label.classes) == 2 else range(len(label.classes))


def _names(task: Task) -> list[str]:
    """Name the compared values."""
    return [
        text
        for label in task.labels
        for text in (
            f"{label.name}: share of disagreeing pairs",
            *(f"{label.name}: share of {label.classes[k]!r}" for k in _shown(label)),
        )
    ]


def _values(ratings: Ratings) -> Iterator[Floats]:
    """Yield the compared values of each item, (item,), NaN where it has none."""
    for n, label in enumerate(ratings.task.labels):
        answers, classes = ratings.answers[:, n], len(label.classes)
        counts = count_answers(ratings.item, answers, len(ratings.items), classes)
        total = counts.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield 1 - (counts * (counts - 1)).sum(axis=1) / (total * (total - 1))
            yield from (counts[:, k] / total for k in _shown(label))


_finding = findings_on("audits")


def check_audits(ratings: Ratings) -> Part:
    """Report how many ratings were audited, and the share of right answers."""
    audited = (ratings.audit != NOT_AUDITED).any(axis=1)
    if not audited.any():
        return Part()
    whole = audited_ratings(ratings)[audited]
    right, known = int((whole == AUDITED_RIGHT).sum()), int((whole != NOT_AUDITED).sum())
    text = f"{int(audited.sum())} of {len(audited)} ratings were audited"
    numbers = {"audited": int(audited.sum()), "ratings": len(audited)}
    if known:
        numbers |= {"right": right, "judged": known}
        share = f"{right / known:.1%}"
        text += f"; {right} of the {known} ratings judged as a whole are right ({share})"
    table = _table(ratings)
    found = [_finding("note", text, code="audited-ratings", numbers=numbers), *_labels(table)]
    states = state_space(ratings.task).states
    if against := contradiction(ratings, possible_states(ratings, states)):
        found.append(_finding("problem", against, code="audit-contradiction"))
    vague = int((ratings.audit == SOME_WRONG).any(axis=1).sum())
    if vague:
        text = (
            f"{counted(vague, 'audited rating', 'are')} marked wrong without saying which answer "
            "is wrong. The shares of right answers by label leave them out, so they are too high"
        )
        found.append(_finding("warning", text, code="vague-audits", numbers={"ratings": vague}))
    raters = len(np.unique(ratings.rater[audited]))
    text = (
        f"the audits cover {raters} of {len(ratings.raters)} raters. How ratings were chosen for "
        "audit is not recorded: if doubtful ones were chosen, the share of right answers is too low"
    )
    numbers = {"raters": raters, "of": len(ratings.raters)}
    found.append(_finding("note", text, code="audit-choice", numbers=numbers))
    return Part(findings=tuple(found), tables={"audits": table})


def _table(ratings: Ratings) -> pd.DataFrame:
    """Return the answers of each label found right, wrong, and in ratings wrong somewhere."""
    table = pd.DataFrame(
        {
            "label": ratings.task.label_names,
            "right": (ratings.audit == AUDITED_RIGHT).sum(axis=0),
            "wrong": (ratings.audit == AUDITED_WRONG).sum(axis=0),
            "wrong_somewhere": (ratings.audit == SOME_WRONG).sum(axis=0),
        }
    )
    judged = table["right"] + table["wrong"]
    return table.assign(share_right=table["right"] / judged.where(judged > 0))


def _labels(table: pd.DataFrame) -> list[Finding]:
    counts = zip(table["label"], table["right"], table["wrong"], strict=True)
    shares = [
        f"{label} {right} of {right + wrong}" for label, right, wrong in counts if right + wrong
    ]
    if len(table) == 1 or not shares:
        return []
    text = f"right answers among the audited: {', '.join(shares)}"
    return [_finding("note", text, code="audit-shares")]
