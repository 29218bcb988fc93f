"""assay: what is true of items that several raters judged, and how sure one can be.

The data flow, one function a step::

    ratings.csv -> read_ratings -> Ratings -> build_model -> pm.Model -> fit -> DataTree -> metrics

Names are imported when they are first used, so that ``import assay`` stays quick and does not
import PyMC until a model is built.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.abstentions import abstention_sensitivity
    from assay.accuracy import compare_raters
    from assay.agreements import agreement, rater_agreement
    from assay.ais_studies import ais_study
    from assay.calibration_curves import score_calibration
    from assay.checking import check
    from assay.comparison import (
        check_claim,
        compare,
        compare_counts,
        group_contrasts,
        parse_claim,
        side_by_side,
        stability,
    )
    from assay.consensus import consensus_sensitivity
    from assay.dependence import effective_raters, perception_table
    from assay.distributed import dask_executor, fit_dataset
    from assay.doubts import label_doubts
    from assay.errors import AssayError, FitWarning
    from assay.evaluation import (
        expected_width,
        load_metrics,
        metric,
        metrics,
        prior_metrics,
        variance_budget,
    )
    from assay.fitting import fit
    from assay.gold_left_out import loo_gold
    from assay.kinds import rater_consistency, rater_kinds
    from assay.labels import label_draws, label_probabilities, state_probabilities
    from assay.plots import (
        plot_agreement,
        plot_budget,
        plot_calibration,
        plot_comparison,
        plot_confusions,
        plot_drift,
        plot_labels,
        plot_metrics,
        plot_raters,
    )
    from assay.posterior_checks import predictive_checks
    from assay.prior_files import read_priors
    from assay.pymc_model import build_model
    from assay.rater_lapses import lapse_shares
    from assay.rater_loadings import difficulty_loadings
    from assay.ratings import Ratings, take_ratings
    from assay.reading import read_ratings
    from assay.reliability import rater_reliability
    from assay.reporting import report
    from assay.scoring import score_rater, score_table, threshold_sweep
    from assay.sessions import drift_table, reliability_by_session
    from assay.simulation import simulate
    from assay.stacking import stack_labels
    from assay.storage import load, save
    from assay.summary import summarize
    from assay.task import Task
    from assay.task_files import load_task

_HOME = {
    "AssayError": "errors",
    "FitWarning": "errors",
    "Ratings": "ratings",
    "Task": "task",
    "abstention_sensitivity": "abstentions",
    "agreement": "agreements",
    "ais_study": "ais_studies",
    "build_model": "pymc_model",
    "check": "checking",
    "check_claim": "comparison",
    "compare": "comparison",
    "compare_counts": "comparison",
    "compare_raters": "accuracy",
    "consensus_sensitivity": "consensus",
    "dask_executor": "distributed",
    "difficulty_loadings": "rater_loadings",
    "drift_table": "sessions",
    "effective_raters": "dependence",
    "expected_width": "evaluation",
    "fit": "fitting",
    "fit_dataset": "distributed",
    "group_contrasts": "comparison",
    "label_doubts": "doubts",
    "label_draws": "labels",
    "label_probabilities": "labels",
    "lapse_shares": "rater_lapses",
    "loo_gold": "gold_left_out",
    "load": "storage",
    "load_metrics": "evaluation",
    "load_task": "task_files",
    "metric": "evaluation",
    "metrics": "evaluation",
    "parse_claim": "comparison",
    "perception_table": "dependence",
    "plot_agreement": "plots",
    "plot_budget": "plots",
    "plot_calibration": "plots",
    "plot_comparison": "plots",
    "plot_confusions": "plots",
    "plot_drift": "plots",
    "plot_labels": "plots",
    "plot_metrics": "plots",
    "plot_raters": "plots",
    "predictive_checks": "posterior_checks",
    "prior_metrics": "evaluation",
    "rater_agreement": "agreements",
    "rater_consistency": "kinds",
    "rater_kinds": "kinds",
    "rater_reliability": "reliability",
    "read_priors": "prior_files",
    "read_ratings": "reading",
    "reliability_by_session": "sessions",
    "report": "reporting",
    "save": "storage",
    "score_calibration": "calibration_curves",
    "score_rater": "scoring",
    "score_table": "scoring",
    "side_by_side": "comparison",
    "simulate": "simulation",
    "stack_labels": "stacking",
    "stability": "comparison",
    "state_probabilities": "labels",
    "summarize": "summary",
    "take_ratings": "ratings",
    "threshold_sweep": "scoring",
    "variance_budget": "evaluation",
}

__all__ = [
    "AssayError",
    "FitWarning",
    "Ratings",
    "Task",
    "abstention_sensitivity",
    "agreement",
    "ais_study",
    "build_model",
    "check",
    "check_claim",
    "compare",
    "compare_counts",
    "compare_raters",
    "consensus_sensitivity",
    "dask_executor",
    "difficulty_loadings",
    "drift_table",
    "effective_raters",
    "expected_width",
    "fit",
    "fit_dataset",
    "group_contrasts",
    "label_doubts",
    "label_draws",
    "label_probabilities",
    "lapse_shares",
    "load",
    "load_metrics",
    "load_task",
    "loo_gold",
    "metric",
    "metrics",
    "parse_claim",
    "perception_table",
    "plot_agreement",
    "plot_budget",
    "plot_calibration",
    "plot_comparison",
    "plot_confusions",
    "plot_drift",
    "plot_labels",
    "plot_metrics",
    "plot_raters",
    "predictive_checks",
    "prior_metrics",
    "rater_agreement",
    "rater_consistency",
    "rater_kinds",
    "rater_reliability",
    "read_priors",
    "read_ratings",
    "reliability_by_session",
    "report",
    "save",
    "score_calibration",
    "score_rater",
    "score_table",
    "side_by_side",
    "simulate",
    "stability",
    "stack_labels",
    "state_probabilities",
    "summarize",
    "take_ratings",
    "threshold_sweep",
    "variance_budget",
]

try:
    __version__ = version("assay")
except PackageNotFoundError:  # pragma: no cover
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(import_module(f"assay.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
