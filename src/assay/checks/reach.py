"""What the data can answer, what they cannot, and what would unlock it."""

import numpy as np
from numpy.typing import NDArray

from assay._util.plurals import counted, some
from assay.checks.findings import Finding, Part, findings_on
from assay.checks.items import other_witnesses, raters_of_items, settling_items, telling_items
from assay.checks.leaning import FEW_ITEMS, FEW_SHARED, class_table, rater_table
from assay.data.ratings import Ratings
from assay.data.witnesses import (
    ENOUGH,
    NO_GROUPS,
    WITNESSES,
    groups_of_items,
    groups_tell,
    rated_twice_and_by_others,
)

_finding = findings_on("what can be answered")

RANKED_METRICS = frozenset({
    "topical_precision_at_k", "sufficiency_hit_at_k", "sufficiency_rate_at_k",
    "misleading_context_rate_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k",
})  # fmt: skip
WANTED = 100
"""Items that tell of errors, from which on they tell more than the prior does: a number and not a
share, since a reliability of 0.9 is known to within 0.03 (an SD) from 100 ratings, of few or many.
"""
SHOWN = 0.9
"""Reliability of which it is said how well it can be known."""
MOST = 0.5
"""Share of the raters with few telling items above which only what they have in common is told."""


def check_reach(ratings: Ratings) -> Part:
    """Say which questions the data can answer."""
    found = [_comparison(ratings), *_lists(ratings), *_reliability(ratings), *_groups(ratings)]
    return Part(findings=tuple(found))


def _comparison(ratings: Ratings) -> Finding:
    count = len(ratings.systems)
    if count > 1:
        return _finding(
            "ok",
            f"{count} systems can be compared: {', '.join(ratings.systems[:8])}",
            code="comparable-systems",
            numbers={"systems": count},
        )
    if count == 1:
        return _finding(
            "note",
            "one system: nothing to compare it with",
            code="no-comparison",
            numbers={"systems": count},
        )
    return _finding(
        "note",
        "no column names a system: no comparison of systems; unlock it with system= or panels=",
        code="no-comparison",
        numbers={"systems": count},
    )


def _lists(ratings: Ratings) -> list[Finding]:
    if not RANKED_METRICS & set(ratings.task.metrics):
        return []
    roles = set(", ".join(ratings.accounting.roles["role"]).split(", "))
    lonely = ratings.panels["panel"].nunique() == len(ratings.panels)
    if lonely:
        text = (
            "every item is a list of its own: metrics at K, MRR and NDCG need ranked lists; "
            "unlock them with cluster= or panel=, and rank="
        )
        return [_finding("warning", text, code="no-ranked-lists")]
    if ratings.accounting.rows_read and "rank" not in roles and len(roles) > 1:
        text = (
            "no column gives the rank: MRR and NDCG rest on the order of the file; "
            "unlock them with rank="
        )
        return [_finding("warning", text, code="no-ranks")]
    return [
        _finding(
            "ok",
            "items stand in ranked lists: metrics at K, MRR and NDCG can be computed",
            code="ranked-lists",
        )
    ]


def _reliability(ratings: Ratings) -> list[Finding]:
    """Say what items that two raters answered, or whose truth is known, tell of reliability."""
    telling = telling_items(ratings)
    count, settled = int(telling.sum()), int(settling_items(ratings).sum())
    others = other_witnesses(ratings)
    if count < FEW_ITEMS:
        none = "no item has two raters or a known truth: reliabilities are the prior's"
        text = f"{_lean(count) if count else none}; {_takes()}"
        return [
            _finding(
                "warning",
                text,
                leans=True,
                code="reliability-from-prior",
                numbers={"items": count, "wanted": WANTED},
            )
        ]
    only_pairs = settled < FEW_ITEMS and settled < count
    if only_pairs and not others:
        how = f"from {count} items), which way they err {'hardly' if settled else 'not'}"
        return [
            _finding(
                "note",
                f"how often raters agree can be learned ({how}",
                code="agreement-alone",
                numbers={"items": count},
            )
        ]
    classes, raters = _leaning(ratings, telling)
    if classes == 1:
        text = f"{_lean(count)}, fewer than {FEW_ITEMS} of each class"
        return [
            _finding(
                "note", text, leans=True, code="reliability-from-prior", numbers={"items": count}
            )
        ]
    ways = f"; which way they err, as far as {' and '.join(others)} tell" * only_pairs
    most = raters > MOST
    few = ["classes"] * (classes > 0) + ["raters"] * (0 < raters <= MOST)
    but = f", but for the {' and '.join(few)} said to lean on the prior" * bool(few)
    roughly = ""
    if count < WANTED:
        roughly = f" roughly (a reliability of {SHOWN} to within {_spread(count):.2f} at best)"
    text = (
        f"the raters' {'mean ' * most}reliability can be learned{roughly} from "
        f"{_sources(ratings, count)}{but}{ways}"
    )
    return [
        _finding(
            "note" if roughly else "ok",
            text,
            code="learnable-reliability",
            numbers={"items": count, "spread": _spread(count)},
        )
    ]


