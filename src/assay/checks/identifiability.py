"""What the data identify, what depends on the prior, and which data would help."""

import numpy as np
import pandas as pd

from assay._util.grouping import all_apart, unique_rows
from assay._util.text import counted, does, some
from assay._util.typing import Bools
from assay.checks.departures.search import BY_SYSTEM, search
from assay.checks.departures.teams import separate_teams
from assay.checks.findings import Finding, Level, Part, findings_on
from assay.checks.items import other_witnesses, settling_items, telling_items
from assay.data.majority_vote import rater_votes
from assay.data.overlap import (
    LAYER_ITEMS,
    MIN_GROUPS,
    NO_GROUPS,
    groups_identify_truth,
    groups_of_items,
    rated_twice_and_by_others,
)
from assay.data.ratings import Ratings

_finding = findings_on("dependence on the prior")
FEW_ITEMS = 20
"""Informative items, of a class or in all, below which results depend on the prior."""
FEW_SHARED = 10
"""Informative items of a rater below which the rater's reliability depends on the prior."""
MOSTLY_ONCE = 0.5


def check_leaning(ratings: Ratings) -> Part:
    """Report labels, reliabilities and rates that depend on the prior, and the reason. *Telling*
    items have two raters' answers or known truth.
    """
    telling = telling_items(ratings)
    classes = class_table(ratings, telling)
    raters = rater_table(ratings, telling)
    found = [*_once(ratings, telling), *_twice(ratings, telling), *_classes(classes)]
    found += [*_raters(raters), *_systems(ratings, telling)]
    if not found:
        text = "every class, rater and system has enough shared items to outweigh the prior"
        silent = classes.loc[~classes["answered"], "label"].unique()
        text += f", except for {some(list(silent))} without an answer" if len(silent) else ""
        found = [_finding("ok", text, code="no-prior-leaning")]
    return Part(findings=tuple(found), tables={"telling_items": classes, "shared_items": raters})


def _once(ratings: Ratings, telling: Bools) -> list[Finding]:
    """Report items with a single rating; a warning if most items have one."""
    raters = ratings.raters_of_items
    rated = int((raters > 0).sum())
    once = int(((raters == 1) & ~telling).sum())
    if not once:
        return []
    text = (
        f"{once} of {rated} rated items ({once / rated:.0%}) {does(once, 'have')} a single rating"
    )
    numbers = {"items": once, "of": rated, "share": once / rated}
    if not telling.any():
        text += (
            ". Rater reliability comes from the prior alone, and so do rates and metrics over all "
            "items. Collect a second rating of some of these items"
        )
        return [_finding("warning", text, code="single-rating-items", numbers=numbers)]
    if once <= MOSTLY_ONCE * rated:
        return [_finding("note", text, code="single-rating-items", numbers=numbers)]
    text += (
        f". Rater reliability is estimated from only {counted(int(telling.sum()), 'item')}, which "
        "limits the precision of rates and metrics over all items. Collect a second rating of more "
        "items"
    )
    numbers = {**numbers, "telling": int(telling.sum())}
    return [_finding("warning", text, code="single-rating-items", numbers=numbers)]


def _twice(ratings: Ratings, telling: Bools) -> list[Finding]:
    """Report items with only two raters; a warning if no other information identifies errors."""
    settled = int(settling_items(ratings).sum())
    pairs = int(telling.sum()) - settled
    if settled >= FEW_ITEMS or not pairs:
        return []
    text = (
        f"{counted(pairs, 'item', 'have')} only two raters, and {settled or 'none'} "
        f"{does(settled, 'have')} three raters or a known truth. Two ratings per item identify how "
        "often raters agree, but neither the class shares nor the direction of errors"
    )
    others = other_witnesses(ratings)
    text += ". These depend on the prior" + f", and on {' and '.join(others)}" * bool(others)
    wanted = FEW_ITEMS - settled
    there = f" (there {does(pairs, 'are')} {pairs})" * (pairs < wanted)
    text += f". Add a third rating, or the truth, for at least {wanted} such items{there}"
    numbers = {"items": pairs, "settled": settled, "wanted": wanted}
    return [
        _finding(
            "note" if others else "warning",
            text,
            leans=True,
            code="two-ratings-items",
            numbers=numbers,
        )
    ]


