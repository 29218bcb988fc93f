"""Raters: number of ratings, comparability, near-duplicates and slots."""

import re

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from assay._util.errors import Numbers
from assay._util.grouping import unique_rows
from assay._util.text import counted, does, some
from assay._util.typing import Floats, Ints
from assay.checks.findings import Level, Part, findings_on
from assay.checks.items import telling_items
from assay.data.overlap import LAYER_ITEMS, SHARED_ITEMS, RaterPairs, rater_pairs
from assay.data.ratings import Ratings
from assay.data.states import MISSING

FAMILIES = {
    "GPT": r"(?:chat)?gpt|(?:text|code)-davinci|o[134]-(?:mini|pro|preview|\d)",
    "Claude": r"claude[- _.]?(?:v?\d|opus|sonnet|haiku|instant)",
    "Gemini": r"gemini|gemma[- _]?\d|text-bison|chat-bison",
    "Llama": r"(?:code|meta)?llama|vicuna|nemotron",
    "Mistral": r"mistral|mixtral|ministral|magistral|codestral",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Phi": r"phi[- _]?\d",
    "Command": r"command[- _]?(?:r|a|light|nightly)\b",
    "Grok": r"grok",
    "Nova": r"nova[- _](?:micro|lite|pro|premier)",
}
"""How names of language models begin, by developer.

Claude and Gemma are also people's names, and o1 to o4 also those of observers.
"""
PATTERNS = {
    family: re.compile(rf"(?<![a-z0-9])(?:{start})", re.IGNORECASE)
    for family, start in FAMILIES.items()
}


def family_of(name: str) -> str:
    """Return the model family in a rater's name; empty if there is none, or more than one."""
    found = [family for family, pattern in PATTERNS.items() if pattern.search(name)]
    return found[0] if len(found) == 1 else ""


def check_model_families(ratings: Ratings) -> Part:
    """Report raters whose names are those of one model family, and may err together."""
    rated = np.isin(np.arange(len(ratings.raters)), ratings.rater[~ratings.abstained])
    names = pd.Series(sorted(ratings.raters.index[rated].astype(str)))
    families = names.map(family_of)
    table = pd.DataFrame({"family": families, "rater": names})[families != ""]
    table = table[table.groupby("family")["rater"].transform("size") > 1]
    if table.empty:
        return Part()
    told = [
        f"{family} ({some(list(part['rater']))})"
        for family, part in table.groupby("family", sort=False)
    ]
    text = (
        "the names of some raters are those of language models of one family: "
        f"{'; '.join(told)}. Such models may err together, which their agreement cannot show. To "
        f"estimate such errors, give the truth of {LAYER_ITEMS} items, or a group of people whose "
        "consensus is the truth. Ratings of three families also suffice, with a rater group for "
        "each family (`group=`)"
    )
    table = table.sort_values("family", kind="stable", ignore_index=True)
    finding = _finding("note", text, code="model-families", numbers={"families": len(told)})
    return Part(findings=(finding,), tables={"model_families": table})


_finding = findings_on("raters")
FEW_RATINGS = 10


def _part(
    level: Level,
    text: str,
    *,
    code: str,
    numbers: Numbers | None = None,
    **tables: pd.DataFrame,
) -> Part:
    """Return a part of one finding."""
    return Part(findings=(_finding(level, text, code=code, numbers=numbers),), tables=tables)


