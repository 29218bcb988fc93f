"""The form of a task for Label Studio or Argilla, or its guidelines, with notes on its limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay._util.errors import Note, TaskError
from assay._util.text import some
from assay._util.validation import require_choice
from assay.data.states import state_space
from assay.data.task import Task
from assay.studies.forms.argilla import argilla_settings
from assay.studies.forms.conditions import shown_if
from assay.studies.forms.label_studio import label_config
from assay.studies.judges.prompts import guidelines_of, load_prompt
from assay.studies.judges.questions import require_classes

SUFFIXES = {"label-studio": ".xml", "argilla": ".json", "guidelines": ".md"}
"""Forms that can be written, with the suffix of their file."""
FORMS = tuple(SUFFIXES)
ANY_TEXT = ("text",)
BLOCKS = "block"


@dataclass(frozen=True, kw_only=True)
class Form:
    """The text of a form, its file suffix, and notes on limits of the tool."""

    text: str
    suffix: str
    notes: tuple[Note, ...] = ()


def make_form(task: Task, to: str, texts: Sequence[str] | None = None) -> Form:
    """Write the form of a task; ``texts`` are the data fields that raters see."""
    require_choice("to", to, FORMS)
    if to == "guidelines":
        return Form(text=_guidelines(task), suffix=SUFFIXES[to])
    require_classes(task)
    state_space(task)  # a task that contradicts itself is refused here
    shown = tuple(texts or load_prompt(None, task).columns or ANY_TEXT)
    write: Callable[[Task, Sequence[str]], str] = (
        label_config if to == "label-studio" else argilla_settings
    )
    return Form(text=write(task, shown), suffix=SUFFIXES[to], notes=tuple(_notes(task, to)))


def _guidelines(task: Task) -> str:
    text = guidelines_of(task)
    if not text:
        raise TaskError(
            f"task {task.name} has no guidelines; write a text of your own for its raters",
            code="guidelines-missing",
        )
    return f"{text}\n"


def _notes(task: Task, to: str) -> list[Note]:
    """Note rules that the tool does not enforce, and gates that it does not keep."""
    tool = {"label-studio": "Label Studio", "argilla": "Argilla"}[to]
    notes = []
    rules = [rule.name for rule in task.rules if rule.response == BLOCKS]
    if rules:
        off = dict.fromkeys(rules, "off")
        notes.append(
            Note(
                f"{tool} does not block answers that break a rule: the form shows {some(rules)} as "
                f"text. Read its ratings with `response={off}`",
                code="form-without-rules",
                numbers={"rules": len(rules)},
            )
        )
    open_ = [
        label.name
        for label in task.labels
        if label.asked_if and (to == "argilla" or shown_if(task, label) is None)
    ]
    if open_:
        notes.append(
            Note(
                f"{tool} shows {some(open_)} regardless of earlier answers. The form says as text "
                "when to answer them.",
                code="form-without-gates",
                numbers={"labels": len(open_)},
            )
        )
    return notes
