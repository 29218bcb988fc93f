"""Words by which columns are recognised, and what stands for no answer in cells.

Names of columns match ignoring case, spaces, dashes, dots and underscores.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.typing import Bools
from assay.data.class_words import canonical

WORDS: Mapping[str, Any] = tomllib.loads(
    (files("assay.io") / "words.toml").read_text(encoding="utf-8")
)
"""The lists of ``words.toml``, which says what each is for."""
OUTRIGHT = ("item", "item_id")
"""Names of the item that take precedence over all others."""
GENERIC = ("id", "uid", "uuid")
"""Names of the item, unless the column only numbers rows."""
RECOGNISED = {role: tuple(names) for role, names in WORDS["roles"].items()}
"""Names of the columns of each role, the likeliest first."""
NUMBERED, NUMBERED_GROUP = "rater (numbered)", "group of raters"
MADE = frozenset({NUMBERED, NUMBERED_GROUP})
"""The columns that the reader adds for raters without names, unlikely in real data."""
KEY_PARTS = ("cluster", "system", "panel", "rank")
"""Roles whose columns may be part of an item's key."""
ASKED = (
    "question", "question_id", "prompt", "user_input", "frage", "pregunta", "domanda", "pergunta",
    "vraag", "fråga", "spørgsmål", "pytanie",
)  # fmt: skip
"""Names of questions: a cluster, if each item has one."""
ANSWER_COLUMNS = tuple(WORDS["answer_columns"])
QUESTION_COLUMNS = tuple(WORDS["question_columns"])
VALUE_COLUMNS = tuple(WORDS["value_columns"])
BY_CRITERION = frozenset(
    {"dimension", "criterion", "criterionid", "criteria", "criteriaid", "aspect"}
)
"""Squashed names of columns of criteria, beside which a score is an answer."""
MEASURES = frozenset(WORDS["measures"])
TRUTH_NAMES = frozenset(WORDS["truth_names"])
FINAL = frozenset(WORDS["final"])
TRUTH_WORDS = frozenset(WORDS["truth_words"])
TRUTH_PHRASES = TRUTH_NAMES | frozenset(WORDS["truth_phrases"])
SUMMARIES = frozenset(WORDS["summaries"])
FLAGS = frozenset(WORDS["flags"])
PEOPLE = frozenset(WORDS["people"])
EXPERTS = PEOPLE | {"expert", "doctor", "dr", "physician", "nurse", "reader", "teacher", "human"}
"""Words in names of columns that are raters."""
RATER_WORDS = PEOPLE | frozenset(WORDS["rater_words"])
SYSTEM_WORDS = frozenset(WORDS["system_words"])
SYSTEM_NAMES = frozenset(WORDS["system_names"])
ITEM_WORDS = frozenset(WORDS["item_words"])
ASKING = frozenset(WORDS["asking"])
SURENESS = frozenset(WORDS["sureness"])
ASKING_SURE = frozenset(WORDS["asking_sure"])
SHEET = "sheet"
"""The column of the names of sheets that are read together."""
LONGEST_ROLE = 3
"""Words beyond which a name is a question."""
CRITERIA = frozenset(WORDS["criteria"])
CRITERIA_END = ("ness", "ity", "ful", "able", "ible", "keit", "heit", "reich")
"""How further such words end."""
QUESTIONS = frozenset(
    {"item", "question", "q", "task", "case", "image", "answer", "is", "how", "text", "doc"}
)
"""First words of names of columns that are items."""
FORM = tuple(WORDS["form"])
REMARKS = frozenset(WORDS["remarks"])
REASONS = REMARKS | frozenset(WORDS["reasons"])
GRADES = frozenset(WORDS["grades"])
CODES = frozenset(WORDS["codes"])
ANSWER_WORDS = GRADES | frozenset(WORDS["answer_words"])
WORKPLACE = frozenset(WORDS["workplace"])
COUNT_NAMES = frozenset(WORDS["count_names"])
NESTED = ("input.", "answer.", "annotation.", "annotations.", "task.data.", "task.", "data.")
"""Prefixes of column names in flattened exports."""


