"""Section: metrics with both estimands, beside the naive numbers."""

import numpy as np
import pandas as pd

from assay._util.words import interval, lines_of, marked, notes_said, percent, with_undefined
from assay.display.notes import estimands_said, panels_said
from assay.inference.fit_arguments import MODES_ALONE
from assay.plots.metrics import draw_metrics
from assay.reporting.material import Material
from assay.reporting.page import Block, Finding, Gap, Picture, Section, by_metric, prose, table_of
from assay.reporting.svg import WIDTH, to_svg
from assay.validation.equal_difficulty import difficulty_sentence

WEIGHT = 1.0
ALIKE = "ratings read without their weights (weight=''), if all items may count alike"
FIRST = 1000.0
"""Of a finding that says that a number rests on the model: it stands before all others."""


def metrics_section(material: Material) -> Section:
    """Report the metrics with both estimands, beside those of a majority vote."""
    summaries, vote = material.summaries, material.vote
    figure = draw_metrics(summaries, vote, width=WIDTH)
    weights = material.ratings.items["weight"]
    about = estimands_said(summaries, weights.tolist())
    panels = panels_said(material.draws["finite"])
    note = f"Estimand {about}. Reference: {material.reference}.{panels}"
    caption = (
        "Posterior means, and the majority vote with its cluster bootstrap, with "
        f"{percent(material.level)} intervals. {note}"
    )
    words = "The task's metrics from the model and from a majority vote; the table has them."
    blocks: list[Block] = [
        prose(
            f"{_held(material)} Those of the majority vote take the vote for the truth"
            f"{', by design weights' if weights.nunique() > 1 else ''}."
        ),
        Picture(svg=to_svg(figure, name="metrics", words=words), caption=caption),
        _table(summaries, vote, note, material.level),
    ]
    # Where the data tell nothing of errors, a gap to the majority vote is the prior's; where design
    # weights differ, it may be theirs, which count in the vote and not in these items.
    untold = material.data_check.at_least("problem") or weights.nunique() > 1
    off = [] if untold else _off(summaries["finite"], vote, material.level)
    if len(material.equal_difficulty):
        text = difficulty_sentence(material.equal_difficulty)
        off.append(Finding(weight=FIRST, text=text, section="metrics", code="equal-difficulty"))
    return Section(
        key="metrics",
        title="Metrics",
        blocks=tuple(blocks),
        findings=tuple(off),
        gaps=_left_out(material),
    )


def _left_out(material: Material) -> tuple[Gap, ...]:
    """Name the metrics of the task that cannot count the design weights."""
    said = material.draws["finite"].attrs
    if "left_out" not in said:
        return ()
    why = str(said["left_out_because"]).removesuffix(".")
    return (
        Gap(
            what=", ".join(said["left_out"]),
            why=why[0].lower() + why[1:],
            enable=ALIKE,
            code="uneven-design-weights",
        ),
    )


def _held(material: Material) -> str:
    """Say what the model's intervals hold: at a mode the parameters stand still."""
    held = "The model's intervals hold what is not known of the labels"
    if material.fit.attrs["method"] not in MODES_ALONE:
        return f"{held} and of the raters."
    return (
        f"{held}, and nothing of what is not known of the raters and the prevalence: they are too "
        f"narrow (method {material.fit.attrs['method']}; nuts has both)."
    )


def _table(
    summaries: dict[str, pd.DataFrame], vote: pd.DataFrame, note: str, level: float
) -> Block:
    keys = ["metric", "system"]
    notes: dict[str, str] = {}
    told = {name: _cells(frame.set_index(keys), notes) for name, frame in summaries.items()}
    naive = _cells(vote.rename(columns={"value": "mean"}).assign(doubt="").set_index(keys), notes)
    joined = pd.DataFrame(told | {"naive": naive}).reset_index()
    heads = {name: f"Model, {name}" for name in summaries} | {"naive": "Majority vote"}
    shown, under = by_metric(joined, heads)
    others = _other_estimands(summaries)
    export = pd.concat(
        [*summaries.values(), vote.rename(columns={"value": "mean"}).assign(estimand="vote")]
    )
    return table_of(
        "metrics",
        f"Metrics: posterior mean ({percent(level)} interval)",
        joined,
        shown,
        under=under,
        note=f"{note}{others}{notes_said(notes)}",
        export=export,
    )


def _cells(frame: pd.DataFrame, notes: dict[str, str]) -> pd.Series:
    """Write each line's estimate, marked where it may mislead; undefined draws are counted."""
    texts = with_undefined(marked(frame, notes), frame["undefined"])
    return pd.Series(texts, index=frame.index)


def _other_estimands(summaries: dict[str, pd.DataFrame]) -> str:
    """Say where a metric's estimand is another than its column's."""
    said = []
    for name, frame in summaries.items():
        for estimand, part in frame[frame["estimand"] != name].groupby("estimand", sort=False):
            metrics = ", ".join(dict.fromkeys(part["metric"]))
            said.append(f" {metrics}: {estimand}.")
    return "".join(said)


def _off(finite: pd.DataFrame, vote: pd.DataFrame, level: float) -> list[Finding]:
    """Find the metric whose majority vote lies farthest outside the model's interval."""
    keys = ["metric", "system"]
    both = finite.merge(vote[[*keys, "value"]], on=keys)
    outside = both[(both["value"] < both["lower"]) | (both["value"] > both["upper"])]
    if outside.empty:
        return []
    distance = (outside["value"] - outside["mean"]).abs() / outside["sd"].clip(lower=1e-9)
    line = lines_of(outside.loc[[distance.idxmax()]])[0]
    where = f" of {line['system']}" if line["system"] else ""
    told = interval(line["mean"], line["lower"], line["upper"])
    more = f" The same holds for {len(outside) - 1} more." if len(outside) > 1 else ""
    more += f" The model's number may mislead: {line['doubt']}." if line["doubt"] else ""
    text = (
        f"Counting the majority's answers gives {line['metric']}{where} = {line['value']:.2f}; "
        f"with the raters' errors taken into account it is {told} ({percent(level)} interval, "
        f"estimand finite), which does not hold that value.{more}"
    )
    return [
        Finding(
            weight=WEIGHT * float(np.log1p(distance.max())),
            text=text,
            section="metrics",
            code="majority-vote-off",
            numbers={
                "vote": line["value"],
                "mean": line["mean"],
                "lower": line["lower"],
                "upper": line["upper"],
            },
        )
    ]
