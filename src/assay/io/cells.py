"""Decode cells as class codes, or as numbers within a range."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import as_code
from assay._util.text import counted, listed
from assay._util.typing import Bools, Floats, Ints
from assay.data.class_words import BINARY_SPELLINGS, FOREIGN, NUMBER, canonical, no_before_yes
from assay.data.states import MISSING
from assay.data.task import MAX_CLASSES, Label
from assay.data.task_files import MAX_NAME
from assay.io.likely_columns import free_answers
from assay.io.names import EMPTY, NEGATING, NEGATIONS, NO_ANSWER, words_of
from assay.io.reading_log import Ledger
from assay.io.tables import SET_ASIDE

UNKNOWN = -3
WRITTEN = re.compile(r"^[+-]?0\d|[eE]|^\+")
"""Numbers with leading zeros, an exponent or a plus sign, which codes have, too."""
SHOWN = 10
LONG = 60


def spellings(label: Label) -> dict[str, int]:
    """Return the code of every spelling of a label's classes; missing values are ``MISSING``."""
    table = dict.fromkeys(EMPTY, MISSING)
    if label.classes == ("no", "yes"):
        table |= FOREIGN | BINARY_SPELLINGS
    loose = [canonical(c) for c in label.classes]
    # Classes that differ in case only need their exact spelling.
    table |= {key: code for code, key in enumerate(loose) if loose.count(key) == 1}
    return table | {name.strip(): code for code, name in enumerate(label.classes)}


WRAPPED = re.compile(r"""(\*{1,3}|_{1,3}|`{1,3}|["'])(.+)\1|[\u201c\u201e](.+)[\u201c\u201d]""")
"""A word in the signs of emphasis or quotes."""


def bare_word(word: str) -> str:
    """Return a word without the stop behind it and the signs of emphasis or quotes around it.

    >>> [bare_word(word) for word in ("**Yes**.", "No.", "A*", "yes?", "...")]
    ['Yes', 'No', 'A*', 'yes?', '...']
    """
    old, text = "", word.strip()
    while text != old:
        old = text
        found = WRAPPED.fullmatch(text)
        text = (found[2] or found[3]) if found else text
        text = text.strip().rstrip(".,:;").rstrip() or old
    return text


def _bare_words(words: Sequence[str]) -> dict[str, str]:
    """Return the words that are another one, or mean nothing, but for such signs."""
    bare = {word: bare_word(word) for word in words}
    keys = Counter(canonical(text) for text in bare.values())
    return {w: t for w, t in bare.items() if t != w and (keys[canonical(t)] > 1 or
            canonical(t) in EMPTY)}  # fmt: skip


def decode(column: "pd.Series[str]", label: Label, ledger: Ledger) -> NDArray[np.int16]:
    """Return the class codes of a column of answers; unknown values are a problem."""
    raw, distinct = pd.factorize(column)
    values = [str(value) for value in distinct]
    known = spellings(label)
    found = [known.get(v.strip(), known.get(canonical(v), UNKNOWN)) for v in values]
    bare = {v.strip(): t for v, code in zip(values, found, strict=True)
            if code == UNKNOWN and canonical(t := bare_word(v)) in known}  # fmt: skip
    found = [known[canonical(bare[v.strip()])] if v.strip() in bare else code
             for v, code in zip(values, found, strict=True)]  # fmt: skip
    codes = np.array(found, np.int16)
    answers = codes[raw]
    if bare:
        shown = ", ".join(f"{word} is {text}" for word, text in list(bare.items())[:SHOWN])
        ledger.note(
            f"answers to {label.name} are read without the signs around them: {shown}",
            code="signs-left-out",
            words=len(bare),
        )
    if label.classes == ("no", "yes"):
        words = dict.fromkeys(word for word in map(canonical, values) if word in FOREIGN)
        if said := ", ".join(f"{word} is {label.classes[FOREIGN[word]]}" for word in words):
            ledger.note(f"answers to {label.name}: {said}", code="foreign-words")
    _report_unknown(ledger, label, str(column.name), raw, values, codes)
    return np.where(answers == UNKNOWN, np.int16(MISSING), answers)


