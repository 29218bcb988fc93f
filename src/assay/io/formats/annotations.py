"""Ratings of an export, collected answer by answer for any annotation tool.

A format adds a rating at a time; :meth:`Study.export` makes a table, a task, and the truth.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note, Problem, RatingsError, as_code
from assay._util.text import counted, listed
from assay._util.typing import Bools
from assay.data.questions import (
    Column,
    Control,
    gate_text,
    label_columns,
    task_of,
    within_reach,
    written,
)
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import (
    MODEL,
    PERSON,
    SUBMITTED,
    Value,
    cells_of,
    chosen,
    open_to,
    split_answers,
    told_controls,
    with_found_gates,
)
from assay.io.names import KNOWN, REMARKS, bare, squash
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
    regions: Counter[str] = field(default_factory=Counter)

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
        is by question (and option); ``scores`` in [0, 1] rise with the class.
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

    def export(self, name: str, task: Task | None) -> Export:
        """Make the table, task and truth; the labels are those of ``task`` if given."""
        self.require_sound()
        if self.regions:
            self.note(
                f"results about parts of items are not read: {listed(sorted(self.regions))}",
                code="regions-not-read", results=sum(self.regions.values()),
            )  # fmt: skip
        return export_of(self, name, task)


PLACES = ("cluster", "panel", "rank", "system", "stratum")
"""Roles that fields of an item may have by name."""
DATA = "data."
"""Prefix of the fields of items."""
TICKS = ("1", "on", "x", "checked")
"""What the box of a form holds that is ticked."""
ONE_LABEL = "single"
"""Task of a single question whose classes have no order."""
Controls = Mapping[str, Control]


def export_of(study: Study, name: str, task: Task | None) -> Export:
    """Make a table with a column for each label, the task, and known truth."""
    for question, answers in study.said.items():
        if question not in study.controls:
            split_answers(answers)
    scored = [key for key in study.scored if key not in study.said]
    scores_only = {
        key: Control(name=key, kind="choice", options=("no", "yes"), told=True) for key in scored
    }
    known = {**study.controls, **scores_only}
    said = {**study.said, **{key: {} for key in scored}}
    controls = told_controls(said, study.truth.values(), known)
    asked = np.zeros(len(study.places), bool)
    for key, control in controls.items():
        if control.kind != "text":
            asked[list(study.said.get(key, {}))] = True
    raters = np.unique(study.rows["rater"], return_inverse=True)[1]
    controls = with_found_gates(controls, study.said, asked, raters)
    columns = label_columns(controls.values(), () if task is None else task.label_names)
    if not columns:
        texts = ", ".join(controls)
        raise RatingsError.of(
            "no-answers",
            "no question of the export has answers that are classes"
            + (f": {texts} hold texts, regions or measures" if texts else ""),
            study.source.name,
            allowed="choices, grades, or choices of several",
            mend="export a project whose annotators chose among classes",
        )
    cells = _cells(study, controls, columns, asked)
    made: Task | None = None
    if task is None:
        columns = _informative(study, controls, columns, cells)
        columns = _fitting(study, controls, columns, cells)
        made = _task(name, controls, columns)
    _note_questions(study, controls, columns, gates=task is None)
    frame, own = _frame(study, cells)
    options = _labels(columns, made or task)
    called = {column: label for label, column in options.get("labels", {}).items()}
    for kind, found in (
        ("confidence", _confidences(study, controls, columns, frame)),
        ("score", _scores(study, columns, frame)),
    ):
        named = {called[name]: column for name, column in found.items() if name in called}
        options |= {kind: named} if named else {}
    options |= _truth(study, columns, own["item"]) | _repeats(study)
    reserved = _add_data(study, frame)
    table = study.source.tabled(frame, lines=np.array(study.places, object), unit=study.unit)
    asking = list(dict.fromkeys(column.control for column in columns))
    reason = f"its labels are the questions of the export ({listed(asking)})"
    if len(columns) == 1 and not columns[0].option:
        reason = f"{columns[0].control} is the one question with classes"
    return Export(
        table=table, roles={role: (column,) for role, column in own.items()}, options=options,
        reserved=reserved, task=made, reason=reason, notes=tuple(study.notes),
    )  # fmt: skip


def _cells(
    study: Study, controls: Controls, columns: Sequence[Column], asked: Bools
) -> dict[str, list[str]]:
    """Return the cells of each label; an open multiple choice chooses nothing.

    It does so in ratings of raters who answer it elsewhere.
    """
    nobody = np.zeros(len(study.places), bool)
    silent = dict.fromkeys(controls, nobody)
    raters = np.array(study.rows["rater"], object)
    for name, control in controls.items():
        if control.kind != "choices":
            continue
        answers = study.said.get(name, {})
        known = {raters[row] for row in answers}
        silent[name] = asked & open_to(control, study.said, len(asked))
        silent[name][list(answers)] = False
        silent[name] &= np.array([rater in known for rater in raters], bool)
        if total := int(silent[name].sum()):
            study.note(
                f"{counted(total, 'rating', 'choose')} none of the options of {name}, which "
                "is read as no to each",
                code="nothing-chosen", ratings=total,
            )  # fmt: skip
    return {
        one.name: cells_of(one, study.said.get(one.control, {}), silent[one.control], len(nobody))
        for one in columns
    }


def _informative(
    study: Study, controls: Controls, columns: list[Column], cells: Mapping[str, list[str]]
) -> list[Column]:
    """Leave out remarks, and boxes that all tick, with a note; unless nothing is left.

    Consent is such a box. What the settings of the tool call a question is kept.
    """
    said = {
        column.name: sorted(set(cells[column.name]) - {""})
        for column in columns
        if not column.option and not controls[column.control].told
    }
    alike = {
        name: words[0] for name, words in said.items() if len(words) == 1 and words[0] in TICKS
    }
    remarks = [name for name in said if name not in alike and bare(name) in REMARKS]
    kept = [column for column in columns if column.name not in {*alike, *remarks}]
    if not kept:
        return columns
    for name, word in alike.items():
        study.note(
            f"every answer to {name} is {word!r}, so it is left out; {as_code({'labels': name})} "
            "reads it",
            code="labels-left-out", labels=1,
        )  # fmt: skip
    if remarks:
        study.note(
            f"{listed(remarks)} holds remarks, and is left out; `labels=` reads it",
            code="labels-left-out", labels=len(remarks),
        )  # fmt: skip
    return kept


def _fitting(
    study: Study, controls: Controls, columns: list[Column], cells: Mapping[str, list[str]]
) -> list[Column]:
    """Drop the rarest labels until all states can be enumerated, with a note."""
    words = {c.name: ("yes",) if c.option else () for c in columns}
    uses = {
        name: sum(cell in words[name] if words[name] else bool(cell) for cell in cells[name])
        for name in words
    }
    kept = within_reach(columns, controls, uses)
    left = [column.name for column in columns if column not in kept]
    if left:
        study.note(
            f"{counted(len(columns), 'label', 'are')} too many to be modelled together, so that "
            f"the rarest are left out: {listed(left)}. `labels=` chooses among them",
            code="labels-left-out", labels=len(left),
        )  # fmt: skip
    return kept


def _task(name: str, controls: Controls, columns: Sequence[Column]) -> Task:
    """Return the task; a single question without order is the task ``single``."""
    if len(columns) == 1 and not columns[0].option:
        control = controls[columns[0].control]
        if control.kind == "choice" and not control.told:
            return load_task(ONE_LABEL)
    return task_of(name, controls, columns)


def _note_questions(
    study: Study, controls: Controls, columns: Sequence[Column], *, gates: bool
) -> None:
    """Note ratings that were withdrawn or empty, and how questions are read."""
    words = Counter(word for word in study.rows["status"] if word != SUBMITTED)
    if words:
        counts = ", ".join(f"{word} {count}" for word, count in words.most_common())
        study.note(
            f"{counted(words.total(), 'rating', 'were')} withdrawn or left empty ({counts})",
            code="ratings-withdrawn", ratings=words.total(),
        )  # fmt: skip
    texts = [name for name, control in controls.items() if control.kind == "text"]
    if texts:
        study.note(
            f"{listed(texts)} {'has' if len(texts) == 1 else 'have'} no classes (texts, regions or "
            "measures): not read",
            code="questions-not-read", questions=len(texts),
        )  # fmt: skip
    for control in controls.values() if gates else ():
        if control.inferred:
            gate = gate_text(control.gates, columns, controls)
            study.note(
                f"{control.name} is answered only where {gate}, so it is read as asked only there",
                code="gate-found",
            )
    for control in controls.values():
        own = [column.name for column in columns if column.control == control.name]
        if control.kind == "choices" and own:
            study.note(
                f"several options of {control.name} can be chosen, so each is a label of no and "
                f"yes ({listed(own)})",
                code="options-are-labels", labels=len(own),
            )  # fmt: skip


def _frame(study: Study, cells: Mapping[str, list[str]]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the table, and the columns of item, rater and the like by role."""
    taken = {squash(name) for name in cells}
    used = {
        "item": True, "rater": True, "group": MODEL in study.rows["group"],
        "seconds": any(cell is not None for cell in study.rows["seconds"]),
    }  # fmt: skip
    names = {role: role for role in used} | {"item": study.item}
    own = {
        role: f"annotation.{role}" if squash(names[role]) in taken else names[role]
        for role, needed in used.items()
        if needed
    }
    frame = pd.DataFrame({column: study.rows[role] for role, column in own.items()})
    return frame.assign(**{name: pd.array(held, dtype="str") for name, held in cells.items()}), own


