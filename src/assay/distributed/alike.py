"""Checks that all partitions of a data set were read in the same way. The meaning of a column can
depend on its values: ranks count from 0 if there is a 0.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay._util.errors import FitError
from assay.data.ratings import Accounting
from assay.io.items import GROUP_UNUSED, RANKS_FROM_ZERO

NAMED = (
    "item", "rater", "replicate", "session", "cluster", "panel", "rank", "system", "group",
    "weight", "stratum", "seconds",
)  # fmt: skip
"""Roles whose column an argument of the same name gives."""
DECISIONS = {
    RANKS_FROM_ZERO: "ranks count from 0 in {}, and from 1 in {}: let them count from 1 in all "
    "files",
    GROUP_UNUSED: "raters have several groups in {}, and one each in {}: give each rater one group "
    'in all files, or read none: `group=""`',
}
"""Notes on decisions that depend on the whole table, and messages if partitions differ."""

OPTIONAL = ("score", "confidence")
"""Starts of the names of roles that a file may lack."""

Names = tuple[str, ...]


def require_alike(accounts: Sequence[Accounting], paths: Sequence[Path]) -> None:
    """Raise FitError if columns have different roles in partitions, or were read differently."""
    every = [_roles(account) for account in accounts]
    for role in dict.fromkeys(role for roles in every for role in roles):
        among = [
            n for n, roles in enumerate(every) if role in roles or not role.startswith(OPTIONAL)
        ]
        others = [n for n in among if every[n].get(role) != every[among[0]].get(role)]
        if others:
            one, other = sorted((among[0], others[0]), key=lambda n: role not in every[n])
            columns = every[one][role], every[other].get(role, ())
            files = paths[one].name, paths[other].name
            raise FitError(_unlike(role, columns, files, accounts[other]), code="partitions-unlike")
    for note, words in DECISIONS.items():
        decided = [any(note in said for said in account.notes) for account in accounts]
        if any(decided) and not all(decided):
            names = (paths[decided.index(which)].name for which in (True, False))
            raise FitError(words.format(*names), code="partitions-unlike")


def _roles(account: Accounting) -> Mapping[str, Names]:
    """Return columns by role; scores and confidences of a label are one role."""
    found: dict[str, Names] = {}
    for column, played in zip(account.roles["column"], account.roles["role"], strict=True):
        for role in filter(None, str(played).split(", ")):
            kind, sure, label = role.partition("confidence in ")
            name, how = (f"score of {label}", ("confidence",)) if sure else (kind, ())
            found[name] = (*found.get(name, how), str(column))
    return found


def _unlike(
    role: str, columns: tuple[Names, Names], files: tuple[str, str], lacking: Accounting
) -> str:
    """Describe how two files differ; the first has columns for the role."""
    (one, other), (first, second) = columns, files
    said = f"{role} is column {', '.join(one)} in {first}, and "
    if other:
        said += f"column {', '.join(other)} in {second}: all files need the same columns"
        return said + (f"; name it: `{role}={other[0]!r}`" if role in NAMED else "")
    missing = [name for name in one if name not in set(lacking.roles["column"])]
    if missing:
        return (
            f"{said}there is no such column in {second}: all files need the same columns; write it "
            "into each, empty where nothing is known"
        )
    given = one[0] if len(one) == 1 else list(one)
    return f"{said}not in {second}, where what stands in the column does not tell" + (
        f"; name it: `{role}={given!r}`" if role in NAMED else ""
    )
