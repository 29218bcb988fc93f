"""Names of items, raters and clusters: clean, coded, near to others; and the item's columns."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.text import counted, listed
from assay._util.typing import Ints
from assay.data.class_words import NUMBER
from assay.io.arguments import ColumnArg
from assay.io.names import ASKED, EMPTY, GENERIC, OUTRIGHT, Role, is_called
from assay.io.reading_log import Ledger
from assay.io.tables import Table

LOOK_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u0501\u051b\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131",
    "abekmhopctyxijsdqabeikvoptuxi",
)
"""Cyrillic and Greek small letters that look Latin, and the dotless i."""
NAMELESS = (EMPTY - {""}) | {"none", "unknown", "missing", "undefined", "-", "?"}
"""Words that may mean that there is no name."""
SHOWN = 3
ZEROS = re.compile(r"(^|[^0-9])0+([0-9])")
BLANKS = re.compile(r"\s+")
FOLDS = (r"[^!-@\[-~]", r"(?:^|[^0-9])0[0-9]")
"""What names have that :func:`folded` changes: capitals, blanks, other alphabets, zeros."""


def clean_ids(column: "pd.Series[str]") -> "pd.Series[str]":
    """Strip names; drop ``.0`` in columns of whole numbers."""
    codes, distinct = pd.factorize(column)
    names = pd.Series(distinct, dtype="str").str.strip()
    filled = names[names != ""]
    if len(filled) and filled.str.fullmatch(r"-?\d+(\.0+)?").all():
        names = names.str.replace(r"\.0+$", "", regex=True)
    return pd.Series(names.array.take(codes), name=column.name)


def joined_ids(frame: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Return one name per row, parts joined by ``/``; empty if any part is empty.

    The series has the names of its columns.
    """
    parts = [clean_ids(frame[c]) for c in columns]
    names = parts[0]
    for part in parts[1:]:
        names = names + "/" + part
    empty = np.zeros(len(frame), bool)
    for part in parts:
        empty |= (part == "").to_numpy(bool)
    return names.mask(empty, "").rename(", ".join(columns))


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
    """Return the groups of names that nearly match, in order. The names are distinct."""
    listed = pd.Series(names, dtype="str")
    if not any(listed.str.contains(sign, regex=True).any() for sign in FOLDS):
        return []
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


def require_apart(role: str, ledger: Ledger, *tables: tuple[Table, Sequence[str]]) -> None:
    """Add a problem if two keys of a role, in these columns of tables, get one name."""
    columns = list(tables[0][1])
    if len(columns) < 2:
        return
    frames = [table.frame[list(keys)].set_axis(columns, axis=1) for table, keys in tables]
    frame = pd.concat(frames, ignore_index=True)
    rows = like_named(frame, columns)
    if not len(rows):
        return
    owner = np.repeat(np.arange(len(frames)), list(map(len, frames)))[rows]
    first = np.cumsum([0, *map(len, frames)])
    places = [tables[n][0].where(rows[owner == n] - first[n], ", ".join(columns))
              for n in np.unique(owner)]  # fmt: skip
    keys = [" and ".join(map(repr, frame.loc[row])) for row in rows]
    ledger.problem(
        "same-names",
        f"two keys of the {role} get one name when their parts are joined by '/': "
        f"{keys[0]}, {keys[1]}",
        where="; ".join(places),
        mend="write another sign for '/' in these columns",
    )


ONE_NAME = "its name is recognised"
MOST_RANKS = 1000
MOSTLY_THERE = 0.8
"""Smallest share of the places of a list that must occur for numbers to be ranks, and of values
that several raters rated for a column to name what is rated.
"""
FEWEST_NAMED = 5
"""Fewest values of a column that tells that numbers of items restart."""
WHOLE = r"\s*\d+(\.0+)?\s*"