def own_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of the file, without those that the reader added."""
    return [column for column in columns if column not in MADE]


def words_of(column: str) -> list[str]:
    """Return the words of a name: Email Address is email and address."""
    return "".join(c if c.isalpha() else " " for c in column.casefold()).split()


def names_rater(column: str) -> bool:
    """Whether a short name is that of a rater: who_rated, Rated by, Who?"""
    return _has_word(column, RATER_WORDS)


def names_system(column: str) -> bool:
    """Whether a short name is that of a system: ChatSystem, bot."""
    return _has_word(column, SYSTEM_WORDS) and not names_rater(column)


def is_system_name(name: str) -> bool:
    """Whether a name is that of a system itself, such as gpt-4, model B or v2.

    >>> [is_system_name(name) for name in ("GPT-4", "Model B", "v2", "Ann")]
    [True, True, True, False]
    """
    words = words_of(name)
    known = SYSTEM_NAMES if len(words) == 1 else SYSTEM_NAMES - {"new", "old", "base", "control"}
    return bool(known & set(words)) or names_system(name) or words == ["v"]


def names_answer(column: str) -> bool:
    """Whether a short name is that of an answer, and of no rater: Note, prediction, prob."""
    return _has_word(column, ANSWER_WORDS) and not names_rater(column)


def names_truth(name: str) -> bool:
    """Whether a name of a rater, or of a column of answers, is that of known truth.

    >>> [names_truth(name) for name in ("Expert panel", "agreed_code", "Dr. Goldman", "final exam")]
    [True, True, False, False]
    """
    first, *rest = words_of(name) or [""]
    final = first in FINAL and bool(rest) and set(rest) <= ANSWER_WORDS | CODES
    return final or bare(name) in TRUTH_PHRASES or _has_word(name, TRUTH_WORDS)


def names_item(column: str) -> bool:
    """Whether a short name is that of an item: Q#, Frage-Nr."""
    return _has_word(column, ITEM_WORDS) and not names_rater(column) and not names_system(column)


@cache
def _bare_words(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(without_accents, words))


def _has_word(column: str, known: frozenset[str]) -> bool:
    """Whether a short name has one of these words, also in camel case and without accents.

    A question has nothing else but words that ask for it.
    """
    words = [without_accents(w) for w in words_of(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column))]
    meant = _bare_words(known)
    found = meant & {*words, *(word.removesuffix("s") for word in words)}
    others = {*words} - found - _bare_words(ASKING)
    return bool(found) and len(words) <= LONGEST_ROLE and not ("?" in column and others)


def without_accents(text: str) -> str:
    """Return text with the bare letters of those that have accents.

    >>> without_accents("évaluateur")
    'evaluateur'
    """
    parts = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def names_criterion(column: str) -> bool:
    """Whether the name of a column is that of a criterion."""
    words = set(words_of(column))
    return bool(words & CRITERIA) or any(word.endswith(CRITERIA_END) for word in words)


def names_sureness(column: str) -> bool:
    """Whether a name asks how sure a rater was: Confidence (1-5), How sure are you?

    >>> [names_sureness(name) for name in ("Certainty_1", "How sure are you?", "Is it sure")]
    [True, True, False]
    """
    words = words_of(column)
    return bool(SURENESS & set(words)) and set(words) <= SURENESS | ASKING_SURE


def names_question(column: str) -> bool:
    """Whether a name is that of an item or a question.

    >>> [names_question(name) for name in ("item 3", "Q12", "Is answer 1 correct?", "Isabel")]
    [True, True, True, False]
    """
    first = next(iter(words_of(column)), "").replace("document", "doc")
    return bool({first, first.removesuffix("s")} & QUESTIONS)


def bare(name: str) -> str:
    """Return a squashed name without the prefix of a flattened export."""
    start = next((before for before in NESTED if name.casefold().startswith(before)), "")
    return squash(name[len(start) :])


def squash(name: str) -> str:
    """Return a name without case, spaces, dashes, dots and underscores."""
    return re.sub(r"[\s\-_.]+", "", composed(name)).casefold()


def note_apart(names: Iterable[str]) -> tuple[Note, ...]:
    """Return a note on names with decomposed accents, if any."""
    apart = list(dict.fromkeys(n.strip() for n in names if not unicodedata.is_normalized("NFC", n)))
    if not apart:
        return ()
    shown = ", ".join(composed(name)[:40] for name in apart[:3])
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    text = (
        f"separate accents were joined with their letters (Unicode NFC), as in {shown}{more}, so "
        "names that look alike are one"
    )
    return (Note(text, code="accents-joined", level="note", numbers={"names": len(apart)}),)


def composed(text: str) -> str:
    """Return text with composed accents (Unicode NFC), so that equal-looking text is equal."""
    return unicodedata.normalize("NFC", text)


KNOWN = {role: frozenset(map(squash, names)) for role, names in RECOGNISED.items()}
"""Squashed names of each role."""
ALL_KNOWN = frozenset().union(*KNOWN.values())


def is_called(column: str, names: Iterable[str]) -> bool:
    """Whether a column has one of these names."""
    return squash(column) in map(squash, names)


EMPTY = frozenset({"", "[]", "na", "n/a", "n.a.", "#n/a", "#na", "nan", "null", "<na>", "nat"})
NO_ANSWER = frozenset(WORDS["no_answer"])
MARKS = frozenset({"*", "."})
"""Signs for no answer in tables of numbers."""
NEGATIONS = frozenset(WORDS["negations"])
NEGATING = tuple(WORDS["negating"])


