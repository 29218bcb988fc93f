"""Rules and gates as text, for tools that cannot enforce them."""

from assay.data.task import Label, Task


def rule_lines(task: Task) -> list[str]:
    """Return each rule that answers must keep, as a sentence."""
    return [
        f"Rule: {rule.expression}. {rule.description}".rstrip()
        for rule in task.rules
        if rule.response != "off"
    ]


def when_asked(label: Label) -> str:
    """Return a sentence that says when to answer a label behind a gate."""
    return f"Answer only if: {label.asked_if}."
