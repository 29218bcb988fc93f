"""Page one: the question, sentences with the answer, a figure, a table, the data."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from assay._util.text import (
    UNDEFINED,
    chance_cells,
    counted,
    fixed,
    interval,
    lines_of,
    percent,
    some,
    without_folders,
)
from assay.checks.departures.report import MEANINGS, TEAMS, TEAMS_MARK
from assay.checks.items import ALIKE, ALIKE_MARK
from assay.comparison.contrasts import SIGNS
from assay.display.table import Table, table_of
from assay.modelling.spec import is_consensus
from assay.plots.metrics import draw_comparison, draw_metrics
from assay.plots.raters import weakest_words
from assay.plots.style import Series, forest
from assay.raters.standing import over_labels
from assay.reporting.advice import next_step, not_known
from assay.reporting.answers import (
    better_chances,
    gap_said,
    of_claims,
    of_one,
    of_systems,
    shortest,
)
from assay.reporting.comparisons import FRONT_LINES
from assay.reporting.fit import fit_findings
from assay.reporting.joint_raters import merged
from assay.reporting.material import Material
from assay.reporting.page import WIDTH, Finding, Front, Picture, picture
from assay.reporting.reliance import DO_NOT_RELY
from assay.reporting.remedies import reasons_of, remedy_of
from assay.reporting.weak_raters import weakest_rater

CAUTION_WEIGHT = 75.0
"""Weight from which a finding is a caution on the answer."""
SHOWN_LINES = FRONT_LINES
FIGURE_LINES = 12
NOT_CERTAIN = "This is not certain yet."
"""Said after a sentence on a fit that is not to be relied on."""


def front_of(material: Material, findings: Sequence[Finding]) -> Front:
    """Write page one; ``findings`` are those of all sections, the heaviest first."""
    several = len(material.ratings.systems) > 1
    question, best, sure = of_systems(material) if several else of_one(material)
    if material.claims:
        question, best, sure = of_claims(material)
        best += f" {NOT_CERTAIN}" * bool(material.mark)
    best, sure = _hedged(best, sure, findings)
    # Numbers of systems and their differences have marks of their own.
    if material.mark and not several:
        sure += f" {NOT_CERTAIN}"
    weakest = weakest_rater(material)
    if material.mark and not weakest.startswith(("Unknown", "There")):
        weakest += f" {NOT_CERTAIN}"
    table, picture = _shown(material) if several else (_metrics_table(material), None)
    remedy = remedy_of(material)
    return Front(
        question=question,
        sentences=(
            ("Answer", best),
            ("How sure", sure),
            ("Weakest rater", weakest),
            ("Not known", not_known(material, findings)),
            ("What to do next", next_step(material, findings, remedy)),
        ),
        cautions=_cautions(material, findings, reasons_of(material) if remedy else {}),
        picture=picture if several else _raters_picture(material),
        table=table,
        data=_data(material),
        command=remedy.command if remedy else "",
        command_notes=(remedy.lead, *remedy.notes) if remedy else (),
    )


def _hedged(best: str, sure: str, findings: Sequence[Finding]) -> tuple[str, str]:
    """Add to answer and certainty why the comparison may be wrong, where they do not say it yet."""
    why = next((one.hedge for one in findings if one.hedge), "")
    if not why or "not certain" in best or best.startswith(("No system can", "No difference")):
        return best, sure
    left_out = "" if "leaves out" in sure else " Intervals and probabilities leave this out."
    return f"{best} This is not certain because {why}.", f"{sure}{left_out}"


def _cautions(
    material: Material, findings: Sequence[Finding], reasons: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the cautions on the answer: the heaviest, all departures, the number of others.

    ``reasons`` are those of the departures, if a command has their remedies.
    """
    heavy = [f for f in findings if f.weight >= CAUTION_WEIGHT and f.code != "claim-checked"]
    said = [f.text for f in heavy if f.code not in reasons]
    of_fit = [f for f in fit_findings(material.view) if f.code not in reasons]
    said += [f.text for f in of_fit if f.text not in said]
    # A warning that begins with a mark says what the mark means.
    told_already = " ".join(said).lower()
    marks = _marks(material, reasons)
    if marks and all(one.partition(":")[0].lower() in told_already for one in marks.split("; ")):
        said[0] += " This holds for all numbers with *."
    elif marks:
        said.append(shortest(f"Numbers with * support no conclusion: {marks}.", MARKED))
    shown = 2 if len(said) == 2 and not reasons else 1
    # Alike clusters matter for conclusions about new units alone.
    told = said[:shown] or [f"{DO_NOT_RELY}."] * bool(reasons.keys() - {ALIKE})
    told += reasons.values()
    marked = (reasons or material.mark) and _doubts_shown(material)
    told += ["The numbers with * depend on this."] * bool(marked)
    if left := len(said[shown:]):
        where = "full report" if material.short else "appendix"
        told.append(f"For {counted(left, 'more warning')}, see the {where}.")
    return tuple(told)


