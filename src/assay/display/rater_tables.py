"""Tables of raters: worst first, by label or by class; of groups, and of their agreement."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from assay._util.text import (
    called,
    counted,
    interval,
    intervals,
    lines_of,
    marked,
    percent,
    sentence,
    some,
)
from assay.data.task import Task
from assay.display.notes import KIND_WORDS
from assay.display.table import Table, table_of
from assay.display.terminal import binary_heading
from assay.inference.assumptions import LITTLE, PRIOR_DRIVEN
from assay.raters.agreements import Agreement

AGREEMENT = ("agreement", "agreement_lower", "agreement_upper")
AGREES = "agreement"
AGREES_HEAD = {"agreement": "Agreement"}
AGREES_MEANS = (
    "Agreement: mean share of the other raters of an item who gave the same answer (no model)."
)
BY_AGREEMENT = " If all numbers of a label are marked, the lowest agreement comes first."


def rater_tables(
    frame: pd.DataFrame, accuracy: pd.DataFrame, task: Task, draws: float | None = None
) -> list[Table]:
    """Return a table of the binary labels and one of the others: a line per label and rater.

    ``draws``, the effective number of draws, limits the decimals.
    """
    others = [label.name for label in task.labels if len(label.classes) != 2]
    shown = accuracy[accuracy["label"].isin(others)]
    return binary_tables(frame, task, draws) + ([_accuracy_table(shown, draws)] if others else [])


def class_tables(frame: pd.DataFrame, task: Task, draws: float | None = None) -> list[Table]:
    """Return tables of the binary labels, and of each other one by true class and rater."""
    others = [label.name for label in task.labels if len(label.classes) != 2]
    tables = [_class_table(frame[frame["label"] == name], name, draws) for name in others]
    return binary_tables(frame, task, draws) + tables


def binary_tables(frame: pd.DataFrame, task: Task, draws: float | None = None) -> list[Table]:
    """Return the table of the binary labels, if there are any: sensitivity and specificity."""
    labels = [label for label in task.labels if len(label.classes) == 2]
    if not labels:
        return []
    right = frame[frame["true_class"] == frame["reported_class"]]
    marks: dict[str, str] = {}
    parts = []
    for label in labels:
        part = right[right["label"] == label.name]
        words = part.assign(words=marked(part, marks, draws=draws))
        cells = words.pivot(index="rater", columns="true_class", values="words")
        raters = part.drop_duplicates("rater").set_index("rater")
        cells = cells.rename(columns=dict(zip(label.classes, ("no", "yes"), strict=True)))
        cells[AGREES] = pd.Series(agreement_words(raters), index=raters.index)
        parts.append(cells.loc[worst_first(part)].assign(head=binary_heading(label)).reset_index())
    shown = {"yes": "Sensitivity", "no": "Specificity", **AGREES_HEAD}
    note = f"Lowest mean of the two first. {AGREES_MEANS}"
    what = "sensitivity and specificity"
    return [_table("raters", what, parts, shown, under="head", note=note, marks=marks, of=frame)]


def agreement_words(lines: pd.DataFrame) -> list[str]:
    """Write the raw agreement of each line in per cent, with its interval."""
    numbers = (100 * lines[list(AGREEMENT)].to_numpy(float)).tolist()
    return [
        "none" if np.isnan(middle)
        else f"{middle:.0f}%" + (f" ({low:.0f}-{high:.0f})" if np.isfinite(low) else "")
        for middle, low, high in numbers
    ]  # fmt: skip


def worst_first(part: pd.DataFrame) -> list[str]:
    """Order the raters of a label, the least reliable first.

    Where all lines are in doubt, the rater with the lowest raw agreement comes first.
    """
    doubted = part["doubt"].ne("").all()
    by = part.groupby("rater", sort=False)["agreement" if doubted else "mean"].mean()
    return [str(name) for name in by.sort_values(kind="stable").index]


def agreement_table(found: Agreement) -> Table:
    """Return coefficients of agreement, and what the model expects if there is a fit."""
    table = found.table
    shown = {"statistic": "Coefficient", "observed": "Observed"}
    if table["expected"].notna().any():
        shown["model"] = "Expected by the model"
    ends = {"observed": "value lower upper", "model": "expected expected_lower expected_upper"}
    words = {name: intervals(table, columns.split()) for name, columns in ends.items()}
    notes = " ".join(map(sentence, dict.fromkeys(text for text in table["note"] if text)))
    return table_of(
        "agreement",
        f"Agreement between raters ({percent(found.level)} interval)",
        table.assign(**words),
        shown | {"n_items": "Items"},
        under="label",
        note=f"Cluster bootstrap, {found.draws} samples. {notes}".strip(),
        export=table,
    )


def worth_tables(worth: pd.DataFrame) -> list[Table]:
    """Return a table of the effective numbers of raters; empty if all err independently."""
    if worth.empty:
        return []
    level, reference = worth["level"].iloc[0], worth["reference"].iloc[0]
    table = table_of(
        "worth",
        f"How many independent raters a group is worth ({percent(level)} interval)",
        worth.assign(words=intervals(worth)),
        {"group": "Group", "raters": "Raters", "words": "Independent raters"},
        under="label" if worth["label"].nunique() > 1 else "",
        note="By the model, after Kish's design effect: raters who err on the same items count "
        f"less. Reference: {reference}.",
        export=worth,
    )
    return [table]


def misperceived_said(misperceived: pd.DataFrame) -> list[str]:
    """State how often each group misperceives an item, including groups of one rater."""
    return [
        f"Probability that {line['group']} misperceives an item: {words}"
        f"{told_by_prior(line['prior_share'])}."
        for line, words in zip(lines_of(misperceived), intervals(misperceived), strict=True)
    ]


def consistency_said(consistency: pd.DataFrame) -> str:
    """State how often each rater's repeated rating copies the earlier one, by the model."""
    learned = consistency.dropna(subset="consistency")
    if learned.empty:
        return ""
    words = intervals(learned, ("consistency", "lower", "upper"))
    said = some([f"{name} {told}" for name, told in zip(learned["rater"], words, strict=True)])
    return f"Probability that a repeated rating copies the earlier one (model): {said}."


