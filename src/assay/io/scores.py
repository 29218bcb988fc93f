"""Scores, confidences and audits: their columns, and what their cells say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import as_code
from assay._util.text import counted, does
from assay._util.typing import Floats, Ints
from assay.data.class_words import FOREIGN, canonical
from assay.data.ratings import AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, SOME_WRONG
from assay.data.states import Vectors
from assay.data.task import Label, Task
from assay.io.answers import AnswerColumns
from assay.io.arguments import Arguments, PerLabel
from assay.io.cells import has_numbers, numbers_within, parse_numbers
from assay.io.columns import column_of_each, one_column, recognised_of_each
from assay.io.names import EMPTY, ColumnFinder, named_columns
from assay.io.reading_log import Ledger
from assay.io.tables import Table
from assay.io.truth import SHOWN, UNKNOWN

KINDS = ("score", "confidence")
UNIT, PER_CENT = (0.0, 1.0), (0.0, 100.0)
USUAL_TOPS = (1, 5, 10, 100, 1000)
"""Upper ends of usual scales from 0."""
ASKED, BY_NAME = "named by `{kind}=`", "its name is recognised"


@dataclass(frozen=True, kw_only=True)
class ScoreColumns:
    """Columns of scores and confidences.

    score, confidence : column of each label; no label is in both
    long_score, long_confidence : the column, if each row answers one label
    limits : numbers in the file that stand for 0 and for 1
    """

    score: Mapping[str, str] = field(default_factory=dict)
    confidence: Mapping[str, str] = field(default_factory=dict)
    long_score: str = ""
    long_confidence: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def columns(self) -> list[str]:
        """All columns of scores and confidences."""
        return list(self.evidence)

    @property
    def alone(self) -> list[str]:
        """Columns that are informative without answers; confidences are not."""
        return [c for c in (*self.score.values(), self.long_score) if c]

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role and evidence of each of these columns."""
        named = {c: f"score of {label}" for label, c in self.score.items()}
        named |= {c: f"confidence in {label}" for label, c in self.confidence.items()}
        named |= {self.long_score: "score", self.long_confidence: "confidence"}
        return {c: (named[c], why) for c, why in self.evidence.items()}


def find_scores(
    table: Table,
    task: Task,
    answers: AnswerColumns,
    arguments: Arguments,
    taken: Sequence[str],
    ledger: Ledger,
) -> ScoreColumns:
    """Find the columns of scores and confidences by argument, else by name."""
    finder, given = table.finder, {k: getattr(arguments, k) for k in KINDS}
    used = {*answers.columns, *taken, *named_columns(finder, *given.values())}
    free = ColumnFinder([c for c in finder.columns if c not in used])
    limits = check_range(arguments.score_range, ledger)
    if answers.question:
        return _long(given, finder, free, limits, ledger, table)
    asked = {k: column_of_each(k, given[k], finder, task, ledger) for k in KINDS}
    seen = {k: recognised_of_each(k, free, task) if given[k] is None else {} for k in KINDS}
    seen = {k: _with_numbers(found, table, ledger) for k, found in seen.items()}
    for label in sorted(asked["score"].keys() & asked["confidence"].keys()):
        ledger.problem(
            "score-and-confidence",
            f"`score=` and `confidence=` both name a column for label {label}",
            mend="a score stands alone, and a confidence belongs to an answer: give one of them",
            go_on={"confidence": None},
        )
    decided = {**asked["confidence"], **asked["score"]}
    scores = asked["score"] | {k: c for k, c in seen["score"].items() if k not in decided}
    decided = {**scores, **asked["confidence"]}
    sure = asked["confidence"] | {k: c for k, c in seen["confidence"].items() if k not in decided}
    for label in sorted(seen["confidence"].keys() & scores.keys()):
        ledger.note(
            f"column {seen['confidence'][label]} is not used: the scores of {label} are in column "
            f'{scores[label]}; `confidence="{seen["confidence"][label]}"` and `score=""` reverse '
            "this",
            code="confidence-not-used",
        )
    evidence: dict[str, str] = {}
    for kind, found in (("score", scores), ("confidence", sure)):
        why = ASKED.format(kind=kind)
        evidence |= {c: why if label in asked[kind] else BY_NAME for label, c in found.items()}
    return ScoreColumns(score=scores, confidence=sure, evidence=evidence, limits=limits)