MARKED = "Numbers with * support no conclusion, as the warnings of the fit explain."


def _doubts_shown(material: Material) -> list[str]:
    """Return the marks of the numbers of page one."""
    tables = [material.summaries["population"]]
    tables += [material.comparison.pairs] if len(material.ratings.systems) > 1 else []
    parts = [part for table in tables for text in table["doubt"] for part in text.split("; ")]
    return [part for part in dict.fromkeys(parts) if part]


def _marks(material: Material, reasons: Collection[str]) -> str:
    """Return the marks that no sentence on a departure explains."""
    explained = {MEANINGS[code].mark for code in MEANINGS if code in reasons}
    explained |= {material.mark}
    explained |= {ALIKE_MARK} if ALIKE in reasons else set()
    explained |= {TEAMS_MARK} if TEAMS in reasons else set()
    return "; ".join(part for part in _doubts_shown(material) if part not in explained)


def _shown(material: Material) -> tuple[Table, Picture]:
    """Return the table and the figure of a comparison of systems."""
    found = material.comparison
    several = len(material.order) > 2
    if several and material.baseline is None:
        return _systems_table(material), _systems_picture(material)
    pairs = found.pairs.dropna(subset=["difference"]).head(SHOWN_LINES)
    words = "Differences between systems: density, mean and interval"
    figure = draw_comparison(found, material.titles, width=WIDTH, most=SHOWN_LINES)
    return _pairs_table(material, pairs), picture(figure, name="answer", words=words)


