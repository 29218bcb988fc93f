"""The answer on page one: the question, the best system or the labels, and how sure that is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from assay._util.text import (
    chance_cells,
    counted,
    does,
    fixed,
    interval,
    lines_of,
    percent,
    some,
)
from assay.checks.departures.report import TEAMS
from assay.comparison import ClaimResult
from assay.comparison.contrasts import SIGNS
from assay.comparison.decisions import chance_said, sign
from assay.display.notes import doubts
from assay.inference.data_doubts import has_layer_for
from assay.inference.label_doubts import doubts_by_label
from assay.reporting.material import GAP, Material
from assay.reporting.remedies import BRIEFLY

LEAST_LOSS = 0.0005
"""Expected loss against the best system that is not 0 in three decimals."""
MOST_WORDS = 25
"""Most words in a sentence of the answer."""


def shortest(*texts: str) -> str:
    """Return the first text of at most 25 words, or else the last one."""
    return next((text for text in texts if len(text.split()) <= MOST_WORDS), texts[-1])


def of_claims(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty of the first claim, if there are claims."""
    first, *others = material.verdicts
    chance = f"P {chance_said(first.probability, material.level)}"
    best = f"{first.verdict.capitalize()}: {first.claim.text} ({chance})."
    if others:
        held = sum(r.verdict == "supported" for r in material.verdicts)
        best = f"{held} of {len(material.verdicts)} claims are supported. {best}"
    subject = material.titles.get(first.metric, first.metric)
    if first.claim.other is not None:
        times = f"{first.claim.factor:g} * " * (first.claim.factor != 1)
        subject = f"{first.claim.system} minus {times}{first.claim.other} in {subject}"
    elif first.claim.system is not None:
        subject = f"{subject} of {first.claim.system}"
    told = interval(first.mean, first.lower, first.upper, _decimals_of_claim(material, first))
    sure = f"{subject} is {told}, {percent(first.level)} interval."
    if np.isnan(first.probability):
        sure = f"{subject} is undefined in all draws."
    return (
        f"Is it true that {first.claim.text}?",
        shortest(best, f"{first.verdict.capitalize()}."),
        sure,
    )


def _decimals_of_claim(material: Material, claimed: ClaimResult) -> int | None:
    """Return the decimals of the page for a difference of two systems; None for other numbers."""
    metrics = material.comparison.pairs["metric"] if claimed.claim.other is not None else ()
    return material.gap_decimals if claimed.metric in set(metrics) else None


