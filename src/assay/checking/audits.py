"""Audits: how many ratings were checked, and how many were found right."""

import numpy as np
import pandas as pd

from assay.checking.result import Finding, Part, findings_on
from assay.ratings import (
    AUDITED_RIGHT,
    AUDITED_WRONG,
    NOT_AUDITED,
    SOME_WRONG,
    Ratings,
    audited_ratings,
)

_finding = findings_on("audits")


def check_audits(ratings: Ratings) -> Part:
    """Say how many ratings were audited, and which share of the answers was right."""
    audited = (ratings.audit != NOT_AUDITED).any(axis=1)
    if not audited.any():
        return Part()
    whole = audited_ratings(ratings)[audited]
    right, known = int((whole == AUDITED_RIGHT).sum()), int((whole != NOT_AUDITED).sum())
    text = f"{int(audited.sum())} of {len(audited)} ratings were audited"
    if known:
        text += (
            f"; {right} of the {known} that were judged as a whole are right ({right / known:.1%})"
        )
    table = _table(ratings)
    found = [_finding("note", text), *_labels(table)]
    vague = int((ratings.audit == SOME_WRONG).any(axis=1).sum())
    if vague:
        text = (
            f"{vague} of them are wrong somewhere, it is not said in which answer: shares by label "
            "leave them out, and are too high for it"
        )
        found.append(_finding("warning", text))
    raters = len(np.unique(ratings.rater[audited]))
    text = (
        f"the audits are of {raters} of {len(ratings.raters)} raters; nothing says how they were "
        "chosen: at random, or for a doubt about them"
    )
    found.append(_finding("note", text))
    return Part(findings=tuple(found), tables={"audits": table})


def _table(ratings: Ratings) -> pd.DataFrame:
    """Return per label the answers found right and wrong, and those of ratings wrong somewhere."""
    table = pd.DataFrame(
        {
            "label": ratings.task.label_names,
            "right": (ratings.audit == AUDITED_RIGHT).sum(axis=0),
            "wrong": (ratings.audit == AUDITED_WRONG).sum(axis=0),
            "wrong_somewhere": (ratings.audit == SOME_WRONG).sum(axis=0),
        }
    )
    judged = table["right"] + table["wrong"]
    return table.assign(share_right=table["right"] / judged.where(judged > 0))


def _labels(table: pd.DataFrame) -> list[Finding]:
    counts = zip(table["label"], table["right"], table["wrong"], strict=True)
    shares = [
        f"{label} {right} of {right + wrong}" for label, right, wrong in counts if right + wrong
    ]
    if len(table) == 1 or not shares:
        return []
    return [_finding("note", f"right answers among the audited: {', '.join(shares)}")]
