"""The role of each column: by argument, by the task, or by a recognised name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import as_code, nearest, suggest
from assay._util.grouping import unique_rows
from assay._util.text import listed
from assay.data.task import Task
from assay.io.files.file_paths import FILE
from assay.io.identifiers import ONE_NAME, ask_for_system, choose_item, key_in_lists, keys_of
from assay.io.likely_columns import IDENTIFIER, likely_columns, likely_key
from assay.io.names import (
    ASKED,
    BESIDE,
    COUNT,
    KEY_PARTS,
    NUMBERED,
    RECOGNISED,
    ColumnArg,
    ColumnFinder,
    Role,
    Roles,
    count_column,
    named_columns,
    names_rater,
    own_columns,
    question_column,
)
from assay.io.reading_log import Ledger

MOST_VOTES = 1000
"""Numbers from which a column is hardly one of votes: years, times, identifiers."""
IN_LISTS = "raters rate each place of a list once"


def find_roles(
    finder: ColumnFinder,
    frame: pd.DataFrame,
    *,
    task: Task,
    asked: Mapping[str, ColumnArg],
    defaults: "Mapping[str, Role]",
    taken: Sequence[str],
    ledger: Ledger,
    question: str = "",
    fallbacks: "Mapping[str, Role] | None" = None,
) -> dict[str, Role]:
    """Return the columns of every role that has some.

    Precedence: arguments (``asked``; ``""`` means none), the format (``defaults``), the task,
    names; then ``fallbacks`` of the format. Columns that are ``taken`` hold answers: their name
    alone gives them no role. ``question`` is the column of the label's name, in tables of one
    answer a row.
    """
    search = _Search(finder, frame, task, defaults, ledger)
    keys = {role: named_columns(finder, asked[role]) for role in asked}
    # A part of a composite key may also be the cluster or the system.
    used = {*taken, *(c for role in keys for c in keys[role] if not _composite(role, keys[role]))}
    roles: dict[str, Role] = {}
    for role in RECOGNISED:
        beside = [question] if question else []
        beside += [c for one in BESIDE if one in roles for c in roles[one].columns]
        if asked.get(role) is not None:
            found = _asked(role, asked[role], finder, ledger)
        else:
            found = search.recognised(role, used, beside)
        if role == "cluster" and found is None and asked.get(role) is None and "item" in roles:
            found = search.asked_once(roles["item"].columns, used)
        if found is None and asked.get(role) is None:
            found = (fallbacks or {}).get(role)
        if found is not None and found.columns:
            roles[role] = found
            used |= set() if _composite(role, found.columns) else set(found.columns)
    beside = [c for one in BESIDE if one in roles for c in roles[one].columns]
    beside += [question] if question else []
    for role, columns in key_in_lists(roles, frame, asked, beside, ledger).items():
        if role not in roles or roles[role].columns != columns:
            roles[role] = Role(columns=columns, evidence=IN_LISTS)
    if "item" in roles and "system" in roles and roles["item"].evidence.startswith(ONE_NAME):
        ask_for_system(roles["item"].columns[0], roles["system"].columns, frame, ledger)
    return roles


def _composite(role: str, columns: Sequence[str]) -> bool:
    """Return whether several columns together name an item or a panel."""
    return role in ("item", "panel") and len(columns) > 1


@dataclass(frozen=True)
class _Search:
    """A table and its context, to find columns by name."""

    finder: ColumnFinder
    frame: pd.DataFrame
    task: Task
    defaults: Mapping[str, Role]
    ledger: Ledger

    def recognised(self, role: str, used: set[str], beside: Sequence[str]) -> Role | None:
        """Find the column of a role by the format, by the task, or by its name."""
        task = self.task
        candidates = [c for c in self.finder.all_of(RECOGNISED[role]) if c not in used]
        if role in self.defaults:
            return self.defaults[role]
        by_task = self.finder.all_of(task.columns.get(role, ()))
        if role == "item" and len(by_task) < len(task.columns.get(role, ())):
            if by_task:  # half of a composite key does not identify items
                candidates = [c for c in candidates if c not in by_task]
            by_task = []
        if by_task:
            chosen = tuple(by_task) if role == "item" else (by_task[0],)
            others = tuple(c for c in [*by_task, *candidates] if c not in chosen)
            return Role(columns=chosen, evidence=f"named by task {task.name}", alternatives=others)
        if not candidates:
            return None
        column, why = candidates[0], ONE_NAME
        if role == "item":
            column, why = choose_item(candidates, self.frame, beside, self.ledger)
        others = tuple(c for c in candidates if c != column)
        return Role(columns=(column,) if column else (), evidence=why, alternatives=others)

    def asked_once(self, item: Sequence[str], used: set[str]) -> Role | None:
        """Find a column of questions that is constant within items and varies between them."""
        items = keys_of(self.frame, item)
        for column in (c for c in self.finder.all_of(ASKED) if c not in used and item != (c,)):
            codes = keys_of(self.frame, [column])
            several, whole = len(np.unique(codes)) > 1, len(np.unique(items))
            if several and len(unique_rows(items, codes)[0]) == whole:
                return Role(columns=(column,), evidence=f"{ONE_NAME}, and each item has one")
        return None


def _asked(role: str, asked: ColumnArg, finder: ColumnFinder, ledger: Ledger) -> Role | None:
    listed = [asked] if isinstance(asked, str) else list(asked or ())
    names = [name for name in listed if name]
    for name in names:
        if finder.get(name) is None:
            ledger.problem(
                "unknown-column",
                f"`{role}={name!r}` is no column",
                mend=suggest(name, finder.columns),
                role=role,
                go_on={role: nearest(name, finder.columns) if len(names) == 1 else None},
            )
    return Role(columns=tuple(finder.all_of(names)), evidence=f"named by `{role}=`")


def _file_of_each(finder: ColumnFinder, ledger: Ledger) -> str:
    """Return the column of the files' names, if several files were read as one table."""
    joined = any(getattr(note, "code", "") == "files-joined" for note in ledger.table.notes)
    return finder.get(FILE) or "" if joined else ""