def choose_item(
    candidates: Sequence[str], frame: pd.DataFrame, beside: Sequence[str], ledger: Ledger
) -> tuple[str, str]:
    """Return the column of the item and the evidence; ``""`` and a problem if two are possible.

    A column called item wins; else one of which no rater (``beside``) rates a value twice. It must
    not only number rows, and no other such column may group them differently.
    """
    if len(candidates) < 2 or is_called(candidates[0], OUTRIGHT):
        return candidates[0], ONE_NAME
    rows = frame.drop_duplicates()
    codes = {c: keys_of(rows, [c]) for c in candidates}
    numbers = [c for c in candidates if len(np.unique(codes[c])) == len(rows)]
    rated = [c for c in candidates if not (c in numbers and is_called(c, GENERIC))] or list(
        candidates
    )
    fitting = [c for c in rated if not repeats(codes[c], rows, beside)]
    alike = [c for c in fitting if same_groups(codes[c], codes[fitting[0]])]
    if fitting and len(alike) == len(fitting) and not (set(alike) <= set(numbers) < set(rated)):
        others = " or ".join(c for c in rated if c not in fitting)
        more = f", and raters rate one {others} more than once, but no {fitting[0]}"
        return fitting[0], ONE_NAME + more * bool(others)
    _ask(rated, fitting, codes, ledger)
    return "", ""


def repeats(item: Ints, rows: pd.DataFrame, beside: Sequence[str]) -> int:
    """Count the rows in which a rater rates an item again."""
    keys = [keys_of(rows, [c]) for c in beside]
    return len(rows) - len(unique_rows(item, *keys)[0])


def same_groups(one: Ints, other: Ints) -> bool:
    """Whether two columns group the rows in the same way."""
    pairs = len(unique_rows(one, other)[0])
    return pairs == len(np.unique(one)) == len(np.unique(other))


def _ask(
    rated: Sequence[str], fitting: Sequence[str], codes: dict[str, Ints], ledger: Ledger
) -> None:
    shown = fitting if len(fitting) > 1 else rated
    sizes = ", ".join(f"{c} ({len(np.unique(codes[c]))} values)" for c in shown)
    if len(fitting) > 1:
        because = "no rater rates one value of any of them twice"
    elif fitting:
        because = f"each value of {fitting[0]} stands in one row only"
    else:
        because = "raters rate values of each of them more than once"
    ledger.problem(
        "which-item",
        f"{len(shown)} columns could be the item: {sizes}; {because}",
        mend=f"name it: {' or '.join(f'`item={c!r}`' for c in shown)}",
        role="item",
        numbers={"columns": len(shown)},
        go_on={"item": shown[0]},
    )


def ask_for_restart(
    item: str, rater: Sequence[str], beside: Sequence[str], rest: Sequence[str],
    frame: pd.DataFrame, ledger: Ledger,
) -> None:  # fmt: skip
    """Add a problem if a number of items seems to restart for each rater, by a column of ``rest``:
    its words recur among raters, never within one, and one number has several of them.
    """
    if not rest or not pd.Series(pd.unique(frame[item])).str.fullmatch(WHOLE).all():
        return
    rows = frame.drop_duplicates()
    numbers, raters = keys_of(rows, [item]), keys_of(rows, rater)
    for column in rest:
        places, words = pd.factorize(rows[column])
        if pd.Series(words).str.fullmatch(NUMBER)[places].mean() > 1 - MOSTLY_THERE:
            continue  # ranks and the order of trials are numbers
        codes = keys_of(rows, [column])
        shared = np.bincount(codes[unique_rows(codes, raters)[0]]) > 1
        varied = np.bincount(numbers[unique_rows(codes, numbers)[0]]) > 1
        if len(shared) < FEWEST_NAMED or repeats(codes, rows, beside):
            continue
        if min(shared.mean(), varied.mean()) >= MOSTLY_THERE:
            ledger.problem(
                "which-item",
                f"{item} seems to number the rows of each rater: one {item} has several values of "
                f"{column}, and several raters rated one {column}",
                mend=f"name it: `item={column!r}` or `item={item!r}`",
                role="item",
                numbers={"columns": 2},
                go_on={"item": column},
            )
            return