def _labels(columns: Sequence[Column], task: Task | None) -> dict[str, Any]:
    """Return the column of each label, where names alone do not tell."""
    assert task is not None
    if len(task.labels) == 1 and len(columns) == 1:
        return {"labels": {task.label_names[0]: columns[0].name}}
    names = {column.name for column in columns}
    same = {label: label for label in task.label_names if label in names}
    return {"labels": same} if same else {}


def _confidences(
    study: Study, controls: Controls, columns: Sequence[Column], frame: pd.DataFrame
) -> dict[str, str]:
    """Add a column of confidences for each ordered label."""
    found: dict[str, str] = {}
    for column in columns:
        control, numbers = controls[column.control], study.sure.get(column.control, {})
        if not numbers:
            continue
        if not (column.option or control.kind == "number" or len(control.options) == 2):
            study.note(
                f"the scores of {column.name} are not used: its classes have no order",
                code="scores-not-used",
            )
            continue
        answers, sure = study.said.get(column.control, {}), dict[int, Any]()
        for row, given in numbers.items():
            if row not in answers or given is None:
                continue
            if not column.option:
                sure[row] = given[0] if isinstance(given, tuple) else given
            elif isinstance(given, tuple) and column.option in chosen(answers[row]):
                place = list(chosen(answers[row])).index(column.option)
                sure[row] = dict(enumerate(given)).get(place)
        found |= _kept(study, frame, column.name, "confidence", sure)
    return found


