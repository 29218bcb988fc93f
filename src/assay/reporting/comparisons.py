"""Section: systems compared, and the conclusions of other approaches."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from assay._util.text import (
    counted,
    does,
    gap,
    lines_of,
    marked,
    notes_said,
    percent,
)
from assay.comparison import Comparison
from assay.comparison.baselines import CHANGED, CORRECTED, NAIVE, SIGN, UNCHANGED
from assay.comparison.contrasts import contrast
from assay.comparison.decisions import sign
from assay.comparison.multiplicity import by_chance, without_mirrors
from assay.display.notes import estimand_words
from assay.display.result_tables import best_table, pairs_table, ranks_table
from assay.display.table import Table, table_of
from assay.reporting.material import Material
from assay.reporting.page import Block, Finding, Gap, Prose, Section, bullets, prose

TURNED, CLEAR, BARELY = 50.0, 20.0, 5.0
"""Weights of findings: a conclusion other than the vote's, a clear difference, a marginal
change.
"""
BY_A_HAIR = 0.25
"""Shift of a mean, in half-widths of the interval, below which a changed conclusion is marginal."""

SHOWN_PAIRS = 30
SHOWN_CHANGES = 5
"""Conclusions of other approaches that are written out."""
MANY_RANKS, MOST_COLUMNS = 24, 6
"""Lines of ranks from which on metrics are columns, and the most metrics for that."""
FRONT_LINES = 8
"""Differences of two systems on page one."""
NO_SYSTEMS = Gap(
    what="Comparison of systems",
    why="the ratings name fewer than two systems",
    enable="a column that names the system (`system=`), or a table of panels (`panels=`)",
    code="too-few-systems",
)
NO_PEOPLE = Gap(
    what="Human ratings alone, beside the model",
    why="the human raters were not named",
    enable="the names of the human raters or rater groups (`human=`)",
    code="people-not-named",
)


def comparison_section(material: Material) -> Section | Gap:
    """Compare the systems, and report where a majority vote would conclude otherwise."""
    if len(material.ratings.systems) < 2:
        return _people_alone(material) if material.human else NO_SYSTEMS
    found, sides = material.comparison, material.sides
    said = [_titled_sentence(text, material.titles) for text in sides.sentences()]
    other = [text for text in said if CHANGED in text]
    pairs = found.pairs
    of_two = len(pairs.drop_duplicates(["a", "b"])) == 1
    # Page one has the differences of two systems, if they are few.
    on_front = of_two and len(pairs) <= FRONT_LINES
    blocks: list[Block] = [
        pairs_table(
            found,
            material.titles,
            draws=material.worth_draws,
            differences=not on_front,
            ratios=True,
            most=SHOWN_PAIRS,
            leading=material.order[0],
        ),
        *_best(found.systems, material.titles),
        *_otherwise(other, material),
        *([] if other else [_same(said)]),
        *_signs(said),
        *bullets(sides.warnings, "Warnings of the fit to human ratings alone:"),
    ]
    turned = _turned(_told(sides.table, found), sides.sentences())
    turned = [replace(one, text=_titled_sentence(one.text, material.titles)) for one in turned]
    return Section(
        key="comparisons",
        title="Comparisons",
        is_appendix=False,
        blocks=tuple(blocks),
        gaps=() if material.human else (NO_PEOPLE,),
        findings=(*turned, *_clear(found.pairs, material.titles)),
    )


def _same(said: list[str]) -> Prose:
    """State that no conclusion changes, and how many could not be compared."""
    left = sum(UNCHANGED not in text for text in said)
    but = f" that they define: {counted(left, 'number')} {does(left, 'are')} undefined" * bool(left)
    return prose(f"Other approaches lead to the same conclusion on every metric{but}.")


def _signs(said: list[str]) -> list[Prose]:
    """Name the contrasts whose estimate changes sign while the sign is open."""
    names = [text.partition(":")[0] for text in said if SIGN in text]
    more = f"; and {len(names) - SHOWN_CHANGES} more" * (len(names) > SHOWN_CHANGES)
    told = f"{'; '.join(names[:SHOWN_CHANGES])}{more}"
    text = f"The sign is open, and the estimate changes sign with the approach: {told}."
    return [prose(text)] if names else []


def _otherwise(said: list[str], material: Material) -> list[Block]:
    """State where other approaches conclude otherwise, about the leading system first."""
    leading = f"{material.order[0]} "
    said = sorted(said, key=lambda text: leading not in text.partition(": ")[0] + " ")
    most = SHOWN_CHANGES // 2 if material.short else SHOWN_CHANGES
    left = len(said) - most
    heading = "Other approaches lead to other conclusions:"
    blocks: list[Block] = [*bullets(said[:most], heading)]
    if left > 0:
        where = "in the full report" if material.short else "under Other approaches"
        blocks.append(prose(f"{counted(left, 'more contrast')} with another conclusion: {where}."))
    return blocks


def approaches_section(material: Material) -> Section | None:
    """Show each contrast by majority vote and by human ratings alone; None with one system."""
    if len(material.ratings.systems) < 2:
        return None
    table = material.sides.table
    shown = table if material.human else table[table["b"] != ""]
    note = f"Reference: {material.reference}. {material.ties}".rstrip()
    block = _sides_table(shown, note, material.titles, export=table)
    return Section(key="approaches", title="Other approaches", blocks=(block,))


def _titled_sentence(text: str, titles: Mapping[str, str]) -> str:
    """Replace the metric's name at the start of a sentence by its title."""
    name = next((m for m in titles if text.startswith(f"{m}, ")), None)
    return text if name is None else f"{titles[name]}{text.removeprefix(name)}"


