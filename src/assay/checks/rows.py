"""Rows in and out, and the roles of the columns."""

import json
import re

import pandas as pd

from assay._util.plurals import some
from assay.checks.findings import Finding, Part
from assay.data.ratings import Ratings
from assay.io.gates import BROKEN
from assay.io.names import TRUTH_NAMES, squash

MANY_BROKEN = 0.01
"""Share of the rows from which answers that break a blocked rule are no slips in the records."""


def check_rows(ratings: Ratings) -> Part:
    """Say what became of the rows and columns of the input."""
    account = ratings.accounting
    aside = account.rows_read - account.rows_used
    findings = [
        Finding(
            level="warning" if aside > 0.05 * account.rows_read else "note" if aside else "ok",
            topic="rows",
            text=f"{account.rows_read} rows read, {account.rows_used} used, {aside} set aside",
            code="rows-used",
            numbers={"read": account.rows_read, "used": account.rows_used, "aside": aside},
        )
    ]
    for reason, count in account.reasons.items():
        lines = account.set_aside.loc[account.set_aside["reason"] == reason, "line"]
        first = ", ".join(str(line) for line in lines[:5])
        text = f"{count} set aside: {reason} (first: {first})"
        findings.append(
            Finding(
                level="note",
                topic="rows",
                text=text,
                code="rows-set-aside",
                numbers={"rows": count},
            )
        )
    findings += [
        Finding(level="note", topic="rows", text=text, code="reader-decision")
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
    """Say whose rows break a blocked rule, where they are too many for slips in the records."""
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
            f"{count} of {account.rows_read} rows were set aside since each {reason} (by {whose}): "
            f"an interface that blocks records no such answer; if none did, response={kept} keeps "
            "them"
        )
        found.append(
            Finding(
                level="warning",
                topic="rules",
                text=text,
                code="rule-not-blocked",
                numbers={"broken": count, "rows": account.rows_read},
            )
        )
    return found


def _columns(roles: pd.DataFrame) -> list[Finding]:
    unused = roles.loc[roles["role"] == "", "column"]
    several = roles.loc[roles["alternatives"] != ""]
    findings = [
        Finding(
            level="note",
            topic="columns",
            text=f"column {line.column} is the {line.role} ({line.evidence}); "
            f"{line.alternatives} could be it too",
            code="ambiguous-column",
        )
        for line in several.itertuples()
    ]
    if len(unused):
        text = f"columns that are not used: {', '.join(unused)}"
        findings.append(
            Finding(
                level="note",
                topic="columns",
                text=text,
                code="unused-columns",
                numbers={"columns": len(unused)},
            )
        )
    findings += [
        Finding(
            level="warning",
            topic="columns",
            text=f"column {column} sounds like known truth and is not used; if it is, truth="
            f"{column!r} takes it",
            code="unused-truth-column",
        )
        for column in unused
        if squash(column) in TRUTH_NAMES
    ]
    return findings
