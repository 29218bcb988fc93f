"""Page one: the question, three sentences with the answer, a figure, a table, the data."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.text import (
    chance_cell,
    column_decimals,
    counted,
    fixed,
    interval,
    intervals,
    lines_of,
    percent,
    some,
    without_folders,
)
from assay.comparison.claim_tests import about_more
from assay.comparison.contrasts import SIGNS
from assay.comparison.decisions import chance_said, sign
from assay.display.table import Table, table_of
from assay.evaluation.widths import OVERLAP
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import is_consensus
from assay.plots.metrics import draw_comparison, draw_metrics
from assay.plots.raters import weakest_words
from assay.plots.style import Series, forest
from assay.raters.standing import ALL_LABELS
from assay.reporting.comparisons import FRONT_LINES
from assay.reporting.material import Material
from assay.reporting.metrics import BINDS, COLUMNS
from assay.reporting.page import WIDTH, Finding, Front, Picture, to_svg

MOST_WORDS = 25
"""Most words in a sentence of the answer."""
CAUTION_WEIGHT = 75.0
"""Weight from which a finding is a caution on the answer."""
SHOWN_LINES = FRONT_LINES
FIGURE_LINES = 12
MARGIN = 0.01
"""Share by which more data have to narrow an interval to be mentioned."""


def front_of(material: Material, findings: Sequence[Finding]) -> Front:
    """Write page one; ``findings`` are those of all sections, the heaviest first."""
    several = len(material.ratings.systems) > 1
    question, best, sure = _of_systems(material) if several else _of_one(material)
    if material.claims:
        question, best, sure = _of_claims(material)
    table, picture = _shown(material) if several else (_metrics_table(material), None)
    return Front(
        question=question,
        sentences=(
            ("Answer", best),
            ("How sure", sure),
            ("What would change it", _what_would_change_it(material)),
        ),
        cautions=_cautions(material, findings),
        picture=picture if several else _raters_picture(material),
        table=table,
        data=_data(material),
    )


def shortest(*texts: str) -> str:
    """Return the first text of at most 25 words, or else the last one."""
    return next((text for text in texts if len(text.split()) <= MOST_WORDS), texts[-1])


def _of_claims(material: Material) -> tuple[str, str, str]:
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


def _of_systems(material: Material) -> tuple[str, str, str]:
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
    line = lines_of(pairs.loc[[size.idxmax()]])[0]
    misleads = bool((pairs["doubt"] != "").all())
    why = "every metric may mislead" if misleads else "no metric has a better direction"
    told = interval(*(line[f"difference{end}"] for end in ("", "_lower", "_upper")))
    about = f"{line['a']} - {line['b']} is {told}, {percent(line['level'])} interval"
    ends = line["difference_lower"], line["difference_upper"]
    sure = (
        "they may be equal"
        if not sign(*ends)
        else ("its sign depends on doubtful labels" if line["doubt"] else "its sign is clear")
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
    chances = pd.Series(_better_chances(usable), usable.index)
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


def _of_one(material: Material) -> tuple[str, str, str]:
    """Return question, answer and certainty if no systems are compared."""
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
        best = f"{material.titles[last['metric']]}: {told}, {percent(material.level)} interval."
    frame = material.labels
    sure = float((frame["probability"] >= material.level).mean())
    return (
        f"What are the true labels of the items ({names})?",
        best,
        f"{sure:.0%} of {counted(len(frame), 'label')} are known with probability "
        f"{material.level:.2f} or more.",
    )


def _what_would_change_it(material: Material) -> str:
    """State what is unknown, and which data would help."""
    unknown, more = _unknown(material), _more_data(material)
    if unknown and more:
        return shortest(f"{unknown}; {more}.", f"{unknown}.")
    return f"{unknown or more or 'More ratings or clusters would narrow the intervals'}."


def _unknown(material: Material) -> str:
    """State which data would reveal errors in the reference; empty if some truth is known."""
    if material.n_known:
        return ""
    if is_consensus(material.reference):
        return "Known truth of some items would reveal errors that all raters share"
    return f"Known truth of some items would reveal errors of the {material.reference}"


def _more_data(material: Material) -> str:
    """State which data would decide the claim, or narrow the intervals most; empty if unknown."""
    decides = next((r.would_decide for r in material.verdicts[:1] if r.would_decide), None)
    if decides and decides.ratings_per_item:
        more = about_more(decides.ratings_per_item, "rating")
        return f"about {more} of each item would decide the claim if the estimate stays"
    if decides and decides.clusters:
        more = about_more(decides.clusters, "cluster")
        return f"about {more} would decide the claim if the estimate stays"
    if not material.budget:
        return ""
    widths = material.widths
    if (widths["binds"] == OVERLAP).any():
        return "second ratings of some items would help most"
    bound = widths[widths["binds"].isin(list(COLUMNS)) & (widths["width"] > 0)]
    if bound.empty:
        return ""
    most = str(bound["binds"].mode().iloc[0])
    lines = bound[bound["binds"] == most]
    shrink = float((1 - lines[COLUMNS[most]] / lines["width"]).mean())
    return f"{BINDS[most]} would narrow the intervals by {shrink:.0%}" if shrink >= MARGIN else ""


def _cautions(material: Material, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the cautions on the answer: the heaviest, and the number of others."""
    said = [f.text for f in findings if f.weight >= CAUTION_WEIGHT and f.code != "claim-checked"]
    tables = [material.summaries["population"]]
    tables += [material.comparison.pairs] if len(material.ratings.systems) > 1 else []
    doubts = [part for table in tables for text in table["doubt"] for part in text.split("; ")]
    if reasons := "; ".join(dict.fromkeys(filter(None, doubts))):
        said.append(f"Metrics marked * support no conclusion ({reasons}).")
    if len(said) > 2:
        return said[0], f"For {counted(len(said) - 1, 'more warning')}, see the appendix."
    return tuple(said)