def _report_unknown(
    ledger: Ledger, label: Label, name: str, raw: Ints, distinct: Sequence[str],
    codes: NDArray[np.int16],
) -> None:  # fmt: skip
    """Report words that are no classes, or set their rows aside. Messages propose a ``classes=``
    argument; reading goes on with it where few similar words have meanings.
    """
    unknown = np.flatnonzero(codes == UNKNOWN)
    if ledger.lenient:
        ledger.set_aside(np.isin(raw, unknown), "no class of its label")
        return
    words = [distinct[int(value)] for value in unknown]
    among = [*words, *label.classes]
    meant = {word.strip(): _meant(word.casefold(), label, among) for word in words}
    told = len(meant) <= SHOWN and all(len(w) <= LONG and m != "..." for w, m in meant.items())
    go_on = {"classes": {label.name: meant}} if told else SET_ASIDE
    spelled = " (also y/n, true/false, 1/0)" if label.classes == ("no", "yes") else ""
    allowed = f"{listed(label.classes, SHOWN)}{spelled}, or empty"
    short = [word for word in words[:SHOWN] if len(word) <= LONG]
    pairs = ", ".join(f'"{w.strip()}": "{meant[w.strip()]}"' for w in short)
    said = f'`classes={{"{label.name}": {{{pairs}}}}}`'
    mend = f'say what the words mean, e.g. {said} ("" means no answer)' if short else ""
    for word, value in zip(words[:SHOWN], unknown, strict=False):
        rows = np.flatnonzero(raw == value)
        times = f" ({len(rows)} times)" if len(rows) > 1 else ""
        shown = repr(word) if len(word) <= LONG else f"{word[: LONG - 3]!r}..."
        ledger.problem(
            "unknown-class",
            f"{shown} is no class of {label.name}{times}",
            where=ledger.table.where(rows, name),
            allowed=allowed,
            mend=mend if value == unknown[0] else "",
            go_on=go_on,
        )
    if len(unknown) > SHOWN:
        ledger.problem(
            "unknown-class",
            f"{len(unknown) - SHOWN} more values are no classes of {label.name}",
            where=f"column {name}",
            allowed=allowed,
            numbers={"values": len(unknown) - SHOWN},
            go_on=go_on,
        )


def negates(word: str, words: Iterable[str]) -> bool:
    """Whether a word is the negative of another one: of its positive, perhaps with one more word.

    >>> negates("trifft nicht zu", ["trifft zu"]), negates("does not apply", ["applies"])
    (True, True)
    >>> negates("unclear", ["clear"]), negates("not applicable", ["right", "wrong"])
    (True, False)
    """
    mine = _stems(word)
    said = {stem for stem in mine if stem not in NEGATIONS}
    for other in words:
        stems = set(_stems(other))
        if other == word or stems & NEGATIONS:
            continue
        more = len(stems) - len(said)
        if (
            said
            and len(said) < len(mine)
            and said <= stems
            and (more == 0 or len(said) > more == 1)
        ):
            return True
        if len(mine) == len(stems) == 1 and mine[0] in {start + min(stems) for start in NEGATING}:
            return True
    return False


def _stems(text: str) -> list[str]:
    """Return the words of a text without the ending of an English verb: applies, apply."""
    return [re.sub(r"(?<=..)ies$", "y", word) for word in words_of(text)]


def _meant(word: str, label: Label, among: Sequence[str]) -> str:
    if canonical(word) in NO_ANSWER and not negates(word, map(str.casefold, among)):
        return ""
    loose = {name.casefold(): name for name in label.classes}
    held = [name for name in loose if re.search(rf"\b{re.escape(name)}\b", word)]
    # "partially yes" contains two classes: the first one counts.
    near = sorted(held, key=word.index) or get_close_matches(word, list(loose), n=1, cutoff=0.75)
    return loose[near[0]] if near else "..."


HIGHEST, HIGHEST_OF_FEW_STEPS = 10, 100
"""Highest number of a scale in small steps, and of one in steps of 5, 10, 20 or 25."""
WIDEST_GAP = 2
"""Largest gap of a scale, in steps, or in points if steps are fractions.

Rare grades may be missing, but at the ends of whole numbers, 9 may stand for no answer.
"""
FEW_CLASSES = 12
"""Classes up to which it does not matter how often each is used."""


