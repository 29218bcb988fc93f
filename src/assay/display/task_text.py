"""Tasks as text: as a task file with suggestions from data, and as tables of the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from assay._util.errors import TaskError
from assay._util.text import counted
from assay.checks.regularities import Regularity, regular_gates, regular_rules
from assay.data.generic_metrics import generic_names, graded, numbers_of, parse_generic
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import label_order, state_space
from assay.data.task import ROLES, Label, Rule, Task
from assay.display.table import Table, make_table
from assay.io.names import MADE

SHOWN_RULES = 20
SHOWN_STATES = 40
SHOWN_METRICS = 8


def task_text(
    ratings: Ratings, name: str, named: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> str:
    """Write the task of ratings as a task file; rules and gates that the answers obey are comments.
    ``named`` are the caller's columns by role, ``row`` for replicates by file order.
    """
    return "\n".join(_lines(ratings, name, named)) + "\n"


def _lines(ratings: Ratings, name: str, named: Mapping[str, Sequence[str]]) -> Iterator[str]:
    task, gates = ratings.task, regular_gates(ratings)
    yield f"# Drafted from {counted(len(ratings.answers), 'rating')}. Lines that begin with # are"
    yield "# suggestions: remove the # of those that apply to your questions."
    yield f"name = {_text(name)}"
    yield 'description = ""'
    yield f"metrics = {_list(task.metrics)}"
    yield from _other_metrics(ratings)
    yield from [f"max_states = {task.max_states}"] * (task.max_states != Task.max_states)
    yield from ["", *_columns(ratings, named)] if _columns(ratings, named) else []
    for label in task.labels:
        yield from ["", *_label(label, gates.get(label.name))]
    for own in task.rules:
        yield from ["", *_own_rule(own)]
    known = {rule.expression for rule in task.rules}
    rules = [rule for rule in regular_rules(ratings) if rule.expression not in known]
    if rules:
        yield "\n# Rules between two labels that these answers never or rarely break."
    for rule in rules[:SHOWN_RULES]:
        yield from ["", *_rule(rule)]
    if len(rules) > SHOWN_RULES:
        yield f"\n# {len(rules) - SHOWN_RULES} more such rules are not listed."


def _other_metrics(ratings: Ratings) -> Iterator[str]:
    """Propose metrics that the task could have; those of lists only if there are lists."""
    task, panels = ratings.task, ratings.panels
    of_lists = () if panels["panel"].duplicated().any() else ("precision", "recall", "hit")
    of_ranks = () if (panels["rank"] > 1).any() else ("mrr", "ndcg")
    read = {name: parse_generic(name, task.label_names) for name in generic_names(task)}
    names = [
        name
        for name, one in read.items()
        if name not in task.metrics and one and one.kind not in (*of_lists, *of_ranks)
    ]
    if names:
        more = ", ..." if len(names) > SHOWN_METRICS else ""
        yield f"# others: {', '.join(map(_text, names[:SHOWN_METRICS]))}{more}"


def _columns(ratings: Ratings, named: Mapping[str, Sequence[str]]) -> list[str]:
    roles = ratings.accounting.roles
    played = zip(roles["column"], roles["role"].str.split(", "), strict=True)
    columns: dict[str, list[str]] = {}
    for column, names in played:
        for role in set(names) & set(ROLES) if column not in MADE else ():
            columns.setdefault(role, []).append(str(column))
    columns |= {role: list(given) for role, given in named.items()}
    lines = [f"{role} = {_list(columns[role])}" for role in ROLES if role in columns]
    return ["[columns]", *lines] if lines else []


def _label(label: Label, gate: Regularity | None) -> Iterator[str]:
    yield "[[labels]]"
    yield f"name = {_text(label.name)}"
    yield f"classes = {_list(label.classes)}"
    many = len(label.classes) > 2
    numeric = many and numbers_of(label) is not None and graded(label)
    if label.ordered and numeric:
        yield "ordered = true  # the classes are numbers; remove this line if they are only codes"
    elif label.ordered:
        yield "ordered = true"
    elif numeric:
        yield "# ordered = true  # if the numbers are grades, and not only codes"
    elif many:
        yield "# ordered = true  # if a later class is a higher one"
    if label.better:
        yield f"better = {_text(label.better)}"
    elif len(label.classes) == 2:
        other, good = map(_text, label.classes)
        yield f"# better = {good}  # or {other}: the good class"
    elif graded(label):
        yield '# better = "higher"  # or "lower": which classes are better'
    else:
        yield f"# better = {_text(label.classes[0])}  # the good class, if one is"
    yield f"description = {_text(label.description)}"
    if label.asked_if:
        yield f"asked_if = {_text(label.asked_if)}"
    elif gate is not None:
        told = f"{gate.broken} of {gate.ratings} ratings break it"
        yield f"# asked_if = {_text(gate.expression)}  # {told}"


def _own_rule(rule: Rule) -> Iterator[str]:
    """Write a rule of the task unchanged."""
    yield "[[rules]]"
    yield f"name = {_text(rule.name)}"
    yield f"expression = {_text(rule.expression)}"
    yield f'truth = "{rule.truth}"'
    yield f'response = "{rule.response}"'
    yield f"description = {_text(rule.description)}"


def _rule(rule: Regularity) -> Iterator[str]:
    never = rule.broken == 0
    yield (
        f"# [[rules]]  # {rule.broken} of {rule.ratings} ratings break it; by chance "
        f"{rule.expected:.0f} would"
    )
    yield f"# expression = {_text(rule.expression)}"
    yield f'# truth = "{"hard" if never else "soft"}"'
    yield f'# response = "{"block" if never else "off"}"  # what the form did if answers broke it'


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def task_parts(task: Task) -> list[Table]:
    """Return tables of a task's labels, rules, metrics and states."""
    parts = [_labels_table(task)]
    if task.rules:
        rows = [(r.expression, r.truth, r.response, r.description) for r in task.rules]
        parts.append(make_table("Rules", ["rule", "truth", "response", "meaning"], rows))
    parts.append(_states_table(task))
    return parts


