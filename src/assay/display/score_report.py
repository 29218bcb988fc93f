"""The score report of pragmata, the protocol's tool: metrics with intervals, one file a task."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ArgumentError, UnknownNameError, suggest
from assay._util.text import without_folders
from assay.evaluation import metrics
from assay.fits.labels import label_probabilities
from assay.fits.summary import summarize
from assay.fits.view import FitView

LEVEL = 0.95
COLUMNS = ("mean", "lower", "upper")
FIELDS = {
    "retrieval": (
        "topical_precision_at_k", "sufficiency_hit_at_k", "sufficiency_rate_at_k",
        "misleading_context_rate_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k",
    ),
    "grounding": (
        "grounding_presence_rate", "unsupported_claim_rate", "contradiction_rate",
        "citation_presence_rate", "conditional_fabrication_rate",
    ),
    "generation": (
        "proper_action_rate", "on_topic_rate", "helpfulness_rate", "incompleteness_rate",
        "unsafe_content_rate",
    ),
}  # fmt: skip
"""Metrics of a report by task; the package calls them so too."""
CONDITIONAL = {"conditional_fabrication_rate": "source_cited"}
"""Rates among the answers with a yes to this label."""


def score_report(view: FitView, system: str | None) -> str:
    """Return the report as JSON: of one system, or of all panels pooled, as the tool does."""
    ratings, task = view.ratings, view.task.name
    if task not in FIELDS:
        raise ArgumentError(
            f"the task {task} has no score report; pragmata scores {', '.join(FIELDS)}",
            code="no-score-report",
        )
    if system is not None and system not in ratings.systems:
        raise UnknownNameError(
            f"no system is called {system!r}; {suggest(system, ratings.systems)}",
            code="unknown-system",
        )
    drawn = metrics(view, metric=FIELDS[task], by=None if system is None else "system")
    if system is not None:
        drawn = drawn.sel(system=system)
    panels = ratings.panels if system is None else ratings.panels.query("system == @system")
    source = without_folders(ratings.accounting.source)
    about = f"system {system}" if system is not None else "all panels pooled"
    report: dict[str, Any] = {
        "task": task,
        "source": {"kind": "direct_path", "ref": source, "resolved_path": source},
        "notes": (
            f"assay: {about}; posterior means with equal-tailed intervals, which include rater "
            f"error; estimand population, reference {drawn.attrs['reference']}. The "
            "method bootstrap stands for the Bayesian bootstrap over clusters."
        ),
        "created_at": datetime.now(UTC).isoformat(),
        "n_examples": int(panels["panel"].nunique()),
        "ci_level": LEVEL,
    }
    if task == "retrieval":
        report["top_k"] = int(panels["rank"].max())
    table = summarize(drawn, level=LEVEL)
    numbers = dict(zip(table["metric"], table[list(COLUMNS)].to_numpy(float), strict=True))
    for name in FIELDS[task]:
        count = _counted(view, panels, name, report["n_examples"])
        report[name] = _score(*map(float, numbers[name]), count=count)
    return json.dumps(report, ensure_ascii=False, indent=2)


def _counted(view: FitView, panels: pd.DataFrame, name: str, every: int) -> int:
    """Return the number of panels, or the expected number of answers that a rate is among."""
    if name not in CONDITIONAL:
        return every
    chance = label_probabilities(view).sel({"label": CONDITIONAL[name], "class": "yes"})
    items = panels["item"].unique()
    return round(float(np.nansum(chance.to_numpy()[items])))


def _score(mean: float, lower: float, upper: float, *, count: int) -> dict[str, Any] | None:
    """Return a metric of the report; null if no answer counts."""
    if count == 0 or not np.isfinite(mean):
        return None
    point, lower, upper = (min(max(value, 0.0), 1.0) for value in (mean, lower, upper))
    return {
        "point": point, "ci_lower": lower, "ci_upper": upper, "method": "bootstrap", "n": count,
    }  # fmt: skip
