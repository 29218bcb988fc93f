"""The role of each column: by argument, by the task, or by a recognised name."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import as_code, nearest, suggest
from assay._util.grouping import unique_rows
from assay._util.text import listed
from assay.data.task import Task
from assay.io.arguments import ColumnArg, PerLabel, names_in
from assay.io.files.file_paths import FILE
from assay.io.identifiers import (
    ONE_NAME,
    ask_for_restart,
    ask_for_system,
    choose_item,
    key_in_lists,
    keys_of,
)
from assay.io.likely_columns import (
    IDENTIFIER,
    MOST_REPEATED,
    are_times,
    likely_columns,
    likely_key,
)
from assay.io.names import (
    ALL_KNOWN,
    ASKED,
    BESIDE,
    COUNT,
    GENERIC,
    KEY_PARTS,
    KNOWN,
    NUMBERED,
    RECOGNISED,
    REMARKS,
    TRUTH_NAMES,
    ColumnFinder,
    Role,
    Roles,
    bare,
    columns_of,
    count_column,
    is_called,
    named_columns,
    names_measure,
    names_rater,
    own_columns,
    question_column,
    squash,
    words_in,
)
from assay.io.reading_log import Ledger
from assay.io.tables import Table
from assay.io.told_columns import say_unclear, told_columns

MOST_VOTES = 1000
"""Numbers from which a column is hardly one of votes: years, times, identifiers."""
RESPONSES = frozenset({"completiontime", "submitdate", "responseid", "enddate", "recordeddate"})
"""Squashed names of columns that forms add to each response."""
IN_LISTS = "raters rate each place of a list once"


def find_roles(
    table: Table,
    task: Task,
    asked: Mapping[str, ColumnArg],
    ledger: Ledger,
    *,
    taken: Sequence[str] = (),
    question: str = "",
    defaults: Roles = MappingProxyType({}),
    fallbacks: Roles = MappingProxyType({}),
) -> dict[str, Role]:
    """Return the columns of every role that has some.

    Precedence: ``asked`` (``""`` means none), the format's ``defaults``, the task, names,
    ``fallbacks``. Names alone give no role to ``taken`` columns, which hold answers. ``question``
    is the column of the label's name, in tables of one answer a row.
    """
    finder, frame = table.finder, table.frame
    keys = {role: named_columns(finder, asked[role]) for role in asked}
    # A part of a composite key may also be the cluster or the system.
    used = {*taken, *(c for role in keys for c in keys[role] if not _composite(role, keys[role]))}
    roles: dict[str, Role] = {}
    for role in RECOGNISED:
        if asked.get(role) is not None:
            found: Role | None = _asked(role, asked[role], finder, ledger)
        else:
            beside = [*filter(None, [question]), *columns_of(roles, *BESIDE)]
            found = defaults.get(role) or _recognised(role, table, task, used, beside, ledger)
            if role == "cluster" and found is None and "item" in roles:
                found = _asked_once(roles["item"].columns, table, used)
            found = found or fallbacks.get(role)
        if found is not None and found.columns:
            roles[role] = found
            used |= set() if _composite(role, found.columns) else set(found.columns)
    beside = [*columns_of(roles, *BESIDE), *filter(None, [question])]
    for role, columns in key_in_lists(roles, frame, asked, beside, ledger).items():
        if role not in roles or roles[role].columns != columns:
            roles[role] = Role(columns=columns, evidence=IN_LISTS)
    if "item" in roles and "system" in roles and roles["item"].evidence.startswith(ONE_NAME):
        ask_for_system(roles["item"].columns[0], roles["system"].columns, frame, ledger)
    if {"item", "rater"} <= {*roles} and roles["item"].evidence == ONE_NAME:
        names = KNOWN["item"] | (frozenset(map(bare, frame.columns)) - ALL_KNOWN - TRUTH_NAMES)
        rest = [str(c) for c in frame.columns if c not in used and bare(c) in names]
        rater = roles["rater"].columns
        ask_for_restart(roles["item"].columns[0], rater, beside, rest, frame, ledger)
    return roles


def _composite(role: str, columns: Sequence[str]) -> bool:
    """Return whether several columns together name an item or a panel."""
    return role in ("item", "panel") and len(columns) > 1


def _recognised(
    role: str, table: Table, task: Task, used: set[str], beside: Sequence[str], ledger: Ledger
) -> Role | None:
    """Find the column of a role by the task, or by its name."""
    candidates = [c for c in table.finder.all_of(RECOGNISED[role]) if c not in used]
    if role == "item" and not RESPONSES.isdisjoint(squash(str(c)) for c in table.frame.columns):
        # A form numbers its responses, each of one person.
        candidates = [
            c for c in candidates
            if not is_called(c, GENERIC) or table.frame[c].duplicated().any()
        ]  # fmt: skip
    by_task = table.finder.all_of(task.columns.get(role, ()))
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
        column, why = choose_item(candidates, table.frame, beside, ledger)
    others = tuple(c for c in candidates if c != column)
    return Role(columns=(column,) if column else (), evidence=why, alternatives=others)


def _asked_once(item: Sequence[str], table: Table, used: set[str]) -> Role | None:
    """Find a column of questions that is constant within items and varies between them."""
    asked = [c for c in table.finder.all_of(ASKED) if c not in used and item != (c,)]
    items = keys_of(table.frame, item) if asked else np.zeros(0, np.int64)
    for column in asked:
        codes = keys_of(table.frame, [column])
        several, whole = len(np.unique(codes)) > 1, len(np.unique(items))
        if several and len(unique_rows(items, codes)[0]) == whole:
            return Role(columns=(column,), evidence=f"{ONE_NAME}, and each item has one")
    return None


def _asked(role: str, asked: ColumnArg, finder: ColumnFinder, ledger: Ledger) -> Role:
    names = [name for name in names_in(asked) if name]
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


def require(
    role: str, roles: Roles, task: Task, ledger: Ledger, *, answers: Sequence[str] = ()
) -> None:
    """Add a problem if a necessary role is missing and not yet reported."""
    if role in roles or any(problem.role == role for problem in ledger.problems):
        return
    finder, frame = ledger.table.finder, ledger.table.frame
    half = finder.all_of(task.columns.get(role, ()))
    missing = [name for name in task.columns.get(role, ()) if finder.get(name) is None]
    because = f": {' and '.join(missing)} is missing beside {half[0]}" if half and missing else ""
    used = {c for one in roles.values() for c in one.columns}
    free = [str(c) for c in frame.columns if c not in used | {*answers, *_proposed(ledger)}]
    others = [c for c in free if not are_times(frame[c]) and not names_measure(c)]
    free = [c for c in others if squash(c) not in REMARKS] or free
    found = _likely(roles, answers, ledger)
    guess: str | list[str] = found.get(role, "")
    if role == "item" and {"item", "system"} <= set(found):
        guess = [found["item"], found["system"]]
    if role == "item" and not guess:
        guess = _likely_key(roles, free, answers, frame, half)
    unnamed = role == "rater"
    if role == "item" and guess and _once(guess, roles, found, answers, ledger):
        return
    if unnamed and not guess:  # a column that is called like a rater, and whose values repeat
        called = [c for c in free if names_rater(c)]
        guess = next((c for c in called if 1 < frame[c].nunique() <= len(frame) / 2), "")
        joined = any(getattr(note, "code", "") == "files-joined" for note in ledger.table.notes)
        guess = guess or (finder.get(FILE) or "" if joined else "")
    judging = {} if guess or not unnamed else _models_as_raters(roles, answers, free, ledger)
    guess = judging.get("rater", guess)
    asked: dict[str, Any] = {role: guess} | judging
    if isinstance(guess, list) and len(guess) > 1 and "cluster" not in roles:
        # Name the system of a key, if its name has no role yet, and the cluster: what it was asked.
        system = {"system": found["system"]} if "system" in found and "system" not in roles else {}
        if {"rank", "system"} & {*roles, *system}:
            others = [c for c in guess if c not in used | set(system.values())]
            asked |= system | ({"cluster": others[0]} if others else {})
    votes = "" if guess or not unnamed else _likely_votes(roles, answers, ledger)
    go_on = asked if guess else {"counts": votes} if votes else {"rater": "row"} if unnamed else {}
    nobody = '; or, if the raters have no names, `rater="row"`'
    if votes:
        nobody = f"; or, if column {votes} has numbers of votes, {as_code(go_on)}"
    mend = f"name it: {as_code(asked)}, if that is right" if guess else f"name it with `{role}=`"
    cluster = finder.all_of(task.columns.get("cluster", ()))[:1]
    if not guess and half and cluster:
        mend += (
            f", or several: `item={[*cluster, *half]!r}`; {half[0]} alone if it tells items apart"
        )
    ledger.problem(
        "no-item" if role == "item" else "no-rater",
        f"no column says which {role} a rating is {'of' if role == 'item' else 'by'}{because}",
        where=f"columns: {listed(own_columns(finder.columns))}",
        allowed=f"names like {', '.join(RECOGNISED[role][:6])}",
        mend=mend + (nobody if unnamed else ""),
        role=role,
        go_on=go_on,
    )


def _once(
    guess: str | Sequence[str],
    roles: Roles,
    found: Mapping[str, str],
    answers: Sequence[str],
    ledger: Ledger,
) -> bool:
    """Add a problem, and return True, if no item of a guess would have two raters.

    ``found`` are the guesses. Raters without names are no reason, since each row may be an item.
    """
    rater = [c for c in columns_of(roles, "rater") if c != NUMBERED] or names_in(found.get("rater"))
    frame, key = ledger.table.frame, names_in(guess)
    if not rater or frame[list(key)].drop_duplicates().shape[0] < len(frame.drop_duplicates()):
        return False
    free = [str(c) for c in frame.columns if c not in answers]
    told = told_columns(frame, free, {"rater": rater, "answer": answers})
    if say_unclear(told, ledger):
        return True
    ledger.problem(
        "which-column",
        f"I cannot tell which columns are the item: {listed(key)} would differ in each row, so "
        f"that no item had two raters ({rater[0]})",
        mend=f"name the columns that say what several raters rated with `item=`, or "
        f"{as_code({'item': guess})} if each row is another item",
        role="item",
        numbers={"keys": 0},
    )
    return True


def _models_as_raters(
    roles: Roles, answers: Sequence[str], free: Sequence[str], ledger: Ledger
) -> dict[str, str]:
    """Return arguments for a table whose raters are models: each answers once on most items.

    If the found answers are the same for all of them and another column is not, the latter has the
    models' answers, and the former the truth.
    """
    system, frame = roles.get("system"), ledger.table.frame
    guessed = [problem.go_on.get("item") for problem in ledger.problems]
    items = columns_of(roles, "item") or [c for one in guessed for c in names_in(one)]
    if system is None or not system.evidence.startswith(ONE_NAME) or not items:
        return {}
    column = system.columns[0]
    sizes = {c: len(frame[list(c)].drop_duplicates()) for c in ((*items,), (*items, column))}
    several, pairs = sizes.values()
    if column in items or 2 * several > len(frame) or pairs < (1 - MOST_REPEATED) * len(frame):
        return {}
    if frame[column].nunique() >= several:
        return {}
    varies = [c for c in free if len(frame[[*items, c]].drop_duplicates()) > several]
    if len(answers) == 1 and len(frame[[*items, *answers]].drop_duplicates()) == several:
        truth = words_in(frame[answers[0]])
        said = [c for c in varies if not truth.isdisjoint(words_in(frame[c]))]
        if len(said) == 1:
            return {"rater": column, "labels": said[0], "truth": answers[0]}
    return {"rater": column}


def _likely_key(
    roles: Roles,
    free: Sequence[str],
    answers: Sequence[str],
    frame: pd.DataFrame,
    half: Sequence[str],
) -> list[str]:
    """Guess the columns that name the item together (``half`` are the task's), else the one
    identifier of most values. Where one unnamed rater judged several criteria, each row is an item.
    """
    if "rater" in roles:
        parts, beside = columns_of(roles, *KEY_PARTS), columns_of(roles, *BESIDE)
        if found := likely_key(frame, free, parts, beside, wide=not half):
            return found
    if half:
        return []
    sizes = {c: frame[c].nunique() for c in free if c}
    several = [c for c, size in sizes.items() if 1 < size < len(frame)] or list(sizes)
    if len(answers) > 1 and columns_of(roles, "rater") == [NUMBERED]:
        several = [c for c, size in sizes.items() if size == len(frame)] or several
    named = [c for c in several if IDENTIFIER.search(c)] or several
    return [max(named, key=lambda c: sizes[c])] if named else []


def _likely_votes(roles: Roles, answers: Sequence[str], ledger: Ledger) -> str:
    """Return the column that seems to hold the number of votes of each row; "" if none does.

    Its numbers are whole, and no row repeats the item and the answer of another.
    """
    guessed = [problem.go_on.get("item") for problem in ledger.problems]
    items = columns_of(roles, "item") or [c for one in guessed for c in names_in(one)]
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


def _proposed(ledger: Ledger) -> list[str]:
    """Return the columns of answers that problems so far propose."""
    proposed = [problem.go_on.get("labels") for problem in ledger.problems]
    held = [one.values() if isinstance(one, Mapping) else names_in(one) for one in proposed]
    return [str(column) for columns in held for column in columns]


def _likely(roles: Roles, answers: Sequence[str], ledger: Ledger) -> dict[str, str]:
    """Guess the columns of roles, and of the system, from cells, given earlier guesses."""
    guessed = {k: v for problem in ledger.problems for k, v in problem.go_on.items()}
    kinds = ("item", "rater", "system")
    known = {k: columns_of(roles, k) for k in kinds if k in roles}
    known |= {k: names_in(guessed[k]) for k in kinds if guessed.get(k)}
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
    told = told_columns(frame, free, known)
    return told.guess() or likely_columns(frame, free, known)


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
