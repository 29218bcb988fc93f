"""Results for the sections, each computed once, on first use."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd
import xarray as xr

from assay._util.text import decimals_of, lines_of
from assay.checks import check
from assay.checks.findings import Check
from assay.comparison import (
    ClaimResult,
    Comparison,
    SideBySide,
    check_claim,
    compare,
    compare_baselines,
)
from assay.comparison.claim_tests import Deciding
from assay.comparison.claims import Claim
from assay.comparison.contrasts import SIGNS, contrast, pairs_of
from assay.comparison.orientation import leading_first, oriented, turned
from assay.data.ratings import Ratings
from assay.display.frames import labels_frame, reliability_frame, worth_frame
from assay.display.notes import draws_worth, ties_said
from assay.evaluation import expected_width, majority_metrics, metrics, variance_budget
from assay.evaluation.estimands import ESTIMANDS
from assay.evaluation.titles import metric_titles
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.raters.agreements import Agreement, agreement
from assay.raters.calibration import rater_calibration
from assay.raters.consistency import rater_consistency
from assay.raters.dependence import group_misperception
from assay.raters.drift import rater_drift
from assay.raters.spammers import rater_spammers
from assay.raters.standing import rater_standing
from assay.reporting.joint_raters import joint_raters
from assay.reporting.rater_feedback import Talk, costliest_misses, talks
from assay.reporting.rater_names import with_shown_names
from assay.reporting.reliance import mark_of_draws, with_mark
from assay.validation.equal_difficulty import held_against_equal_difficulty
from assay.validation.posterior_predictive import posterior_predictive_check
from assay.validation.sensitivity import sensitivity_to_abstention, sensitivity_to_consensus
from assay.validation.stability import Of, stability_tables

GAP = ("difference", "difference_lower", "difference_upper")
"""Columns of a difference and of its interval."""
MISFIT = 0.01
"""Tail probability below which a line is a misfit: among many lines some are small by chance."""
ABSTENTION_DRAWS = 1000
"""Posterior draws used for each kind of item and odds ratio, with new states in each."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Material:
    """A fit, the requests for the report, and the results.

    human : human raters, or groups of them
    stability : whether to refit the model under other assumptions
    budget : whether to split the variance and predict the effect of more data
    command : the command that made the report
    baseline : compare each system only with this one; None for all pairs
    short : whether to leave out the appendix
    """

    fit: Fit
    level: float = 0.95
    claims: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    stability: bool = False
    budget: bool = True
    command: str | None = None
    progress: bool = False
    baseline: str | None = None
    short: bool = False

    @cached_property
    def view(self) -> FitView:
        """The fit, of which all sections take the same view; raters have their shown names."""
        return self._named[0]

    @property
    def rater_names(self) -> dict[str, str]:
        """What displays call each rater, if not by their own name."""
        return self._named[1]

    @cached_property
    def _named(self) -> tuple[FitView, dict[str, str]]:
        return with_shown_names(self.fit)

    @property
    def ratings(self) -> Ratings:
        """The ratings of the fit."""
        return self.view.ratings

    @property
    def n_known(self) -> int:
        """Number of items whose truth is known, at least in part."""
        return int(self.ratings.has_truth.sum())

    @cached_property
    def mark(self) -> str:
        """The mark of every number of a fit whose draws are in doubt; empty otherwise."""
        return mark_of_draws(self.view)

    def _marked(self, table: pd.DataFrame) -> pd.DataFrame:
        return with_mark(table, self.mark)

    @cached_property
    def data_check(self) -> Check:
        """The check of the ratings."""
        return check(self.ratings)

    @cached_property
    def draws(self) -> dict[str, xr.Dataset]:
        """Draws of the metrics by estimand."""
        return {name: metrics(self.view, estimand=name) for name in ESTIMANDS}

    @cached_property
    def summaries(self) -> dict[str, pd.DataFrame]:
        """Summaries of the metrics by estimand."""
        found = {name: summarize(draws, level=self.level) for name, draws in self.draws.items()}
        return {name: self._marked(table) for name, table in found.items()}

    @cached_property
    def equal_difficulty(self) -> pd.DataFrame:
        """Metrics that the layer of difficulty moves out of their interval without it."""
        table = pd.concat(self.summaries.values(), ignore_index=True)
        return held_against_equal_difficulty(self.view, table, level=self.level)

    @cached_property
    def vote(self) -> pd.DataFrame:
        """Metrics of the majority vote, with cluster bootstrap intervals."""
        return majority_metrics(self.ratings, level=self.level)

    @cached_property
    def ties(self) -> str:
        """How the majority vote counts ties; empty without one."""
        return ties_said(self.ratings)

    @cached_property
    def reliability(self) -> pd.DataFrame:
        """Confusions of the raters as recorded."""
        return reliability_frame(self.view, "recorded", self.level)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Which raters are adversarial or spammers."""
        return rater_spammers(self.view, level=self.level)

    @cached_property
    def consistency(self) -> pd.DataFrame:
        """How often repeated ratings of an item by a rater agree."""
        return rater_consistency(self.view, level=self.level)

    @cached_property
    def worth(self) -> pd.DataFrame:
        """Effective number of raters in each group; empty if all err independently."""
        return worth_frame(self.view, self.level)

    @cached_property
    def misperceived(self) -> pd.DataFrame:
        """How often groups with a perception layer misperceive items."""
        return group_misperception(self.view, level=self.level)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """Probabilities of the labels of the items."""
        return labels_frame(self.view)

    @cached_property
    def comparison(self) -> Comparison:
        """Comparison of the systems on all metrics, each pair with the leading one first."""
        found = oriented(self._compared, self.order)
        return replace(found, pairs=self._marked(found.pairs), systems=self._marked(found.systems))

    @cached_property
    def _compared(self) -> Comparison:
        return compare(self.view, level=self.level, baseline=self.baseline)

    @cached_property
    def order(self) -> list[str]:
        """The systems, the leading one first; in the order of the data with a baseline."""
        if len(self.ratings.systems) < 2:
            return list(self.ratings.systems)
        if self.baseline is None:
            return leading_first(self._compared.systems)
        return [*(s for s in self.ratings.systems if s != self.baseline), self.baseline]

    @cached_property
    def titles(self) -> dict[str, str]:
        """Title of each metric in displays."""
        return metric_titles(self.draws["finite"])

    @cached_property
    def worth_draws(self) -> float:
        """Effective number of draws of the results."""
        return draws_worth(self.view)

    @cached_property
    def standing(self) -> pd.DataFrame:
        """Accuracy of each rater, compared with the median rater."""
        return rater_standing(self.view, level=self.level)

    @cached_property
    def joint(self) -> dict[str, str]:
        """What displays call raters together who cannot be told apart, by rater."""
        return joint_raters(self.ratings, self.view.spec, self.standing)

    @cached_property
    def gap_decimals(self) -> int:
        """Decimals of all differences of systems on the page, which show whether 0 is inside."""
        return decimals_of(self.comparison.pairs, GAP, draws=self.worth_draws, marks=[0.0])

    @cached_property
    def value_decimals(self) -> int:
        """Decimals of all metrics of the population on the page."""
        return decimals_of(self.summaries["population"], draws=self.worth_draws)

    @cached_property
    def lacks_direction(self) -> bool:
        """Whether systems are compared, and no label says which of its classes are good."""
        if self.claims or len(self.ratings.systems) < 2:
            return False
        told = any(label.better for label in self.ratings.task.labels)
        return not told and not self.comparison.pairs["better"].isin(SIGNS).any()

    @cached_property
    def talks(self) -> list[Talk]:
        """Errors that raters make more often than the others, the costliest first."""
        return talks(self.view, self.ratings)

    @cached_property
    def misses(self) -> dict[str, dict[str, Any]]:
        """The class that each rater misses at the highest cost, beyond the other raters."""
        found = lines_of(costliest_misses(self.view, self.ratings))
        return {str(line["rater"]): line for line in found}

    @cached_property
    def sides(self) -> SideBySide:
        """Majority vote, model, and human ratings alone."""
        human = [self.rater_names.get(name, name) for name in self.human] or None
        found = compare_baselines(self.view, human=human, level=self.level, baseline=self.baseline)
        return replace(found, table=turned(found.table, self.order))

    @cached_property
    def verdicts(self) -> tuple[ClaimResult, ...]:
        """Results of the claims."""
        return tuple(check_claim(self.view, claim, level=self.level) for claim in self.claims)

    def would_decide(self, metric: str, first: str, second: str) -> Deciding | None:
        """Return which data would decide whether one system is higher; None if unknown."""
        claim = Claim(
            text=f"{first} > {second} on {metric}", metric=metric, system=first, other=second,
            relation=">", number=0.0,
        )  # fmt: skip
        return check_claim(self.view, claim, level=self.level).would_decide

    @cached_property
    def variance(self) -> pd.DataFrame:
        """Variance budget: of the contrast with two systems, else of each system."""
        return variance_budget(self.view, contrast=self._contrast)

    @cached_property
    def contrast_variance(self) -> pd.DataFrame:
        """Variance budget of each contrast, by metric; empty with fewer than three systems."""
        pairs = pairs_of(self.order, self.baseline) if self._contrast is None else []
        parts = [variance_budget(self.view, contrast=pair) for pair in pairs]
        if not parts:
            return self.variance.head(0)
        return pd.concat(parts).sort_index(kind="stable", ignore_index=True)

    @cached_property
    def widths(self) -> pd.DataFrame:
        """Expected interval widths with more data, for the same numbers."""
        return expected_width(self.view, contrast=self._contrast, level=self.level)

    def width_of(self, metric: str, pair: tuple[str, str] | None) -> pd.DataFrame:
        """Return expected widths of a difference on a metric; of the metric without a pair."""
        if pair in (None, self._contrast):
            return self.widths[self.widths["metric"] == metric]
        return expected_width(self.view, metric=metric, contrast=pair, level=self.level)

    def variance_of(self, metric: str, pair: tuple[str, str] | None) -> pd.DataFrame:
        """Return the variance budget of the same number."""
        table = self.variance if pair in (None, self._contrast) else self.contrast_variance
        table = table[table["metric"] == metric]
        return table if pair is None else table[table["system"] == contrast(*pair)]

    @property
    def _contrast(self) -> tuple[str, str] | None:
        return (self.order[0], self.order[1]) if len(self.order) == 2 else None

    @cached_property
    def agreed(self) -> Agreement:
        """Agreement of the raters, and its expectation under the model."""
        return agreement(self.ratings, fit=self.view, level=self.level)

    @cached_property
    def predictive(self) -> pd.DataFrame:
        """Posterior predictive checks of the answers."""
        return posterior_predictive_check(self.view, level=self.level)

    @cached_property
    def misfits(self) -> pd.DataFrame:
        """Lines of the posterior predictive checks that the model does not reproduce."""
        return self.predictive[self.predictive["tail"] < MISFIT]

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """The metrics if the consensus were wrong on some items."""
        return sensitivity_to_consensus(self.view, level=self.level)

    @cached_property
    def abstaining(self) -> pd.DataFrame:
        """The metrics if abstentions depended on the truth, for each kind of item in turn."""
        return sensitivity_to_abstention(
            self.view, odds_ratio=(0.25, 1.0, 4.0), level=self.level, draws=ABSTENTION_DRAWS
        )

    @cached_property
    def refits(self) -> pd.DataFrame | None:
        """The comparison under other assumptions; None without systems to compare."""
        found = self._refitted.get("contrasts")
        return None if found is None else turned(found, self.order)

    @cached_property
    def refitted_metrics(self) -> pd.DataFrame:
        """The metrics of each system under other assumptions."""
        return self._refitted["systems"]

    @cached_property
    def _refitted(self) -> dict[Of, pd.DataFrame]:
        return stability_tables(self.view, level=self.level, progress=self.progress)

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Change of the raters' reliability from the first session to the last."""
        return rater_drift(self.view, level=self.level)

    @cached_property
    def calibration(self) -> pd.DataFrame:
        """Calibration of scores."""
        return rater_calibration(self.view, level=self.level)

    @cached_property
    def reference(self) -> str:
        """The reference: whose truth all numbers are about."""
        return str(self.view.attrs["reference"])

    def attribute(self, name: str) -> Any:
        """Return a JSON attribute of the fit; None if an older fit lacks it."""
        text = self.view.attrs.get(name)
        return None if text is None else json.loads(text)