def require(
    role: str,
    roles: Roles,
    finder: ColumnFinder,
    task: Task,
    ledger: Ledger,
    *,
    answers: Sequence[str] = (),
) -> None:
    """Add a problem if a necessary role is missing and not yet reported."""
    if role in roles or any(problem.role == role for problem in ledger.problems):
        return
    known = task.columns.get(role, ())
    missing = [name for name in known if finder.get(name) is None]
    half = finder.all_of(known)
    because = f": {' and '.join(missing)} is missing beside {half[0]}" if half and missing else ""
    found = _likely(role, roles, answers, ledger)
    guess: str | list[str] = found.get(role, "")
    if role == "item" and {"item", "system"} <= set(found):
        guess = [found["item"], found["system"]]
    if role == "item" and not guess:
        guess = _likely_key(roles, answers, ledger, half)
    if role == "rater" and not guess:
        guess = _named_rater(roles, answers, ledger) or _file_of_each(finder, ledger)
    unnamed = role == "rater"
    asked: dict[str, Any] = {role: guess} | _asked_in(guess, roles, found)
    offer = f"name it: {as_code(asked)}, if that is right"
    votes = "" if guess or not unnamed else _likely_votes(roles, answers, ledger)
    go_on = asked if guess else {"counts": votes} if votes else {"rater": "row"} if unnamed else {}
    nobody = '; or, if the raters have no names, `rater="row"`'
    if votes:
        nobody = f"; or, if column {votes} has numbers of votes, {as_code(go_on)}"
    ledger.problem(
        "no-item" if role == "item" else "no-rater",
        f"no column says which {role} a rating is {'of' if role == 'item' else 'by'}{because}",
        where=f"columns: {listed(own_columns(finder.columns))}",
        allowed=f"names like {', '.join(RECOGNISED[role][:6])}",
        mend=(offer if guess else f"name it with `{role}=`{_several(half, finder, task)}")
        + (nobody if unnamed else ""),
        role=role,
        go_on=go_on,
    )


