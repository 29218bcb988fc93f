"""Names that nearly match: in case, leading zeros, or similar letters."""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.text import counted
from assay.io.cells import EMPTY
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
        " and ".join(f"{_visible(name)} ({counted(int(count[name]), 'row')})" for name in group[:3])
        for group in groups[:SHOWN]
    )
    more = f"; {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
    many = "classes" if role == "class" else f"{role}s"
    ledger.note(
        f"{counted(len(groups), 'group')} of {many} have names that nearly match, and count as "
        f"different {many}: {shown}{more}. If they are the same, write one name in the file"
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
            f"{role} is not known, leave the cell empty"
        )


def _visible(name: str) -> str:
    """Quote a name, with letters of other alphabets as escapes."""
    return repr(name) if name.isascii() else ascii(name)