def copies_said(copied: pd.DataFrame) -> list[str]:
    """State how often raters repeat the answer of another, by the model."""
    return [
        f"By the model, {line['copier']} repeats the answer of {line['source']} on {words} of "
        f"their common items. The reliability of {line['copier']} is that of the other answers."
        for line, words in zip(
            lines_of(copied), intervals(copied.rename(columns={"share": "mean"})), strict=True
        )
    ]


def told_by_prior(share: float) -> str:
    """State the influence of the prior; ``share`` is the posterior's SD over the prior's."""
    if share > PRIOR_DRIVEN:
        return ", from the prior alone"
    return f", mostly from the prior (SD {share:.2f} of the prior's)" * (share > LITTLE)


def drift_table(
    drift: pd.DataFrame,
    sessions: Sequence[str],
    *,
    level: float,
    reference: str,
    export: pd.DataFrame,
) -> Table:
    """Return the change of reliability, a line per label and rater: the largest decrease first."""
    parts = drift.sort_values("change", kind="stable").groupby("label", sort=False)
    words = pd.concat([part for _, part in parts])
    words = words.assign(
        told=intervals(words, ["change", "lower", "upper"], marks=[0.0]),
        **{name: words[name].map("{:.2f}".format) for name in ("first", "last", "p_better")},
    )
    return table_of(
        "drift",
        f"Reliability from {sessions[0]} to {sessions[-1]}: mean ({percent(level)} interval)",
        words,
        {"rater": "Rater", "first": "First session", "last": "Last session",
         "told": "Change", "p_better": "P(better at the end)"},
        under="label",
        note=f"Probability of the right answer, averaged over the classes. Kind raw: "
        f"{KIND_WORDS['raw']}. Reference: {reference}.",
        export=export,
    )  # fmt: skip