def _likely_key(
    roles: Roles, answers: Sequence[str], ledger: Ledger, half: Sequence[str]
) -> list[str]:
    """Guess the columns that name the item together; ``half`` are those that the task names."""
    used = {c for one in roles.values() for c in one.columns} | set(answers)
    free = [str(c) for c in ledger.table.frame.columns if c not in used]
    parts = [c for role in KEY_PARTS if role in roles for c in roles[role].columns]
    beside = [c for role in BESIDE if role in roles for c in roles[role].columns]
    frame, named = ledger.table.frame, "rater" in roles
    found = likely_key(frame, free, parts, beside, wide=not half) if named else []
    criteria = len(answers) > 1 and "rater" in roles and roles["rater"].columns == (NUMBERED,)
    return found or ([] if half else _most_distinct(free, ledger, rows_are_items=criteria))


def _most_distinct(
    free: Sequence[str], ledger: Ledger, *, rows_are_items: bool = False
) -> list[str]:
    """Return the column of the most values, if one is called an identifier among those.

    Where one rater without a name judged several criteria, each row is an item.
    """
    frame = ledger.table.frame
    sizes = {c: frame[c].nunique() for c in free if c}
    several = [c for c, size in sizes.items() if 1 < size < len(frame)] or list(sizes)
    if rows_are_items:
        several = [c for c, size in sizes.items() if size == len(frame)] or several
    named = [c for c in several if IDENTIFIER.search(c)] or several
    return [max(named, key=lambda c: sizes[c])] if named else []


