"""Section: the model card, with every prior."""

from typing import Any

import numpy as np
import pandas as pd

from assay._util.plurals import counted
from assay._util.words import interval, percent
from assay.data.catalogue import catalogue_entry
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.evaluation.prior import metrics_before
from assay.fits.datatree import spec_of, structure_of
from assay.fits.summary import summarize
from assay.modelling.prior_use import used_priors
from assay.modelling.priors import PARAMETERS, Prior
from assay.modelling.spec import Spec
from assay.reporting.material import Material
from assay.reporting.page import Block, Code, Section, bullets, prose, table_of

EQUATION = "p(y[i] | theta) = sum_s pi[i, s] prod_{a in ratings of i} p(y[a] | s, rater[a])"
KERNELS = {
    "retry": "starts afresh until the interface accepts the answers",
    "repair": "changes the fewest answers that make them acceptable",
}
PARTIAL = {
    "lost": "cells were lost after submission and are summed out",
    "draft": "only the labels that were answered had to be admissible",
}


def card_section(material: Material) -> Section:
    """Describe the model: parts, equations, every prior, and what the sampler saw."""
    spec = spec_of(material.fit)
    entries = _entries(spec)
    modes = material.attribute("modes") or []
    blocks: list[Block] = [
        prose(
            "The states of the items (the admissible truth vectors) are summed out exactly; draws "
            "of them are recovered from their exact conditional distribution.",
        ),
        Code(text="\n".join([EQUATION, *(e["equation"] for e in entries if "equation" in e)])),
        *bullets([f"{e['title']}: {e['description']}" for e in entries], "Parts of the model:"),
        *_process(material.ratings),
        _priors_table(material),
        _before_table(material),
        *bullets(modes, "Modes of the posterior that were looked for and found:"),
        *bullets(_references(entries), "References:"),
    ]
    return Section(key="model", title="Model card", blocks=tuple(blocks))


def _process(ratings: Ratings) -> list[Block]:
    """Say what is assumed of refused and of partly answered ratings, where there can be any."""
    said = []
    if any(rule.response == "block" for rule in ratings.task.rules):
        said.append(f"A rater whose answers are refused {KERNELS[ratings.resolve]}.")
    missing = ratings.answers == MISSING
    if (missing.any(axis=1) & ~missing.all(axis=1)).any():
        said.append(f"In partly answered ratings {PARTIAL[ratings.partial]}.")
    return [prose(" ".join(said))] if said else []


def _entries(spec: Spec) -> list[dict[str, Any]]:
    """Return the catalogue entries of the parts of a model, each once.

    A reference brings perception layers that no recipe names.
    """
    names = dict.fromkeys([*spec.rater_parts, *(["perception"] if spec.reference else [])])
    found = [catalogue_entry("raters", name, called="family") for name in names]
    return [catalogue_entry("prevalence", spec.prevalence, called="prevalence"), *found]


def _references(entries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(text for entry in entries for text in entry.get("references", [])))


def _priors_table(material: Material) -> Block:
    structure = structure_of(material.fit)
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
    shown = {
        "parameter": "Parameter", "prior": "Prior", "dims": "One for each", "name": "Its name",
        "source": "From",
    }  # fmt: skip
    note = " ".join(f"In place of the catalogue's: {n} = {text}." for n, text in changed.items())
    return table_of("priors", "Every unknown and its prior", pd.DataFrame(lines), shown, note=note)


def _before_table(material: Material) -> Block:
    """Show what the priors alone say of the metrics: whether one is sure before any rating."""
    before = metrics_before(structure_of(material.fit))
    table = summarize(before, level=material.level)
    table["median"] = [float(before[name].median()) for name in table["metric"]]
    table["told"] = [interval(*line) for line in table[["median", "lower", "upper"]].to_numpy()]
    return table_of(
        "before",
        f"Metrics before any rating was seen: prior median ({percent(material.level)} interval)",
        table,
        {"metric": "Metric", "told": "Prior"},
        note=(
            f"Of {counted(len(material.ratings.items), 'item')} like these, all panels pooled. A "
            "narrow prior would speak for itself, whatever the raters said."
        ),
        export=table.drop(columns="told"),
    )


def prior_words(prior: Prior) -> str:
    """Write a prior; numbers that differ between entries as their range.

    Examples
    --------
    >>> prior_words(Prior(name="Normal", values=(np.array([0.0, 2.0]), np.array([1.0, 1.0]))))
    'Normal(mu=0 to 2, sigma=1)'
    """
    names = PARAMETERS.get(prior.name, ())
    if len(names) != len(prior.values):
        return str(prior)
    pairs = zip(names, prior.values, strict=True)
    return f"{prior.name}({', '.join(f'{n}={_range(v)}' for n, v in pairs)})"


def _range(value: Any) -> str:
    numbers = np.asarray(value, dtype=float)
    low, high = numbers.min(), numbers.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