def _sources(ratings: Ratings, telling: int) -> str:
    """Name what makes items tell: several raters, known truth."""
    several = int((raters_of_items(ratings) >= 2).sum())
    there = {"items they share": several > 0, "known truth": telling > several}
    return " and ".join(words for words, some_items in there.items() if some_items)


def _lean(telling: int) -> str:
    return f"reliabilities lean on the prior: {counted(telling, 'item', 'tell')} of them"


def _takes() -> str:
    """Say how many items tell a reliability how well."""
    return (
        f"{WANTED} items with three raters or a known truth tell a reliability of {SHOWN} to "
        f"within {_spread(WANTED):.2f} at best"
    )


def _leaning(ratings: Ratings, telling: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the share of classes, and of raters, on which few items tell; 0 if there are none."""
    classes, raters = class_table(ratings, telling), rater_table(ratings, telling)
    few_classes = (classes["items"] < FEW_ITEMS)[classes["answered"]]
    few_raters = (raters["shared"] < FEW_SHARED)[raters["items"] > 0]
    found = [float(few.mean()) if len(few) else 0.0 for few in (few_classes, few_raters)]
    return found[0], found[1]


def _spread(count: int) -> float:
    """Return the SD of the share of right answers to so many items, at the shown reliability."""
    return float(np.sqrt(SHOWN * (1 - SHOWN) / count))


def _groups(ratings: Ratings) -> list[Finding]:
    """Say whether it can be asked if a group errs together, and of whose consensus."""
    names = list(dict.fromkeys(map(str, ratings.raters["group"])))
    if len(names) < 2:
        text = (
            "all raters are one group: whether a group (e.g. models) errs together cannot be "
            "asked; unlock it with group="
        )
        return [_finding("note", text, code="one-rater-group")]
    told = {name: int(rated_twice_and_by_others(ratings, name).sum()) for name in names}
    able = [
        f"reference={name!r} ({n} items)"
        for name, n in told.items()
        if n >= ENOUGH and name not in NO_GROUPS
    ]
    text = (
        "whether a group errs together can be asked where the consensus of another, with two "
        f"ratings an item, counts as the truth: {some(able)}"
    )
    if not able:
        text = (
            "whether a group errs together can hardly be asked: no group has two ratings each on "
            f"{ENOUGH} items that others rated too"
        )
    found = [
        _finding(
            "note",
            text,
            code="joint-errors-askable" if able else "joint-errors-not-askable",
            numbers={"groups": len(able), "items": ENOUGH},
        )
    ]
    if groups_tell(ratings):
        seen = int((groups_of_items(ratings) >= WITNESSES).sum())
        text = (
            f"{seen} items were rated by {WITNESSES} groups or more: without a reference all "
            "raters count as independent witnesses, and intervals miss the truth if those of a "
            "group err together; reference='groups' learns how often from what the groups agree "
            "on, and costs little if they do not"
        )
        found.append(
            _finding(
                "warning",
                text,
                proposes="reference",
                code="groups-may-err-together",
                numbers={"items": seen, "groups": WITNESSES},
            )
        )
    return found
