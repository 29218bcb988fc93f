"""Sections on raters: reliability, spammers, rater groups, drift, scores."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay._util.errors import FitError
from assay._util.intervals import interval_ends
from assay._util.text import (
    chance_cells,
    intervals,
    lines_of,
    marked,
    notes_said,
    percent,
    some,
)
from assay.comparison.decisions import sign
from assay.data.ratings import ratings_by_rater
from assay.display.notes import KIND_WORDS, scores_said
from assay.display.rater_tables import (
    AGREES_MEANS,
    class_tables,
    copies_said,
    drift_table,
    kinds_said,
    worth_tables,
)
from assay.display.table import Table, table_of
from assay.fits.view import FitView
from assay.inference.assumptions import LITTLE, PRIOR_DRIVEN
from assay.inference.settings import MODES_ALONE
from assay.plots.raters import (
    SHOWN_CURVES,
    SHOWN_RATERS,
    draw_calibration,
    draw_confusions,
    draw_raters,
    shown_confusions,
    shown_raters,
    upper_classes,
    weakest,
    weakest_words,
)
from assay.plots.style import Series, forest
from assay.raters.calibration import NO_SCORE
from assay.raters.consistency import copied_shares
from assay.raters.standing import over_labels
from assay.reporting.joint_raters import merged, why_joint
from assay.reporting.material import Material
from assay.reporting.page import (
    WIDTH,
    Block,
    Finding,
    Gap,
    Section,
    bullets,
    percent_cell,
    picture,
    prose,
)
from assay.reporting.rater_feedback import MOST_TALKS, Talk

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARAMETER = "spamming"
MOSTLY = 0.5
"""Share of spam above which, by the whole interval, a rater is named among the findings."""
SHOWN = 24
WEIGHT = 11.0


def spamming_frame(view: FitView, level: float) -> pd.DataFrame:
    """Return each rater's share of spam, the highest first; empty without the parameter."""
    parts = []
    for name, draws in view["posterior"].data_vars.items():
        if str(name).rpartition(".")[2] == PARAMETER:
            values = draws.to_numpy().reshape(-1, draws.shape[-1])
            lower, upper = interval_ends(values, level, axis=0)
            names = draws[draws.dims[-1]].to_numpy().astype(str)
            parts.append(
                pd.DataFrame(
                    {"rater": names, "mean": values.mean(axis=0), "lower": lower, "upper": upper}
                )
            )
    if not parts:
        return pd.DataFrame(columns=["rater", "mean", "lower", "upper", "level"])
    table = pd.concat(parts, ignore_index=True).assign(level=level)
    return table.sort_values("mean", ascending=False, kind="stable", ignore_index=True)


def spamming_blocks(frame: pd.DataFrame, level: float) -> list[Block]:
    """Show the share of spam of each rater; nothing without the parameter."""
    if frame.empty:
        return []
    shown = frame.assign(words=intervals(frame)).head(SHOWN)
    rest = f" All {len(frame)} raters: `tables=`." if len(frame) > SHOWN else ""
    return [
        prose(
            "Model (MACE): a rating is either correct, or spam that does not depend on the item."
        ),
        table_of(
            "spamming",
            f"How often a rater's ratings are spam: posterior mean ({percent(level)} interval)",
            shown,
            {"rater": "Rater", "words": "Share of spam"},
            note="Highest share first." + rest,
            export=frame,
        ),
    ]


def spamming_findings(frame: pd.DataFrame) -> tuple[Finding, ...]:
    """Return a finding on raters most of whose ratings are spam, by the whole interval."""
    most = frame[frame["lower"] > MOSTLY]
    if most.empty:
        return ()
    text = (
        f"Most ratings of {len(most)} of {len(frame)} raters are spam: "
        f"{some(list(most['rater']))}. The model gives their answers little weight."
    )
    return (
        Finding(
            weight=WEIGHT,
            text=text,
            code="spamming-raters",
            numbers={"raters": len(most), "of": len(frame)},
        ),
    )