def _asked_in(
    key: str | list[str], roles: Roles, found: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Name the system of a key, if its name has no role yet, and the cluster: what it was asked."""
    system = {"system": found["system"]} if "system" in found and "system" not in roles else {}
    whole = isinstance(key, str) or len(key) < 2
    if whole or "cluster" in roles or not {"rank", "system"} & {*roles, *system}:
        return {}
    known = {c for one in roles.values() for c in one.columns} | set(system.values())
    free = [c for c in key if c not in known]
    return system | ({"cluster": free[0]} if free else {})


def _named_rater(roles: Roles, answers: Sequence[str], ledger: Ledger) -> str:
    """Return a column that is called like a rater, and whose values repeat."""
    frame = ledger.table.frame
    used = {c for one in roles.values() for c in one.columns} | set(answers)
    free = [str(c) for c in frame.columns if c not in used and names_rater(str(c))]
    return next((c for c in free if 1 < frame[c].nunique() <= len(frame) / 2), "")


def _likely_votes(roles: Roles, answers: Sequence[str], ledger: Ledger) -> str:
    """Return the column that seems to hold the number of votes of each row; "" if none does.

    Its numbers are whole, and no row repeats the item and the answer of another.
    """
    guessed = [problem.go_on.get("item") for problem in ledger.problems]
    items = [c for one in guessed if one for c in ([one] if isinstance(one, str) else one)]
    items = [*roles["item"].columns] if "item" in roles else items
    frame = ledger.table.frame
    if not items or not answers or not frame.duplicated(items).any():
        return ""
    if frame.duplicated([*items, *answers]).any():
        return ""
    used = {c for one in roles.values() for c in one.columns} | {*items, *answers}
    free = [str(c) for c in frame.columns if c and c not in used]
    whole = [c for c in free if frame[c].str.fullmatch(COUNT).all() and frame[c].nunique() > 1]
    found = [c for c in whole if frame[c].astype(float).max() < MOST_VOTES]
    return found[0] if len(found) == 1 and not count_column(frame) else ""


def _likely(role: str, roles: Roles, answers: Sequence[str], ledger: Ledger) -> dict[str, str]:
    """Guess the columns of a role, and of the system, from cells, given earlier guesses."""
    guessed = {k: v for problem in ledger.problems for k, v in problem.go_on.items()}
    known = {k: list(roles[k].columns) for k in ("item", "rater", "system") if k in roles}
    known |= {
        k: [v] if isinstance(v, str) else list(v)
        for k, v in guessed.items()
        if k in ("item", "rater", "system") and v
    }
    labels = guessed.get("labels")
    named = list(labels.values()) if isinstance(labels, Mapping) else list(answers)
    known["answer"] = [labels] if isinstance(labels, str) else named
    frame = ledger.table.frame
    used = {c for one in roles.values() for c in one.columns}
    used |= {c for columns in known.values() for c in columns}
    free = [str(c) for c in frame.columns if c not in used]
    if (question := question_column(frame)) in free:
        free.remove(question)
        frame = frame[frame[question] == frame[question].value_counts().index[0]]
    return likely_columns(frame, free, known)


def _several(half: Sequence[str], finder: ColumnFinder, task: Task) -> str:
    """Offer half of a key together with the cluster."""
    cluster = finder.all_of(task.columns.get("cluster", ()))[:1]
    if not half or not cluster:
        return ""
    return f", or several: `item={[*cluster, *half]!r}`; {half[0]} alone if it tells items apart"


def roles_table(
    columns: Sequence[str], roles: Roles, extra: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Return role, evidence and alternatives of each column; ``extra`` has answers and truth."""
    lines = []
    for column in columns:
        played = [(r, role) for r, role in roles.items() if column in role.columns]
        names = [r for r, _ in played] + ([extra[column][0]] if column in extra else [])
        evidence = [role.evidence for _, role in played]
        evidence += [extra[column][1]] if column in extra else []
        others = [a for _, role in played for a in role.alternatives]
        lines.append(
            {
                "column": column,
                "role": ", ".join(names),
                "evidence": "; ".join(dict.fromkeys(evidence)),
                "alternatives": ", ".join(dict.fromkeys(others)),
            }
        )
    return pd.DataFrame(lines, columns=["column", "role", "evidence", "alternatives"], dtype="str")


KIND_WORDS = {"confidence": ("sicherheit", "konfidenz"), "score": ("punktzahl",)}
PerLabel = str | Mapping[str, str] | None


def column_of_each(
    role: str, given: PerLabel, finder: ColumnFinder, task: Task, ledger: Ledger
) -> dict[str, str]:
    """Return the column that an argument names for each label; errors become problems.

    A single column is allowed for a task of one label; ``""`` names none.
    """
    if given is None or given == "":
        return {}
    first = task.label_names[0]
    if isinstance(given, str) and len(task.labels) > 1:
        ledger.problem(
            "one-column-several-labels",
            f"`{role}={given!r}` is one column, but task {task.name} has {len(task.labels)} labels",
            mend=f'give a dict from label to column: `{role}={{"{first}": "..."}}`',
            numbers={"labels": len(task.labels)},
            go_on={role: None},
        )
        return {}
    pairs = {first: given} if isinstance(given, str) else given
    found = {}
    for label, column in pairs.items():
        if label not in task.label_names:
            ledger.unknown_label(role, label, task, go_on={role: None})
        elif mine := one_column(role, column, finder, ledger):
            found[label] = mine
    return found


def one_column(role: str, given: object, finder: ColumnFinder, ledger: Ledger) -> str:
    """Return the column that an argument names; empty, with a problem, if there is none."""
    mine = finder.get(given) if isinstance(given, str) else None
    if mine is None:
        ledger.unknown_column(role, given, finder.columns, go_on={role: None})
    return mine or ""


def recognised_of_each(kind: str, free: ColumnFinder, task: Task) -> dict[str, str]:
    """Return columns called ``<label>_<kind>``, ``<kind>_<label>`` or, for one label,
    ``<kind>``.
    """
    found = {}
    alone = (kind, *KIND_WORDS.get(kind, ())) if len(task.labels) == 1 else ()
    for name in task.label_names:
        columns = free.all_of((f"{name}_{kind}", f"{kind}_{name}", *alone))
        if columns:
            found[name] = columns[0]
    return found