def words_in(column: "pd.Series[str]") -> set[str]:
    """Return the distinct words of a column in canonical form, without those for nothing."""
    return {canonical(str(word)) for word in pd.unique(column)} - EMPTY


def empty_cells(column: "pd.Series[str]") -> Bools:
    """Return which cells are empty or hold a word for nothing."""
    raw, distinct = pd.factorize(column)
    return np.array([canonical(str(word)) in EMPTY for word in distinct], bool)[raw]


COUNT = r"\d{1,9}(\.0)?"
BESIDE = ("rater", "replicate", "session")
"""Roles that distinguish ratings of one item."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """The columns of a role, and the evidence."""

    columns: tuple[str, ...]
    evidence: str
    alternatives: tuple[str, ...] = ()


Roles = Mapping[str, Role]


def columns_of(roles: Roles, *names: str) -> list[str]:
    """Return the columns of some roles, in this order."""
    return [column for name in names if name in roles for column in roles[name].columns]


class ColumnFinder:
    """Finds columns by name."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = list(columns)
        self._squashed: dict[str, str] = {}
        self._bare: dict[str, list[str]] = {}
        for column in self.columns:
            self._squashed.setdefault(squash(column), column)
            self._bare.setdefault(bare(column), []).append(column)

    def get(self, name: str) -> str | None:
        """Return the column of this name, up to case, separators and a unique nested prefix."""
        if name in self.columns:
            return name
        alike = self._bare.get(bare(name), [])
        return self._squashed.get(squash(name)) or (alike[0] if len(alike) == 1 else None)

    def all_of(self, names: str | Sequence[str]) -> list[str]:
        """Return the named columns that exist, without repeats."""
        found = (self.get(name) for name in ([names] if isinstance(names, str) else names))
        return list(dict.fromkeys(c for c in found if c is not None))


def values_beside(question: str, frame: pd.DataFrame) -> list[str]:
    """Return the columns that may hold the answers to the questions of a column."""
    finder = ColumnFinder(frame.columns)
    found = [c for c in finder.all_of((*VALUE_COLUMNS, *ANSWER_COLUMNS)) if c != question]
    if found or squash(question) not in BY_CRITERION:
        return [c for c in finder.all_of(VALUE_COLUMNS) if c != question]
    grades = finder.all_of(("score", "grade"))
    return [c for c in grades if frame[c].str.fullmatch(r"\s*\d{0,3}(\.0)?\s*").all()]


def names_measure(column: str) -> bool:
    """Whether a name is that of something measured or counted beside the answers.

    >>> [names_measure(c) for c in ("prompt_tokens", "latencyMs", "n_annotators", "votes", "rater")]
    [True, True, True, False, False]
    """
    last = next(iter(words_of(column)[-1:]), "")
    measured = last in MEASURES or last.endswith(("tokens", "latencyms"))
    return measured or names_number_of_raters(column)


COUNTED_RATERS = frozenset(
    {"annotator", "rater", "coder", "judge", "worker", "voter", "reviewer", "labeler", "kodierer"}
)


def names_number_of_raters(column: str) -> bool:
    """Whether a name is that of a number of raters: annotator_count, n_raters, Anzahl Kodierer."""
    words = set(words_of(column))
    counts = bool(words & {"count", "counts", "n", "num", "number", "anzahl", "nb"})
    return counts and bool({word.removesuffix("s") for word in words} & COUNTED_RATERS)


def question_column(frame: pd.DataFrame, *, graded: bool = False) -> str:
    """Return the column that names the question of each row, beside one of answers; else "".

    Scores are answers only where ``graded`` says so.
    """
    finder = ColumnFinder(frame.columns)
    answers = finder.all_of(VALUE_COLUMNS)
    found = (
        c
        for c in finder.all_of(QUESTION_COLUMNS)
        if frame[c].nunique() > 1
        and (values_beside(c, frame) if graded else any(a != c for a in answers))
    )
    return next(found, "")


def count_column(frame: pd.DataFrame) -> str:
    """Return the column of frequencies, if there is one."""
    found = [str(c) for c in frame.columns if squash(str(c)) in COUNT_NAMES]
    return next((c for c in found if frame[c].str.fullmatch(COUNT).all()), "")


def named_columns(finder: ColumnFinder, *arguments: object) -> list[str]:
    """Return the existing columns that arguments name."""
    listed: list[object] = []
    for argument in arguments:
        if isinstance(argument, Mapping):
            listed += argument.values()
        else:
            listed += argument if isinstance(argument, list | tuple) else [argument]
    return finder.all_of([name for name in listed if isinstance(name, str) and name])