def _with_numbers(found: Mapping[str, str], table: Table, ledger: Ledger) -> dict[str, str]:
    """Drop recognised columns without numbers, with a note."""
    words = {c for c in found.values() if not has_numbers(without_signs(table.frame[c])[0])}
    for column in sorted(words):
        ledger.note(f"column {column} holds no numbers, so it is not used", code="no-numbers")
    return {k: c for k, c in found.items() if c not in words}


def _long(
    given: Mapping[str, PerLabel],
    finder: ColumnFinder,
    free: ColumnFinder,
    limits: tuple[float, float],
    ledger: Ledger,
    table: Table,
) -> ScoreColumns:
    """Find the columns where each row answers one label."""
    asked = dict.fromkeys(KINDS, "")
    for kind, column in given.items():
        if isinstance(column, str):
            asked[kind] = one_column(kind, column, finder, ledger) if column else ""
        elif column is not None:
            ledger.problem(
                "argument-type",
                f"`{kind}=` must be one column where each row answers one label, not {column!r}",
                go_on={kind: None},
            )
    named = {k: free.get(k) for k in KINDS if given[k] is None}
    seen = _with_numbers({k: c for k, c in named.items() if c}, table, ledger)
    if asked["score"] and asked["confidence"]:
        ledger.problem(
            "score-and-confidence",
            "`score=` and `confidence=` both name a column",
            mend="give one of them",
            go_on={"confidence": None},
        )
    score = asked["score"] or ("" if asked["confidence"] else seen.get("score", ""))
    sure = asked["confidence"] or ("" if score else seen.get("confidence", ""))
    pairs = (("score", score), ("confidence", sure))
    evidence = {c: ASKED.format(kind=k) if asked[k] else BY_NAME for k, c in pairs if c}
    return ScoreColumns(long_score=score, long_confidence=sure, evidence=evidence, limits=limits)


FEWEST_SCORED = 3
"""Fewest items with scores by several raters to see that the scores are those of the items."""


def scores_of_raters(
    columns: ScoreColumns,
    answers: AnswerColumns,
    item: "pd.Series[str]",
    rater: "pd.Series[str]",
    ledger: Ledger,
) -> ScoreColumns:
    """Leave out columns that were recognised by name and have one value for all raters of an item.

    Such a score is a model's or the item's. Scores without answers are kept.
    """
    left = set[str]()
    for column in columns.columns if answers.columns else ():
        if columns.evidence[column] != BY_NAME:
            continue
        rows = pd.DataFrame({"item": item, "rater": rater, "score": ledger.table.frame[column]})
        rows = rows[(rows != "").all(axis=1)].drop_duplicates()
        each = rows.groupby("item").agg({"rater": "nunique", "score": "nunique"})
        several = each[each["rater"] > 1]
        differ = rows["score"].nunique() > 1
        if differ and len(several) >= FEWEST_SCORED and (several["score"] == 1).all():
            left.add(column)
            ledger.note(
                f"column {column} is not used: each item has one value for all its raters, so it "
                f"is no rater's score; {as_code({'score': column})} reads it",
                code="scores-not-used",
            )
    if not left:
        return columns
    return replace(
        columns,
        score={k: c for k, c in columns.score.items() if c not in left},
        confidence={k: c for k, c in columns.confidence.items() if c not in left},
        long_score=columns.long_score if columns.long_score not in left else "",
        long_confidence=columns.long_confidence if columns.long_confidence not in left else "",
        evidence={c: why for c, why in columns.evidence.items() if c not in left},
    )


def check_range(given: object, ledger: Ledger) -> tuple[float, float]:
    """Return the two numbers that stand for 0 and 1; anything else is a problem."""
    if isinstance(given, Sequence) and len(given) == 2:
        low, high = given
        if all(isinstance(v, int | float) and np.isfinite(v) for v in given) and low < high:
            return float(low), float(high)
    ledger.problem(
        "score-range",
        f"`score_range={given!r}`",
        allowed="two numbers, the lowest score and the highest, e.g. (0, 1) or (0, 100)",
        go_on={"score_range": (0, 1)},
    )
    return 0.0, 1.0


