"""The interface of formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.errors import Note
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.tables import Table


@dataclass(frozen=True, kw_only=True)
class Export:
    """A table with a row for each rating, and what the format knows of its columns.

    table : made by ``source.tabled(frame)``; a column ``status`` (submitted, draft, discarded, ...)
        turns withdrawn ratings into abstentions
    roles : columns by role (``item``, ``rater``, ...) that names alone do not tell; the caller's
        arguments take precedence
    fallbacks : columns of roles that nothing else provides
    options : other arguments of ``read_ratings``; the caller's take precedence
    reserved : columns whose names mislead, so that they play no role
    task : the task that the export defines, used if the caller names none
    reason : why this task, if the export does not define it
    notes : what the format lacks, and what was decided
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

    name : in ``format=`` and ``--format``: lower case, dashes
    title : in messages, such as ``Label Studio JSON``
    recognised : how it is recognised, in a line of the documentation
    detect : from a source to the evidence, which follows "it has"; ``""`` if it is something else.
        It looks at ``kind``, ``columns``, ``first`` and ``beginning`` only
    read : from a source and the caller's task (or None) to an `Export`
    """

    name: str
    title: str
    recognised: str
    detect: Callable[[Source], str]
    read: Callable[[Source, Task | None], Export]