def _labels_table(task: Task) -> Table:
    """Return a table of the labels, indented below their gates."""
    depth: dict[str, int] = {}
    for position in label_order(task):
        label = task.labels[position]
        above = task.expression(label.asked_if).labels if label.asked_if else ()
        depth[label.name] = 1 + max(depth[name] for name in above) if above else 0
    rows = [
        (
            "  " * depth[la.name] + la.name,
            (" < " if la.ordered else ", ").join(la.classes) or "from the data",
            la.asked_if or "always",
            la.description,
        )
        for la in task.labels
    ]
    reported = ", ".join(task.metrics) or "the share of each class"
    return make_table(
        f"Task {task.name}. {task.description}",
        ["label", "classes", "asked if", "meaning"],
        rows,
        note=f"Reports: {reported}",
    )


def _states_table(task: Task) -> Table:
    """Return a table of the admissible truths, with a column for each label."""
    names = list(task.label_names)
    if any(not label.classes for label in task.labels):
        return make_table(
            "States", names, [], note="The states follow from the classes in the data."
        )
    try:
        states = state_space(task).states
    except TaskError as error:
        return make_table("States", names, [], note=str(error))
    rows = [
        [
            "-" if code == NOT_ASKED else label.classes[code]
            for label, code in zip(task.labels, state, strict=True)
        ]
        for state in states[:SHOWN_STATES]
    ]
    more = len(states) - SHOWN_STATES
    said = [f"{more} more states"] if more > 0 else []
    said += ["-: not asked"] if (states[:SHOWN_STATES] == NOT_ASKED).any() else []
    return make_table(
        f"{counted(len(states), 'state')}: possible truths of an item", names, rows,
        note="; ".join(said),
    )  # fmt: skip
