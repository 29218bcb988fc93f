"""TREC relevance judgements: topic, assessor or 0, document, grade."""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.data.questions import Control
from assay.data.task import Task
from assay.io.files.sources import SeveralFiles, Source, TextSource, members_of
from assay.io.formats import Export
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "TREC qrels", "lines of topic, assessor or 0, document, grade"

FIELDS = re.compile(r"\S+[ \t]+\S+[ \t]+\S+[ \t]+[+-]?\d{1,2}(\.0+)?\s*")
FEWEST_LINES = 2
LABEL = "relevance"
UNJUDGED = "-1"


def detect(source: Source) -> str:
    """Claim lines of four fields, the last a grade, without a header."""
    if isinstance(source, SeveralFiles):
        files = source.files
        if not files or any(Path(name).suffix in (".csv", ".tsv", ".json") for name in files):
            return ""
        some = [source.member(name) for name in files[:5]]
        return "files of four fields, the last a grade" if all(map(detect, some)) else ""
    lines = source.beginning.split("\n")[:50] if isinstance(source, TextSource) else []
    filled = [line for line in lines[: max(1, len(lines) - 1)] if line.strip()]
    if len(filled) < FEWEST_LINES or not all(map(FIELDS.fullmatch, filled)):
        return ""
    return "lines of four fields, the last a grade"


def read(source: Source, task: Task | None) -> Export:
    """Read the second field as the assessor; if it is constant, use the file's name."""
    study = Study(
        source=source, unit="line", controls={LABEL: Control(name=LABEL, kind="number")}
    )  # fmt: skip
    files = list(members_of(source, any_name=True))
    for one in files:
        rows = list(_rows(one.source, study))
        assessors = {who for _, _, who, _, _ in rows}
        for place, topic, who, document, grade in rows:
            rater = who if len(assessors) > 1 else one.file
            item = f"{topic}/{document}"
            study.describe(item, {"cluster": topic})
            where = place if len(files) == 1 else f"{one.file}:{place}"
            answers = [] if grade == UNJUDGED else [(LABEL, int(float(grade)))]
            study.add(item, rater, answers, place=where)
    if len(files) == 1 and len(set(study.rows["rater"])) == 1:
        study.note(
            "the second field is the same everywhere, so one file holds one assessor. To compare "
            "assessors, give a folder with a file for each",
            code="one-file-one-rater",
        )
    return study.export("qrels", task)


def _rows(source: Source, study: Study) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield line, topic, assessor, document and grade."""
    assert isinstance(source, TextSource)
    for n, line in enumerate(source.text.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4 or FIELDS.fullmatch(line) is None:
            study.fault("{n} line{s} that are not topic, assessor, document and grade", n)
            continue
        topic, who, document, grade = fields
        yield n, topic, who, document, grade