def components(ratings: Ratings) -> Ints:
    """Return the component of each rater in the graph of raters and items; -1 without ratings.

    Known truth is one more node of the graph: it connects raters without common items.
    """
    answered = ~ratings.abstained
    n_raters, n_items = len(ratings.raters), len(ratings.items)
    known = np.flatnonzero(ratings.has_truth)
    size = n_raters + n_items + 1
    ends = (
        np.append(ratings.rater[answered], np.full(len(known), size - 1)),
        n_raters + np.append(ratings.item[answered], known),
    )
    graph = sparse.coo_array((np.ones(len(ends[0]), bool), ends), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    active = np.bincount(ratings.rater[answered], minlength=n_raters) > 0
    found = np.full(n_raters, -1, np.int64)
    found[active] = pd.factorize(part[:n_raters][active])[0]
    return found


def check_overlap(ratings: Ratings) -> Part:
    """Report which raters can be compared: those connected by common items."""
    part = components(ratings)
    sizes = np.bincount(part[part >= 0])
    active = int((part >= 0).sum())
    told = bool(telling_items(ratings).any())
    if len(sizes) == 1 and active > 1:
        known = " or known truth" * bool(ratings.has_truth.any())
        text = f"all {active} raters are connected by shared items{known}"
        return _part("ok", text, code="connected-raters", numbers={"raters": active})
    if active == 1 and told:
        text = "there is one rater; errors are estimated from the items of known truth"
        return _part("note", text, code="one-rater-known-truth")
    if active == 1:
        text = "there is one rater, so the rater's errors cannot be separated from the truth"
        return _part("problem", text, code="one-rater")
    text = (
        f"the raters form {len(sizes)} sets that share no items (the largest has {sizes.max()} of "
        f"{active} raters). Comparisons of raters of different sets rest on the prior alone. "
        f"{counted(len(sizes) - 1, 'item')} rated in two sets each would connect them"
    )
    numbers = {"parts": len(sizes), "largest": int(sizes.max()), "raters": active}
    return _part("warning", text, code="unconnected-raters", numbers=numbers)


def check_raters(ratings: Ratings) -> Part:
    """Report raters with few ratings, with abstentions only, or with constant answers."""
    table = _rater_table(ratings)
    few = table[(table["ratings"] < FEW_RATINGS) & (table["ratings"] > 0)]
    silent = table[table["ratings"] == 0]
    constant = table[table["constant"] & (table["ratings"] >= FEW_RATINGS)]
    numbers = {"raters": len(ratings.raters), "groups": ratings.raters["group"].nunique()}
    found = [_finding("note", _groups(ratings), code="rater-groups", numbers=numbers)]
    if len(few):
        text = (
            f"{len(few)} of {len(table)} raters {does(len(few), 'have')} fewer than {FEW_RATINGS} "
            f"ratings, so their reliability depends on the group: {some(list(few['rater']))}"
        )
        numbers = {"raters": len(few), "of": len(table), "ratings": FEW_RATINGS}
        found.append(_finding("note", text, code="few-ratings-raters", numbers=numbers))
    if len(silent):
        text = f"{counted(len(silent), 'rater')} only abstained: {some(list(silent['rater']))}"
        found.append(
            _finding("warning", text, code="silent-raters", numbers={"raters": len(silent)})
        )
    if len(constant):
        text = (
            f"{counted(len(constant), 'rater')} always {does(len(constant), 'give')} the same "
            f"answer: {some(list(constant['rater']))}"
        )
        found.append(
            _finding("warning", text, code="constant-raters", numbers={"raters": len(constant)})
        )
    abstained = int(ratings.abstained.sum())
    if abstained:
        most = table.sort_values("abstained", ascending=False).iloc[0]
        text = (
            f"{abstained} of {len(ratings.answers)} ratings {does(abstained, 'are')} abstentions, "
            f"most by {most['rater']} ({most['abstained']})"
        )
        numbers = {
            "abstentions": abstained,
            "ratings": len(ratings.answers),
            "most": most["abstained"],
        }
        found.append(_finding("note", text, code="abstentions", numbers=numbers))
    return Part(findings=tuple(found), tables={"raters": table})


def _groups(ratings: Ratings) -> str:
    sizes = ratings.raters["group"].value_counts()
    if len(sizes) == 1:
        return f"{counted(len(ratings.raters), 'rater')} in one group"
    names = some([f"{group} {size}" for group, size in sizes.items()])
    return f"{len(ratings.raters)} raters in {len(sizes)} groups: {names}"


def _rater_table(ratings: Ratings) -> pd.DataFrame:
    answered = (ratings.answers != MISSING).any(axis=1)
    size = len(ratings.raters)
    rater = ratings.rater[answered]
    _, pattern = unique_rows(*ratings.answers[answered].T)
    pairs, _ = unique_rows(rater, pattern)
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(),
            "group": ratings.raters["group"].to_numpy(),
            "ratings": np.bincount(ratings.rater[~ratings.abstained], minlength=size),
            "abstained": np.bincount(ratings.rater[ratings.abstained], minlength=size),
            "component": components(ratings),
            "constant": np.bincount(rater[pairs], minlength=size) == 1,
        }
    )


TWIN_AGREEMENT = 0.98
LONG_AGREEMENT = 100
CHANCE_LIMIT = 0.9