def worth_blocks(worth: pd.DataFrame, misperceived: pd.DataFrame, level: float) -> list[Block]:
    """Show effective numbers of raters and misperception; nothing if raters err independently."""
    blocks: list[Block] = []
    if not worth.empty:
        text = (
            "Raters who err on the same items are not independent. The table shows how many "
            "independent raters each group is worth, given the correlation of its errors."
        )
        blocks += [prose(text), *worth_tables(worth)]
    if not misperceived.empty:  # includes groups of one rater
        blocks.append(_misperceived_table(misperceived, level))
    return blocks


def _misperceived_table(misperceived: pd.DataFrame, level: float) -> Block:
    told = [_told_by(share) for share in misperceived["prior_share"].tolist()]
    return table_of(
        "misperceived",
        f"How often a whole group misperceives an item ({percent(level)} interval)",
        misperceived.assign(words=intervals(misperceived), told=told),
        {"group": "Group", "words": "Share of the items", "told": "Estimated from"},
        export=misperceived,
    )


def _told_by(share: float) -> str:
    """State whether prior or data determine a number, from the ratio of its SDs."""
    if share > PRIOR_DRIVEN:
        return "the prior alone"
    return "mostly the prior" if share > LITTLE else "the data"


WEIGHT_RATERS = 10.0


def raters_section(material: Material) -> Section:
    """Report the accuracy of each rater, and errors to look at."""
    found = material.talks
    spam = spamming_frame(material.view, material.level)
    each = material.kinds[~material.kinds["rater"].isin(list(material.joint))]
    kinds = kinds_said(each, mode_alone=material.view.attrs["method"] in MODES_ALONE)
    blocks: list[Block] = [
        _standing_table(material),
        *bullets([str(talk) for talk in found], _talks_heading(len(found))),
        *([] if found else [prose(_no_talks(material))]),
        *(prose(text) for text in copies_said(copied_shares(material.view, level=material.level))),
        *bullets(kinds, "Raters whose answers are misleading or almost uninformative:"),
        *[prose(finding.text) for finding in spamming_findings(spam)],
    ]
    findings = (*spamming_findings(spam), *_findings(found))
    return Section(
        key="raters", title="Raters", blocks=tuple(blocks), findings=findings, is_appendix=False
    )


def _no_talks(material: Material) -> str:
    """State that no rater stands out, or why none could."""
    if len(material.joint) == len(material.ratings.raters) > 1:
        why = why_joint(material.ratings)
        return f"No rater is compared with the others, since {why}."
    return "No rater clearly errs more often than the others."


def rater_tables_section(material: Material) -> Section:
    """Show the raters by true class: right answers, confusions, spam, effective numbers."""
    task, frame = material.ratings.task, merged(material.reliability, material.joint)
    right = frame[frame["true_class"] == frame["reported_class"]]
    note = f"Kind recorded: {KIND_WORDS['recorded']}. Reference: {material.reference}."
    forest = draw_raters(frame, task, width=WIDTH)
    maps = draw_confusions(frame, width=WIDTH)
    count = right["rater"].nunique()
    blocks: list[Block] = [
        prose(f"How often each rater gives the right answer, {KIND_WORDS['recorded']}."),
        *(prose(words) for words in [scores_said(material.ratings)] if words),
        picture(
            forest,
            name="raters",
            words=_words(right),
            caption=f"Posterior means with {percent(material.level)} intervals"
            + weakest_words(shown_raters(right), count, ", ")
            + f". {note}",
        ),
        *_tables(right, frame, material),
        *spamming_blocks(spamming_frame(material.view, material.level), material.level),
        *worth_blocks(material.worth, material.misperceived, material.level),
        picture(
            maps,
            name="confusions",
            words="Confusions of the raters, as in the table above.",
            caption="What each rater reports (columns) given the true class (rows)"
            + weakest_words(shown_confusions(frame), count, ", ")
            + ".",
        ),
    ]
    return Section(key="all_raters", title="Raters by true class", blocks=tuple(blocks))


