"""The questions of a task in words, and the format of the answer."""

from assay._util.errors import TaskError
from assay.data.task import Label, Task
from assay.studies.judges.prompts import Prompt

REASON, GUESS, CONFIDENCE = "Reason", "Guess", "Confidence"
NOT_ASKED = "n/a"


def asked_classes(label: Label, prompt: Prompt) -> tuple[str, ...]:
    """Return the classes that a prompt asks for."""
    return prompt.classes.get(label.name, label.classes)


def line_names(task: Task) -> dict[str, str]:
    """Return the name of each label's line in the answer."""
    if len(task.labels) == 1:
        return {task.label_names[0]: GUESS}
    return {name: name for name in task.label_names}


def confidence_name(line: str) -> str:
    """Return the name of the confidence line of a label's line."""
    return CONFIDENCE if line == GUESS else f"{line} confidence"


def require_classes(task: Task) -> None:
    """Refuse a task with a label whose classes come from the data."""
    if open_ := [label.name for label in task.labels if not label.classes]:
        raise TaskError(
            f"label {open_[0]} of task {task.name} takes its classes from the data, so that "
            "nothing can be asked. List its classes in a task file of your own",
            code="open-classes",
        )


def questions_text(task: Task, prompt: Prompt) -> str:
    """Write the labels with classes and gates, and the rules of the task."""
    lines = []
    for label in task.labels:
        gate = f"; asked only if: {label.asked_if}" if label.asked_if else ""
        said = f": {label.description}" if label.description else ""
        lines.append(f"- {label.name} ({_or(asked_classes(label, prompt))}{gate}){said}")
    rules = [rule for rule in task.rules if rule.response != "off"]
    if rules:
        lines.append("\nThe answers must keep to these rules:")
        lines += [f"- {rule.expression}. {rule.description}".rstrip() for rule in rules]
    return "\n".join(lines)


def answer_format(task: Task, prompt: Prompt, *, confidence: bool) -> str:
    """Write the format of the answer: a line for each label, and one for its confidence."""
    if prompt.kind == "ranking":
        return "Answer with the numbers alone, the best document first, as in [2] > [3] > [1]."
    lines = [f"[{REASON}]: <one or two sentences>"] * prompt.reason
    for label in task.labels:
        line = line_names(task)[label.name]
        gated = f", or {NOT_ASKED} if it is not asked" if label.asked_if else ""
        lines.append(f"[{line}]: <{_or(asked_classes(label, prompt))}{gated}>")
        if confidence:
            lines.append(f"[{confidence_name(line)}]: <from 0.00 to 1.00>")
    said = "Answer in this format, and put nothing else on these lines:\n" + "\n".join(lines)
    if confidence:
        said += "\n\nA confidence is the probability that the answer before it is right."
    return said


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
