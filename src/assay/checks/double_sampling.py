"""Double sampling: some raters rated all items of several systems, others a sample. If the first
raters' error rate differs by system, one error rate makes that a difference of systems.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.text import some
from assay._util.typing import Bools, Ints
from assay.checks.findings import Level, Part, findings_on
from assay.checks.items import Coverage, checked_items, coverage, units
from assay.data.ratings import Ratings

TOPIC = "bias by system"
_finding = findings_on(TOPIC)
NEARLY_ALL = 0.95
"""Share of a system's items from which a group rated "all" of them."""

SAMPLE = 0.8
"""Share of a system's items below which the others rated only a sample."""

FEW_ITEMS = 10
DOUBLE = "double-sampling"
TURNS = "and its sign can turn"
PREVALENCE = "dirichlet"
PLAIN, PLAIN_OF_MORE = "hierarchical + item_difficulty", "ability_bias + item_difficulty"
"""The raters of labels of two classes, and of more, as in the default."""
SCORES = (
    "No layer lets the meaning of scores differ by system. First turn the scores into answers: yes "
    "from a threshold upwards"
)
MEASURED = (
    "In a study of a language-model judge (see A sign that turns), a model with one error rate for "
    "the judge was sure of a wrong sign in 19 of 20 samples. The 95 % interval held the true "
    "difference in 2 of 20 samples with the layer alone, and in 18 of 20 with this prevalence too"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class DoubleSampling:
    """A double sampling design.

    judges, others : rater groups (raters, if not ``grouped``) that rated all items, and the others
    items : of each system (system,)
    checked : those of them that the others answered, or with known truth (system,)
    scores_only : whether the judges gave scores and no answer
    plain : recipe of raters whose errors are the same on all systems
    """

    judges: tuple[str, ...]
    others: tuple[str, ...]
    grouped: bool
    systems: tuple[str, ...]
    items: Ints
    checked: Ints
    scores_only: bool
    plain: str = PLAIN

    @property
    def apart(self) -> bool:
        """Whether judges and others certainly differ; for raters of one group this is unknown."""
        return self.grouped or not self.others


def check_double_sampling(ratings: Ratings) -> Part:
    """Propose a bias by system for raters of all items, where others rated a sample."""
    design = double_sampling(ratings)
    if design is None:
        return Part()
    level: Level = "warning" if design.apart else "note"
    text = f"{danger(design)}. {MEASURED}. The sample must be random"
    found = [
        _finding(
            level, text, proposes="system_bias", code=DOUBLE,
            numbers=sample_sizes(design),
        )
    ]  # fmt: skip
    few = [
        f"{name} {n}"
        for name, n in zip(design.systems, design.checked, strict=True)
        if n < FEW_ITEMS
    ]
    if few:
        text = (
            f"the sample has fewer than {FEW_ITEMS} items of some systems ({some(few)}), so "
            "their bias would come from the prior alone. Rate a larger random sample of their items"
        )
        numbers = {"systems": len(few), "items": FEW_ITEMS}
        found.append(
            _finding(
                level, text, proposes="system_bias", code="double-sampling-few", numbers=numbers
            )
        )
    if len(ratings.task.labels) > 1:
        text = (
            "the dirichlet prevalence has one parameter for each admissible combination of the "
            f"{len(ratings.task.labels)} labels. With many combinations its prior is informative, "
            "so compare the results with those of the default prevalence"
        )
        numbers = {"labels": len(ratings.task.labels)}
        found.append(
            _finding("note", text, proposes="system_bias", code="dirichlet-labels", numbers=numbers)
        )
    return Part(findings=tuple(found), tables={"double_sampling": _table(design)})


def double_sampling(ratings: Ratings) -> DoubleSampling | None:
    """Return the design if some raters rated all items of several systems and others a sample."""
    systems = ratings.systems
    cover = coverage(ratings, systems)
    return find_design(ratings, cover, lambda judge: checked_items(ratings, systems, judge))


def find_design(
    ratings: Ratings, cover: Coverage, checked: Callable[[Bools], Ints]
) -> DoubleSampling | None:
    """Return the double sampling design that counts over all data show; None if there is none.
    ``checked`` returns the counts of :func:`checked_items` for given judges.
    """
    unit, names, grouped = units(ratings)
    rated_all = (cover.items > 0) & (cover.answered >= NEARLY_ALL * cover.items)
    judge = rated_all.sum(axis=1) >= 2
    # In a single group, one rater may be a different instrument; several cannot be told apart.
    if not judge.any() or (judge.sum() > 1 and not grouped):
        return None
    common = np.flatnonzero(rated_all[judge].all(axis=0))
    if len(common) < 2:
        return None
    items, sample = cover.items[common], checked(judge)[common]
    if not sample.any() or (sample >= SAMPLE * items).all():
        return None
    return DoubleSampling(
        judges=tuple(map(str, names[judge])),
        others=tuple(map(str, names[~judge])),
        grouped=grouped,
        systems=tuple(ratings.systems[n] for n in common),
        items=items,
        checked=sample,
        scores_only=not (ratings.answers[judge[unit][ratings.rater]] >= 0).any(),
        plain=PLAIN if all(len(la.classes) == 2 for la in ratings.task.labels) else PLAIN_OF_MORE,
    )


def sample_sizes(design: DoubleSampling) -> dict[str, int]:
    """Return the number of items of each system, and of those that were checked."""
    counts = zip(design.systems, design.checked.tolist(), design.items.tolist(), strict=True)
    return {
        f"{what} {name}": n
        for name, checked, items in counts
        for what, n in (("checked", checked), ("items", items))
    }


def danger(design: DoubleSampling) -> str:
    """Describe the design, the possible bias, and the model to fit instead."""
    who = some(design.judges)
    counts = zip(design.checked, design.items, design.systems, strict=True)
    sample = some([f"{n} of {size} of {name}" for n, size, name in counts])
    by = f"{some(design.others)} rated" if design.others else "the truth is known of"
    scores = f"{SCORES}. " if design.scores_only else ""
    return (
        f"all items of {some(design.systems)} were rated by {who}; {by} a sample of them "
        f"({sample}). If the error rate of {who} differs by system, a model with one error rate "
        f"biases the difference between systems, {TURNS}. {scores}{_proposal(design)}"
    )


def is_followed(parts: Collection[str], prevalence: str) -> bool:
    """Return whether a fit, by its families and layers, has all that the check proposes.

    The layer alone does not do: see ``MEASURED``.
    """
    return "system_bias" in parts and prevalence == PREVALENCE


def recipe_for(design: DoubleSampling) -> str | dict[str, str]:
    """Return the raters of a fit that lets errors differ by system; empty if no group has them."""
    if not design.apart:
        return ""
    biased = _biased(design)
    if not design.others:
        return biased
    return dict.fromkeys(design.judges, biased) | dict.fromkeys(design.others, design.plain)


def _biased(design: DoubleSampling) -> str:
    return f"{design.plain} + system_bias"


def _proposal(design: DoubleSampling) -> str:
    """Write the arguments of ``fit`` that let errors differ by system."""
    who = some(design.judges)
    if recipe := recipe_for(design):
        return f"Let the errors of {who} differ by system: {_arguments(recipe)}"
    return (
        f"If {who} is a different kind of rater (e.g. a language model among people), give it a "
        "rater group of its own (`group=`). Then let its errors differ by system, e.g. "
        f"{_arguments({'judge': _biased(design), 'others': design.plain})}"
    )


def _arguments(raters: str | dict[str, str]) -> str:
    """Write the arguments of ``fit``."""
    given = json.dumps(raters, ensure_ascii=False)
    return f'`raters={given}, prevalence="{PREVALENCE}"`'


def _table(design: DoubleSampling) -> pd.DataFrame:
    return pd.DataFrame(
        {"system": list(design.systems), "items": design.items, "sample": design.checked}
    )