def _standing_table(material: Material) -> Block:
    """Show a line per rater: accuracy, comparison with the median rater, and raw agreement."""
    table = material.standing
    several = table["label"].nunique() > 1
    whole = merged(over_labels(table), material.joint).sort_values("mean", kind="stable")
    raw = merged(material.reliability, material.joint).drop_duplicates(["rater", "label"])
    agrees = raw.groupby("rater")["agreement"].mean()
    shown, counts = whole.head(SHOWN_RATERS), Counter[str]()
    for name, count in ratings_by_rater(material.ratings).items():
        counts[material.joint.get(name, name)] += count
    notes: dict[str, str] = {}
    words = shown.assign(
        n=[counts[name] for name in shown["rater"]],
        told=marked(shown, notes, draws=material.worth_draws),
        worse=chance_cells(shown["p_worse"], material.level),
        agrees=[percent_cell(agrees.get(name, np.nan)) for name in shown["rater"]],
    )
    heads = {"rater": "Rater", "n": "Ratings", "told": "Right", "worse": "P(worse than median)",
             "agrees": "Agreement"}  # fmt: skip
    of = " (mean over the labels)" if several else ""
    left = len(whole) - len(shown)
    note = f"{AGREES_MEANS} Reference: {material.reference}."
    if left > 0:
        note += f" The {len(shown)} weakest of {len(whole)} raters; all: `tables=`."
    if material.view.attrs["method"] in MODES_ALONE or shown["p_worse"].isna().all():
        words = words.drop(columns="worse")
        heads = {key: head for key, head in heads.items() if key != "worse"}
    return table_of(
        "standing",
        f"Chance of a right answer{of}: posterior mean ({percent(material.level)} interval)",
        words, heads, note=note + notes_said(notes), export=table,
    )  # fmt: skip


def _talks_heading(count: int) -> str:
    """Write the heading, which says so if the list may be cut."""
    most = f" (the {MOST_TALKS} with the most wrong answers)" if count == MOST_TALKS else ""
    return f"Errors to look at{most}:"


def _findings(found: list[Talk]) -> tuple[Finding, ...]:
    """Return a finding on the largest difference between a rater and the others."""
    return tuple(
        Finding(
            weight=WEIGHT_RATERS * (talk.rate - talk.others),
            text=str(talk),
            code="rater-errs-most",
            numbers={"rate": talk.rate, "others": talk.others},
        )
        for talk in found[:1]
    )


def _words(right: pd.DataFrame) -> str:
    """Describe the forest plot."""
    low = lines_of(right.nsmallest(1, "mean"))[0]
    if low["doubt"]:
        return f"Chance of the right answer of {right['rater'].nunique()} raters, as in the table."
    return (
        f"Chance of the right answer of {right['rater'].nunique()} raters. The lowest is "
        f"{low['mean']:.2f}: {low['rater']} on {low['label']} if the truth is "
        f"{low['true_class']}. The table below has all numbers."
    )


def _tables(right: pd.DataFrame, frame: pd.DataFrame, material: Material) -> list[Table]:
    """Show right answers of the weakest raters by label and true class; all are exported."""
    names = weakest(right, SHOWN_RATERS)
    part = frame[frame["rater"].isin(names)]
    tables = class_tables(part, material.ratings.task, material.worth_draws)
    more = " All raters: `tables=`." * (right["rater"].nunique() > len(names))
    whole = material.reliability
    return [replace(table, frame=whole, note=table.note + more) for table in tables]


LAYER = "drift"
SHOWN_DRIFT = 40
"""Lines of the figure and of the table: raters times labels."""
WEIGHT_DRIFT = 12.0


def drift_section(material: Material) -> Section | None:
    """Report whose reliability changed from the first to the last session; None without drift."""
    if LAYER not in material.view.spec.rater_parts:
        return None
    table, sessions = material.drift, material.ratings.sessions
    shown = _largest_first(table).head(SHOWN_DRIFT).sort_index()
    about = f"from {sessions[0]} to {sessions[-1]}"
    note = f"Kind raw: before the interface blocks. Reference: {material.reference}."
    only = (
        f", the {SHOWN_DRIFT} largest changes of {len(table)}" if len(table) > SHOWN_DRIFT else ""
    )
    changed = _changed(table)
    words = f"Change of reliability {about}, as in the table."
    caption = f"Change, posterior mean with {percent(material.level)} interval{only}. {note}"
    blocks: list[Block] = [
        prose(
            f"Reliability is the probability of the right answer, averaged over the classes of a "
            f"label. The figure shows its change over {len(sessions)} sessions, {about}."
        ),
        picture(_figure(shown, material.level), name="drift", words=words, caption=caption),
        prose(_summary(changed, material.level)),
        drift_table(
            shown, sessions, level=material.level, reference=material.reference, export=table
        ),
    ]
    return Section(
        key="drift",
        title="Reliability by session",
        blocks=tuple(blocks),
        findings=_drift_findings(changed, about),
    )


