"""Reason, class and confidence of each label, from a model's text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assay.data.task import Label, Task
from assay.studies.judges.prompts import Prompt
from assay.studies.judges.questions import (
    NOT_ASKED,
    REASON,
    asked_classes,
    confidence_name,
    line_names,
)

AROUND = " \t\r*_`'\"<>()"
"""Characters around a name or value that carry no meaning."""
NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)")
NOT_ASKED_WORDS = (NOT_ASKED, "na", "not asked", "not applicable")
ORDER = re.compile(r"\[\d+\](?:\s*>\s*\[\d+\])+")


@dataclass(frozen=True, kw_only=True)
class Guess:
    """The answer to one label: the class (``word``, at ``start`` in the text), or why it is
    missing, ``"no answer"``, ``"several answers"`` or ``"no class"``.
    """

    label: str
    word: str = ""
    start: int = -1
    confidence: float | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """Reason and guesses of a text."""

    reason: str = ""
    guesses: tuple[Guess, ...] = field(default=())

    @property
    def problems(self) -> dict[str, str]:
        """Problem by label, for labels that lack a class."""
        return {guess.label: guess.problem for guess in self.guesses if guess.problem}


def parse_answer(text: str, task: Task, prompt: Prompt, *, cut_off: bool = False) -> Parsed:
    """Read the requested lines of a text: a name, a colon, and a class or a number from 0 to 1 or
    in per cent.

    Repeated lines must agree. A text that was ``cut_off`` may end in a number that lacks digits.
    """
    guesses = []
    for label in task.labels:
        line = line_names(task)[label.name]
        guess = _guess(text, label, line, asked_classes(label, prompt))
        sure = _confidence(text, confidence_name(line), cut_off) if guess.word else None
        guesses.append(replace(guess, confidence=sure))
    return Parsed(reason=_reason(text), guesses=tuple(guesses))


def _lines(text: str, name: str) -> list[tuple[str, int]]:
    """Return the value of each line with this name, and its place in the text."""
    pattern = re.compile(
        rf"^[ \t>#*_-]*\[?[ \t]*{re.escape(name)}[ \t]*\]?[ \t*_]*:[ \t]*(.*)$",
        re.IGNORECASE | re.MULTILINE,
    )
    return [(found.group(1), found.start(1)) for found in pattern.finditer(text)]


def _guess(text: str, label: Label, line: str, classes: Sequence[str]) -> Guess:
    by_word = {name.casefold(): name for name in classes}
    found: list[tuple[str, int]] = []
    silent = False
    for value, place in _lines(text, line):
        bare = value.strip(AROUND).rstrip(".,;!").strip(AROUND)
        if label.asked_if and bare.casefold() in NOT_ASKED_WORDS:
            silent = True
        elif (word := by_word.get(bare.casefold())) is not None:
            found.append((word, place + value.find(bare)))
        else:
            return Guess(label=label.name, problem="no class")
    words = {word for word, _ in found}
    if len(words) > 1 or (words and silent):
        return Guess(label=label.name, problem="several answers")
    if words:
        return Guess(label=label.name, word=found[-1][0], start=found[-1][1])
    if silent:
        return Guess(label=label.name)  # not asked
    return Guess(label=label.name, problem="no answer")


def _confidence(text: str, name: str, cut_off: bool) -> float | None:
    """Return the confidence; None if it is missing, outside 0 to 1, or cut off."""
    numbers = set()
    for value, place in _lines(text, name):
        bare = value.strip(AROUND).rstrip(".,;").strip(AROUND)
        found = NUMBER.fullmatch(bare)
        if found is None or (cut_off and place + len(value) >= len(text)):
            return None
        numbers.add(float(found.group(1)) / (100 if found.group(2) else 1))
    if len(numbers) != 1:
        return None
    number = numbers.pop()
    return number if 0 <= number <= 1 else None


def _reason(text: str) -> str:
    """Return the text after the name of the reason, up to the next line that begins with [."""
    pattern = re.compile(
        rf"^[ \t*_]*\[?{REASON}\]?[ \t*_]*:[ \t]*(.*?)(?=^[ \t*_]*\[|\Z)",
        re.IGNORECASE | re.MULTILINE | re.DOTALL,
    )
    found = pattern.search(text)
    return " ".join(found.group(1).split()) if found else ""


def parse_order(text: str, number: int) -> list[int] | None:
    """Return the order of numbered documents from 0; None unless the text has exactly one."""
    orders = {
        tuple(int(place) - 1 for place in re.findall(r"\d+", chain))
        for chain in ORDER.findall(text)
    }
    if len(orders) != 1:
        return None
    order = list(orders.pop())
    return order if sorted(order) == list(range(number)) else None
