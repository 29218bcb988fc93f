"""Sections: the questions, the data, and the model card with every prior."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import AssayError
from assay._util.text import counted, intervals, percent, sentence, some, without_folders
from assay.checks.double_sampling import DOUBLE, TURNS, double_sampling
from assay.checks.findings import Finding as Checked
from assay.data.ratings import Accounting, Ratings
from assay.data.states import MISSING
from assay.data.task import Task
from assay.display.table import table_of
from assay.evaluation.prior import metrics_before
from assay.fits.summary import summarize
from assay.modelling.priors import PARAMETERS, Prior
from assay.modelling.spec import IN_PART, catalogue_entries
from assay.modelling.structure import used_priors
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Code, Finding, Section, bullets, prose
from assay.reporting.resolved import still_true
from assay.validation.posterior_predictive import INDEPENDENCE

EQUATION = "p(y[i] | theta) = sum_s pi[i, s] prod_{a in ratings of i} p(y[a] | s, rater[a])"
KERNELS = {
    "retry": "starts again until the interface accepts the answers",
    "repair": "changes as few answers as possible to make them acceptable",
}
PARTIAL = {
    "lost": "missing answers were lost after submission and are summed out",
    "draft": "only the answered labels had to be admissible",
}


def card_section(material: Material) -> Section:
    """Describe the model: parts, equations, every prior, and the modes of the posterior."""
    spec = material.view.spec
    prevalence, raters = catalogue_entries(spec)
    entries = [prevalence, *raters]
    references = dict.fromkeys(text for one in entries for text in one.get("references", []))
    modes = material.attribute("modes") or []
    blocks: list[Block] = [
        prose(
            "The states of the items (the admissible truth vectors) are summed out exactly. Their "
            "draws come from the exact conditional distribution.",
        ),
        Code(text="\n".join([EQUATION, *(e["equation"] for e in entries if "equation" in e)])),
        *bullets([f"{e['title']}: {e['description']}" for e in entries], "Parts of the model:"),
        *_process(material.ratings),
        _priors_table(material),
        _before_table(material),
        *bullets(modes, "Modes of the posterior found by the mode search:"),
        *bullets(list(references), "References:"),
    ]
    return Section(key="model", title="Model card", blocks=tuple(blocks))


def _process(ratings: Ratings) -> list[Block]:
    """Describe the assumptions on refused and partly answered ratings, where there can be any."""
    said = []
    if any(rule.response == "block" for rule in ratings.task.rules):
        said.append(f"A rater whose answers are refused {KERNELS[ratings.resolve]}.")
    missing = ratings.answers == MISSING
    if (missing.any(axis=1) & ~missing.all(axis=1)).any():
        said.append(f"In partly answered ratings {PARTIAL[ratings.partial]}.")
    return [prose(" ".join(said))] if said else []


def _priors_table(material: Material) -> Block:
    structure = material.view.structure
    used = used_priors(structure)
    changed = {name: text for name, text in structure.spec.priors.items() if name in used}
    lines = [
        {
            "parameter": block.name,
            "prior": prior_words(block.prior),
            "dims": " × ".join(f"{d} ({n})" for d, n in zip(block.dims, block.shape, strict=True)),
            "name": ", ".join(names),
            "source": "yours" if set(names) & set(changed) else "catalogue" if names else "fixed",
        }
        for block in structure.parameters()
        for names in [list(block.prior.by_key())]
    ]
    leans = Counter(
        spread
        for pool in structure.pools
        for spread in [prior_words(pool.spread)] * len(pool.labels)
    )
    lines += [
        {
            "parameter": "lean_spread",
            "prior": spread,
            "dims": f"lean ({count})",
            "name": "lean_spread",
            "source": "yours" if "lean_spread" in changed else "catalogue",
        }
        for spread, count in leans.items()
    ]
    shown = {
        "parameter": "Parameter", "prior": "Prior", "dims": "One for each", "name": "Its name",
        "source": "From",
    }  # fmt: skip
    note = " ".join(f"Instead of the default prior: {n} = {text}." for n, text in changed.items())
    return table_of("priors", "Parameters and their priors", pd.DataFrame(lines), shown, note=note)


def _before_table(material: Material) -> Block:
    """Show prior intervals of the metrics, which reveal an informative prior."""
    before = metrics_before(material.view.structure)
    table = summarize(before, level=material.level)
    table["median"] = [float(before[name].median()) for name in table["metric"]]
    table["told"] = intervals(table, ["median", "lower", "upper"])
    return table_of(
        "before",
        f"Metrics under the prior: prior median ({percent(material.level)} interval)",
        table,
        {"metric": "Metric", "told": "Prior"},
        note=(
            f"For {counted(len(material.ratings.items), 'item')} like these, all panels pooled. "
            "If an interval is narrow, the prior strongly influences the results."
        ),
        export=table.drop(columns="told"),
    )


def prior_words(prior: Prior) -> str:
    """Write a prior; numbers that differ between entries as their range."""
    names = PARAMETERS.get(prior.name, ())
    if len(names) != len(prior.values):
        return str(prior)
    pairs = zip(names, prior.values, strict=True)
    return f"{prior.name}({', '.join(f'{n}={_range(v)}' for n, v in pairs)})"


def _range(value: Any) -> str:
    numbers = np.asarray(value, dtype=float)
    low, high = numbers.min(), numbers.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


TRUTH_WORDS = {
    "hard": "always true",
    "soft": "usually true; the rate is estimated",
    "off": "not assumed",
}
RESPONSE_WORDS = {
    "block": "the interface refused answers that break it",
    "warn": "the interface warned of answers that break it",
    "off": "the interface let answers break it",
}


def asked_section(material: Material) -> Section:
    """Describe the questions, the rules, and the estimands."""
    task = material.ratings.task
    in_part = material.reference.endswith(IN_PART)
    known = f": {counted(material.n_known, 'item')}" if in_part else ""
    blocks: list[Block] = [
        prose(
            f"Task {task.name}. {task.description}",
            f"Truth means: {material.reference}{known}. Every number names its estimand. The "
            "estimand finite is about these items, population about clusters like these.",
        ),
        _labels_table(task),
    ]
    if task.rules:
        blocks.append(_rules_table(task))
    return Section(key="asked", title="What was asked", blocks=tuple(blocks))


def _labels_table(task: Task) -> Block:
    frame = pd.DataFrame(
        {
            "label": task.label_names,
            "classes": [(" < " if la.ordered else ", ").join(la.classes) for la in task.labels],
            "asked": [f"if {la.asked_if}" if la.asked_if else "always" for la in task.labels],
            "description": [la.description for la in task.labels],
        }
    )
    shown = {"label": "Label", "classes": "Classes", "asked": "Asked", "description": "Meaning"}
    return table_of("task_labels", "Labels", frame, shown)


def _rules_table(task: Task) -> Block:
    frame = pd.DataFrame(
        {
            "rule": [rule.expression for rule in task.rules],
            "truth": [TRUTH_WORDS[rule.truth] for rule in task.rules],
            "response": [RESPONSE_WORDS[rule.response] for rule in task.rules],
        }
    )
    shown = {"rule": "Rule", "truth": "For the truth", "response": "For the answers"}
    return table_of("task_rules", "Rules between labels", frame, shown)


SHOWN_LINES = 5
LEVELS = {"problem": "bad", "warning": "doubt"}
SAID = ("rows", "items")
"""Topics of the check that the section's own sentences and tables cover."""
UNTOLD_WEIGHT = 95.0
"""Weight of what the data cannot identify: only an untrustworthy fit comes first."""
WEIGHT = 80.0
"""Higher than the weight of a claim: a comparison of the wrong sign makes its verdict wrong."""


