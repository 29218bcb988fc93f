"""Known truth as rows of a rater, such as gold answers or an adjudicator's."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import nearest, suggest
from assay._util.text import counted
from assay._util.typing import Ints
from assay.data.class_words import canonical
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import MAX_CLASSES, Task
from assay.io.answers import AnswerColumns, question_codes
from assay.io.arguments import Arguments
from assay.io.cells import spellings
from assay.io.names import SUMMARIES, squash, words_in
from assay.io.reading_log import TRUTH_ROWS, Ledger
from assay.io.tables import Table
from assay.io.truth import TruthSource

LIKE_TRUTH = "not used: each item has one, in the classes of the answers"
"""Evidence of an unused column that may hold known truth."""
AGREEING = 0.3
"""Smallest agreement with the answers beyond chance (kappa) of a column that may hold truth."""


def with_like_truth(
    ratings: Ratings, columns: Mapping[str, "pd.Series[str]"], item: Ints, row: Ints
) -> Ratings:
    """Mark unused columns with one class of a label for each item, which agree with the answers.

    ``item`` is the item of each row of the columns, and ``row`` the first row of each rating. If
    truth is known, none is marked.
    """
    if ratings.has_truth.any():
        return ratings
    found = []
    for name, cells in columns.items():
        if squash(name) in SUMMARIES or not 1 < len(words := words_in(cells)) <= MAX_CLASSES:
            continue
        for n, label in enumerate(ratings.task.labels):
            codes = {canonical(word): k for word, k in spellings(label).items()}
            if not words <= set(codes):
                continue
            raw, distinct = pd.factorize(cells)
            truth = np.array([codes.get(canonical(str(w)), MISSING) for w in distinct])[raw]
            there = (truth != MISSING) & (item >= 0)
            pairs = pd.DataFrame({"item": item[there], "truth": truth[there]}).drop_duplicates()
            answers = ratings.answers[:, n]
            both = (truth[row] != MISSING) & (answers >= 0)
            if not pairs["item"].duplicated().any() and both.any():
                size = len(label.classes)
                given, true = answers[both], truth[row][both]
                shares = [np.bincount(c, minlength=size) / len(c) for c in (given, true)]
                chance = float(shares[0] @ shares[1])
                if (given == true).mean() - chance >= AGREEING * (1 - chance) > 0:
                    found.append(name)
                    break
    roles = ratings.accounting.roles
    marked = roles["column"].isin(found) & (roles["role"] == "")
    roles = roles.assign(evidence=roles["evidence"].mask(marked, LIKE_TRUTH))
    return replace(ratings, accounting=replace(ratings.accounting, roles=roles))


def rows_of_truth(
    given: Arguments,
    *,
    table: Table,
    answers: AnswerColumns,
    item: "pd.Series[str]",
    rater: "pd.Series[str]",
    task: Task,
    ledger: Ledger,
) -> TruthSource | None:
    """Return the truth in the rows of the rater that ``truth_rater=`` names, and set them aside."""
    name = given.truth_rater
    if name is None:
        return None
    if given.truth is not None:
        ledger.problem(
            "truth-twice",
            "`truth=` and `truth_rater=` both give known truth",
            mend="give only one of them",
            go_on={"truth_rater": None},
        )
        return None
    mine = rater == name
    if not mine.any():
        mine = rater.map(squash) == squash(name)
    if not mine.any():
        if not table.part:  # other parts of a data set may have the rater
            raters = [str(one) for one in pd.unique(rater) if one]
            ledger.problem(
                "unknown-truth-rater",
                f"`truth_rater={name!r}` names no rater",
                mend=suggest(name, raters),
                go_on={"truth_rater": nearest(name, raters)},
            )
        return None
    ledger.set_aside(mine.to_numpy(bool), TRUTH_ROWS, "the rater that `truth_rater=` names")
    known = int((mine & (item != "")).sum())
    ledger.note(
        f"{counted(known, 'row')} of rater {name} are known truth, and no ratings",
        code="truth-rows",
        rows=known,
    )
    frame, by_label = table.frame, dict(answers.by_label)
    if answers.question:
        label = question_codes(table, task, answers.question, Ledger(table, lenient=True))
        for n, one in enumerate(task.labels):
            by_label[one.name] = f"{answers.value} ({one.name})"
            frame = frame.assign(**{by_label[one.name]: frame[answers.value].where(label == n, "")})
    side = replace(table, frame=frame.where(mine, ""), notes=())
    columns = AnswerColumns(by_label=by_label, evidence="named by `truth_rater=`")
    return TruthSource(table=side, names=item.where(mine, ""), columns=columns, ledger=Ledger(side))
