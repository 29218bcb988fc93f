"""Names of columns with parts, such as a rater and a question: ``ann_tone``, ``gpt4.tone.ann``."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

import numpy as np
import pandas as pd

from assay._util.text import counted, first_names
from assay.io.files.json_records import LISTS
from assay.io.likely_columns import MOST_CLASSES
from assay.io.names import (
    ALL_KNOWN,
    EXPERTS,
    REMARKS,
    bare,
    is_system_name,
    names_answer,
    names_criterion,
    names_question,
    words_in,
    words_of,
)

RATER, LABEL, SYSTEM, ITEM = "rater", "label", "system", "item"
SLOT = re.compile(r"\{(rater|label|system|item)\}")
"""A slot of a pattern of names of columns, such as ``{rater}_{label}``."""
BETWEEN = re.compile(r"[\s_.:/|-]+")
"""What stands between the parts of such a name."""
BRACKETS = re.compile(r"(.+?)(\s*[\[(])([^\[\]()]+)([\])])")
"""A name with a part in brackets, such as a question of a form with the row of its grid."""
MOST_LABELS = 8
"""Most questions; beyond, the parts of names are rather items."""
MOST_PARTS = 3
"""Most parts that may differ between the names."""
SHOWN = 4
OUTPUTS = frozenset({"outputs", "responses", "completions", "generations", "systems", "models"})
"""Words before the part of a name that is a system."""
Parts = Mapping[str, str]
"""The part of a name in each slot."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A pattern of names, and the parts of each column's name; all combinations are there.

    ``turned`` is the next likely pattern; empty if no other fits.
    """

    pattern: str
    columns: Mapping[str, Parts]
    turned: str = ""


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Names parted in the same way: what stands around the parts that differ, and these parts."""

    around: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]


def slots_of(pattern: str) -> tuple[str, ...]:
    """Return the slots of a pattern, in order.

    >>> slots_of("{system}.{rater}_score")
    ('system', 'rater')
    """
    return tuple(SLOT.findall(pattern))


def find_grid(frame: pd.DataFrame, columns: Sequence[str], *, people: bool = False) -> Grid | None:
    """Find raters, questions and systems in the names of columns; None if there is no full grid.

    The columns of a question share their few values; of several ways to read the names, words in
    them decide. If the rows are ``people``, names have items and no raters.

    >>> names = ["ann_tone", "ann_ok", "ben_tone", "ben_ok"]
    >>> frame = pd.DataFrame([["calm", "no"] * 2, ["sad", "yes"] * 2], columns=names)
    >>> find_grid(frame, names).pattern
    '{rater}_{label}'
    """
    own = [c for c in columns if bare(c) not in ALL_KNOWN]
    few = {c: words for c in own if (words := few_values(frame[c]))}
    plain = {c: words for c, words in few.items() if not REMARKS & set(words_of(c)[-1:])}
    found = _grid_of(few, people=people)
    return _grid_of(plain, people=people) if found is None and len(plain) < len(few) else found


def _grid_of(few: Mapping[str, frozenset[str]], *, people: bool) -> Grid | None:
    """Find a grid in the names of all columns, given their few values."""
    who = ITEM if people else RATER
    scored = [
        (score, grid)
        for split in _splits(list(few))
        for grid in _readings(split, who)
        if (score := _likelihood(grid, few)) >= 0
    ]
    # Names of three parts tell more than the same names in two; systems are told by their names.
    order = sorted(
        scored, key=lambda one: (len(slots_of(one[1].pattern)), SYSTEM in one[1].pattern, one[0]),
        reverse=True,
    )  # fmt: skip
    found = [grid for _, grid in order]
    if not found:
        return None
    first = found[0]
    kept = slots_of(first.pattern)
    others = [
        grid for grid in found
        if len(slots_of(grid.pattern)) == len(kept) and slots_of(grid.pattern) != kept
    ]  # fmt: skip
    return replace(first, turned=next((grid.pattern for grid in others), ""))