def _scores(study: Study, columns: Sequence[Column], frame: pd.DataFrame) -> dict[str, str]:
    """Add a column of scores for each label that has any."""
    found: dict[str, str] = {}
    for column in columns:
        numbers = {} if column.option else study.scored.get(column.control, {})
        found |= _kept(study, frame, column.name, "score", numbers) if numbers else {}
    return found


def _kept(
    study: Study, frame: pd.DataFrame, label: str, kind: str, numbers: Mapping[int, Any]
) -> dict[str, str]:
    """Add a column of numbers, unless some are outside 0 to 1; return it by label."""
    cells = np.full(len(study.places), np.nan)
    for row, number in numbers.items():
        cells[row] = np.nan if number is None else number
    if kind == "confidence" and not np.isfinite(cells).any():
        return {}
    if np.nanmin(cells) < 0 or np.nanmax(cells) > 1:
        text = f"the scores of {label} are not used: they are not from 0 to 1"
        study.note(text, code="scores-not-used")
        return {}
    frame[f"{label}_{kind}"] = cells
    return {label: f"{label}_{kind}"}


def _truth(study: Study, columns: Sequence[Column], item: str) -> dict[str, Any]:
    """Return the table of known truth."""
    if not study.truth:
        return {}
    cells, nobody = {item: list(study.truth)}, np.zeros(len(study.truth), bool)
    for column in columns:
        values = (known.get(column.control) for known in study.truth.values())
        known = {n: value for n, value in enumerate(values) if value is not None}
        cells[column.name] = cells_of(column, known, nobody, len(nobody))
    return {"truth": pd.DataFrame(cells, dtype="str")}


def _repeats(study: Study) -> dict[str, Any]:
    """Return the argument that numbers repeated ratings of an item in file order."""
    pairs = set(zip(study.rows["item"], study.rows["rater"], strict=True))
    repeats = len(study.places) - len(pairs)
    if not repeats:
        return {}
    study.note(
        f"{counted(repeats, 'rating', 'repeat')} an earlier one of the same rater and item: they "
        "are read as repeated ratings, in the order of the file",
        code="repeated-annotations", ratings=repeats,
    )  # fmt: skip
    return {"replicate": "row"}


def _add_data(study: Study, frame: pd.DataFrame) -> tuple[str, ...]:
    """Add the fields of items; return columns whose names could be taken for roles of ratings."""
    items = pd.Series(study.rows["item"])
    placed = {name for role in PLACES for name in KNOWN[role]}
    reserved = []
    for key, held in study.data.items():
        column = f"{DATA}{key}"
        frame[column] = items.map({item: written(cell) for item, cell in held.items()})
        if bare(column) not in placed:
            reserved.append(column)
    return tuple(reserved)
