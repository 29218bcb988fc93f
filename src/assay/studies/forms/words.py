"""What a form says as text, because the tool cannot do it."""

from assay.data.task import Label, Task


def rule_lines(task: Task) -> list[str]:
    """Return each rule that answers are to keep to, as a sentence.

    Examples
    --------
    >>> from assay import load_task
    >>> rule_lines(load_task("grounding"))[1]
    'Rule: fabricated_source -> source_cited. A source can be fabricated only if one is cited.'
    """
    return [
        f"Rule: {rule.expression}. {rule.description}".rstrip()
        for rule in task.rules
        if rule.response != "off"
    ]


def when_asked(label: Label) -> str:
    """Say when a label behind a gate is to be answered.

    Examples
    --------
    >>> when_asked(Label(name="attributable", asked_if="interpretable"))
    'Answer only if: interpretable.'
    """
    return f"Answer only if: {label.asked_if}."