def check_twins(ratings: Ratings) -> Part:
    """Report raters who agree so often that they may not be independent."""
    first = (ratings.answers != MISSING).any(axis=1) & (ratings.replicate == 0)
    if len(np.unique(ratings.rater[first])) < 2:
        return Part()
    _, pattern = unique_rows(*ratings.answers[first].T)
    shares = np.bincount(pattern) / max(len(pattern), 1)
    chance = float((shares**2).sum())
    if chance >= CHANCE_LIMIT:
        text = "almost all answers are equal, so near-duplicate raters cannot be detected"
        return _part("note", text, code="near-duplicates-untold", numbers={"agreement": chance})
    pairs = rater_pairs(ratings.rater[first], ratings.item[first], len(ratings.raters))
    if pairs is None:
        text = "items have too many raters to search all pairs for near-duplicate raters"
        return _part("note", text, code="near-duplicates-untold")
    if not len(pairs.items):
        text = (
            f"no two raters share {SHARED_ITEMS} items, so near-duplicate raters cannot be detected"
        )
        return _part("note", text, code="near-duplicates-untold", numbers={"items": SHARED_ITEMS})
    table = _twins(pairs, pairs.agreements(pattern) / pairs.items, ratings)
    if table.empty:
        text = "no two raters agree so often that they may be near-duplicates"
        return _part("ok", text, code="no-near-duplicates")
    # On few items, two good raters may agree everywhere by chance.
    long = bool((table["items"] >= LONG_AGREEMENT).any())
    said = [f"{line.rater} and {line.other}" for line in table.itertuples()]
    text = (
        f"{counted(len(table), 'pair')} of raters {does(len(table), 'agree')} on more than "
        f"{TWIN_AGREEMENT:.0%} of their common items. Both may be accurate, or they are "
        f"near-duplicates and not independent: {some(said)}"
    )
    numbers = {"pairs": len(table), "agreement": TWIN_AGREEMENT}
    level: Level = "warning" if long else "note"
    return _part(
        level, text, code="near-duplicate-raters", numbers=numbers, near_duplicate_raters=table
    )


def _twins(pairs: RaterPairs, agreement: Floats, ratings: Ratings) -> pd.DataFrame:
    """Return the pairs with very high agreement, by name."""
    close = agreement > TWIN_AGREEMENT
    names = ratings.raters.index.to_numpy()
    return pd.DataFrame(
        {
            "rater": names[pairs.one[close]],
            "other": names[pairs.other[close]],
            "items": pairs.items[close],
            "agreement": agreement[close],
        }
    )


NUMBERED = re.compile(r"(\D+?)[\s_\-.]*(\d+)")
FEW_SORTED = 10
NEARLY = 0.95


def check_slots(ratings: Ratings) -> Part:
    """Report raters who may be slots, by their names and answers."""
    numbers = _slot_numbers([str(name) for name in ratings.raters.index])
    if numbers is None or not _everywhere(ratings):
        return Part()
    order = np.argsort(numbers)
    names = ratings.raters.index[order]
    text = (
        f"the raters are named {names[0]} to {names[-1]}, and each rated nearly every item. They "
        "may be slots (the first, second, ... answer to an item) and not persons. Slots have no "
        'reliability of their own; `raters="pooled"` treats them alike'
    )
    # One of two people may be stricter; three in the same order on each item are rare.
    in_order = len(names) > 2 and _sorted(ratings, np.argsort(order))
    if in_order:
        text += ". Their answers are sorted within every item, which is rare for persons"
    level: Level = "warning" if in_order else "note"
    return _part(level, text, code="slot-raters", numbers={"raters": len(names)})


def _slot_numbers(names: list[str]) -> list[int] | None:
    """Return the numbers in names that are one word with consecutive numbers from 0 or 1."""
    parts = [NUMBERED.fullmatch(name) for name in names]
    found = [(p[1], int(p[2])) for p in parts if p]
    numbers = [number for _, number in found]
    if len(found) < len(names) or len(names) < 2 or len({word for word, _ in found}) > 1:
        return None
    first = min(numbers)
    counted = sorted(numbers) == list(range(first, first + len(numbers)))
    return numbers if counted and first in (0, 1) else None


def _everywhere(ratings: Ratings) -> bool:
    """Return whether every rater rated nearly every rated item, and none twice."""
    pairs = pd.DataFrame({"item": ratings.item, "rater": ratings.rater})
    if pairs.duplicated().any():
        return False
    # A slot may lack some items: abstentions, and rows that were set aside.
    fewest = np.bincount(ratings.rater, minlength=len(ratings.raters)).min()
    return bool(fewest >= NEARLY * pairs["item"].nunique())


def _sorted(ratings: Ratings, place: Ints) -> bool:
    """Return whether the answers to a label are in order over the slots of all items."""
    grid = np.full((len(ratings.items), len(ratings.raters)), -1, np.int64)
    for answers in ratings.answers.T:
        grid[ratings.item, place[ratings.rater]] = answers
        full = grid[(grid >= 0).all(axis=1)]
        mixed = full[full.min(axis=1) < full.max(axis=1)]
        steps = np.diff(mixed, axis=1)
        if len(mixed) >= FEW_SORTED and ((steps >= 0).all() or (steps <= 0).all()):
            return True
    return False