def _better_chances(pairs: pd.DataFrame) -> list[float]:
    """Return P(first is better) of each pair; P(first is higher) without a direction."""
    lower = pairs["better"] == "lower"
    less = 1 - pairs["p_greater"] - pairs["p_equal"]
    return [float(p) for p in pairs["p_greater"].where(~lower, less)]


def _shown(material: Material) -> tuple[Table, Picture]:
    """Return the table and the figure of a comparison of systems."""
    found = material.comparison
    several = len(material.order) > 2
    if several and material.baseline is None:
        return _systems_table(material), _systems_picture(material)
    pairs = found.pairs.dropna(subset=["difference"]).head(SHOWN_LINES)
    words = "Differences between systems: density, mean and interval"
    svg = to_svg(
        draw_comparison(found, material.titles, width=WIDTH, most=SHOWN_LINES),
        name="answer", words=words,
    )  # fmt: skip
    return _pairs_table(material, pairs), Picture(svg=svg, caption=f"{words}.")


def _pairs_table(material: Material, pairs: pd.DataFrame) -> Table:
    """Return a line per metric and pair: means, difference, and probability."""
    systems = material.comparison.systems.set_index(["metric", "system"])["mean"]
    one = pairs[["a", "b"]].drop_duplicates().shape[0] == 1
    first, second = pairs["a"].iloc[0], pairs["b"].iloc[0]
    words = pairs.assign(
        what=[material.titles[m] + " *" * bool(d) for m, d in
              zip(pairs["metric"], pairs["doubt"], strict=True)],
        mean_a=[fixed(systems[m, s], 2) for m, s in zip(pairs["metric"], pairs["a"], strict=True)],
        mean_b=[fixed(systems[m, s], 2) for m, s in zip(pairs["metric"], pairs["b"], strict=True)],
        gap=intervals(
            pairs, ("difference", "difference_lower", "difference_upper"),
            draws=material.worth_draws, marks=[0.0],
        ),
        chance=list(map(chance_cell, _better_chances(pairs))),
    )  # fmt: skip
    directed = pairs["better"].isin(SIGNS)
    chance = "P(first better)" if directed.all() else "P(first higher)"
    if one:
        shown = {"what": "Metric", "mean_a": first, "mean_b": second, "gap": f"{first} - {second}",
                 "chance": chance.replace("first", first)}  # fmt: skip
        under = ""
    else:
        shown = {"a": "System", "mean_a": "Mean", "gap": f"Difference from {material.baseline}",
                 "chance": chance.replace("first ", "")}  # fmt: skip
        under = "what"
    lower = [
        material.titles[m] for m in dict.fromkeys(pairs.loc[pairs["better"] == "lower", "metric"])
    ]
    note = f"Lower is better: {some(lower, 3)}." if lower else ""
    level = percent(material.level)
    return table_of(
        "answer", f"Posterior means, and differences with {level} intervals", words, shown,
        under=under, note=note, export=pairs,
    )  # fmt: skip


def _systems_table(material: Material) -> Table:
    """Return the values of three systems or more, and which is best."""
    systems = material.comparison.systems
    metrics = list(dict.fromkeys(systems["metric"]))
    order = {name: place for place, name in enumerate(material.order)}
    rows = pd.DataFrame({"system": material.order[:SHOWN_LINES]})
    shown = {"system": "System"}
    for metric in metrics[:3]:
        part = systems[systems["metric"] == metric].set_index("system").loc[material.order]
        texts = dict(zip(part.index, intervals(part, draws=material.worth_draws), strict=True))
        mark = " *" * bool((part["doubt"] != "").any())
        rows[metric] = [texts[name] for name in rows["system"]]
        shown[metric] = material.titles[metric] + mark
        if len(metrics) == 1 and part["p_best"].notna().all():
            rows["p_best"] = [chance_cell(part["p_best"][name]) for name in rows["system"]]
            rows["loss"] = [fixed(part["expected_loss"][name], 3) for name in rows["system"]]
            shown |= {"p_best": "P(best)", "loss": "Expected loss"}
    left = len(order) - len(rows), len(metrics) - 3
    note = " ".join(
        f"{counted(n, f'more {what}')} below."
        for n, what in zip(left, ("system", "metric"), strict=True)
        if n > 0
    )
    caption = f"Posterior mean ({percent(material.level)} interval)"
    return table_of("answer", caption, rows, shown, note=note, export=systems)


