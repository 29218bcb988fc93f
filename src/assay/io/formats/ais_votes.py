"""Vote counts of AIS studies: the consensus on each output, and its number of votes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted
from assay.data.ratings import UNNAMED
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.formats.format import Export, Format
from assay.io.sources import Source

LABELS = ("flagged", "interpretable", "attributable")
AGREE = ("n_agree_interpretable", "n_agree_attributable")
RATERS = 5
"""Raters of an output, unless more agree."""
MORE_RATERS = 10
UNKNOWN = "-1"


def detect(source: Source) -> str:
    """Claim tables with the consensus and its numbers of votes."""
    columns = {*LABELS, *AGREE}
    return f"columns {AGREE[0]} and {AGREE[1]}" if columns <= set(source.columns) else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each vote as a rating of an unnamed rater; outputs flagged by consensus have none."""
    plain = source.plain_table()
    others = [c for c in plain.frame.columns if c not in (*LABELS, *AGREE)]
    rows, lines = [], []
    flagged = unseen = 0
    rng = np.random.default_rng(1)
    for line, row in zip(plain.lines, plain.frame.to_dict("records"), strict=True):
        if row["flagged"] == "1" or row[AGREE[0]] in (UNKNOWN, ""):
            flagged += 1
            continue
        votes = list(_votes(row))
        slots = rng.permutation(len(votes)) + 1  # so that no numbered rater says yes more often
        unseen += sum(vote["attributable"] is None and vote["interpretable"] == "yes"
                      for vote in votes)  # fmt: skip
        item = "/".join(row[name] for name in others)
        for n, vote in zip(slots, votes, strict=True):
            named = {"item": item, "rater": f"vote {n}", "group": UNNAMED}
            rows.append(named | {c: row[c] for c in others} | vote)
            lines.append(line)
    notes = [
        Note(
            "the raters have no names: their votes are numbered within each output, and a model "
            f"gives all of them one confusion (group {UNNAMED}, "
            "`raters='pooled + item_difficulty'`)",
            code="unnamed-raters", level="note",
        )
    ]  # fmt: skip
    if flagged:
        notes.append(
            Note(
                f"{counted(flagged, 'output', 'were')} flagged by consensus, and the votes on them "
                "are not in the file: left out",
                code="votes-not-released", level="note", numbers={"outputs": flagged},
            )
        )  # fmt: skip
    if unseen:
        notes.append(
            Note(
                f"{counted(unseen, 'vote', 'are')} missing: votes on attribution of outputs that "
                "are not interpretable by consensus are not in the file",
                code="votes-missing", level="note", numbers={"votes": unseen},
            )
        )  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", "group", *others, *LABELS])
    return Export(
        table=source.tabled(frame, lines=np.array(lines, object), unit=plain.unit),
        roles={"item": ("item",), "rater": ("rater",), "group": ("group",)} | _places(others),
        task=load_task("ais") if task is None else None, notes=tuple(notes),
    )  # fmt: skip


def _places(columns: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the role of the cluster: the input of outputs."""
    return {"cluster": ("example",)} if "example" in columns else {}


def _votes(row: Mapping[Any, str]) -> Iterator[dict[str, str | None]]:
    """Yield the votes on an output, yes first."""
    agree, right = int(row[AGREE[0]]), int(row[AGREE[1]] or UNKNOWN)
    raters = RATERS if agree <= RATERS else max(MORE_RATERS, agree)
    seen = agree if row["interpretable"] == "1" else raters - agree
    told = row["interpretable"] == "1" and right >= 0
    yes = right if row["attributable"] == "1" else seen - right
    for vote in range(raters):
        reads = vote < seen
        attributable = ("yes" if vote < yes else "no") if reads and told else None
        yield {"flagged": "no", "interpretable": "yes" if reads else "no",
               "attributable": attributable}  # fmt: skip


FORMAT = Format(
    name="ais-votes",
    title="AIS vote counts",
    recognised="columns `n_agree_interpretable` and `n_agree_attributable`",
    detect=detect,
    read=read,
)
