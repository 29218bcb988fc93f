"""Ratings of an export, collected answer by answer for any annotation tool.

A format adds one rating at a time; :meth:`Study.export` makes a table with a column for each
label, a task, and the truth. A multiple choice becomes a label for each option.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay._util.errors import Note, Problem, RatingsError, as_code
from assay._util.text import listed
from assay.data.questions import Control
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import PERSON, SUBMITTED, Value
from assay.io.formats.annotation_export import export_of
from assay.io.tables import SET_ASIDE, where_lines

LONGEST = 100
"""Most characters of a field of an item that is kept: names and numbers, no texts."""
NESTED = ("[", "{")
"""First characters of cells that hold several values."""
OWN = ("item", "rater", "group", "status", "seconds")


@dataclass(kw_only=True)
class Study:
    """The ratings of an export while they are collected.

    unit : what ``place`` counts, such as ``task``, ``record``, ``line``
    item : the export's name for the item, which a table of truth may use too
    controls : questions that the settings of the tool define
    said, sure, scored : answers, confidences and scores, by question and rating
    truth, data : known values and other fields, by item or by field
    broken : places of each kind of damage
    """

    source: Source
    unit: str
    item: str = "item"
    controls: Mapping[str, Control] = field(default_factory=dict)
    places: list[Any] = field(default_factory=list)
    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in OWN})
    said: dict[str, dict[int, Value]] = field(default_factory=dict)
    sure: dict[str, dict[int, Any]] = field(default_factory=dict)
    scored: dict[str, dict[int, float]] = field(default_factory=dict)
    truth: dict[str, dict[str, Value]] = field(default_factory=dict)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    broken: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    shared: int = 0
    regions: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        item: object,
        rater: object,
        answers: Iterable[tuple[str, Value]],
        *,
        place: object,
        group: str = PERSON,
        status: str = SUBMITTED,
        seconds: float | None = None,
        confidence: Mapping[str, Any] | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        """Add a rating; a withdrawn one keeps no answers, and one without answers was skipped.

        An answer is a question with a class, a number, or a tuple of chosen options. ``confidence``
        is by question, with one for each option of a multiple choice. ``scores`` in [0, 1] rise
        with the class.
        """
        row, given = len(self.places), list(answers)
        if status == SUBMITTED and not (given or scores):
            status = "skipped"
        self.places.append(place)
        for name, word in zip(OWN, (str(item), str(rater), group, status), strict=False):
            self.rows[name].append(self.words.setdefault(word, word))
        self.rows["seconds"].append(seconds)
        if status != SUBMITTED:
            return
        for name, value in given:
            told = self.words.setdefault(value, value) if isinstance(value, str) else value
            self.said.setdefault(name, {})[row] = told
        for name, number in (confidence or {}).items():
            self.sure.setdefault(name, {})[row] = number
        for name, number in (scores or {}).items():
            self.scored.setdefault(name, {})[row] = number

    def know(self, item: object, answers: Iterable[tuple[str, Value]]) -> None:
        """Add known truth of an item."""
        self.truth.setdefault(str(item), {}).update(answers)

    def describe(self, item: object, data: Mapping[str, Any]) -> None:
        """Keep fields of an item that are short names or numbers."""
        for key, cell in data.items():
            if isinstance(cell, bool | int | float) or (
                isinstance(cell, str) and len(cell) <= LONGEST and not cell.startswith(NESTED)
            ):
                self.data.setdefault(str(key), {})[str(item)] = cell

    def fault(self, what: str, place: object) -> None:
        """Report damage at a place; ``what`` has ``{n}`` and ``{s}`` for the count and plural."""
        self.broken.setdefault(what, []).append(place)

    def note(self, text: str, *, code: str, **numbers: float) -> None:
        """Add a note on a decision, or on information that the format lacks."""
        self.notes.append(Note(text, code=code, level="note", numbers=numbers))

    def require_sound(self) -> None:
        """Raise `RatingsError` for damage, or if there is no rating."""
        problems = [
            Problem(
                code="damaged-export",
                what=what.format(n=len(places), s="s" * (len(places) != 1)),
                where=where_lines(np.array(places, object), self.unit),
                mend="export it again, or correct these places"
                + (f"; or leave them out: {as_code(SET_ASIDE)}" if self.places else ""),
                go_on=SET_ASIDE if self.places else {},
                numbers={"places": len(places)},
            )
            for what, places in self.broken.items()
        ]
        if self.source.lenient and self.places:
            for problem in problems:
                text = f"left out: {problem.what} ({problem.where})"
                self.note(text, code="places-left-out", **problem.numbers)
            return
        if problems:
            raise RatingsError(problems, self.source.name)
        if not self.places and self.regions:
            raise RatingsError.of(
                "no-answers",
                "the annotations mark parts of items, and choose no classes of whole ones",
                self.source.name,
                where=f"in {', '.join(sorted(self.regions))}",
                allowed="choices, grades, or choices of several",
                mend="export a project whose annotators chose among classes",
            )
        if not self.places:
            raise RatingsError.of(
                "no-ratings",
                "the export holds no rating",
                self.source.name,
                mend="export it again with its annotations, once some are submitted",
            )

    def note_regions(self) -> None:
        """Note results about parts of items, which are not read."""
        if self.regions:
            self.note(
                f"results about parts of items are not read: {listed(sorted(self.regions))}",
                code="regions-not-read", results=sum(self.regions.values()),
            )  # fmt: skip

    def export(self, name: str, task: Task | None) -> Export:
        """Make the table, task and truth; the labels are those of ``task`` if given."""
        self.require_sound()
        self.note_regions()
        return export_of(self, name, task)
