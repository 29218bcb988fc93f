"""Section: raters, and who to talk to about what."""

import pandas as pd

from assay._util.words import lines_of, marked, notes_said, percent
from assay.display.notes import KIND_WORDS, scores_said
from assay.display.rater_tables import AGREES, AGREES_MEANS, agreement_words, kinds_said
from assay.inference.fit_arguments import MODES_ALONE
from assay.plots.raters import (
    SHOWN_RATERS,
    draw_confusions,
    draw_raters,
    shown_confusions,
    shown_raters,
    weakest,
    weakest_words,
)
from assay.reporting.material import Material
from assay.reporting.page import Block, Finding, Picture, Section, bullets, prose, table_of
from assay.reporting.rater_feedback import MOST_TALKS, Talk, talks
from assay.reporting.spamming import spamming_blocks, spamming_findings, spamming_frame
from assay.reporting.svg import WIDTH, to_svg
from assay.reporting.worth import worth_blocks

WEIGHT = 10.0


def raters_section(material: Material) -> Section:
    """Say how reliable each rater is, and who to talk to about what."""
    frame, task = material.reliability, material.ratings.task
    found = talks(material.fit, material.ratings)
    right = frame[frame["true_class"] == frame["reported_class"]]
    note = f"Kind recorded: {KIND_WORDS['recorded']}. Reference: {material.reference}."
    forest = draw_raters(frame, task, width=WIDTH)
    maps = draw_confusions(frame, width=WIDTH)
    spam = spamming_frame(material.fit, material.level)
    count = right["rater"].nunique()
    kinds = kinds_said(material.kinds, mode_alone=material.fit.attrs["method"] in MODES_ALONE)
    blocks: list[Block] = [
        prose(f"How often each rater gives the right answer, {KIND_WORDS['recorded']}."),
        *(prose(words) for words in [scores_said(material.ratings)] if words),
        Picture(
            svg=to_svg(forest, name="raters", words=_words(right)),
            caption=f"Posterior means with {percent(material.level)} intervals"
            + weakest_words(shown_raters(right), count, ", ")
            + f". {note}",
        ),
        *bullets([str(talk) for talk in found], _talks_heading(len(found))),
        *([] if found else [prose("No rater clearly errs more often than the others.")]),
        *bullets(kinds, "Raters whose answers mislead, or say next to nothing:"),
        *spamming_blocks(spam, material.level),
        *worth_blocks(material.worth, material.misperceived, material.level),
        Picture(
            svg=to_svg(maps, name="confusions", words="Confusions; the table below has them."),
            caption="What each rater reports (columns) given the true class (rows)"
            + weakest_words(shown_confusions(frame), count, ", ")
            + ".",
        ),
        _table(right, frame, note, material.level),
    ]
    findings = (*spamming_findings(spam), *_findings(found))
    return Section(key="raters", title="Raters", blocks=tuple(blocks), findings=findings)


def _talks_heading(count: int) -> str:
    """Say that there may be more, where as many are named as ever are."""
    most = f" (the {MOST_TALKS} that made most wrong answers)" if count == MOST_TALKS else ""
    return f"Who to talk to, and about what{most}:"


def _findings(found: list[Talk]) -> tuple[Finding, ...]:
    """Tell the largest difference between a rater and the others, if there is one."""
    return tuple(
        Finding(
            weight=WEIGHT * (talk.rate - talk.others),
            text=str(talk),
            section="raters",
            code="rater-errs-most",
            numbers={"rate": talk.rate, "others": talk.others},
        )
        for talk in found[:1]
    )


def _words(right: pd.DataFrame) -> str:
    """Say what the forest shows."""
    low = lines_of(right.nsmallest(1, "mean"))[0]
    if low["doubt"]:
        return f"Chance of the right answer of {right['rater'].nunique()} raters; the table has it."
    return (
        f"Chance of the right answer of {right['rater'].nunique()} raters. The lowest is "
        f"{low['mean']:.2f}: {low['rater']} on {low['label']} where the truth is "
        f"{low['true_class']}. The table below has all numbers."
    )


def _table(right: pd.DataFrame, frame: pd.DataFrame, note: str, level: float) -> Block:
    """Right answers of the weakest raters by label and true class; all are exported."""
    names = weakest(right, SHOWN_RATERS)
    part = right[right["rater"].isin(names)]
    notes: dict[str, str] = {}
    cells = part.assign(words=marked(part, notes)).pivot_table(
        index=["label", "rater"], columns="true_class", values="words", aggfunc="first", sort=False
    )
    classes = list(cells.columns)
    raw = part.drop_duplicates(["label", "rater"]).set_index(["label", "rater"])
    cells[AGREES] = pd.Series(agreement_words(raw), index=raw.index)
    shown = cells.reset_index().fillna("")
    columns = {"rater": "Rater"} | {c: f"Right where the truth is {c}" for c in classes}
    columns[AGREES] = "Agreement with the others"
    return table_of(
        "raters",
        f"Chance of the right answer: posterior mean ({percent(level)} interval)",
        shown,
        columns,
        under="label" if shown["label"].nunique() > 1 else "",
        note=f"{note} {AGREES_MEANS}"
        + (" All raters: tables=." if right["rater"].nunique() > len(names) else "")
        + notes_said(notes),
        export=frame,
    )