def kinds_said(
    kinds: pd.DataFrame, most: int | None = None, *, mode_alone: bool = False
) -> list[str]:
    """Name the raters who are probably adversarial or spammers, at most ``most`` and a count of
    others. ``mode_alone`` fits have no probabilities.
    """
    found = kinds[kinds["given_mode"] != ""]
    if most is not None and len(found) > most:
        shown = found.sort_values("informedness", kind="stable").head(most)
        others = counted(len(found) - most, "more line")
        return [
            *kinds_said(shown, mode_alone=mode_alone),
            f"{others} of adversarial raters or spammers: --json",
        ]
    said = []
    for line in lines_of(found):
        sure, ends = f"P = {line[f'p_{line["given_mode"]}']:.2f}", (line["lower"], line["upper"])
        if not line["behaviour"]:
            sure += f" in the reported mode, which has weight {line['mode_weight']:.2g}"
        if mode_alone:
            sure, ends = "posterior mode only, probability unknown", (np.nan, np.nan)
        number = interval(line["informedness"], *ends)
        said.append(
            f"{called(line['rater'])} on {line['label']}: {line['given_mode']} "
            f"({sure}; informedness {number})."
        )
    return said


def _accuracy_table(accuracy: pd.DataFrame, draws: float | None) -> Table:
    """Return a line per label and rater: accuracy, and the most frequent error."""
    marks: dict[str, str] = {}
    parts = []
    for _, part in accuracy.groupby("label", sort=False):
        worst = part.set_index("rater").loc[worst_first(part)].reset_index()
        mistakes = [
            f"{line['true_class']} as {line['reported_class']}: {line['mistake']:.2f}"
            for line in lines_of(worst)
        ]
        cells = {"words": marked(worst, marks, draws=draws), AGREES: agreement_words(worst)}
        parts.append(worst[["label", "rater"]].assign(**cells, mistakes=mistakes))
    shown = {"words": "Right", **AGREES_HEAD, "mistakes": "Most frequent error"}
    note = (
        f"Worst first; classes are weighted by prevalence. {AGREES_MEANS} An error has the "
        "probability of that answer if the first class is true."
    )
    what = "probability of a right answer"
    return _table(
        "accuracy", what, parts, shown, under="label", note=note, marks=marks, of=accuracy
    )


def _class_table(frame: pd.DataFrame, label: str, draws: float | None) -> Table:
    """Return a label's table: accuracy of each rater by true class, and the most frequent error."""
    marks: dict[str, str] = {}
    raters = frame.drop_duplicates("rater").set_index("rater")
    agree = dict(zip(raters.index, agreement_words(raters), strict=True))
    parts = []
    for true, part in frame.groupby("true_class", sort=False):
        right = part[part["reported_class"] == true].set_index("rater")
        right = right.loc[worst_first(right.reset_index())].reset_index()
        wrong = part[part["reported_class"] != true].sort_values("mean", ascending=False)
        most = wrong.drop_duplicates("rater").set_index("rater").loc[right["rater"]]
        errors = [f"{line['reported_class']}: {line['mean']:.2f}" for line in lines_of(most)]
        own = [agree[rater] for rater in right["rater"]]
        cells = {"words": marked(right, marks, draws=draws), AGREES: own}
        parts.append(right[["rater"]].assign(**cells, errors=errors, head=f"true class {true}"))
    shown = {"words": "Right", **AGREES_HEAD, "errors": "Most frequent error"}
    what, note = f"probability of the right answer to {label}", f"Worst first. {AGREES_MEANS}"
    return _table("raters", what, parts, shown, under="head", note=note, marks=marks, of=frame)


def _table(
    key: str, what: str, parts: Sequence[pd.DataFrame], shown: Mapping[str, str], *, under: str,
    note: str, marks: Mapping[str, str], of: pd.DataFrame,
) -> Table:  # fmt: skip
    """Return parts of lines of raters as a table; level, kind and reference are those ``of``."""
    line = of.iloc[0]
    kind = f"Kind {line['kind']}: {KIND_WORDS[line['kind']]}. Reference: {line['reference']}."
    return table_of(
        key,
        f"Raters: {what}, mean ({percent(line['level'])} interval)",
        pd.concat(parts),
        {"rater": "Rater", **shown},
        under=under,
        note=f"{note} {kind}{BY_AGREEMENT * bool(marks)}",
        marks=marks,
        export=of,
    )