def few_values(column: "pd.Series[str]") -> frozenset[str]:
    """Return the values of a column, if they are few."""
    words = words_in(column)
    return frozenset(words) if 1 <= len(words) <= MOST_CLASSES else frozenset()


def _splits(names: Sequence[str]) -> Iterator[_Split]:
    """Yield the ways to part names so that two or three parts differ, in all combinations."""
    rows = {n: hit for n in names if (hit := BRACKETS.fullmatch(n))}
    if len(signs := {hit.group(2, 4) for hit in rows.values()}) == 1:
        halves = {n: hit.group(1, 3) for n, hit in rows.items()}
        yield from _varied(halves, ("", *signs.pop()))
    names = [name for name in names if name not in rows]
    between = {name: list(BETWEEN.finditer(name)) for name in names}
    for sign in dict.fromkeys(found[0] for all_found in between.values() for found in all_found):
        for size in dict.fromkeys(name.count(sign) for name in names if sign in name):
            parted = {n: tuple(n.split(sign)) for n in names if n.count(sign) == size}
            yield from _varied(parted, ("", *[sign] * size, ""))
    for at in (0, -1):  # the first sign of any kind, and the last
        ends = {n: found[at] for n, found in between.items() if found}
        if len(kinds := {end[0] for end in ends.values()}) == 1:
            halves = {n: (n[: end.start()], n[end.end() :]) for n, end in ends.items()}
            yield from _varied(halves, ("", kinds.pop(), ""))


def _varied(parted: Mapping[str, tuple[str, ...]], around: Sequence[str]) -> Iterator[_Split]:
    """Yield the parts that differ, if all of their combinations are there."""
    held = [dict.fromkeys(parts) for parts in zip(*parted.values(), strict=True)]
    differ = [n for n, parts in enumerate(held) if len(parts) > 1]
    if not 2 <= len(differ) <= MOST_PARTS or not all(all(parts) for parts in parted.values()):
        return
    if prod(len(held[n]) for n in differ) != len(parted):
        return
    texts, text = [], around[0]
    for n, parts in enumerate(held):
        if n in differ:
            texts.append(text)
            text = around[n + 1]
        else:
            text += next(iter(parts)) + around[n + 1]
    yield _Split(
        around=(*texts, text),
        parts={name: tuple(parts[n] for n in differ) for name, parts in parted.items()},
    )


def _readings(split: _Split, who: str) -> Iterator[Grid]:
    """Yield the patterns that names parted so may have."""
    size = len(split.around) - 1
    kinds = [(who, LABEL, SYSTEM)] if size == MOST_PARTS else [(who, LABEL), (who, SYSTEM)]
    for slots in (one for kind in kinds for one in permutations(kind)):
        texts = [f"{text}{{{slot}}}" for text, slot in zip(split.around, slots, strict=False)]
        columns = {
            name: dict(zip(slots, parts, strict=True)) for name, parts in split.parts.items()
        }
        yield Grid(pattern="".join(texts) + split.around[-1], columns=columns)


def _likelihood(grid: Grid, few: Mapping[str, frozenset[str]]) -> float:
    """Return how much parts look like what the slots say, from -1 to 1; -1 if they cannot be."""
    parts = distinct_parts(grid.columns)
    labels, systems = parts.get(LABEL, ()), parts.get(SYSTEM, ())
    if len(labels) > MOST_LABELS or not _share_values(grid, few):
        return -1
    who = next(slot for slot in (RATER, ITEM) if slot in parts)
    people = [_looks(name) if who == RATER else _looks_item(name) for name in parts[who]]
    before = dict(zip(slots_of(grid.pattern), SLOT.split(grid.pattern)[::2], strict=False))
    if LISTS & set(words_of(before[who])):
        people = [1] * len(people)
    if systems:
        told = all(map(_is_system, systems)) or bool(OUTPUTS & set(words_of(before[SYSTEM])))
        if not told or not all(map(_may_be_rater, parts[who])):
            return -1
        people += [1] * len(systems)
    return float(np.mean([*people, *(-_looks(name) for name in labels)]))