def _changed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the raters whose interval excludes no change, the largest change first."""
    sure = table[[bool(found) for found in map(sign, table["lower"], table["upper"])]]
    return _largest_first(sure)


def _largest_first(table: pd.DataFrame) -> pd.DataFrame:
    return table.reindex(table["change"].abs().sort_values(ascending=False).index)


def _figure(shown: pd.DataFrame, level: float) -> "Figure":
    values = shown.rename(columns={"change": "mean"}).set_index(["label", "rater"])
    series = Series(name="change", values=values[["mean", "lower", "upper"]])
    label = f"change of reliability, {percent(level)} interval"
    return forest([series], label=label, reference=0.0, width=WIDTH)


def _summary(changed: pd.DataFrame, level: float) -> str:
    if changed.empty:
        return f"No rater clearly changed: every {percent(level)} interval includes 0."
    said = [
        f"{line['rater']} on {line['label']} got {'better' if line['change'] > 0 else 'worse'}"
        for line in lines_of(changed)
    ]
    return f"The {percent(level)} interval excludes 0 for these changes: {'; '.join(said)}."


def _drift_findings(changed: pd.DataFrame, about: str) -> tuple[Finding, ...]:
    """Return a finding on the largest change."""
    return tuple(
        Finding(
            weight=WEIGHT_DRIFT * abs(line["change"]),
            text=(
                f"{line['rater']} got {'better' if line['change'] > 0 else 'worse'} at "
                f"{line['label']} {about}: reliability went from {line['first']:.2f} to "
                f"{line['last']:.2f}."
            ),
            code="rater-drifted",
            numbers={"first": line["first"], "last": line["last"]},
        )
        for line in lines_of(changed.head(1))
    )


FAMILY = "scored"
WHAT = "What the scores mean"


def scores_section(material: Material) -> Section | Gap | None:
    """Show the probability of each class given the score; None if no rater is scored."""
    if FAMILY not in material.view.spec.rater_parts:
        return None
    try:
        every = material.calibration
    except FitError:
        return Gap(
            what=WHAT,
            why=NO_SCORE,
            enable="their scores or confidences (`score=`, `confidence=`)",
            code="no-scores",
        )
    table = upper_classes(every, material.ratings.task)
    curves = table.drop_duplicates(["rater", "label"])
    note = f"At the prevalence of these items. Reference: {material.reference}."
    only = f", {SHOWN_CURVES} of {len(curves)} curves" if len(curves) > SHOWN_CURVES else ""
    words = "Probability of each class given the score, by rater, as in the table."
    caption = f"Posterior mean with {percent(material.level)} band{only}. {note}"
    blocks: list[Block] = [
        prose(
            "The curves show the probability of a class given a rater's score, estimated from all "
            "raters. For a label with two classes, a calibrated score lies on the diagonal. Above "
            "the diagonal the rater scores too low, below it too high."
        ),
        picture(draw_calibration(table, width=WIDTH), name="scores", words=words, caption=caption),
        _scores_table(
            _of_curves(table, curves[:SHOWN_CURVES]),
            material.level,
            f"{note} All curves: `tables=`." if only else note,
            every,
        ),
    ]
    return Section(key="scores", title=WHAT, blocks=tuple(blocks))


def _of_curves(table: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of the given curves (a rater and a label each)."""
    keys = ["rater", "label"]
    return table.merge(curves[keys], on=keys)


def _scores_table(table: pd.DataFrame, level: float, note: str, export: pd.DataFrame) -> Block:
    bounds = zip(table["lowest_score"], table["highest_score"], strict=True)
    words = table.assign(
        whose=table["rater"] + ", " + table["label"] + " = " + table["class"].astype(str),
        score=[f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}" for low, high in bounds],
        told=intervals(table),
    ).sort_values("whose", kind="stable")
    columns = {
        "score": "Score",
        "n_ratings": "Ratings",
        "told": f"Probability ({percent(level)} interval)",
    }
    caption = "Probability of the class given the score"
    return table_of("scores", caption, words, columns, under="whose", note=note, export=export)
