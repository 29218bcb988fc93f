"""assay: what is true of items that several raters judged, and how sure one can be.

The data flow, one function a step::

    ratings.csv -> read_ratings -> Ratings -> build_model -> pm.Model -> fit -> DataTree -> metrics

Names are imported when they are first used, so that ``import assay`` stays quick and does not
import PyMC until a model is built.
"""

from importlib import import_module
from typing import Any
from warnings import warn

_HOME = {
    "AssayError": "_util.errors",
    "FitWarning": "_util.errors",
    "Ratings": "data.ratings",
    "Task": "data.task",
    "add_groups": "fits.arviz_groups",
    "agreement": "raters.agreements",
    "ais_study": "studies.ais",
    "ask_model": "studies.judges",
    "build_model": "modelling.pymc_model",
    "check": "checks",
    "check_claim": "comparison",
    "compare": "comparison",
    "compare_baselines": "comparison",
    "compare_counts": "comparison",
    "compare_groups": "comparison",
    "compare_raters": "raters.reliability",
    "compare_scores": "studies.diras",
    "dask_executor": "distributed",
    "decide": "comparison",
    "effective_number_of_raters": "raters.dependence",
    "expected_width": "evaluation",
    "export_labels": "display.exports",
    "fit": "inference.fit",
    "fit_dataset": "distributed",
    "group_misperception": "raters.dependence",
    "label_doubts": "inference.label_doubts",
    "label_draws": "fits.labels",
    "label_probabilities": "fits.labels",
    "load": "fits.storage",
    "load_example": "io.examples",
    "load_metrics": "evaluation",
    "load_task": "data.task_files",
    "loo_gold": "validation.loo",
    "methods": "display.methods",
    "metric": "evaluation",
    "metrics": "evaluation",
    "parse_claim": "comparison",
    "plot_agreement": "plots",
    "plot_budget": "plots",
    "plot_calibration": "plots",
    "plot_comparison": "plots",
    "plot_confusions": "plots",
    "plot_drift": "plots",
    "plot_labels": "plots",
    "plot_metrics": "plots",
    "plot_raters": "plots",
    "posterior_predictive_check": "validation.posterior_predictive",
    "prior_metrics": "evaluation",
    "rater_agreement": "raters.agreements",
    "rater_calibration": "raters.calibration",
    "rater_consistency": "raters.consistency",
    "rater_decisions": "reporting.rater_sheets",
    "rater_difficulty": "raters.effects",
    "rater_drift": "raters.drift",
    "rater_lapses": "raters.effects",
    "rater_reliability": "raters.reliability",
    "rater_sheets": "reporting.rater_sheets",
    "rater_spammers": "raters.spammers",
    "rater_standing": "raters.standing",
    "read_priors": "modelling.priors",
    "read_ratings": "io",
    "recall_of_runs": "studies.diras",
    "reliability_by_session": "raters.drift",
    "report": "reporting",
    "run": "reporting.whole_run",
    "sample_pairs": "studies.diras",
    "save": "fits.storage",
    "score_rater": "raters.scoring",
    "score_table": "raters.scoring",
    "sensitivity_to_abstention": "validation.sensitivity",
    "sensitivity_to_assumptions": "validation.stability",
    "sensitivity_to_consensus": "validation.sensitivity",
    "simulate": "fits.simulate",
    "stack_labels": "validation.loo",
    "state_probabilities": "fits.labels",
    "summarize": "fits.summary",
    "take_ratings": "data.ratings",
    "threshold_sweep": "raters.scoring",
    "train_student": "studies.students",
    "training_chats": "studies.students",
    "variance_budget": "evaluation",
}

__all__ = sorted(_HOME)

_RENAMED = {
    "abstention_sensitivity": "sensitivity_to_abstention",
    "consensus_sensitivity": "sensitivity_to_consensus",
    "difficulty_loadings": "rater_difficulty",
    "drift_table": "rater_drift",
    "effective_raters": "effective_number_of_raters",
    "group_contrasts": "compare_groups",
    "lapse_shares": "rater_lapses",
    "perception_table": "group_misperception",
    "predictive_checks": "posterior_predictive_check",
    "rater_kinds": "rater_spammers",
    "score_calibration": "rater_calibration",
    "side_by_side": "compare_baselines",
    "stability": "sensitivity_to_assumptions",
}
"""Names of before, which warn for one release."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _RENAMED:
        new = _RENAMED[name]
        text = f"assay.{name} is now assay.{new}. The next release will not have the old name"
        warn(text, FutureWarning, stacklevel=2)
        return __getattr__(new)
    if name == "__version__":
        value = _version()
    elif name in _HOME:
        value = getattr(import_module(f"assay.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    """Return the version of the installed package; looking it up would slow each import."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("assay")
    except PackageNotFoundError:  # pragma: no cover
        return "0+unknown"


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