def of_systems(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty for a comparison of systems."""
    pairs, order = material.comparison.pairs, material.order
    if material.baseline is not None:
        question = f"Which system is better than {material.baseline}?"
    elif len(order) == 2:
        question = f"Which is better, {order[0]} or {order[1]}?"
    else:
        question = f"Which of {len(order)} systems is best?"
    clear = pairs["better"].isin(SIGNS) & (pairs["doubt"] == "")
    usable = pairs[clear & pairs["difference"].notna()]
    systems = material.comparison.systems
    ranked = systems[
        systems["better"].isin(SIGNS) & (systems["doubt"] == "") & systems["expected_loss"].notna()
    ]
    many = material.baseline is None and len(order) > 2
    if (ranked if many else usable).empty:
        return question, *_without_a_best(material, pairs)
    if many:
        return question, *_best_of_many(material, ranked)
    return question, *_better_of_two(material, usable)


def _without_a_best(material: Material, pairs: pd.DataFrame) -> tuple[str, str]:
    """Return answer and certainty if no system can be called best: the largest difference."""
    if pairs["difference"].isna().all():
        return "No difference between two systems is defined.", "Unknown."
    line = largest_line(material, pairs)
    title, lower = material.titles[line["metric"]], line["better"] == "lower"
    first, *others = _values(material, line)
    clear = sign(line["difference_lower"], line["difference_upper"]) != 0
    # Two intervals are apart if they have no value in common.
    apart = all(
        first["lower"] > other["upper"] or other["lower"] > first["upper"] for other in others
    )
    way = f" ({line['better']} is better)" * (line["better"] in SIGNS)
    about = (
        f"{line['a']} minus {line['b']} in {title}{way}: {gap_said(material, line)}, "
        f"{percent(line['level'])} interval."
    )
    word = (
        ("lower" if lower else "higher") if len(others) == 1 else ("lowest" if lower else "highest")
    )
    highest = f"{first['system']} has the {word} {title}"
    if not line["doubt"]:
        told = f"{highest}." if clear else f"No system has a clearly {word} {title}."
        return told, about
    why, about = _why_marked(material), f"{about} {_left_out(material)}"
    if apart and why:
        return f"{highest}. This lead is not certain because {why}.", about
    why = why or "every metric may mislead"
    return f"No system can be called best because {why}.", about


def _left_out(material: Material) -> str:
    """State which reasons in the box the interval leaves out: those the model does not cover."""
    codes = [note.code for note in doubts(material.view)]
    covered = [code for code in codes if has_layer_for(code, material.view.spec)]
    if not covered:
        return "The interval leaves out the reasons in the box."
    if set(codes) == set(covered):
        return "The interval includes the reasons in the box."
    names = " and that ".join(dict.fromkeys(BRIEFLY[c] for c in covered if c in BRIEFLY))
    return f"The interval includes that {names}, and leaves out the other reasons in the box."


def largest_line(material: Material, pairs: pd.DataFrame) -> dict[str, Any]:
    """Return the largest difference; without a baseline, that of the two leading systems there."""
    line = lines_of(pairs.loc[[pairs["difference"].abs().idxmax()]])[0]
    if material.baseline is not None:
        return line
    both = {one["system"] for one in _values(material, line)[:2]}
    same = lines_of(pairs[pairs["metric"] == line["metric"]])
    return next(one for one in same if {one["a"], one["b"]} == both)


def _values(material: Material, line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the values of the systems on the metric of a line, the best first."""
    systems = material.comparison.systems
    part = systems[systems["metric"] == line["metric"]]
    return lines_of(part.sort_values("mean", ascending=line["better"] == "lower"))


def _why_marked(material: Material) -> str:
    """State why differences of systems are marked, if their sign may still be clear."""
    if material.mark:
        return "this fit is not to be relied on yet"
    if doubts_by_label(material.view):
        return ""
    codes = {note.code for note in doubts(material.view)}
    return "" if TEAMS in codes else next((BRIEFLY[c] for c in BRIEFLY if c in codes), "")


def gap_said(material: Material, line: Mapping[str, Any]) -> str:
    """Write a difference with its interval, with the decimals of all differences of the page."""
    middle, lower, upper = (line[name] for name in GAP)
    return interval(middle, lower, upper, material.gap_decimals)


def _better_of_two(material: Material, usable: pd.DataFrame) -> tuple[str, str]:
    """Compare one system with another on the metrics that have a direction."""
    upward = usable["better"].map(SIGNS)
    ends = zip(usable["difference_lower"], usable["difference_upper"], strict=True)
    signs = upward * [sign(*pair) for pair in ends]
    chances = pd.Series(better_chances(usable), usable.index)
    first = usable["a"].iloc[int(np.argmax(chances))] if material.baseline else usable["a"].iloc[0]
    mine = usable["a"] == first
    other = usable.loc[mine, "b"].iloc[0]
    won = [material.titles[m] for m in usable.loc[mine & (signs > 0), "metric"]]
    lost = [material.titles[m] for m in usable.loc[mine & (signs < 0), "metric"]]
    count, ahead = int(mine.sum()), int((chances[mine] > 0.5).sum())
    if not won and not lost:
        best = shortest(
            f"Neither is clearly better: {first} is ahead of {other} on {ahead} of "
            f"{counted(count, 'metric')}, but every interval of a difference includes 0.",
            f"Neither is clearly better: on {counted(count, 'metric')} every interval includes 0.",
        )
    else:
        rest = count - len(won) - len(lost)
        is_open = [f"{rest} of {count} metrics {does(rest, 'are')} undecided"] * bool(rest)
        told = [f"{first} is better than {other} on {', '.join(won)}"] * bool(won)
        told += [f"{other} is better than {first} on {', '.join(lost)}"] * bool(lost)
        few = [f"{first} is better than {other} on {len(won)}"] * bool(won)
        few += [f"{other} is better than {first} on {len(lost)}"] * bool(lost)
        best = shortest(
            f"{'; '.join([*told, *is_open])}.",
            f"{'; '.join(told)}.",
            f"{'; '.join(few)} of {count} metrics (see the table).",
        )
    return best, _chances_said(material, first, usable[mine], chances[mine])


def _chances_said(material: Material, first: str, lines: pd.DataFrame, chances: pd.Series) -> str:
    """State the probability that a system is better, over the metrics."""
    if len(lines) == 1:
        return f"P({first} is better) {chance_said(chances.iloc[0], material.level)}."
    least, most = chance_cells([chances.min(), chances.max()], material.level)
    if least == most:
        return f"P({first} is better) {chance_said(chances.min(), material.level)} on all of them."
    at = int(np.argmin(chances)), int(np.argmax(chances))
    low, high = (material.titles[lines["metric"].iloc[n]] for n in at)
    return shortest(
        f"P({first} is better) is between {least} ({low}) and {most} ({high}).",
        f"P({first} is better): {least} to {most}.",
    )


def _best_of_many(material: Material, ranked: pd.DataFrame) -> tuple[str, str]:
    """Name the system with the least expected loss on each metric that ranks them."""
    chosen = ranked.loc[ranked.groupby("metric", sort=False)["expected_loss"].idxmin()]
    wins = chosen["system"].value_counts()
    first, count = str(wins.index[0]), len(chosen)
    mine = chosen[chosen["system"] == first]
    sure = mine[mine["p_best"] > (1 + material.level) / 2]
    of = (
        f"on {wins.iloc[0]} of {count} metrics"
        if count > 1
        else (f"on {material.titles[mine['metric'].iloc[0]]}")
    )
    how = (
        "clearly so"
        if len(sure) == len(mine)
        else (f"clearly on {len(sure)}" if len(sure) else "though not clearly")
    )
    best = f"{first} has the best value {of}, {how}."
    chances = mine["p_best"]
    if len(mine) == 1:
        loss, sure_said = mine["expected_loss"].iloc[0], f"P({first} is best)"
        sure_said += f" {chance_said(chances.iloc[0], material.level)}"
        lose = f"; choosing it loses {fixed(loss, 3)} on average, counted as 0 where it is best"
        return best, f"{sure_said}{lose * bool(loss >= LEAST_LOSS)}."
    least, most = chance_cells([chances.min(), chances.max()], material.level)
    if least == most:
        told = chance_said(chances.min(), material.level)
        return best, f"P({first} is best) {told} on all of these metrics."
    return best, f"P({first} is best) is between {least} and {most} on these metrics."


def of_one(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty if no systems are compared, which the answer says."""
    ratings = material.ratings
    names = some([one.name for one in ratings.task.labels], 3)
    last = main_line(material)
    if not last:
        best = "No metric of this task is defined on these items."
    else:
        told = interval(last["mean"], last["lower"], last["upper"], material.value_decimals)
        told += " *" * bool(last["doubt"])
        value = f"{material.titles[last['metric']]}: {told}, {percent(material.level)} interval"
        best = shortest(f"{value}; {_alone(material)}.", f"{value}.")
    frame = material.labels
    sure = float((frame["probability"] >= material.level).mean())
    return (
        f"What are the true labels of the items ({names})?",
        best,
        f"The answer has its interval; of {counted(len(frame), 'single label')}, {sure:.0%} are "
        f"known with probability {material.level:.2f} or more.",
    )


def main_line(material: Material) -> dict[str, Any]:
    """Return the number that is the answer without systems; empty if none is defined.

    It is that of the most frequent class of one label, or else the first.
    """
    lines = lines_of(material.summaries["population"].dropna(subset=["mean"]))
    shares = all(line["metric"].startswith("prevalence[") for line in lines)
    if shares and len(material.ratings.task.labels) == 1:
        return max(lines, key=lambda line: line["mean"], default={})
    return lines[0] if lines else {}


def _alone(material: Material) -> str:
    """State why no systems are compared."""
    systems = material.ratings.systems
    return f"{systems[0]} is the only system" if systems else "no systems are compared"


def better_chances(pairs: pd.DataFrame) -> list[float]:
    """Return P(first is better) of each pair; P(first is higher) without a direction."""
    lower = pairs["better"] == "lower"
    less = 1 - pairs["p_greater"] - pairs["p_equal"]
    return [float(p) for p in pairs["p_greater"].where(~lower, less)]