def _pairs_table(material: Material, pairs: pd.DataFrame) -> Table:
    """Return a line per metric and pair: means, difference, and probability."""
    systems = material.comparison.systems.set_index(["metric", "system"])["mean"]
    one = pairs[["a", "b"]].drop_duplicates().shape[0] == 1
    first, second = pairs["a"].iloc[0], pairs["b"].iloc[0]
    decimals = material.gap_decimals
    words = pairs.assign(
        what=[material.titles[m] + " *" * bool(d) for m, d in
              zip(pairs["metric"], pairs["doubt"], strict=True)],
        mean_a=[fixed(systems[m, s], decimals)
                for m, s in zip(pairs["metric"], pairs["a"], strict=True)],
        mean_b=[fixed(systems[m, s], decimals)
                for m, s in zip(pairs["metric"], pairs["b"], strict=True)],
        gap=[gap_said(material, line) for line in lines_of(pairs)],
        chance=chance_cells(better_chances(pairs), material.level),
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
    notes = [f"Lower is better: {some(lower, 3)}."] * bool(lower)
    notes += [_list_lengths(material), _rounding(words, decimals) if one else ""]
    note = " ".join(filter(None, notes))
    level = percent(material.level)
    return table_of(
        "answer", f"Posterior means, and differences with {level} intervals", words, shown,
        under=under, note=note, export=pairs,
    )  # fmt: skip


def _rounding(words: pd.DataFrame, decimals: int) -> str:
    """Say that numbers are rounded, if means and difference of a line do not agree as shown."""
    shown = zip(words["mean_a"], words["mean_b"], words["difference"], strict=True)
    off = [
        abs(float(a) - float(b) - round(float(gap), decimals)) > 0.5 * 10**-decimals
        for a, b, gap in shown
        if UNDEFINED not in (a, b)
    ]
    return "Numbers are rounded." * any(off)


def _list_lengths(material: Material) -> str:
    """Say what k is, if a title of a metric has it."""
    if not any("@k" in material.titles[m] for m in material.summaries["population"]["metric"]):
        return ""
    size = material.ratings.panels.groupby(["panel", "system"]).size()
    return f"k: the length of each list, {size.min()} to {size.max()} items."


def _systems_table(material: Material) -> Table:
    """Return the values of three systems or more, and which is best."""
    systems = material.comparison.systems
    metrics = list(dict.fromkeys(systems["metric"]))
    order = {name: place for place, name in enumerate(material.order)}
    rows = pd.DataFrame({"system": material.order[:SHOWN_LINES]})
    shown = {"system": "System"}
    for metric in metrics[:3]:
        part = systems[systems["metric"] == metric].set_index("system").loc[material.order]
        lines = part[["mean", "lower", "upper"]].to_numpy(float)
        told = [interval(a, b, c, material.value_decimals) for a, b, c in lines]
        texts = dict(zip(part.index, told, strict=True))
        mark = " *" * bool((part["doubt"] != "").any())
        rows[metric] = [texts[name] for name in rows["system"]]
        shown[metric] = material.titles[metric] + mark
        if len(metrics) == 1 and part["p_best"].notna().all():
            rows["p_best"] = chance_cells(part["p_best"][rows["system"]], material.level)
            rows["loss"] = [fixed(part["expected_loss"][name], 3) for name in rows["system"]]
            shown |= {"p_best": f"P(best){mark}", "loss": f"Expected loss{mark}"}
    left = len(order) - len(rows), len(metrics) - 3
    note = " ".join(
        f"{counted(n, f'more {what}')} below."
        for n, what in zip(left, ("system", "metric"), strict=True)
        if n > 0
    )
    drawn = len(_drawn(material, metrics))
    figure = f"The figure shows {drawn} of {counted(len(metrics), 'metric')}."
    parts = [note, figure * (drawn < len(metrics)), _list_lengths(material)]
    note = " ".join(filter(None, parts))
    caption = f"Posterior mean ({percent(material.level)} interval)"
    return table_of("answer", caption, rows, shown, note=note, export=systems)


def _drawn(material: Material, metrics: list[str]) -> list[str]:
    """Return the metrics for which the figure has room."""
    return metrics[: max(1, FIGURE_LINES // max(1, len(material.order)))]


def _systems_picture(material: Material) -> Picture:
    """Draw the systems on as many metrics as fit."""
    table = material.summaries["population"]
    metrics = _drawn(material, list(dict.fromkeys(table["metric"])))
    part = table[table["metric"].isin(metrics)]
    part = part.assign(
        metric=part["metric"].map(material.titles),
        place=part["system"].map({name: n for n, name in enumerate(material.order)}),
    )
    part = part.groupby("metric", sort=False, group_keys=False)[list(part)].apply(
        lambda lines: lines.sort_values("place").head(FIGURE_LINES)
    )
    figure = draw_metrics({"population": part}, None, width=WIDTH)
    return picture(figure, name="answer", words="Values of the systems, with intervals")


def _metrics_table(material: Material) -> Table:
    """Return the metrics of all items and those of the majority vote."""
    table = material.summaries["population"].head(SHOWN_LINES)
    vote = material.vote.set_index("metric").loc[table["metric"]].reset_index()
    vote = vote.rename(columns={"value": "mean"})
    columns, decimals = ["mean", "lower", "upper"], material.value_decimals
    told = [interval(a, b, c, decimals) for a, b, c in table[columns].to_numpy(float)]
    words = table.assign(
        what=[material.titles[m] + " *" * bool(d) for m, d in
              zip(table["metric"], table["doubt"], strict=True)],
        told=told,
        naive=[interval(a, b, c, decimals) for a, b, c in vote[columns].to_numpy(float)],
    )  # fmt: skip
    shown = {"what": "Metric", "told": "Model", "naive": "Majority vote"}
    caption = f"Posterior mean ({percent(material.level)} interval)"
    return table_of("answer", caption, words, shown, note=material.ties, export=table)


def _raters_picture(material: Material) -> Picture:
    """Draw the reliability of the raters, the weakest first."""
    table = merged(over_labels(material.standing), material.joint)
    doubted = table["doubt"].ne("").any()
    shown = table.sort_values("mean", kind="stable").head(FIGURE_LINES)
    index = pd.MultiIndex.from_arrays([[""] * len(shown), shown["rater"]])
    values = shown.set_index(index)[["mean", "lower", "upper"]]
    label = f"chance of a right answer, {percent(material.level)} interval"
    label += weakest_words(len(shown), len(table), "\n") + "\n* may mislead" * bool(doubted)
    figure = forest([Series(name="raters", values=values)], label=label, width=WIDTH)
    return picture(figure, name="answer", words="How often each rater is right")


def _data(material: Material) -> str:
    """Describe the data and the reference, and say what is clear on page one."""
    ratings, accounting = material.ratings, material.ratings.accounting
    clusters = ratings.items["cluster"].nunique()
    parts = [
        f"{counted(len(ratings.answers), 'rating')} of {counted(len(ratings.items), 'item')} by "
        f"{counted(len(ratings.raters), 'rater')}"
    ]
    if clusters < len(ratings.items):
        of = accounting.columns_of("cluster")
        gloss = f" (one for each {of[0]})" if len(of) == 1 else " (items that belong together)"
        parts.append(f" in {counted(clusters, 'cluster')}{gloss}")
    if accounting.rows_read:
        empty = int(ratings.abstained.sum())
        parts.append(
            f", read from {without_folders(accounting.source)} with "
            f"{counted(len(accounting.set_aside), 'row')} set aside"
            + f" and {counted(empty, 'rating')} without an answer"
            * bool(empty)
        )
    gloss = " (what their answers, weighed by reliability, make most probable)"
    truth = f"{material.reference}{gloss * is_consensus(material.reference)}"
    return f"{''.join(parts)}. Truth: {truth}. {_clear(material)}"


def _clear(material: Material) -> str:
    """State the rule by which page one calls something clear."""
    several = len(material.ratings.systems) > 1
    many = several and len(material.order) > 2 and material.baseline is None
    rules = ["a claim if its interval is wholly inside or outside it"] * bool(material.claims)
    rules += ["a difference if its interval excludes 0"] * several
    rules.append(
        f"{'the best system or ' * many}a weak rater if P is above {(1 + material.level) / 2:g}"
    )
    return f"Clear at {percent(material.level)}: {'; '.join(rules)}."