def _systems_picture(material: Material) -> Picture:
    """Draw the systems on as many metrics as fit."""
    table = material.summaries["population"]
    room = max(1, FIGURE_LINES // max(1, len(material.order)))
    metrics = list(dict.fromkeys(table["metric"]))[:room]
    part = table[table["metric"].isin(metrics)]
    part = part.assign(
        metric=part["metric"].map(material.titles),
        place=part["system"].map({name: n for n, name in enumerate(material.order)}),
    )
    part = part.groupby("metric", sort=False, group_keys=False)[list(part)].apply(
        lambda lines: lines.sort_values("place").head(FIGURE_LINES)
    )
    figure = draw_metrics({"population": part}, None, width=WIDTH)
    words = "Values of the systems, with intervals"
    return Picture(svg=to_svg(figure, name="answer", words=words), caption=f"{words}.")


def _metrics_table(material: Material) -> Table:
    """Return the metrics of all items and those of the majority vote."""
    table = material.summaries["population"].head(SHOWN_LINES)
    vote = material.vote.set_index("metric").loc[table["metric"]].reset_index()
    vote = vote.rename(columns={"value": "mean"})
    columns = ["mean", "lower", "upper"]
    told = intervals(table, draws=material.worth_draws)
    numbers = table[columns].to_numpy(float)
    decimals = column_decimals(numbers, sd=table["sd"].tolist(), draws=material.worth_draws)
    words = table.assign(
        what=[material.titles[m] + " *" * bool(d) for m, d in
              zip(table["metric"], table["doubt"], strict=True)],
        told=told,
        naive=[interval(a, b, c, decimals) for a, b, c in vote[columns].to_numpy(float)],
    )  # fmt: skip
    shown = {"what": "Metric", "told": "Model", "naive": "Majority vote"}
    caption = f"Posterior mean ({percent(material.level)} interval)"
    return table_of("answer", caption, words, shown, export=table)


def _raters_picture(material: Material) -> Picture:
    """Draw the reliability of the raters, the weakest first."""
    table = _overall(material)
    doubted = table["doubt"].ne("").any()
    shown = table.sort_values("mean", kind="stable").head(FIGURE_LINES)
    index = pd.MultiIndex.from_arrays([[""] * len(shown), shown["rater"]])
    values = shown.set_index(index)[["mean", "lower", "upper"]]
    label = f"chance of a right answer, {percent(material.level)} interval"
    label += weakest_words(len(shown), len(table), "\n") + "\n* may mislead" * bool(doubted)
    figure = forest([Series(name="raters", values=values)], label=label, width=WIDTH)
    words = "How often each rater is right"
    return Picture(svg=to_svg(figure, name="answer", words=words), caption=f"{words}.")


def _overall(material: Material) -> pd.DataFrame:
    """Return the standing of each rater over all labels."""
    table = material.standing
    whole = table[table["label"] == ALL_LABELS]
    return whole if len(whole) else table


def _data(material: Material) -> str:
    """Describe the data, the reference, and the weakest rater."""
    ratings, accounting = material.ratings, material.ratings.accounting
    clusters = ratings.items["cluster"].nunique()
    parts = [
        f"{counted(len(ratings.answers), 'rating')} of {counted(len(ratings.items), 'item')} by "
        f"{counted(len(ratings.raters), 'rater')}"
    ]
    if clusters < len(ratings.items):
        parts.append(f" in {counted(clusters, 'cluster')}")
    if accounting.rows_read:
        parts.append(
            f", read from {without_folders(accounting.source)} with "
            f"{counted(len(accounting.set_aside), 'row')} set aside"
        )
    return f"{''.join(parts)}. Truth: {material.reference}.{weakest_said(material)}"


def weakest_said(material: Material) -> str:
    """Name the weakest rater; empty if labels are in doubt or there is one rater."""
    whole = _overall(material)
    whole = whole[(whole["doubt"] == "") & whole["mean"].notna()]
    if whole["rater"].nunique() < 2:
        return ""
    line = lines_of(whole.loc[[whole["mean"].idxmin()]])[0]
    chance = (
        ""
        if material.view.attrs["method"] in MODES_ALONE
        else (f", P(worse than the median rater) {chance_said(line['p_worse'])}")
    )
    return f" Weakest rater: {line['rater']}, right in {line['mean']:.0%} of cases{chance}."
