"""The answer on page one: the question, the best system or the labels, and how sure that is."""

import numpy as np
import pandas as pd

from assay._util.text import (
    chance_cell,
    counted,
    fixed,
    interval,
    intervals,
    lines_of,
    percent,
    some,
)
from assay.comparison.contrasts import SIGNS
from assay.comparison.decisions import chance_said, sign
from assay.reporting.material import Material

MOST_WORDS = 25
"""Most words in a sentence of the answer."""


def shortest(*texts: str) -> str:
    """Return the first text of at most 25 words, or else the last one."""
    return next((text for text in texts if len(text.split()) <= MOST_WORDS), texts[-1])


def of_claims(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty of the first claim, if there are claims."""
    first, *others = material.verdicts
    chance = f"P {chance_said(first.probability)}"
    best = f"{first.verdict.capitalize()}: {first.claim.text} ({chance})."
    if others:
        held = sum(r.verdict == "supported" for r in material.verdicts)
        best = f"{held} of {len(material.verdicts)} claims are supported. {best}"
    subject = material.titles.get(first.metric, first.metric)
    if first.claim.other is not None:
        subject = f"{first.claim.subject} on {subject}"
    elif first.claim.system is not None:
        subject = f"{subject} of {first.claim.system}"
    told = interval(first.mean, first.lower, first.upper)
    sure = f"{subject} is {told}, {percent(first.level)} interval."
    if np.isnan(first.probability):
        sure = f"{subject} is undefined in all draws."
    return (
        f"Is it true that {first.claim.text}?",
        shortest(best, f"{first.verdict.capitalize()}."),
        sure,
    )


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
    """Return answer and certainty if no system can be called best."""
    size = pairs["difference"].abs()
    if size.isna().all():
        return "No difference between two systems is defined.", "Unknown."
    largest = pairs.loc[[size.idxmax()]]
    line = lines_of(largest)[0]
    misleads = bool((pairs["doubt"] != "").all())
    why = "every metric may mislead" if misleads else "no metric has a better direction"
    columns = ("difference", "difference_lower", "difference_upper")
    (told,) = intervals(largest, columns, draws=material.worth_draws, marks=[0.0])
    about = f"{line['a']} - {line['b']} is {told}, {percent(line['level'])} interval"
    ends = line["difference_lower"], line["difference_upper"]
    sure = (
        "they may be equal"
        if not sign(*ends)
        else ("but it may mislead, see the box" if line["doubt"] else "its sign is clear")
    )
    return (
        shortest(
            f"No system can be called best because {why}. The systems differ most on "
            f"{material.titles[line['metric']]}.",
            f"No system can be called best because {why}.",
        ),
        shortest(f"{about}; {sure}.", f"{about}."),
    )


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
        told = [f"{first} is better than {other} on {some(won, 2)}"] * bool(won)
        told += [f"{other} is better than {first} on {some(lost, 2)}"] * bool(lost)
        rest = count - len(won) - len(lost)
        is_open = [f"{rest} of {count} metrics are undecided"] * bool(rest)
        best = shortest(
            f"{'; '.join([*told, *is_open])}.",
            f"{'; '.join(told)}.",
            f"{first} is clearly better on {len(won)}, {other} on {len(lost)} of {count} metrics.",
        )
    return best, _chances_said(material, first, usable[mine], chances[mine])


def _chances_said(material: Material, first: str, lines: pd.DataFrame, chances: pd.Series) -> str:
    """State the probability that a system is better, over the metrics."""
    if len(lines) == 1:
        return f"P({first} is better) {chance_said(chances.iloc[0])}."
    least, most = chance_cell(chances.min()), chance_cell(chances.max())
    if least == most:
        return f"P({first} is better) {chance_said(chances.min())} on all of them."
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
        loss = fixed(mine["expected_loss"].iloc[0], 3)
        return best, (
            f"P(best) {chance_said(chances.iloc[0])}; the expected loss against the best system "
            f"is {loss}."
        )
    least, most = chance_cell(chances.min()), chance_cell(chances.max())
    if least == most:
        return best, f"P({first} is best) {chance_said(chances.min())} on all of these metrics."
    return best, f"P({first} is best) is between {least} and {most} on these metrics."


def of_one(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty if no systems are compared, which the answer says."""
    ratings, table = material.ratings, material.summaries["population"]
    lines = lines_of(table)
    names = some([one.name for one in ratings.task.labels], 3)
    first = next((line for line in lines if line["mean"] == line["mean"]), None)
    if first is None:
        best = "No metric of this task is defined on these items."
    else:
        # The answer is the second of two classes, or the most frequent of several.
        known = [line for line in lines if line["mean"] == line["mean"]]
        last = known[-1] if len(known) == 2 else max(known, key=lambda line: line["mean"])
        told = interval(last["mean"], last["lower"], last["upper"])
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


def _alone(material: Material) -> str:
    """State why no systems are compared."""
    systems = material.ratings.systems
    return f"{systems[0]} is the only system" if systems else "no systems are compared"


def better_chances(pairs: pd.DataFrame) -> list[float]:
    """Return P(first is better) of each pair; P(first is higher) without a direction."""
    lower = pairs["better"] == "lower"
    less = 1 - pairs["p_greater"] - pairs["p_equal"]
    return [float(p) for p in pairs["p_greater"].where(~lower, less)]