def class_table(ratings: Ratings, telling: Bools) -> pd.DataFrame:
    """Return the number of telling items that are mostly of each ``class`` of each ``label``."""
    lines = []
    for column, label in enumerate(ratings.task.labels):
        votes = rater_votes(ratings, ratings.answers[:, column], len(label.classes))
        answered = bool(votes.any())
        truth = ratings.truth[:, column]
        known = np.flatnonzero(truth >= 0)
        votes[known] = 0
        votes[known, truth[known]] = 1
        mostly = (votes > 0) & (2 * votes >= votes.sum(axis=1, keepdims=True).round())
        counts = mostly[telling].sum(axis=0)
        lines += [
            {"label": label.name, "class": name, "items": int(n), "answered": answered}
            for name, n in zip(label.classes, counts, strict=True)
        ]
    return pd.DataFrame(lines, columns=["label", "class", "items", "answered"])


def _classes(table: pd.DataFrame) -> list[Finding]:
    """Name the classes with few telling items, and their labels."""
    said = []
    for label, lines in table[table["answered"]].groupby("label", sort=False):
        few = lines[lines["items"] < FEW_ITEMS]
        binary = list(lines["class"]) == ["no", "yes"]
        shown = [
            _reliability(str(name), int(items), binary=binary)
            for name, items in zip(few["class"], few["items"], strict=True)
        ]
        if shown:
            said.append(f"{label}: {', '.join(shown)}")
    if not said:
        return []
    text = (
        f"fewer than {FEW_ITEMS} items with two raters or a known truth inform some reliabilities "
        f"({'; '.join(said)}). These depend on the prior, as do the rates of the labels and every "
        "metric that uses them"
    )
    numbers = {"labels": len(said), "items": FEW_ITEMS}
    return [_finding("note", text, leans=True, code="few-items-classes", numbers=numbers)]


def _reliability(name: str, items: int, *, binary: bool) -> str:
    """Name the reliability on a class, or the class, with the number of its items."""
    if not binary:
        return f"{name} on about {items}"
    what = "sensitivity" if name == "yes" else "specificity"
    return f"{what} on about {items} items"


def rater_table(ratings: Ratings, telling: Bools) -> pd.DataFrame:
    """Return per ``rater`` the ``items`` answered, and the telling ones among them (``shared``)."""
    answered = ~ratings.abstained
    rater, item = ratings.rater[answered], ratings.item[answered]
    if not all_apart(ratings.rater, ratings.item, at=answered):
        first, _ = unique_rows(rater, item)
        rater, item = rater[first], item[first]
    size = len(ratings.raters)
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object),
            "items": np.bincount(rater, minlength=size),
            "shared": np.bincount(rater[telling[item]], minlength=size),
        }
    )


def _raters(table: pd.DataFrame) -> list[Finding]:
    few = table[(table["items"] > 0) & (table["shared"] < FEW_SHARED)]
    if few.empty:
        return []
    names = [f"{line.rater} ({line.shared} of {line.items})" for line in few.itertuples()]
    text = (
        f"{len(few)} of {len(table)} raters {does(len(few), 'have')} fewer than {FEW_SHARED} "
        f"items with a second rater or a known truth: {some(names)}. Their reliability depends on "
        "the group and the prior"
    )
    numbers = {"raters": len(few), "of": len(table), "items": FEW_SHARED}
    return [_finding("note", text, leans=True, code="few-shared-items", numbers=numbers)]


def _systems(ratings: Ratings, telling: Bools) -> list[Finding]:
    """Name the systems with few telling items."""
    places = ratings.panels[["system", "item"]].drop_duplicates()
    shared = places[telling[places["item"].to_numpy()]].groupby("system").size()
    few = [s for s in ratings.systems if int(shared.get(s, 0)) < FEW_ITEMS]
    if not few:
        return []
    names = [f"{name} {int(shared.get(name, 0))}" for name in few]
    text = (
        f"{len(few)} of {len(ratings.systems)} systems {does(len(few), 'have')} fewer than "
        f"{FEW_ITEMS} items with two raters or a known truth. Comparisons assume that raters err "
        f"on these systems as on the others: {some(names)}"
    )
    numbers = {"systems": len(few), "of": len(ratings.systems), "items": FEW_ITEMS}
    return [_finding("note", text, code="few-items-systems", numbers=numbers)]