def read_scores(
    columns: ScoreColumns, answers: Vectors, question: Ints | None, task: Task, ledger: Ledger
) -> Floats:
    """Return the score of every row on every label, (row, label); NaN if there is none."""
    scores = np.full(answers.shape, np.nan)
    if question is not None:
        column = columns.long_score or columns.long_confidence
        numbers = _unit(column, columns, ledger, alone=False) if column else scores[:, 0]
        for n, label in enumerate(task.labels):
            rows = np.flatnonzero((question == n) & np.isfinite(numbers))
            if len(rows) and _has_order(label, column, columns, ledger):
                scores[rows, n] = numbers[rows]
                if columns.long_confidence:
                    scores[rows, n] = belief(answers[rows, n], numbers[rows], label)
                    _note_lost(numbers[rows], scores[rows, n], label, ledger)
        return scores
    for n, label in enumerate(task.labels):
        for kind, found in (("score", columns.score), ("confidence", columns.confidence)):
            if label.name in found and _has_order(label, found[label.name], columns, ledger):
                alone = not bool((answers[:, n] >= 0).any())
                numbers = _unit(found[label.name], columns, ledger, alone=alone)
                scores[:, n] = numbers if kind == "score" else belief(answers[:, n], numbers, label)
                if kind == "confidence":
                    _note_lost(numbers, scores[:, n], label, ledger)
    return scores


def _unit(column: str, columns: ScoreColumns, ledger: Ledger, *, alone: bool) -> Floats:
    """Return the numbers of a column, scaled to [0, 1]; ``alone`` if no answers are beside them."""
    cells, per_cent = without_signs(ledger.table.frame[column])
    limits = columns.limits
    if limits == PER_CENT:  # with or without signs, the scale is the same here
        cells = cells.str.strip().str.removesuffix("%")
    elif per_cent and limits == UNIT:
        limits = PER_CENT
        ledger.note(f"column {column} is in per cent: 100% stands for 1", code="per-cent")
    low, high = limits
    scale = _scale_of(cells)
    grades = alone and column in columns.alone and _are_grades(cells)
    classes = f"if they are grades, read them as classes: {as_code({'labels': column})}; "
    ways = [
        f"if they are on another scale, give it: {as_code({'score_range': scale or (0, 100)})}",
        f"if the column is no score, leave it out: {as_code(UNUSED)}",
    ]
    steps = scale is not None and scale[0] == 1  # that the lowest step means 0 is a bold claim
    left: dict[str, Any] = {"score_range": scale} if scale and not steps else UNUSED
    numbers = numbers_within(
        cells, limits, ledger,
        what="score", allowed=f"numbers from {low:g} to {high:g}",
        mend=f"{classes * grades}{'; '.join(ways[::-1] if steps else ways)}",
        go_on={"labels": column} if grades else left,
    )  # fmt: skip
    return np.asarray((numbers - low) / (high - low), float)


def _are_grades(cells: "pd.Series[str]") -> bool:
    """Whether a column holds a few small whole numbers, as scales of grades have."""
    numbers, filled = parse_numbers(cells)
    given = numbers[filled]
    whole = len(given) and np.isfinite(given).all() and (given % 1 == 0).all()
    return bool(whole and given.min() >= 0 and given.max() <= HIGHEST_GRADE)


def _scale_of(cells: "pd.Series[str]") -> tuple[int, int] | None:
    """Return the smallest usual scale that holds all numbers; None if some cells are no numbers.

    It starts at 1 if that is the lowest of whole numbers.
    """
    numbers, filled = parse_numbers(cells)
    given = numbers[filled]
    if not len(given) or not np.isfinite(given).all() or given.min() < 0:
        return None
    low = int(given.min() == 1 and bool((given % 1 == 0).all()) and given.max() > 1)
    return next(((low, top) for top in USUAL_TOPS if given.max() <= top), None)


def without_signs(cells: "pd.Series[str]") -> "tuple[pd.Series[str], bool]":
    """Remove per cent signs, if all filled cells have one; return also whether they do."""
    bare = cells.str.strip()
    signed = bare.str.endswith("%")
    if signed.any() and bool((signed | bare.str.casefold().isin(EMPTY)).all()):
        return bare.str.removesuffix("%").str.rstrip(), True
    return cells, False