def classes_from_data(
    columns: Sequence["pd.Series[str]"], label: Label, ledger: Ledger, *, named: bool = False
) -> tuple[str, ...]:
    """Return the distinct values of a label whose classes come from the data: numbers in their
    order, else words by alphabet, no before yes.

    Equal numbers, and words that differ in case only, are one class with the most common spelling.
    Values that hardly repeat are no classes, unless the caller has ``named`` the column.
    """
    counts = pd.concat([column.str.strip() for column in columns]).value_counts()
    if bare := _bare_words(list(map(str, counts.index))):
        counts = counts.rename(bare).groupby(level=0, sort=False).sum()
    counts = counts[[canonical(v) not in EMPTY for v in counts.index]]
    numeric = all(NUMBER.fullmatch(v) and len(v) < 40 for v in counts.index)
    decimals = are_decimals(list(map(str, counts.index)))
    once = not named and (decimals or len(counts) > max(FEW_CLASSES, int(counts.sum()) / 2))
    names = {canonical(v) for v in counts.index} if numeric else _one_case(counts, label, ledger)
    if numeric:
        _note_numbers(list(map(str, counts.index)), label, ledger)
    longest = max(map(len, names), default=0)
    if len(names) > MAX_CLASSES or longest > MAX_NAME or (once and not ledger.table.part):
        go_on = _instead(columns[0], ledger)
        given = {name: value for name, value in go_on.items() if value is not None}
        which = f"; or {as_code(given)}, if that is meant" if given else ""
        texts = f", texts of up to {longest:,} characters" if longest > MAX_NAME else ""
        ledger.problem(
            "too-many-classes",
            f"{len(names)} different values of {label.name}{texts} in {int(counts.sum()):,} "
            "answers",
            where=f"column {columns[0].name}",
            allowed=f"classes that repeat, at most {MAX_CLASSES}, of at most {MAX_NAME} characters",
            mend="name the column of classes with `labels=`, as "
            f"{'a fraction' if decimals else 'free text'} is no class{which}",
            go_on=go_on,
            numbers={"values": len(names), "most": MAX_CLASSES, "longest": longest},
        )
        return ("no", "yes")
    classes = sorted(names, key=float if numeric else _as_people_count)
    if no_before_yes(classes[::-1]):
        classes.reverse()
    _report_twice_binary(classes, label, ledger)
    if decimals:
        scores = as_scores(columns[0])
        del scores["labels"]
        ledger.note(
            f"{len(names)} different fractions of {label.name} are read as classes; if they are "
            f"scores, give {as_code(scores)} in the place of labels",
            code="fractions-as-classes",
            values=len(names),
        )
    if len(classes) == 1:
        ledger.note(
            f"every answer to {label.name} is {classes[0]!r}, but a label needs two classes, "
            "so a class 'other' was added",
            code="class-added",
        )
        classes.append("other" if classes[0] != "other" else "another")
    return tuple(classes)


def are_decimals(words: Sequence[str]) -> bool:
    """Whether words are numbers with fractions, too many to be classes, and in no equal steps.

    >>> are_decimals([str(n / 2) for n in range(20)]), are_decimals([f"0.{n}7" for n in range(20)])
    (False, True)
    """
    pointed = [word.replace(",", ".") for word in words]
    if len(words) <= FEW_CLASSES or not all(map(NUMBER.fullmatch, pointed)):
        return False
    numbers = sorted(map(float, pointed))
    return not all(map(float.is_integer, numbers)) and not has_steps(numbers)


def has_steps(numbers: Sequence[float]) -> bool:
    """Whether rising numbers are those of a scale: in equal steps, with few gaps, not high.

    >>> has_steps((1, 1.5, 2, 3)), has_steps((1, 2, 3, 4, 5)), has_steps((0, 25, 50, 75, 100))
    (True, True, True)
    >>> has_steps((1, 2, 3, 9)), has_steps((101, 102, 103)), has_steps((3, 17, 40))
    (False, False, False)
    """
    hundredths = np.round(np.asarray(numbers, float) * 100)
    if not np.allclose(hundredths, np.asarray(numbers, float) * 100):
        return False
    steps = np.diff(hundredths).astype(np.int64)
    step = int(np.gcd.reduce(steps))
    if not step or step % 5 or (hundredths[0] % step):
        return False
    highest = HIGHEST_OF_FEW_STEPS if step >= 500 else HIGHEST
    lowest = -highest / 2 if numbers[0] < 0 else 0
    if not (lowest <= numbers[0] and numbers[-1] <= highest):
        return False
    gaps = steps // step
    if step < 100:
        return bool(gaps.max() * step <= 100 * WIDEST_GAP)
    return bool(gaps.max() <= WIDEST_GAP and gaps[0] == gaps[-1] == 1)