def data_section(material: Material) -> Section:
    """Report rows read, used and set aside, and what the data can identify."""
    ratings, accounting = material.ratings, material.ratings.accounting
    blocks: list[Block] = [prose(_sizes(ratings), _rows(ratings))]
    if len(accounting.set_aside):
        blocks.append(_set_aside_table(accounting))
    blocks += bullets(
        list(map(without_folders, accounting.notes)), "Decisions made when the file was read:"
    )
    found = still_true(material.data_check, material.view)
    for finding in found:
        if finding.level in LEVELS:
            level = LEVELS[finding.level]
            blocks.append(Callout(word=finding.level, text=sentence(finding.text), level=level))
    notes = [f.text for f in found if f.level == "note" and f.topic not in SAID]
    blocks += bullets(notes, "Other findings of the check:")
    fine = [
        f"{f.text}{_but_misfits(material) * (f.code == 'no-departures')}"
        for f in found
        if f.level == "ok" and f.topic not in SAID
    ]
    blocks += bullets(fine, "Checks without a problem:")
    if len(accounting.roles):
        blocks.append(_roles_table(accounting))
    return Section(
        key="data",
        title="The data, and what was set aside",
        blocks=tuple(blocks),
        findings=_findings(found, ratings),
    )


def _but_misfits(material: Material) -> str:
    """Say of which tests of the ratings the fitted model does not reproduce the results."""
    try:
        odd = material.misfits
    except AssayError:  # The section on model checks says so.
        return ""
    asked = dict.fromkeys(odd.loc[odd["check"] == INDEPENDENCE, "quantity"])
    if not asked:
        return ""
    return (
        f". But the fitted model does not reproduce {some(list(asked))} (see Does the model fit?)"
    )


