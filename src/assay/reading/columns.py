"""Which column plays which role: by argument, by the task, or by a name that is recognised."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from assay.errors import suggest
from assay.reading.ledger import Ledger
from assay.task import Task

ColumnArg = str | Sequence[str] | None

RECOGNISED: dict[str, tuple[str, ...]] = {
    "item": (
        "item", "item_id", "unit", "unit_id", "task_id", "record_id", "example", "example_id",
        "sample", "sample_id", "instance", "instance_id", "subject", "patient", "question",
        "question_id", "record_uuid", "task",
    ),
    "rater": (
        "rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id", "coder",
        "coder_id", "judge", "judge_id", "user", "user_id", "performer", "labeler", "labeller",
        "reviewer", "assessor", "evaluator", "expert",
    ),
    "cluster": ("cluster", "cluster_id", "query", "query_id", "topic", "topic_id", "prompt_id"),
    "panel": ("panel", "panel_id"),
    "rank": ("rank", "chunk_rank", "position"),
    "system": ("system", "system_id", "model", "model_id"),
    "group": ("group", "rater_group"),
    "replicate": ("replicate", "replication"),
    "weight": ("weight", "design_weight"),
    "stratum": ("stratum", "strata"),
    "session": (
        "session", "session_id", "snapshot", "snapshot_id", "period", "round", "wave",
    ),
    "seconds": (
        "seconds", "duration_seconds", "elapsed_seconds", "time_seconds", "lead_time",
    ),
}  # fmt: skip
ANSWER_COLUMNS = ("label", "rating", "class", "response", "answer", "category", "value")
QUESTION_COLUMNS = ("label", "question", "label_name", "question_id", "dimension", "criterion")
VALUE_COLUMNS = ("value", "answer", "response", "rating", "class", "category")


def squash(name: str) -> str:
    """Return a name without case, spaces, dashes, dots and underscores.

    Examples
    --------
    >>> squash("Annotator ID") == squash("annotator_id")
    True
    """
    return re.sub(r"[\s\-_.]+", "", name).casefold()


@dataclass(frozen=True, kw_only=True)
class Role:
    """The columns that play a role, and why."""

    columns: tuple[str, ...]
    evidence: str
    alternatives: tuple[str, ...] = ()


Roles = Mapping[str, Role]


class ColumnFinder:
    """Looks columns up by name, in a table whose columns are known."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = list(columns)
        self._squashed: dict[str, str] = {}
        for column in columns:
            self._squashed.setdefault(squash(column), column)

    def get(self, name: str) -> str | None:
        """Return the column of this name, exactly or up to case and separators."""
        return name if name in self.columns else self._squashed.get(squash(name))

    def all_of(self, names: Sequence[str]) -> list[str]:
        """Return those of the named columns that are there, without repeats."""
        found = (self.get(name) for name in names)
        return list(dict.fromkeys(c for c in found if c is not None))


def find_roles(
    finder: ColumnFinder,
    *,
    task: Task,
    asked: Mapping[str, ColumnArg],
    defaults: Mapping[str, tuple[str, ...]],
    taken: Sequence[str],
    ledger: Ledger,
) -> dict[str, Role]:
    """Find the column of every role.

    Parameters
    ----------
    finder : ColumnFinder
        The columns that are there.
    task : Task
        Its ``columns`` come after the arguments; for ``item`` all of them must be there.
    asked : mapping of str to column argument
        The caller's arguments, by role; ``""`` means that no column plays the role.
    defaults : mapping of str to tuple of str
        What the format of the file says.
    taken : sequence of str
        Columns that hold answers: they are not taken for a role by their name alone.
    ledger : Ledger
        Where problems go.

    Returns
    -------
    dict of str to Role
        Only the roles that have a column.
    """
    roles: dict[str, Role] = {}
    used = set(taken)
    for role in RECOGNISED:
        found = _find_role(role, finder, task, asked.get(role), defaults, used, ledger)
        if found is not None and found.columns:
            roles[role] = found
            used |= set(found.columns)
    return roles


def _find_role(
    role: str,
    finder: ColumnFinder,
    task: Task,
    asked: ColumnArg,
    defaults: Mapping[str, tuple[str, ...]],
    used: set[str],
    ledger: Ledger,
) -> Role | None:
    if asked is not None:
        return _asked(role, asked, finder, ledger)
    candidates = [c for c in finder.all_of(RECOGNISED[role]) if c not in used]
    if role in defaults:
        return Role(columns=defaults[role], evidence="the format of the protocol's export")
    by_task = finder.all_of(task.columns.get(role, ()))
    if role == "item" and len(by_task) < len(task.columns.get(role, ())):
        if by_task:  # half of a composite key does not tell items apart
            candidates = [c for c in candidates if c not in by_task]
        by_task = []
    if by_task:
        chosen = tuple(by_task) if role == "item" else (by_task[0],)
        others = tuple(c for c in [*by_task, *candidates] if c not in chosen)
        return Role(columns=chosen, evidence=f"named by task {task.name}", alternatives=others)
    if not candidates:
        return None
    return Role(
        columns=(candidates[0],),
        evidence="its name is recognised",
        alternatives=tuple(candidates[1:]),
    )


def _asked(role: str, asked: ColumnArg, finder: ColumnFinder, ledger: Ledger) -> Role | None:
    listed = list(asked) if isinstance(asked, list | tuple) else [asked]
    if not all(isinstance(name, str) for name in listed):
        ledger.problem(f"{role}= must be a column name or a list of them, not {asked!r}")
        return None
    names = [str(name) for name in listed if name]
    for name in names:
        if finder.get(name) is None:
            ledger.problem(f"{role}={name!r} is no column", mend=suggest(name, finder.columns))
    return Role(columns=tuple(finder.all_of(names)), evidence=f"named by {role}=")


def require(role: str, roles: Roles, finder: ColumnFinder, task: Task, ledger: Ledger) -> None:
    """Add a problem if a role that must be there is not."""
    if role in roles or any(
        f"{role}=" in p.what or p.what.startswith(f"no column names the {role}")
        for p in ledger.problems
    ):
        return
    known = task.columns.get(role, ())
    missing = [name for name in known if finder.get(name) is None]
    half = finder.all_of(known)
    because = f": {' and '.join(missing)} is missing beside {half[0]}" if half and missing else ""
    ledger.problem(
        f"no column says which {role} a rating is {'of' if role == 'item' else 'by'}{because}",
        where=f"columns: {_listed(finder.columns)}",
        allowed=f"names like {', '.join(RECOGNISED[role][:6])}",
        mend=f'name it: {role}="..."' + _several(half, finder, task),
    )


def _several(half: Sequence[str], finder: ColumnFinder, task: Task) -> str:
    """Offer half of a key together with the cluster, where it may not tell items apart alone."""
    cluster = finder.all_of(task.columns.get("cluster", ()))[:1]
    if not half or not cluster:
        return ""
    return f", or several: {[*cluster, *half]!r}; {half[0]} alone if it tells items apart"


def _listed(columns: Sequence[str], limit: int = 20) -> str:
    return ", ".join(columns[:limit]) + (", ..." if len(columns) > limit else "")


def roles_table(
    columns: Sequence[str], roles: Roles, extra: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Return one line per column: its roles, the evidence and the alternatives.

    Parameters
    ----------
    columns : sequence of str
    roles : mapping of str to Role
    extra : mapping of str to (role, evidence)
        Columns that hold answers or truth.
    """
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