def ask_for_system(column: str, system: Sequence[str], frame: pd.DataFrame, ledger: Ledger) -> None:
    """Add a problem if answers of several systems may be one item or several."""
    if not is_called(column, ASKED) or not system:
        return
    names = joined_ids(frame, [column])
    pairs = len(unique_rows(keys_of(frame, [column]), keys_of(frame, system))[0])
    if pairs > names.nunique():
        ledger.problem(
            "item-or-system",
            f"one {column} appears under several values of {system[0]}: the item may be the "
            f"{column}, or the output of each {system[0]} for it",
            mend=f"name it: `item={[column, *system]!r}`; `item={column!r}` if the truth is the "
            f"same for all of {system[0]}",
            go_on={"item": [column, *system]},
        )


def other_items(
    keys: Sequence[Sequence[str]], rest: Sequence[str], frame: pd.DataFrame, beside: Sequence[str]
) -> list[list[str]]:
    """Return a few keys with which no rater would rate an item twice. They are ``keys``, the item
    by name perhaps, or of ``rest``, whose values must occur in several rows.
    """
    found = []
    for key in [*map(list, keys), *([c] for c in rest)]:
        codes = keys_of(frame, key)
        named = key[0] not in rest or len(np.unique(codes)) < len(frame)
        if named and not repeats(codes, frame, beside):
            found.append(key)
    return found[:SHOWN]


def key_in_lists(
    roles: Mapping[str, Role],
    frame: pd.DataFrame,
    asked: Mapping[str, ColumnArg],
    beside: Sequence[str],
    ledger: Ledger,
) -> dict[str, tuple[str, ...]]:
    """Return columns of the item and the rank by role, if places in lists name the items. Empty if
    a column identifies items alone, or if a document is the same item in several lists.
    """
    decided = asked.get("item") is not None or any(p.role == "item" for p in ledger.problems)
    cluster, inner = _nested(roles)
    if decided or "rater" not in roles or not inner:
        return {}
    rows = frame.drop_duplicates()
    if not _repeats([inner], rows, beside):
        return {}
    system = roles["system"].columns if "system" in roles else ()
    lists = [*cluster, *system]
    ranks = roles["rank"].columns == (inner,) if "rank" in roles else _ranks(inner, lists, rows)
    key = [str(c) for c in frame.columns if c in {*lists, inner}]
    if not ranks or inner in lists or _repeats(key, rows, beside):
        return {}
    found = {"cluster": cluster, "item": tuple(key)}
    if "rank" not in roles and asked.get("rank") is None:
        found["rank"] = (inner,)
    ledger.note(
        f"{inner} counts the places of a list, so {listed(key)} together name the item. `item=` "
        "names other columns",
        code="item-of-list",
    )
    return found


def _nested(roles: Mapping[str, Role]) -> tuple[tuple[str, ...], str]:
    """Return the columns of the cluster, and the one that may name items within a list.

    That is the recognised item, or the rank. A column of questions is the cluster of ranked lists.
    """
    cluster = roles["cluster"].columns if "cluster" in roles else ()
    rank = roles["rank"].columns[0] if "rank" in roles else ""
    if "item" not in roles:
        return cluster, rank if cluster else ""
    item = roles["item"].columns
    if len(item) > 1 or not roles["item"].evidence.startswith(ONE_NAME):
        return cluster, ""
    if is_called(item[0], ASKED):
        return (item, rank) if not cluster else (cluster, "")
    return cluster, item[0] if cluster and not is_called(item[0], OUTRIGHT) else ""


def _repeats(key: Sequence[str], rows: pd.DataFrame, beside: Sequence[str]) -> int:
    return repeats(keys_of(rows, key), rows, beside)


def _ranks(column: str, lists: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether a column counts the places of every list, from 0 or 1."""
    words = rows[column].str.strip()
    if not words.str.fullmatch(r"\d{1,4}(\.0+)?").all():
        return False
    places = pd.DataFrame({"list": joined_ids(rows, lists), "rank": words.astype(float)})
    places = places.drop_duplicates()
    least, most = places["rank"].min(), places["rank"].max()
    if least > 1 or most > MOST_RANKS or most == least:
        return False
    ends = places.groupby("list")["rank"].agg(["max", "size"])
    return bool(np.sum(ends["size"]) >= MOSTLY_THERE * np.sum(ends["max"] - least + 1))
