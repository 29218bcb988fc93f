"""Names of items, raters and clusters: clean strings, codes in order of appearance, near names."""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.text import counted
from assay._util.typing import Ints
from assay.io.empty_words import EMPTY
from assay.io.reading_log import Ledger

LOOK_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u0501\u051b\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131",
    "abekmhopctyxijsdqabeikvoptuxi",
)
"""Cyrillic and Greek small letters that look Latin, and the dotless i."""
NAMELESS = (EMPTY - {""}) | {"none", "unknown", "missing", "undefined", "-", "?", "#n/a", "n.a."}
"""Words that may mean that there is no name."""
SHOWN = 3
ZEROS = re.compile(r"(^|[^0-9])0+([0-9])")
BLANKS = re.compile(r"\s+")


def clean_ids(column: "pd.Series[str]") -> "pd.Series[str]":
    """Strip names; drop ``.0`` in columns of whole numbers."""
    codes, distinct = pd.factorize(column)
    names = pd.Series(distinct, dtype="str").str.strip()
    filled = names[names != ""]
    if len(filled) and filled.str.fullmatch(r"-?\d+(\.0+)?").all():
        names = names.str.replace(r"\.0+$", "", regex=True)
    return pd.Series(names.array.take(codes), name=column.name)


def joined_ids(frame: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Return one name per row, parts joined by ``/``; empty if any part is empty."""
    parts = [clean_ids(frame[c]) for c in columns]
    names = parts[0]
    for part in parts[1:]:
        names = names + "/" + part
    empty = np.zeros(len(frame), bool)
    for part in parts:
        empty |= (part == "").to_numpy(bool)
    return names.mask(empty, "")


def keys_of(frame: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Return a code for the joined name of each row; an empty name has one, too."""
    return np.asarray(pd.factorize(joined_ids(frame, columns))[0], np.int64)


def like_named(frame: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Return two rows with different keys and the same joined name, if there are any."""
    parts = [clean_ids(frame[c]) for c in columns]
    if len(parts) < 2 or not any(part.str.contains("/", regex=False).any() for part in parts):
        return np.zeros(0, np.int64)
    return with_one_name(parts, joined_ids(frame, columns))


def with_one_name(parts: Sequence["pd.Series[str]"], names: "pd.Series[str]") -> Ints:
    """Return two rows with different parts and the same name, if there are any."""
    first, _ = unique_rows(*(pd.factorize(part)[0] for part in parts))
    named = names.iloc[first]
    twice = ((named != "") & named.duplicated(keep=False)).to_numpy(bool)
    rows = first[twice]
    return rows[(names.iloc[rows] == names.iloc[rows[0]]).to_numpy(bool)][:2] if len(rows) else rows


def codes_of(names: "pd.Series[str]") -> tuple[Ints, "pd.Index[str]"]:
    """Return codes in order of appearance (-1 if empty), and the distinct names."""
    codes, distinct = pd.factorize(names)
    empty = np.asarray(distinct == "", bool)
    if empty.any():
        codes = np.where(empty, -1, (~empty).cumsum() - 1)[codes]
    return codes.astype(np.int64, copy=False), pd.Index(distinct[~empty], dtype="str")


def folded(name: str) -> str:
    """Return a form that nearly matching names share."""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf").casefold()
    if not text.isascii():
        text = text.translate(LOOK_ALIKE)
    return BLANKS.sub(" ", ZEROS.sub(r"\1\2", text)).strip()


def near_groups(names: "Sequence[str] | pd.Index[str]") -> list[list[str]]:
    """Return the groups of names that nearly match, in order."""
    listed = pd.Series(names, dtype="str")
    rough = listed.str.lower().str.replace(r"(^|[^0-9])0+([0-9])", r"\1\2", regex=True)
    odd = ~np.asarray(listed.str.isascii(), bool) | np.asarray(
        listed.str.contains(r"\s\s", regex=True), bool
    )
    keys = rough.mask(odd, listed[odd].map(folded)) if odd.any() else rough
    twice = np.asarray(keys.duplicated(keep=False), bool)
    groups: dict[str, list[str]] = {}
    for key, name in zip(keys[twice], listed[twice], strict=True):
        groups.setdefault(str(key), []).append(str(name))
    return list(groups.values())


def note_near_names(
    role: str, names: "pd.Index[str]", codes: "NDArray[np.integer]", ledger: Ledger
) -> None:
    """Note names of a role that nearly match, with their numbers of rows."""
    groups = near_groups(names)
    if not groups:
        return
    rows = np.bincount(codes[codes >= 0], minlength=len(names))
    count = dict(zip(names, rows, strict=True))
    shown = "; ".join(
        " and ".join(f"{name!a} ({counted(int(count[name]), 'row')})" for name in group[:3])
        for group in groups[:SHOWN]
    )
    more = f"; {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
    many = "classes" if role == "class" else f"{role}s"
    ledger.note(
        f"{counted(len(groups), 'group')} of {many} have names that nearly match, and count as "
        f"different {many}: {shown}{more}. If they are the same, write one name in the file",
        code="near-names",
        groups=len(groups),
    )


def note_nameless(
    role: str, names: "pd.Index[str]", codes: "NDArray[np.integer]", ledger: Ledger
) -> None:
    """Note names of a role that may mean that there is no name."""
    odd = np.flatnonzero([str(name).casefold() in NAMELESS for name in names.tolist()])
    if len(odd):
        rows = np.bincount(codes[codes >= 0], minlength=len(names))
        shown = ", ".join(f"{names[n]!r} ({counted(int(rows[n]), 'row')})" for n in odd[:SHOWN])
        ledger.note(
            f"read as the name of {'an' if role == 'item' else 'a'} {role}: {shown}; if the "
            f"{role} is not known, leave the cell empty",
            code="nameless",
            names=len(odd),
        )
