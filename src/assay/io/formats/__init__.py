"""Formats that tools write: one file each, found by itself.

How a format is added
---------------------
Put a file into this package that is called like the format and has what follows. No other code
needs a change, and ``docs/formats.md`` gets a row::

    TITLE, RECOGNISED_BY = "Label Studio JSON", "tasks with `annotations` and `data`"

    def detect(source: Source) -> str:
        if source.kind == "json" and {"annotations", "data"} <= set(source.columns):
            return "tasks with annotations"
        return ""

    def read(source: Source, task: Task | None) -> Export:
        frame = pd.DataFrame(rows)  # a row for each rating
        return Export(table=source.tabled(frame), roles={"item": ("task.id",)}, notes=(...,))

``detect`` looks at the opened source (:class:`~assay.io.files.sources.Source`): its ``kind``, its
``columns``, its ``first`` records, the ``beginning`` of its text. It returns the evidence in a few
words, or ``""``. It claims what only this format has and never guesses between two: where two
formats claim a source, the caller has to decide.

``read`` returns an :class:`~assay.io.formats.Export`: a table with a row for each rating,
and what the format knows of it: roles of columns, arguments of ``read_ratings``, a task, and notes
on what the format loses. A note has a code, listed in :mod:`assay.codes`. Sources have more than
``detect`` looks at: ``source.frame`` are the cells of a table as they are stored, ``source.value``
and ``source.records`` are JSON that was parsed, ``source.files`` and ``source.member(file)`` are
those of a folder. The classes below say what each field means. Where raters answer
questions, a :class:`~assay.io.formats.annotations.Study` collects the answers and makes the export.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from typing import Any

from assay._util.errors import (
    ArgumentError,
    AssayError,
    Note,
    RatingsError,
    as_code,
    nearest,
    suggest,
)
from assay.data.task import Task
from assay.io.files.opening import note_unread
from assay.io.files.sources import Source
from assay.io.names import bare, squash
from assay.io.tables import Table

__all__ = [
    "PLAIN", "Export", "Format", "all_formats", "is_claimed", "read_export", "read_unless_named",
]  # fmt: skip

PLAIN = "table"
"""Name in ``format=`` of a plain table."""


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
    """A format, as its file says it.

    name : in ``format=`` and ``--format``: that of the file, with dashes
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


@cache
def all_formats() -> Mapping[str, Format]:
    """Return every format by name, sorted."""
    found = {}
    for name in sorted(one.name.replace("_", "-") for one in pkgutil.iter_modules(__path__)):
        module = import_module(f"{__name__}.{name.replace('-', '_')}")
        if hasattr(module, "detect"):
            found[name] = Format(
                name=name, title=module.TITLE, recognised=module.RECOGNISED_BY,
                detect=module.detect, read=module.read,
            )  # fmt: skip
    return found


def read_export(source: Source, task: Task | None, named: str | None = None) -> Export | None:
    """Read a source by the named format, or by the only one that claims it; None if plain."""
    if named == PLAIN:
        return None
    known = all_formats()
    if named is not None and named not in known:
        raise ArgumentError(
            f"`format={named!r}` is no format; {suggest(named, [*known, PLAIN])}",
            code="unknown-format",
            go_on={"format": nearest(named, [*known, PLAIN])},
        )
    asked = known if named is None else {}
    claims = {name: found for name, one in asked.items() if (found := _claim(one, source))}
    claims |= {} if named is None else {named: ""}
    if not claims:
        return None
    if len(claims) > 1:
        titles = " or ".join(f"{known[name].title} (it has {why})" for name, why in claims.items())
        raise RatingsError.of(
            "two-formats",
            f"the input may be {titles}",
            source.name,
            mend=f"say which: {' or '.join(f'`format={name!r}`' for name in claims)}",
            go_on={"format": next(iter(claims))},
        )
    chosen = known[next(iter(claims))]
    export = _sound(chosen, source, partial(chosen.read, source, task))
    return replace(export, title=chosen.title, notes=(*export.notes, *note_unread(source)))


def read_unless_named(
    source: Source, task: Task | None, format: str | None, named: Sequence[str]
) -> Export | None:
    """Read a source by its format, unless the caller names columns that only the source has.

    Such a caller knows the columns of the file better than the format.
    """
    own = [name for name in named if name in source.columns] if named else []
    try:
        export = read_export(source, task, format)
    except RatingsError:
        if own and format is None:
            return None
        raise
    if export is None:
        return None
    made = export.table.finder
    # Input.gold of the source may be the gold of the export.
    nested = [name for name in own if bare(name) != squash(name) and made.get(name)]
    return None if {*own} - {*nested, *made.columns} else export


def is_claimed(source: Source, named: str | None = None) -> bool:
    """Whether a format claims a source, or the one that is named does."""
    formats = all_formats()
    asked = formats.values() if named is None else [formats[named]] if named in formats else []
    return any(_claim(one, source) for one in asked)


def _claim(one: Format, source: Source) -> str:
    """Return the evidence for a format; damaged files of a folder give none."""
    try:
        return _sound(one, source, partial(one.detect, source))
    except RatingsError:
        if source.kind != "folder":
            raise
        return ""


def _sound[T](one: Format, source: Source, step: Callable[[], T]) -> T:
    """Take a step of a format; a value of a kind that the tool never writes is damage."""
    try:
        return step()
    except AssayError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise RatingsError.of(
            "damaged-export",
            f"the {one.title} has a value that its tool does not write: {error}",
            source.name,
            mend=f"export it again, or read it as a plain table: {as_code({'format': PLAIN})}",
        ) from error