HIGHEST_GRADE = 10
"""Whole numbers up to this are proposed as classes rather than as scores."""
UNUSED = {"score": "", "confidence": ""}
"""Arguments to leave scores out."""


def _has_order(label: Label, column: str, columns: ScoreColumns, ledger: Ledger) -> bool:
    """Whether a label is binary or ordered, so that a score has a meaning."""
    if len(label.classes) == 2 or label.ordered:
        return True
    text = f"column {column} gives a score of {label.name}, whose classes have no order"
    if columns.evidence[column] == BY_NAME:
        ledger.note(f"{text}: it is not used", code="scores-not-used")
    else:
        ledger.problem("score-without-order",
            text, allowed="labels of two classes, or ordered ones",
            mend="write ordered = true at the label in a task file of your own, or leave "
            f"scores out: {as_code(UNUSED)}",
            go_on=UNUSED,
        )  # fmt: skip
    return False


def belief(guess: NDArray[np.int16], confidence: Floats, label: Label) -> Floats:
    """Turn a guess with a confidence c into a score; NaN without a guess.

    With two classes it is P(upper class). With K ordered classes and guess g = 0, ..., K - 1 it is
    (g + p) / K, p = c for the top class, 1 - c for the lowest, and 1/2 between.
    """
    top = len(label.classes) - 1
    share = np.select([guess == top, guess == 0], [confidence, 1 - confidence], 0.5)
    score = share if top == 1 else (guess + share) / (top + 1)
    return np.where((guess >= 0) & np.isfinite(confidence), score, np.nan)


def _note_lost(numbers: Floats, scores: Floats, label: Label, ledger: Ledger) -> None:
    lost = int((np.isfinite(numbers) & ~np.isfinite(scores)).sum())
    if lost:
        ledger.note(
            f"{counted(lost, 'confidence', 'are')} left out, without an answer to {label.name}",
            code="confidence-without-answer",
            scores=lost,
        )


Marks = NDArray[np.int8]
RIGHT = ("right", "correct", "yes", "y", "true", "t", "1", "ok", "pass", "passed", "agree")
WRONG = ("wrong", "incorrect", "no", "n", "false", "f", "0", "fail", "failed", "disagree")
ELSEWHERE = {word: AUDITED_RIGHT if code else AUDITED_WRONG for word, code in FOREIGN.items()}
ELSEWHERE |= dict.fromkeys(
    ("richtig", "korrekt", "juste", "correcto", "corretto", "goed", "rätt"), AUDITED_RIGHT
)
ELSEWHERE |= dict.fromkeys(
    ("incorrecto", "sbagliato", "errado", "fout", "forkert", "feil", "fel"), AUDITED_WRONG
)
"""Right and wrong in other languages, also as yes and no; a note names them."""
MARKS = ELSEWHERE | dict.fromkeys(EMPTY, NOT_AUDITED)
MARKS |= dict.fromkeys(RIGHT, AUDITED_RIGHT) | dict.fromkeys(WRONG, AUDITED_WRONG)