def _instead(column: "pd.Series[str]", ledger: Ledger) -> dict[str, Any]:
    """Return the arguments that read another column of classes, or numbers as scores."""
    numbers, filled = parse_numbers(column)
    numeric = bool(filled.any()) and bool(np.isfinite(numbers[filled]).all())
    numbers = numbers[filled]
    counted_up = numeric and len(np.unique(numbers)) == len(numbers)  # as identifiers are
    others = [name for name in free_answers(ledger.table.frame) if name != column.name]
    if others and (counted_up or not numeric):
        return {"labels": others[-1], "value": None}
    return as_scores(column) if numeric else {}


def as_scores(column: "pd.Series[str]") -> dict[str, Any]:
    """Return the arguments that read numbers as scores."""
    cells = _pointed(column)[0]
    numbers, filled = parse_numbers(cells)
    given = numbers[filled]
    scale = (min(0, int(np.floor(given.min()))), max(1, int(np.ceil(given.max()))))
    found: dict[str, Any] = {"labels": None, "score": str(column.name)}
    return found if scale == (0, 1) else {**found, "score_range": scale}


def _as_people_count(name: str) -> tuple[list[str | int], str]:
    """Return a sort key: case is ignored, and digits sort as numbers."""
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if n % 2 else part for n, part in enumerate(parts)], name


def _report_twice_binary(classes: Sequence[str], label: Label, ledger: Ledger) -> None:
    """Add a problem if classes are no and yes in several spellings, beside none but no answer.

    Three letters, such as f, n and t, may be false, neutral and true.
    """
    binary = FOREIGN | BINARY_SPELLINGS
    codes = {name: binary[canonical(name)] for name in classes if canonical(name) in binary}
    others = {canonical(name) for name in classes} - binary.keys()
    letters = len(codes) < 4 and all(len(name) == 1 and name.isalpha() for name in codes)
    if ledger.table.part or len(codes) < 3 or letters or not others <= NO_ANSWER:
        return
    words = {label.name: {name: ("no", "yes")[code] for name, code in codes.items()}}
    ledger.problem(
        "binary-spellings",
        f"the {len(codes)} classes {', '.join(codes)} of {label.name} look like no and yes in "
        "several spellings",
        mend=f"`classes={json.dumps(words, ensure_ascii=False)}` makes them two; a task file that "
        "lists the classes keeps them apart",
        numbers={"classes": len(codes)},
        go_on={"classes": words},
    )


def _note_numbers(words: Sequence[str], label: Label, ledger: Ledger) -> None:
    """Note numbers that are written in another way than their class is called: 007, 1e2."""
    said = [w for w in words if WRITTEN.search(w) and canonical(w) != w]
    if said:
        shown = ", ".join(f"{w} is {canonical(w)}" for w in sorted(said)[:SHOWN])
        text = f"classes of {label.name} are numbers, and equal numbers are one class: {shown}"
        ledger.note(text, code="equal-numbers", words=len(said))


def _one_case(counts: "pd.Series[int]", label: Label, ledger: Ledger) -> set[str]:
    """Choose one spelling of classes that differ in case only, with a note."""
    # Most common first; ties do not depend on the order of rows.
    order = sorted(counts.index, key=lambda name: (counts[name], name), reverse=True)
    groups: dict[str, list[str]] = {}
    for name in order:
        groups.setdefault(name.casefold(), []).append(name)
    several = [names for names in groups.values() if len(names) > 1]
    if several:
        said = "; ".join(f"{', '.join(names[1:])} as {names[0]}" for names in several[:SHOWN])
        more = f"; {len(several) - SHOWN} more" if len(several) > SHOWN else ""
        ledger.note(
            f"classes of {label.name} that differ only in upper and lower case are merged, {said}"
            f"{more}; a task file that lists the classes keeps them apart",
            code="cases-merged",
            classes=len(several),
        )
    return {names[0] for names in groups.values()}


