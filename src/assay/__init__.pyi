"""The public names, for type checkers; ``_HOME`` says the same when the package runs."""

from assay._util.errors import AssayError as AssayError
from assay._util.errors import FitWarning as FitWarning
from assay.checks import check as check
from assay.comparison import (
    check_claim as check_claim,
)
from assay.comparison import (
    compare as compare,
)
from assay.comparison import (
    compare_baselines as compare_baselines,
)
from assay.comparison import (
    compare_counts as compare_counts,
)
from assay.comparison import (
    compare_groups as compare_groups,
)
from assay.comparison import (
    decide as decide,
)
from assay.comparison import (
    parse_claim as parse_claim,
)
from assay.data.ratings import Ratings as Ratings
from assay.data.ratings import take_ratings as take_ratings
from assay.data.task import Task as Task
from assay.data.task_files import load_task as load_task
from assay.display.exports import export_labels as export_labels
from assay.display.methods import methods as methods
from assay.distributed import dask_executor as dask_executor
from assay.distributed import fit_dataset as fit_dataset
from assay.evaluation import (
    expected_width as expected_width,
)
from assay.evaluation import (
    load_metrics as load_metrics,
)
from assay.evaluation import (
    metric as metric,
)
from assay.evaluation import (
    metrics as metrics,
)
from assay.evaluation import (
    prior_metrics as prior_metrics,
)
from assay.evaluation import (
    variance_budget as variance_budget,
)
from assay.fits.arviz_groups import add_groups as add_groups
from assay.fits.labels import (
    label_draws as label_draws,
)
from assay.fits.labels import (
    label_probabilities as label_probabilities,
)
from assay.fits.labels import (
    state_probabilities as state_probabilities,
)
from assay.fits.simulate import simulate as simulate
from assay.fits.storage import load as load
from assay.fits.storage import save as save
from assay.fits.summary import summarize as summarize
from assay.inference.fit import fit as fit
from assay.inference.label_doubts import label_doubts as label_doubts
from assay.io import read_ratings as read_ratings
from assay.io.examples import load_example as load_example
from assay.modelling.priors import read_priors as read_priors
from assay.modelling.pymc_model import build_model as build_model
from assay.plots import (
    plot_agreement as plot_agreement,
)
from assay.plots import (
    plot_budget as plot_budget,
)
from assay.plots import (
    plot_calibration as plot_calibration,
)
from assay.plots import (
    plot_comparison as plot_comparison,
)
from assay.plots import (
    plot_confusions as plot_confusions,
)
from assay.plots import (
    plot_drift as plot_drift,
)
from assay.plots import (
    plot_labels as plot_labels,
)
from assay.plots import (
    plot_metrics as plot_metrics,
)
from assay.plots import (
    plot_raters as plot_raters,
)
from assay.raters.agreements import agreement as agreement
from assay.raters.agreements import rater_agreement as rater_agreement
from assay.raters.calibration import rater_calibration as rater_calibration
from assay.raters.consistency import rater_consistency as rater_consistency
from assay.raters.dependence import (
    effective_number_of_raters as effective_number_of_raters,
)
from assay.raters.dependence import (
    group_misperception as group_misperception,
)
from assay.raters.drift import (
    rater_drift as rater_drift,
)
from assay.raters.drift import (
    reliability_by_session as reliability_by_session,
)
from assay.raters.effects import (
    rater_difficulty as rater_difficulty,
)
from assay.raters.effects import (
    rater_lapses as rater_lapses,
)
from assay.raters.reliability import (
    compare_raters as compare_raters,
)
from assay.raters.reliability import (
    rater_reliability as rater_reliability,
)
from assay.raters.scoring import (
    score_rater as score_rater,
)
from assay.raters.scoring import (
    score_table as score_table,
)
from assay.raters.scoring import (
    threshold_sweep as threshold_sweep,
)
from assay.raters.spammers import rater_spammers as rater_spammers
from assay.raters.standing import rater_standing as rater_standing
from assay.reporting import report as report
from assay.reporting.rater_sheets import rater_decisions as rater_decisions
from assay.reporting.rater_sheets import rater_sheets as rater_sheets
from assay.reporting.whole_run import run as run
from assay.studies.ais import ais_study as ais_study
from assay.studies.diras import compare_scores as compare_scores
from assay.studies.diras import recall_of_runs as recall_of_runs
from assay.studies.diras import sample_pairs as sample_pairs
from assay.studies.judges import ask_model as ask_model
from assay.studies.students import train_student as train_student
from assay.studies.students import training_chats as training_chats
from assay.validation.loo import loo_gold as loo_gold
from assay.validation.loo import stack_labels as stack_labels
from assay.validation.posterior_predictive import (
    posterior_predictive_check as posterior_predictive_check,
)
from assay.validation.sensitivity import (
    sensitivity_to_abstention as sensitivity_to_abstention,
)
from assay.validation.sensitivity import (
    sensitivity_to_consensus as sensitivity_to_consensus,
)
from assay.validation.stability import sensitivity_to_assumptions as sensitivity_to_assumptions

__version__: str
__all__ = [
    "AssayError",
    "FitWarning",
    "Ratings",
    "Task",
    "add_groups",
    "agreement",
    "ais_study",
    "ask_model",
    "build_model",
    "check",
    "check_claim",
    "compare",
    "compare_baselines",
    "compare_counts",
    "compare_groups",
    "compare_raters",
    "compare_scores",
    "dask_executor",
    "decide",
    "effective_number_of_raters",
    "expected_width",
    "export_labels",
    "fit",
    "fit_dataset",
    "group_misperception",
    "label_doubts",
    "label_draws",
    "label_probabilities",
    "load",
    "load_example",
    "load_metrics",
    "load_task",
    "loo_gold",
    "methods",
    "metric",
    "metrics",
    "parse_claim",
    "plot_agreement",
    "plot_budget",
    "plot_calibration",
    "plot_comparison",
    "plot_confusions",
    "plot_drift",
    "plot_labels",
    "plot_metrics",
    "plot_raters",
    "posterior_predictive_check",
    "prior_metrics",
    "rater_agreement",
    "rater_calibration",
    "rater_consistency",
    "rater_decisions",
    "rater_difficulty",
    "rater_drift",
    "rater_lapses",
    "rater_reliability",
    "rater_sheets",
    "rater_spammers",
    "rater_standing",
    "read_priors",
    "read_ratings",
    "recall_of_runs",
    "reliability_by_session",
    "report",
    "sample_pairs",
    "save",
    "score_rater",
    "score_table",
    "sensitivity_to_abstention",
    "sensitivity_to_assumptions",
    "sensitivity_to_consensus",
    "simulate",
    "stack_labels",
    "state_probabilities",
    "summarize",
    "take_ratings",
    "threshold_sweep",
    "train_student",
    "training_chats",
    "variance_budget",
]
