"""Page one: the question, sentences with the answer, a figure, a table, the data."""

from collections.abc import Sequence

import pandas as pd

from assay._util.text import (
    chance_cell,
    column_decimals,
    counted,
    fixed,
    interval,
    intervals,
    percent,
    some,
    without_folders,
)
from assay.comparison.contrasts import SIGNS
from assay.display.table import Table, table_of
from assay.plots.metrics import draw_comparison, draw_metrics
from assay.plots.raters import weakest_words
from assay.plots.style import Series, forest
from assay.reporting.advice import next_step, not_known, overall, weakest_rater
from assay.reporting.answers import better_chances, of_claims, of_one, of_systems
from assay.reporting.comparisons import FRONT_LINES
from assay.reporting.material import Material
from assay.reporting.page import WIDTH, Finding, Front, Picture, to_svg

CAUTION_WEIGHT = 75.0
"""Weight from which a finding is a caution on the answer."""
SHOWN_LINES = FRONT_LINES
FIGURE_LINES = 12


def front_of(material: Material, findings: Sequence[Finding]) -> Front:
    """Write page one; ``findings`` are those of all sections, the heaviest first."""
    several = len(material.ratings.systems) > 1
    question, best, sure = of_systems(material) if several else of_one(material)
    if material.claims:
        question, best, sure = of_claims(material)
    table, picture = _shown(material) if several else (_metrics_table(material), None)
    return Front(
        question=question,
        sentences=(
            ("Answer", best),
            ("How sure", sure),
            ("Weakest rater", weakest_rater(material)),
            ("Not known", not_known(material)),
            ("What to do next", next_step(material, findings)),
        ),
        cautions=_cautions(material, findings),
        picture=picture if several else _raters_picture(material),
        table=table,
        data=_data(material),
    )


def _cautions(material: Material, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the cautions on the answer: the heaviest, and the number of others."""
    said = [f.text for f in findings if f.weight >= CAUTION_WEIGHT and f.code != "claim-checked"]
    tables = [material.summaries["population"]]
    tables += [material.comparison.pairs] if len(material.ratings.systems) > 1 else []
    doubts = [part for table in tables for text in table["doubt"] for part in text.split("; ")]
    if reasons := "; ".join(dict.fromkeys(filter(None, doubts))):
        said.append(f"Metrics marked * support no conclusion ({reasons}).")
    if len(said) > 2:
        where = "full report" if material.short else "appendix"
        return said[0], f"For {counted(len(said) - 1, 'more warning')}, see the {where}."
    return tuple(said)


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
            draws=material.worth_draws,
        ),
        chance=list(map(chance_cell, better_chances(pairs))),
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
    table = overall(material)
    doubted = table["doubt"].ne("").any()
    shown = table.sort_values("mean", kind="stable").head(FIGURE_LINES)
    index = pd.MultiIndex.from_arrays([[""] * len(shown), shown["rater"]])
    values = shown.set_index(index)[["mean", "lower", "upper"]]
    label = f"chance of a right answer, {percent(material.level)} interval"
    label += weakest_words(len(shown), len(table), "\n") + "\n* may mislead" * bool(doubted)
    figure = forest([Series(name="raters", values=values)], label=label, width=WIDTH)
    words = "How often each rater is right"
    return Picture(svg=to_svg(figure, name="answer", words=words), caption=f"{words}.")


def _data(material: Material) -> str:
    """Describe the data and the reference."""
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
    return f"{''.join(parts)}. Truth: {material.reference}."
