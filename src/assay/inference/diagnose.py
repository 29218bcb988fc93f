"""All warnings and doubts of a fit, from draws, modes and *evidence*: sums over items, which
workers add up by partition.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay._util.errors import Note, Numbers
from assay._util.text import sentence
from assay._util.typing import Floats
from assay.checks.departures.search import Departure, answers_called_for
from assay.checks.departures.teams import teams_of
from assay.checks.disagreement import check_score_directions
from assay.checks.double_sampling import DoubleSampling
from assay.checks.gold_errors import contradicted_gold, gold_error_warning
from assay.fits.schema import Method
from assay.inference.assumptions import (
    independent_replicates,
    learned_assumptions,
    replicates_apart,
    stated_assumptions,
    unread_scores,
)
from assay.inference.class_drift import LabelSums
from assay.inference.data_counts import DataCounts
from assay.inference.data_doubts import DataDoubt, find_data_doubts
from assay.inference.diagnostics import (
    design_warnings,
    gold_warnings,
    mode_warnings,
    name_warnings,
)
from assay.inference.label_doubts import LabelDoubt, doubts_json, find_doubts, mode_doubts
from assay.inference.label_switching import exchange_warnings
from assay.inference.modes import Mode
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import counts_answers
from assay.modelling.structure import Structure


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """What the finders need of the whole data set and of the labels in a fit.

    scores : doubts about labels whose classes are clusters of scores
    unlike_gold : says how items of known truth differ from the others
    departures : departures from raters who err independently; not called for a mode alone
    group_errors : warnings of groups that err together; not called for a mode alone
    """

    labels: Sequence[LabelSums]
    counts: DataCounts
    scores: Sequence[LabelDoubt]
    design: DoubleSampling | None
    unlike_gold: Callable[[], str]
    departures: Callable[[], Sequence[Departure]]
    group_errors: Callable[[], list[Note]]


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What is to be known of a fit before it is believed."""

    notes: list[Note]
    assumptions: list[str]
    label_doubts: list[LabelDoubt]
    data_doubts: list[DataDoubt]

    @property
    def attributes(self) -> dict[str, str]:
        """The doubts as attributes of a fit."""
        return {
            "label_doubts": doubts_json(self.label_doubts),
            "data_doubts": doubts_json(self.data_doubts),
        }


def diagnose(
    structure: Structure,
    values: Mapping[str, Floats],
    modes: Sequence[Mode],
    evidence: Evidence,
    *,
    draws: Sequence[Note],
    method: Method,
) -> Diagnosis:
    """Collect all warnings, doubts and assumptions of a fit; ``draws`` are notes on its draws.

    Over partitions ``structure`` has a skeleton of the ratings: all raters, few items.
    """
    spec, counts, alone = structure.spec, evidence.counts, method in MODES_ALONE
    doubts = find_doubts(structure, evidence.labels, evidence.scores)
    doubts += mode_doubts(structure, modes)
    doubted = {(doubt.label, name) for doubt in doubts if doubt.warning for name in doubt.classes}
    about_data = find_data_doubts(
        spec,
        structure.ratings,
        teams_of(structure.ratings.systems, counts.links),
        () if alone else evidence.departures(),
    )
    notes = list(draws)
    notes += exchange_warnings(structure, values) if method == "nuts" else []
    notes += mode_warnings(modes)
    notes += [doubt.note() for doubt in doubts if doubt.warning]
    notes += name_warnings(structure, values, doubted, counts.ratings)
    notes += design_warnings(spec, evidence.design)
    notes += gold_warnings(spec, evidence.unlike_gold)
    notes += _contradicted_gold(structure)
    notes += _counted_twice(structure)
    notes += [doubt.note() for doubt in about_data]
    notes += [] if alone else evidence.group_errors()
    notes += _opposite_scores(structure)
    notes += unread_scores(structure, counts) + independent_replicates(structure, counts)
    return Diagnosis(
        notes=notes,
        assumptions=[
            *stated_assumptions(structure, counts),
            *replicates_apart(structure, counts),
            *learned_assumptions(structure, values),
        ],
        label_doubts=doubts,
        data_doubts=about_data,
    )


def _contradicted_gold(structure: Structure) -> list[Note]:
    """Warn of known truth that all raters contradict; skeletons of partitions have no answers."""
    found = contradicted_gold(structure.ratings)
    if not found.matters:
        return []
    numbers: Numbers = {"items": len(found.table), "expected": found.expected, "p": found.p}
    return [Note(f"{gold_error_warning(found)}.", code="gold-contradicted", numbers=numbers)]


def _counted_twice(structure: Structure) -> list[Note]:
    """Warn of the number of answers as a covariate where disagreement called for more answers."""
    if not counts_answers(structure.spec.formula) or not answers_called_for(structure.ratings):
        return []
    text = (
        "Items on which raters disagree have more answers, so the number of answers depends on the "
        "answers. As a covariate (`formula=`), `n_answers` uses them twice, and the results are "
        "too certain. Fit without it."
    )
    return [Note(text, code="answers-counted-twice")]


def _opposite_scores(structure: Structure) -> list[Note]:
    """Warn of raters with opposite scores; no fit over partitions reads scores."""
    if "scored" not in structure.spec.rater_parts:
        return []
    return [
        Note(sentence(found.text), code=found.code, numbers=found.numbers)
        for found in check_score_directions(structure.ratings).findings
    ]
