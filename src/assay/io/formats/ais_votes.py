"""Vote counts of AIS studies: the consensus on each output, and its number of votes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.text import counted
from assay.data.ratings import UNNAMED
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.tables import Table, reader_note

TITLE, RECOGNISED_BY = (
    "AIS vote counts",
    "columns `n_agree_interpretable` and `n_agree_attributable`",
)

LABELS = ("flagged", "interpretable", "attributable")
AGREE = ("n_agree_interpretable", "n_agree_attributable")
RATERS = 5
"""Raters of an output, unless more agree."""
MORE_RATERS = 10
UNKNOWN = -1
MOST_VOTES = 1000
"""Most votes on an output."""
WORDS = {"true": "1", "false": "0", "yes": "1", "no": "0", "": str(UNKNOWN)}
"""Words for numbers of the columns."""


def detect(source: Source) -> str:
    """Claim tables with the consensus and its numbers of votes."""
    columns = {*LABELS, *AGREE}
    return f"columns {AGREE[0]} and {AGREE[1]}" if columns <= set(source.columns) else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each vote as a rating of an unnamed rater; outputs flagged by consensus have none."""
    plain = source.plain_table()
    others = [c for c in plain.frame.columns if c not in (*LABELS, *AGREE)]
    rows, lines = [], []
    flagged = unseen = against = 0
    rng = np.random.default_rng(1)
    rest = plain.frame[others].to_dict("records")
    told = _numbers(plain).to_dict("records")
    for line, row, numbers in zip(plain.lines, rest, told, strict=True):
        if numbers["flagged"] == 1 or numbers[AGREE[0]] == UNKNOWN:
            flagged += 1
            continue
        votes = list(_votes(numbers))
        slots = rng.permutation(len(votes)) + 1  # so that no numbered rater says yes more often
        unseen += sum(vote["attributable"] is None and vote["interpretable"] == "yes"
                      for vote in votes)  # fmt: skip
        against += sum(vote["interpretable"] != ("no", "yes")[numbers["interpretable"]]
                       for vote in votes)  # fmt: skip
        item = "/".join(row.values())
        for n, vote in zip(slots, votes, strict=True):
            named = {"item": item, "rater": f"vote {n}", "group": UNNAMED}
            rows.append(named | row | vote)
            lines.append(line)
    notes = [
        reader_note(
            "the raters have no names: their votes are numbered within each output, and a model "
            f"gives all of them one confusion (group {UNNAMED}, "
            "`raters='pooled + item_difficulty'`)",
            code="unnamed-raters",
        )
    ]
    if flagged:
        notes.append(
            reader_note(
                f"{counted(flagged, 'output', 'were')} flagged by consensus and left out, because "
                "the file has no votes on them",
                code="votes-not-released",
                outputs=flagged,
            )
        )
    if unseen:
        notes.append(
            reader_note(
                f"{counted(unseen, 'vote', 'are')} missing: votes on attribution of outputs that "
                "are not interpretable by consensus are not in the file",
                code="votes-missing",
                votes=unseen,
            )
        )
    if against:
        notes.append(
            reader_note(
                f"{counted(against, 'vote')} against the consensus on interpretability may be "
                "flags: the file has flags by consensus only",
                code="flags-not-released",
                votes=against,
            )
        )
    cluster = {"cluster": ("example",)} if "example" in others else {}
    frame = pd.DataFrame(rows, columns=["item", "rater", "group", *others, *LABELS])
    return Export(
        table=source.tabled(frame, lines=np.array(lines, object), unit=plain.unit),
        roles={role: (role,) for role in ("item", "rater", "group")} | cluster,
        task=load_task("ais") if task is None else None, notes=tuple(notes),
    )  # fmt: skip


def _numbers(table: Table) -> pd.DataFrame:
    """Return consensus and votes as whole numbers; refuse all else."""
    found, problems = {}, []
    for column in (*LABELS, *AGREE):
        words = table.frame[column].str.strip().str.casefold().replace(WORDS)
        number = pd.to_numeric(words, errors="coerce").astype(float)
        most = MOST_VOTES if column in AGREE else 1
        wrong = ~((number >= UNKNOWN) & (number <= most) & (number % 1 == 0)).to_numpy(bool)
        if wrong.any():
            problems.append(
                Problem(
                    code="no-number",
                    what=f"{counted(int(wrong.sum()), 'cell', 'are')} no "
                    f"{'number of votes' if column in AGREE else 'consensus'}, such as "
                    f"{table.frame[column][wrong].iloc[0]!r}",
                    where=table.where(wrong, column),
                    allowed=f"whole numbers from {UNKNOWN} (unknown) to {most}",
                    mend="correct these cells",
                    numbers={"cells": int(wrong.sum())},
                )
            )
        found[column] = number.mask(wrong, UNKNOWN).astype(int)
    if problems:
        raise RatingsError(problems, table.source)
    return pd.DataFrame(found)


def _votes(row: Mapping[Any, int]) -> Iterator[dict[str, str | None]]:
    """Yield the votes on an output, yes first."""
    agree, right = row[AGREE[0]], row[AGREE[1]]
    raters = RATERS if agree <= RATERS else max(MORE_RATERS, agree)
    seen = agree if row["interpretable"] == 1 else raters - agree
    told = row["interpretable"] == 1 and right >= 0
    yes = right if row["attributable"] == 1 else seen - right
    for vote in range(raters):
        reads = vote < seen
        attributable = ("yes" if vote < yes else "no") if reads and told else None
        yield {"flagged": "no", "interpretable": "yes" if reads else "no",
               "attributable": attributable}  # fmt: skip
