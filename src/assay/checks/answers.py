"""Checks of rows and answers: counts, rows set aside, broken rules."""

import json
import re
from difflib import get_close_matches

import numpy as np
import pandas as pd

from assay._util.text import does, some
from assay._util.typing import Bools
from assay.checks.findings import Finding, Part, findings_on
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors
from assay.io.names import TRUTH_NAMES, bare
from assay.io.reading_log import TRUTH_ROWS
from assay.io.skip_logic import BROKEN
from assay.io.truth_rows import LIKE_TRUTH

_on_answers = findings_on("answers")
_on_columns = findings_on("columns")
_on_rows = findings_on("rows")
_on_rules = findings_on("rules")

MANY_BROKEN = 0.01
"""Share of rows above which answers that break a blocked rule are more than recording errors."""


def check_rows(ratings: Ratings) -> Part:
    """Report the use of the rows and columns of the input."""
    account = ratings.accounting
    aside = account.rows_read - account.rows_used
    truth = sum(n for reason, n in account.reasons.items() if reason == TRUTH_ROWS)
    numbers = {"read": account.rows_read, "used": account.rows_used, "aside": aside}
    text = f"{account.rows_read} rows read, {account.rows_used} used, {aside} set aside"
    findings = [
        _on_rows(
            "warning" if aside - truth > 0.05 * account.rows_read else "note" if aside else "ok",
            text,
            code="rows-used",
            numbers=numbers,
        )
    ]
    for reason, count in account.reasons.items():
        lines = account.set_aside.loc[account.set_aside["reason"] == reason, "line"]
        first = ", ".join(str(line) for line in lines[:5])
        text = f"{count} set aside: {reason} (first: {first})"
        findings.append(_on_rows("note", text, code="rows-set-aside", numbers={"rows": count}))
    findings += [
        _on_rows("note", text, code=getattr(text, "code", "reader-decision") or "reader-decision")
        for text in account.notes
    ]
    return Part(
        findings=(*findings, *_columns(account.roles), *_unblocked(ratings)),
        tables={
            "roles": account.roles,
            "set_aside": pd.DataFrame(
                {"reason": list(account.reasons), "rows": list(account.reasons.values())}
            ),
        },
    )


def _unblocked(ratings: Ratings) -> list[Finding]:
    """Report blocked rules that too many rows break for recording errors, and by which raters."""
    account = ratings.accounting
    found = []
    for reason, count in account.reasons.items():
        if not reason.startswith(BROKEN) or count <= MANY_BROKEN * account.rows_read:
            continue
        rows = account.set_aside["reason"] == reason
        raters = account.set_aside.loc[rows, "rater"].value_counts()
        whose = some([f"{name} {number}" for name, number in raters.items()])
        named = set(re.split(r"[ ,]+", reason.removeprefix(BROKEN)))
        kept = json.dumps({r.name: "warn" for r in ratings.task.rules if r.name in named})
        text = (
            f"{count} of {account.rows_read} rows were set aside because each {reason} (by "
            f"{whose}). The task says that the interface blocks such answers. If it does not, "
            f"`response={kept}` keeps the rows"
        )
        numbers = {"broken": count, "rows": account.rows_read}
        found.append(_on_rules("warning", text, code="rule-not-blocked", numbers=numbers))
    return found


def _columns(roles: pd.DataFrame) -> list[Finding]:
    unused = roles.loc[roles["role"] == "", "column"]
    several = roles.loc[roles["alternatives"] != ""]
    findings = [
        _on_columns(
            "note",
            f"column {line.column} is used as the {line.role} ({line.evidence}); "
            f"{line.alternatives} would also fit",
            code="ambiguous-column",
        )
        for line in several.itertuples()
    ]
    if len(unused):
        text = f"unused columns: {', '.join(unused.replace('', 'one without a name'))}"
        findings.append(
            _on_columns("note", text, code="unused-columns", numbers={"columns": len(unused)})
        )
    for line in roles.loc[roles["role"] == ""].itertuples():
        named = bare(str(line.column)) in TRUTH_NAMES
        if named or line.evidence == LIKE_TRUTH:
            why = "its name suggests" if named else "each item has one, in the classes of the"
            why += " known truth" if named else " answers, as of known truth"
            text = (
                f"column {line.column} is not used, although {why}. If it holds the truth, add "
                f"`truth={line.column!r}`"
            )
            findings.append(_on_columns("warning", text, code="unused-truth-column"))
    return findings


ALIKE = 0.8
"""Similarity, up to 1, from which the name of one class is taken for a misspelling of another."""


def check_answers(ratings: Ratings) -> Part:
    """Report missing answers, classes that no rater reported, and broken rules."""
    given = ~ratings.abstained
    answers, scored = ratings.answers[given], np.isfinite(ratings.scores[given])
    labels, classes = _label_table(ratings, answers, scored), _class_table(ratings, answers)
    found = []
    for line in labels.to_dict("records"):
        name, missing = str(line["label"]), int(line["missing"])
        if line["answered"] == 0 and line["scored"]:
            text = f"{name} has scores but no answers"
            found.append(_on_answers("note", text, code="label-scores-only"))
        elif line["answered"] == 0:
            text = f"{name} has no answers, so only the prior and the rules inform it"
            found.append(_on_answers("warning", text, code="label-unanswered"))
        elif missing:
            text = f"{name}: {missing} of {len(answers)} answers {does(missing, 'are')} missing"
            numbers = {"missing": missing, "answers": len(answers)}
            found.append(_on_answers("note", text, code="missing-answers", numbers=numbers))
    found += _classes(classes)
    found += _slips(ratings, classes)
    found += _rules(ratings, answers)
    if not found:
        text = "every label that was asked has an answer, and every class was reported"
        found.append(_on_answers("ok", text, code="answers-complete"))
    found += _ordered(ratings, answers)
    return Part(findings=tuple(found), tables={"labels": labels, "classes": classes})