SHOWN_NUMBERS = 5
ROUNDING = 1e-9
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+%?")
WHOLE = re.compile(r"[+-]?\d+%?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}%?")


def parse_numbers(column: "pd.Series[str]") -> tuple[Floats, Bools]:
    """Return the numbers of a column (else NaN), and which cells are filled."""
    raw, distinct = pd.factorize(column)
    words = [str(word).strip() for word in distinct]
    filled = np.array([word.casefold() not in EMPTY for word in words], bool)
    words = [word.removesuffix("%").rstrip() for word in words]
    values = pd.to_numeric(pd.Series(words, dtype="str"), errors="coerce").to_numpy(float)
    return np.where(np.isfinite(values) & filled, values, np.nan)[raw], filled[raw]


def has_numbers(column: "pd.Series[str]") -> bool:
    """Whether any cell is a number, with a decimal point or comma."""
    if np.isfinite(parse_numbers(column)[0]).any():
        return True
    return any(DECIMAL_COMMA.fullmatch(str(cell).strip()) for cell in pd.unique(column))


def with_points(column: "pd.Series[str]", ledger: Ledger) -> "pd.Series[str]":
    """Return a column with decimal points for commas, with a note."""
    pointed, had_commas = _pointed(column)
    if had_commas:
        ledger.note(f"column {column.name} has decimal commas", code="decimal-commas")
    return pointed


def all_numbers(column: "pd.Series[str]", ledger: Ledger) -> Floats | None:
    """Return the numbers of a column; None if any cell is no number."""
    pointed, had_commas = _pointed(column)
    numbers, _ = parse_numbers(pointed)
    if not np.isfinite(numbers).all():
        return None
    if had_commas:
        ledger.note(f"column {column.name} has decimal commas", code="decimal-commas")
    return numbers


def _pointed(column: "pd.Series[str]") -> "tuple[pd.Series[str], bool]":
    """Return a column with decimal points for commas, and whether it had commas.

    All numbers must have a comma or be whole, and one comma must not be able to separate thousands.
    """
    raw, distinct = pd.factorize(column)
    words = [str(word).strip() for word in distinct]
    commas = [w for w in words if DECIMAL_COMMA.fullmatch(w)]
    others = [w for w in words if w not in commas and w.casefold() not in EMPTY]
    if all(map(THOUSANDS.fullmatch, commas)) or not all(map(WHOLE.fullmatch, others)):
        return column, False
    new = pd.array([w.replace(",", ".") for w in words], dtype="str")
    return pd.Series(new.take(raw), index=column.index, name=column.name), True


def point_wanted(cells: Sequence[str]) -> str:
    """Advise on the first cell with a comma; empty if there is none."""
    found = next((c.strip() for c in cells if DECIMAL_COMMA.fullmatch(c.strip())), "")
    pointed = found.replace(",", ".")
    if THOUSANDS.fullmatch(found):
        return f"write {found.replace(',', '')} if the comma separates thousands, else {pointed}"
    return f"write decimal points: {pointed}" if found else ""


def numbers_within(
    column: "pd.Series[str]",
    limits: Sequence[float],
    ledger: Ledger,
    *,
    what: str,
    allowed: str,
    mend: str = "",
    go_on: Mapping[str, Any] | None = None,
) -> Floats:
    """Return the numbers of a column, NaN if empty; all wrong cells are one problem."""
    column = with_points(column, ledger)
    numbers, filled = parse_numbers(column)
    low, high = limits
    wrong = np.flatnonzero(filled & ~((numbers >= low - ROUNDING) & (numbers <= high + ROUNDING)))
    if len(wrong):
        cells = [str(v) for v in pd.unique(column.iloc[wrong])[:SHOWN_NUMBERS]]
        shown = [repr(cell[:40]) for cell in cells]
        ledger.problem(
            "no-number",
            f"{counted(len(wrong), 'cell', 'hold')} no {what}: {', '.join(shown)}",
            where=ledger.table.where(wrong, str(column.name)),
            allowed=f"{allowed}, or empty",
            mend=point_wanted(cells) or mend,
            go_on=go_on or {},
            numbers={"cells": len(wrong)},
        )
    return np.clip(numbers, low, high)