def _told(table: pd.DataFrame, found: Comparison) -> pd.DataFrame:
    """Return the lines of metrics without doubt."""
    doubted = found.pairs.loc[found.pairs["doubt"] != "", "metric"]
    return table[~table["metric"].isin(doubted)]


def _people_alone(material: Material) -> Section:
    """Show the metrics by human ratings alone, where no systems are compared."""
    sides = material.sides
    # Without systems, a metric is about all items.
    quantity = sides.table["quantity"].where(sides.table["quantity"] != "", "all items")
    blocks = (
        _sides_table(
            sides.table.assign(quantity=quantity),
            f"Reference: {material.reference}. {material.ties}".rstrip(),
            material.titles,
        ),
        *bullets(sides.warnings, "Warnings of the fit to human ratings alone:"),
    )
    return Section(
        key="sides",
        title="Human ratings alone",
        blocks=blocks,
        gaps=(NO_SYSTEMS,),
        is_appendix=False,
    )


def _best(systems: pd.DataFrame, titles: Mapping[str, str]) -> list[Table]:
    """Show which of three or more systems is best, on metrics with a direction and no doubt."""
    told = systems[systems["doubt"] == ""]
    ranked = told[told["better"] != "neither"]
    if ranked["system"].nunique() < 3:
        return []
    many = len(ranked) > MANY_RANKS and ranked["metric"].nunique() <= MOST_COLUMNS
    return [(best_table if many else ranks_table)(told, titles)]


def _sides_table(
    table: pd.DataFrame,
    note: str,
    titles: Mapping[str, str],
    *,
    export: pd.DataFrame | None = None,
) -> Block:
    # A system has a value, a contrast has a difference.
    notes: dict[str, str] = {}
    told = marked(table, notes, marks=[0.0])
    words = table.assign(told=told, metric=[titles.get(m, m) for m in table["metric"]])
    cells = words.pivot_table(
        index=["metric", "quantity"], columns="approach", values="told", aggfunc="first", sort=False
    )
    shown = {"quantity": "System or contrast"} | {name: str(name) for name in cells.columns}
    return table_of(
        "side_by_side",
        "Results by other approaches",
        cells.reset_index(),
        shown,
        under="metric",
        note="naive: majority vote of all raters, with a cluster bootstrap; corrected: the "
        f"model, estimand {estimand_words(table[table['approach'] == CORRECTED])}. {note}"
        + notes_said(notes),
        export=table if export is None else export,
    )


def _turned(table: pd.DataFrame, sentences: list[str]) -> list[Finding]:
    """Return findings on contrasts where the vote concludes otherwise."""
    contrasts = table[(table["b"] != "") & table["mean"].notna()]
    if contrasts.empty:
        return []
    signs = list(map(sign, contrasts["lower"], contrasts["upper"]))
    keys = ["metric", "quantity"]
    by = contrasts.assign(sign=signs).pivot(index=keys, columns="approach", values="sign")
    by = by.reindex(columns=[NAIVE, CORRECTED])
    own = contrasts[contrasts["approach"] == CORRECTED]
    kept = pd.MultiIndex.from_frame(without_mirrors(own, "mean")[keys])
    turned = (by[NAIVE] - by[CORRECTED]).abs()[by.index.isin(kept)]
    means = contrasts.pivot(index=keys, columns="approach", values="mean")
    means = means.reindex(columns=[NAIVE, CORRECTED])
    own = own.set_index(keys)
    shift = 2 * (means[NAIVE] - means[CORRECTED]).abs() / (own["upper"] - own["lower"])
    found = []
    both = pd.DataFrame({"size": turned, "shift": shift.reindex(turned.index)})
    for line in lines_of(both[both["size"] > 0].reset_index()):
        start = f"{line['metric']}, {line['quantity']}: {NAIVE}"
        text = next(sentence for sentence in sentences if sentence.startswith(start))
        barely = line["shift"] < BY_A_HAIR
        weight = (BARELY if barely else TURNED) + line["size"]
        found.append(Finding(weight=weight, text=text, code="naive-count-turned"))
    return found


def _clear(pairs: pd.DataFrame, titles: Mapping[str, str]) -> list[Finding]:
    """Return a finding on the clearest difference, if its interval excludes 0."""
    pairs = without_mirrors(pairs, "difference")
    pairs = pairs[pairs["doubt"] == ""]
    signs = map(sign, pairs["difference_lower"], pairs["difference_upper"])
    clear = pairs[[found != 0 for found in signs]]
    if clear.empty:
        return []
    size = clear["difference"].abs() / clear["difference_sd"].clip(lower=1e-9)
    line = lines_of(clear.loc[[size.idxmax()]])[0]
    numbers = [line["difference"], line["difference_lower"], line["difference_upper"]]
    told = gap(*numbers)
    higher, lower = (line["a"], line["b"])[:: sign(*numbers[1:])]
    direction = "" if line["better"] == "neither" else f"; better is {line['better']}"
    text = (
        f"{higher} is higher than {lower} on {titles.get(line['metric'], line['metric'])}: "
        f"{contrast(line['a'], line['b'])} is {told} ({percent(line['level'])} interval, estimand "
        f"{line['estimand']}{direction})."
    )
    if len(clear) > 1:
        text += f" The intervals of {len(clear) - 1} more contrasts exclude 0."
    text += by_chance(pairs)
    return [
        Finding(
            weight=CLEAR,
            text=text,
            code="clear-difference",
            numbers=dict(zip(("difference", "lower", "upper"), numbers, strict=True)),
        )
    ]