def _label_table(ratings: Ratings, answers: Vectors, scored: Bools) -> pd.DataFrame:
    """Count the answers of each label: given, missing and not asked; a score is not missing."""
    size = max(len(answers), 1)
    table = pd.DataFrame(
        {
            "label": ratings.task.label_names,
            "answered": (answers >= 0).sum(axis=0),
            "missing": ((answers == MISSING) & ~scored).sum(axis=0),
            "not_asked": (answers == NOT_ASKED).sum(axis=0),
            "scored": scored.sum(axis=0),
        }
    )
    for column in ("answered", "missing", "not_asked"):
        table[f"share_{column}"] = table[column] / size
    return table


def _class_table(ratings: Ratings, answers: Vectors) -> pd.DataFrame:
    lines = []
    for column, label in enumerate(ratings.task.labels):
        given = answers[:, column]
        counts = np.bincount(given[given >= 0], minlength=len(label.classes))
        total = max(int(counts.sum()), 1)
        lines += [
            {"label": label.name, "class": name, "count": int(n), "share": int(n) / total}
            for name, n in zip(label.classes, counts, strict=True)
        ]
    return pd.DataFrame(lines, columns=["label", "class", "count", "share"])


def _ordered(ratings: Ratings, answers: Vectors) -> list[Finding]:
    """Report labels of three or more ordered classes, whose order the default ignores."""
    given = (answers >= 0).any(axis=0)
    labels = [label for label, is_given in zip(ratings.task.labels, given, strict=True) if is_given]
    names = [label.name for label in labels if label.ordered and len(label.classes) > 2]
    if not names:
        return []
    text = f"the classes of {some(names)} are ordered, but the default family ignores the order. "
    others = [la.name for la in ratings.task.labels if len(la.classes) > 2 and not la.ordered]
    if others:
        text += (
            "The family ordinal uses it, but cannot fit unordered labels of three or more classes "
            f"({some(others)}). Fit {some(names)} in a separate task"
        )
    else:
        text += "To use the order, fit with `raters='ordinal'`"
    numbers = {"labels": len(names)}
    return [_on_answers("note", text, proposes="order", code="ordered-classes", numbers=numbers)]


def _classes(classes: pd.DataFrame) -> list[Finding]:
    found = []
    for label, lines in classes.groupby("label", sort=False):
        if not lines["count"].sum():
            continue
        never = [str(c) for c in lines.loc[lines["count"] == 0, "class"]]
        reported = lines.loc[lines["count"] > 0, "class"]
        if len(reported) == 1:
            text = f"{label}: every answer is {reported.iloc[0]}, so errors cannot be estimated"
            found.append(_on_answers("warning", text, code="single-class-answers"))
        elif never:
            text = f"{label}: no rater reported {some(never)}"
            numbers = {"classes": len(never)}
            found.append(_on_answers("note", text, code="unreported-classes", numbers=numbers))
    return found


def _slips(ratings: Ratings, classes: pd.DataFrame) -> list[Finding]:
    """Report true classes that no rater reported and that resemble a reported class."""
    found = []
    for n, label in enumerate(ratings.task.labels):
        count = classes.loc[classes["label"] == label.name].set_index("class")["count"]
        said = {_letters(name): name for name in label.classes if count[name]}
        for k in np.unique(ratings.truth[ratings.truth[:, n] >= 0, n]):
            name = label.classes[k]
            near = get_close_matches(_letters(name), said, n=1, cutoff=ALIKE)
            if count[name] or not near or _digits(near[0]) != _digits(name):
                continue
            text = (
                f"{label.name}: the truth contains {name!r}, which no rater reported. It may be a "
                f"misspelling of {said[near[0]]!r}, and now counts as a separate class. If so, "
                "correct it in the truth"
            )
            found.append(_on_answers("warning", text, code="truth-class-slip"))
    return found


def _letters(name: str) -> str:
    return name.strip().casefold()


def _digits(name: str) -> list[str]:
    return [c for c in name if c.isdigit()]


def _rules(ratings: Ratings, answers: Vectors) -> list[Finding]:
    """Count the ratings that break a rule that the interface did not block."""
    task = ratings.task
    found = []
    for rule in task.rules:
        if rule.response == "block":
            continue
        expression = task.expression(rule.expression)
        columns = [task.label_names.index(name) for name in expression.labels]
        known = answers[(answers[:, columns] != MISSING).all(axis=1)]
        codes = {name: known[:, task.label_names.index(name)] for name in expression.labels}
        broken = int((~expression(codes)).sum()) if len(known) else 0
        text = (
            f"{broken} of {len(known)} ratings break rule {rule.name} "
            f"(response {rule.response}, truth {rule.truth}); they are used"
        )
        numbers = {"broken": broken, "ratings": len(known)}
        found.append(_on_rules("note", text, code="rule-broken", numbers=numbers))
    return found