@dataclass(frozen=True, kw_only=True)
class AuditColumns:
    """Columns of audits: one for each label, or one for the whole rating or row."""

    by_label: Mapping[str, str] = field(default_factory=dict)
    whole: str = ""
    evidence: str = ""

    @property
    def columns(self) -> list[str]:
        """All columns of audits."""
        return [*self.by_label.values(), *([self.whole] if self.whole else [])]

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role and evidence of each of these columns."""
        named = {c: (f"audit of {label}", self.evidence) for label, c in self.by_label.items()}
        return named | ({self.whole: ("audit", self.evidence)} if self.whole else {})


def find_audits(
    table: Table,
    task: Task,
    answers: AnswerColumns,
    audit: PerLabel,
    taken: Sequence[str],
    ledger: Ledger,
) -> AuditColumns:
    """Find the columns of audits by argument, else by name."""
    finder = table.finder
    if audit is None:
        used = {*answers.columns, *taken}
        free = ColumnFinder([c for c in finder.columns if c not in used])
        found = {} if answers.question else recognised_of_each("audit", free, task)
        whole = "" if found else free.get("audit") or ""
        return AuditColumns(by_label=found, whole=whole, evidence="its name is recognised")
    if isinstance(audit, str):
        whole = one_column("audit", audit, finder, ledger) if audit else ""
        return AuditColumns(whole=whole, evidence="named by `audit=`")
    if answers.question:
        ledger.problem(
            "argument-type",
            f"`audit=` must be one column where each row answers one label, not {audit!r}",
            go_on={"audit": None},
        )
        return AuditColumns()
    found = column_of_each("audit", audit, finder, task, ledger)
    return AuditColumns(by_label=found, evidence="named by `audit=`")


def read_audits(
    columns: AuditColumns, question: Ints | None, task: Task, ledger: Ledger
) -> tuple[Marks, Marks]:
    """Return the audits of each answer (row, label) and of the whole row (row,).

    Unknown words are a problem.
    """
    rows, labels = len(ledger.table.frame), len(task.labels)
    cells = np.full((rows, labels), NOT_AUDITED, np.int8)
    whole = np.full(rows, NOT_AUDITED, np.int8)
    for n, label in enumerate(task.labels):
        if label.name in columns.by_label:
            cells[:, n] = _marks(columns.by_label[label.name], ledger)
    if columns.whole and question is not None:
        known = np.flatnonzero(question >= 0)
        cells[known, question[known]] = _marks(columns.whole, ledger)[known]
    elif columns.whole:
        whole = _marks(columns.whole, ledger)
    return cells, whole


def rating_audits(
    cells: Marks, whole: Marks, answers: Vectors, task: Task, ledger: Ledger
) -> Marks:
    """Return the audit of each answer, (rating, label): a "wrong" rating is wrong in its only
    answer, or ``SOME_WRONG`` in each of several.
    """
    given = answers >= 0
    several = given.sum(axis=1) > 1
    vague = several & (whole == AUDITED_WRONG)
    said = np.where(vague, SOME_WRONG, whole)
    marks = np.where((cells == NOT_AUDITED) & given, said[:, None], cells)
    if total := int(vague.sum()):
        ledger.note(
            f"{counted(total, 'rating')} of several answers {does(total, 'were')} audited and "
            "found wrong without saying which answer is wrong. They count as wrong ratings, but "
            "not as wrong answers to a label. Give a column for each label: "
            f'`audit={{"{task.label_names[0]}": "..."}}`',
            code="audits-of-several",
            ratings=total,
        )
    lost = (whole != NOT_AUDITED) & ~given.any(axis=1)
    idle = int(((marks != NOT_AUDITED) & ~given).sum() + lost.sum())
    if idle:
        ledger.note(
            f"{counted(idle, 'audit', 'are')} left out, because their answers are missing",
            code="audits-without-answer",
            audits=idle,
        )
    return np.where(given, marks, NOT_AUDITED).astype(np.int8)


def _marks(column: str, ledger: Ledger) -> Marks:
    raw, distinct = pd.factorize(ledger.table.frame[column])
    codes = np.array([MARKS.get(canonical(str(v)), UNKNOWN) for v in distinct], np.int8)
    words = dict.fromkeys(w for w in map(canonical, map(str, distinct)) if w in ELSEWHERE)
    if words:
        said = (f"{w} is {'right' if ELSEWHERE[w] == AUDITED_RIGHT else 'wrong'}" for w in words)
        ledger.note(
            f"audits in column {column}: {', '.join(said)}",
            code="audits-translated",
            words=len(words),
        )
    unknown = np.flatnonzero(codes == UNKNOWN)
    if len(unknown):
        rows = np.flatnonzero(np.isin(raw, unknown))
        shown = ", ".join(repr(str(distinct[n])[:40]) for n in unknown[:SHOWN])
        ledger.problem(
            "audit-words",
            f"{counted(len(rows), 'cell', 'are')} no result of an audit: {shown}",
            where=ledger.table.where(rows, column),
            allowed="right or wrong (also correct/incorrect, yes/no, true/false, 1/0), or empty",
            mend="write these words in the file, empty where nothing was checked; if the column "
            'is no audit, leave it out: `audit=""`',
            go_on={"audit": ""},
            numbers={"cells": len(rows)},
        )
    return codes[raw]