def _share_values(grid: Grid, few: Mapping[str, frozenset[str]]) -> bool:
    """Whether the columns of each question share their values; at most one is a column's own."""
    by_label: dict[str, list[frozenset[str]]] = {}
    for column, parts in grid.columns.items():
        by_label.setdefault(parts.get(LABEL, ""), []).append(few[column])
    for held in by_label.values():
        most, often = max(held, key=len), Counter(word for own in held for word in own)
        for own in held:
            shared = sum(often[word] > 1 for word in own)
            if not own <= most and shared < max(2, len(own) - 1):
                return False
    return True


def _looks(name: str) -> int:
    """Return 1 for the name or number of a rater, -1 for that of a question, else 0."""
    if name.isdigit() or EXPERTS & set(words_of(name)):
        return 1
    return -1 if names_criterion(name) or names_question(name) else 0


def _looks_item(name: str) -> int:
    """Return 1 for a name with a number, -1 for that of a criterion or question, else 0."""
    if names_criterion(name) or "?" in name:
        return -1
    return int(any(sign.isdigit() for sign in name))


def _is_system(name: str) -> bool:
    return is_system_name(name) and _looks(name) != -1


def _may_be_rater(name: str) -> bool:
    return _looks(name) != -1 and not names_answer(name)


def distinct_parts(columns: Mapping[str, Parts]) -> dict[str, tuple[str, ...]]:
    """Return the distinct parts in each slot, in order."""
    slots = dict.fromkeys(slot for parts in columns.values() for slot in parts)
    return {s: tuple(dict.fromkeys(parts[s] for parts in columns.values())) for s in slots}


def said_of(columns: Mapping[str, Parts]) -> str:
    """Say what columns hold: *the answers of 2 raters (ann, ben) to 2 questions (tone, ok)*."""
    parts = distinct_parts(columns)
    words = {
        RATER: (" of", "rater"), LABEL: (" to", "question"), SYSTEM: (" about", "system"),
        ITEM: (" about", "item"),
    }  # fmt: skip
    return "the answers" + "".join(
        f"{before} {counted(len(parts[slot]), what)} ({first_names(parts[slot], SHOWN)})"
        for slot, (before, what) in words.items()
        if slot in parts
    )


def parts_of(columns: Sequence[str], pattern: str) -> dict[str, Parts]:
    """Return the parts of the name of each column of a pattern. A sign between slots that stands in
    a name several times parts it where fewest names result.

    >>> list(parts_of(["a_1_tone", "a_2_tone", "text"], "{rater}_{label}").values())
    [{'rater': 'a_1', 'label': 'tone'}, {'rater': 'a_2', 'label': 'tone'}]
    """
    around, slots = SLOT.split(pattern)[::2], slots_of(pattern)
    ways: list[dict[str, Parts]] = []
    for greedy in product((".+", ".+?"), repeat=len(slots) - 1):
        groups = [f"(?P<{s}>{kind})" for s, kind in zip(slots, (*greedy, ".+"), strict=True)]
        texts = [re.escape(text) + group for text, group in zip(around, groups, strict=False)]
        name = re.compile("".join(texts) + re.escape(around[-1]))
        found = {c: hit.groupdict() for c in columns if (hit := name.fullmatch(c))}
        often = Counter(part for parts in found.values() for part in parts.items())
        # A name such as doc_id, of which all parts stand alone, is no rater's answer.
        ways.append({
            c: parts for c, parts in found.items()
            if len(slots) == 1 or any(often[part] > 1 for part in parts.items())
        })  # fmt: skip
    return min(ways, key=lambda way: sum(map(len, distinct_parts(way).values())))