def _findings(found: list[Checked], ratings: Ratings) -> tuple[Finding, ...]:
    """Return findings on what the data cannot identify, and on comparisons of uncertain sign."""
    problems = (
        Finding(
            weight=UNTOLD_WEIGHT, text=sentence(f.text), code=f.code,
            numbers=f.numbers,
        )
        for f in found
        if f.level == "problem"
    )  # fmt: skip
    told = [f for f in found if f.code == DOUBLE and f.level in LEVELS]
    signs = (
        Finding(
            weight=WEIGHT,
            text=f"{sentence(f.text.partition(TURNS)[0] + TURNS)} For a remedy, see the "
            "section on the data.",
            code=f.code,
            numbers=f.numbers,
            hedge=hedge_of(ratings),
        )
        for f in told
    )
    return (*problems, *signs)


def hedge_of(ratings: Ratings) -> str:
    """Say in a clause why the sign of a difference is open in double sampling."""
    design = double_sampling(ratings)
    return f"the error rate of {some(design.judges)} may differ by system" if design else ""


def _sizes(ratings: Ratings) -> str:
    """Count ratings, items, raters, clusters and systems."""
    per_item = np.bincount(ratings.item[ratings.answered], minlength=len(ratings.items))
    clusters, systems = ratings.items["cluster"].nunique(), ratings.systems
    parts = [f"{counted(len(ratings.answers), 'rating')} of {counted(len(ratings.items), 'item')}"]
    parts.append(f"by {counted(len(ratings.raters), 'rater')}")
    if clusters < len(ratings.items):
        parts.append(f"in {counted(clusters, 'cluster')}")
    if systems:
        parts.append(f"of {counted(len(systems), 'system')} ({some(systems)})")
    once, more = int((per_item == 1).sum()), int((per_item > 1).sum())
    none = len(per_item) - once - more
    kinds = {"several ratings": more, "one rating": once, "no rating": none}
    told = [f"{counted(n, 'item', 'have')} {kind}" for kind, n in kinds.items() if n]
    return f"{' '.join(parts)}. {'; '.join(told)}."


def _rows(ratings: Ratings) -> str:
    """Count rows read, used and set aside, and ratings without an answer."""
    accounting = ratings.accounting
    if not accounting.rows_read:
        return "The ratings were not read from a file."
    aside = len(accounting.set_aside)
    text = (
        f"{accounting.rows_read} rows were read from {without_folders(accounting.source)}, "
        f"{accounting.rows_used} "
        f"used and {aside} set aside."
    )
    if empty := int(ratings.abstained.sum()):
        text += f" {counted(empty, 'rating', 'have')} no answer: abstained, discarded or empty."
    return text


def _set_aside_table(accounting: Accounting) -> Block:
    lines = [
        {
            "reason": str(reason),
            "rows": len(part),
            "lines": some([str(n) for n in part["line"]], SHOWN_LINES),
            "detail": str(part["detail"].iloc[0]),
        }
        for reason, part in accounting.set_aside.groupby("reason", sort=False)
    ]
    return table_of(
        "set_aside",
        "Rows set aside",
        pd.DataFrame(lines),
        {"reason": "Reason", "rows": "Rows", "lines": "Lines of the file", "detail": "For example"},
        export=accounting.set_aside,
    )


def _roles_table(accounting: Accounting) -> Block:
    shown = {"column": "Column", "role": "Used as", "evidence": "Reason"}
    told = accounting.roles.replace({"role": {"": "not used"}})
    return table_of(
        "roles", "Columns of the source", told, shown, export=accounting.roles, is_prose=True
    )