_reach_finding = findings_on("questions that the data answer")
RANKED_METRICS = frozenset({
    "topical_precision_at_k", "sufficiency_hit_at_k", "sufficiency_rate_at_k",
    "misleading_context_rate_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k",
})  # fmt: skip
WANTED = 100
"""Telling items from which the data outweigh the prior: a number and not a share, since 100 ratings
estimate a reliability of 0.9 to within 0.03 (an SD), whatever the number of items.
"""
RELIABILITY = 0.9
"""Reliability whose standard error is reported."""
MAX_SHARE_WEAK_RATERS = 0.5
"""Share of raters with few telling items above which only their mean reliability is identified."""


def check_reach(ratings: Ratings) -> Part:
    """Report which questions the data can answer."""
    found = [
        *_comparison(ratings),
        *_lists(ratings),
        *_reach_reliability(ratings),
        *_groups(ratings),
    ]
    return Part(findings=tuple(found))


def _comparison(ratings: Ratings) -> list[Finding]:
    """Report whether systems can be compared; it is certain only if tests could refute it."""
    count = len(ratings.systems)
    numbers = {"systems": count}
    if count > 1:
        searched = search(ratings)
        refuted = any(one.code in BY_SYSTEM for one in searched.found)
        if refuted or separate_teams(ratings):
            return []
        text = f"{count} systems can be compared: {', '.join(ratings.systems[:8])}"
        level: Level = "ok" if searched.tests.keys() >= BY_SYSTEM else "note"
        return [_reach_finding(level, text, code="comparable-systems", numbers=numbers)]
    text = "there is only one system, so nothing can be compared"
    if not count:
        text = (
            "no column names a system, so systems cannot be compared. Name one with `system=` or "
            "`panels=`"
        )
    return [_reach_finding("note", text, code="no-comparison", numbers=numbers)]


def _lists(ratings: Ratings) -> list[Finding]:
    if not any(map(_ranked, ratings.task.metrics)):
        return []
    roles = set(", ".join(ratings.accounting.roles["role"]).split(", "))
    lonely = ratings.panels["panel"].nunique() == len(ratings.panels)
    if lonely:
        text = (
            "every item is its own list, but metrics at K, MRR and NDCG need ranked lists. "
            "Name the lists with `cluster=` or `panel=`, and `rank=`"
        )
        return [_reach_finding("warning", text, code="no-ranked-lists")]
    if ratings.accounting.rows_read and "rank" not in roles and len(roles) > 1:
        text = (
            "no column gives the rank, so MRR and NDCG use the order of the file. "
            "Name the column with `rank=`"
        )
        return [_reach_finding("warning", text, code="no-ranks")]
    text = "items form ranked lists, so metrics at K, MRR and NDCG can be computed"
    return [_reach_finding("ok", text, code="ranked-lists")]


def _ranked(metric: str) -> bool:
    """Return whether a metric is about ordered lists."""
    generic = metric.partition("[")[0].partition("_at_")
    return metric in RANKED_METRICS or generic[0] in ("mrr", "ndcg") or bool(generic[1])


def _reach_reliability(ratings: Ratings) -> list[Finding]:
    """Report how well telling items identify reliability."""
    telling = telling_items(ratings)
    count, settled = int(telling.sum()), int(settling_items(ratings).sum())
    others = other_witnesses(ratings)
    if count < FEW_ITEMS:
        none = "no item has two raters or a known truth, so reliabilities come from the prior"
        text = f"{_lean(count) if count else none}; {_takes()}"
        numbers = {"items": count, "wanted": WANTED}
        return [
            _reach_finding(
                "warning", text, leans=True, code="reliability-from-prior", numbers=numbers
            )
        ]
    only_pairs = settled < FEW_ITEMS and settled < count
    if only_pairs and not others:
        how = f"from {count} items), but {'hardly' if settled else 'not'} the direction of errors"
        numbers = {"items": count}
        text = f"the data identify how often raters agree ({how}"
        return [_reach_finding("note", text, code="agreement-alone", numbers=numbers)]
    classes, raters = _leaning(ratings, telling)
    if classes == 1:
        text = _lean(count, f" (fewer than {FEW_ITEMS} of each class)")
        numbers = {"items": count}
        return [
            _reach_finding("note", text, leans=True, code="reliability-from-prior", numbers=numbers)
        ]
    ways = f"; {' and '.join(others)} inform the direction of errors" * only_pairs
    most = raters > MAX_SHARE_WEAK_RATERS
    few = ["classes"] * (classes > 0) + ["raters"] * (0 < raters <= MAX_SHARE_WEAK_RATERS)
    but = f", except for the {' and '.join(few)} that depend on the prior" * bool(few)
    roughly = ""
    if count < WANTED:
        roughly = (
            f" roughly (a reliability of {RELIABILITY} to within {_spread(count):.2f} at best)"
        )
    text = (
        f"the raters' {'mean ' * most}reliability can be estimated{roughly} from "
        f"{_sources(ratings, count)}{but}{ways}"
    )
    searched = search(ratings)
    # Two of three raters who err together are found in about half of the studies.
    more = len(np.unique(ratings.rater[ratings.answered])) > 3
    refutable = more and "dependent-raters" in searched.tests and not searched.found
    level: Level = "ok" if refutable and not roughly else "note"
    spread = {"items": count, "spread": _spread(count)}
    return [_reach_finding(level, text, code="learnable-reliability", numbers=spread)]


