"""What a format is, and what reading one gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.errors import Note
from assay.data.task import Task
from assay.io.sources import Source
from assay.io.tables import Table


@dataclass(frozen=True, kw_only=True)
class Export:
    """The ratings of an export: a row each, and what the format knows of the columns.

    Attributes
    ----------
    table : Table
        A row for each rating, made by ``source.tabled(frame)``. Columns whose names are recognised
        need nothing more. A column ``status`` with words such as submitted, draft and discarded
        turns the ratings that were withdrawn into abstentions.
    roles : mapping of str to tuple of str
        The columns of roles (``item``, ``rater``, ``cluster``, ``group``, ...), where a name alone
        would not tell; the caller's arguments go before these.
    fallbacks : mapping of str to tuple of str
        The same, for roles for which no column is found otherwise.
    options : mapping of str to any
        Other arguments of ``read_ratings`` that the format knows (``labels``, ``score``, ``truth``,
        ``classes``, ``partial``, ...); the caller's go before these.
    reserved : tuple of str
        Columns whose names say something else than what they hold: they play no role.
    task : Task, optional
        The task that the export writes out, taken where the caller names none.
    reason : str
        Why this task is taken, if something else than that the format writes it out.
    notes : tuple of Note
        What the format loses, and what was decided, each with a code.
    """

    table: Table
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fallbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    reserved: tuple[str, ...] = ()
    task: Task | None = None
    reason: str = ""
    notes: tuple[Note, ...] = ()
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format, as its file registers it.

    Attributes
    ----------
    name : str
        What ``format=`` and ``--format`` call it: lower case, dashes.
    title : str
        What messages call it, such as ``Label Studio JSON``.
    recognised : str
        How it is recognised, in a line of the documentation.
    detect : callable
        From a :class:`Source` to the evidence, in words that follow "it has"; ``""`` if it is
        something else. It looks at ``kind``, ``columns``, ``first`` and ``beginning`` alone.
    read : callable
        From a source, and the task that the caller names (None if none is named), to an
        :class:`Export`.
    """

    name: str
    title: str
    recognised: str
    detect: Callable[[Source], str]
    read: Callable[[Source, Task | None], Export]