def _sources(ratings: Ratings, telling: int) -> str:
    """Name the sources of information: several raters, known truth."""
    several = int((ratings.raters_of_items >= 2).sum())
    there = {"shared items": several > 0, "known truth": telling > several}
    return " and ".join(words for words, some_items in there.items() if some_items)


def _lean(telling: int, more: str = "") -> str:
    only = f"only {counted(telling, 'item', 'have')} two raters or a known truth{more}"
    return f"{only}, so reliabilities depend on the prior"


def _takes() -> str:
    """State how precisely a number of items estimates a reliability."""
    return (
        f"{WANTED} items with three raters or a known truth give a reliability of {RELIABILITY} to "
        f"within {_spread(WANTED):.2f} at best"
    )


def _leaning(ratings: Ratings, telling: Bools) -> tuple[float, float]:
    """Return the share of classes, and of raters, with few telling items; 0 if there are none."""
    classes, raters = class_table(ratings, telling), rater_table(ratings, telling)
    few_classes = (classes["items"] < FEW_ITEMS)[classes["answered"]]
    few_raters = (raters["shared"] < FEW_SHARED)[raters["items"] > 0]
    found = [float(few.mean()) if len(few) else 0.0 for few in (few_classes, few_raters)]
    return found[0], found[1]


def _spread(count: int) -> float:
    """Return the SD of a share of right answers from ``count`` items, at the shown reliability."""
    return float(np.sqrt(RELIABILITY * (1 - RELIABILITY) / count))


def _groups(ratings: Ratings) -> list[Finding]:
    """Report whether dependent errors in a group are identifiable, and by whose consensus."""
    names = list(dict.fromkeys(map(str, ratings.raters["group"])))
    if len(names) < 2:
        text = (
            "all raters are in one group, so dependent errors within a group (e.g. of models) "
            "cannot be estimated. Name groups with `group=`"
        )
        return [_reach_finding("note", text, code="one-rater-group")]
    told = {name: int(rated_twice_and_by_others(ratings, name).sum()) for name in names}
    able = [
        f"`reference={name!r}` ({n} items)"
        for name, n in told.items()
        if n >= LAYER_ITEMS and name not in NO_GROUPS
    ]
    text = (
        "dependent errors within a group can be estimated if the consensus of another group, "
        f"with two ratings per item, counts as the truth: {some(able)}"
    )
    if not able:
        text = (
            "dependent errors within a group can hardly be estimated: no group has two ratings "
            f"each on {LAYER_ITEMS} items that other groups rated too"
        )
    numbers = {"groups": len(able), "items": LAYER_ITEMS}
    found = [
        _reach_finding(
            "note",
            text,
            code="joint-errors-askable" if able else "joint-errors-not-askable",
            numbers=numbers,
        )
    ]
    if groups_identify_truth(ratings):
        seen = int((groups_of_items(ratings) >= MIN_GROUPS).sum())
        text = (
            f"{seen} items were rated by {MIN_GROUPS} groups or more. Without a reference, all "
            "raters count as independent, and intervals are too narrow if raters of a group err "
            "together. `reference='groups'` estimates such errors from the agreement of the "
            "groups, and costs little if there are none"
        )
        numbers = {"items": seen, "groups": MIN_GROUPS}
        found.append(
            _reach_finding(
                "warning",
                text,
                proposes="reference",
                code="groups-may-err-together",
                numbers=numbers,
            )
        )
    return found
