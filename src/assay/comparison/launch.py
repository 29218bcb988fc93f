"""The function ``decide``: which system to launch, by its gain and by joint guardrails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ArgumentError
from assay._util.html import notebook_html
from assay._util.intervals import require_level, tails
from assay._util.text import (
    column_decimals,
    interval,
    lines_of,
    percent,
    rounded,
    some,
)
from assay._util.typing import Floats
from assay._util.validation import argument, is_number, require_number
from assay.comparison.contrasts import SAMPLE, SIGNS, TIE, pairs_of, rank_table, require_two
from assay.comparison.decisions import chance_said
from assay.data.directions import way_to_direct
from assay.data.generic_metrics import parse_generic
from assay.data.task import Task
from assay.evaluation import metrics
from assay.evaluation.estimands import Estimand
from assay.evaluation.registry import Metric
from assay.evaluation.select import choose_metrics
from assay.evaluation.titles import metric_titles
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubt_about_difference


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """The system to launch, with its probabilities; ``print`` it for sentences.

    table : a line per system: ``system``; ``gain`` over the baseline (posterior mean), ``lower``,
        ``upper``; ``p_better`` = P(gain > 0); ``p_holds_<metric>`` of each guardrail, P(not worse
        than the baseline by more than its margin); ``p_guardrails``, P(all of them together);
        ``p_all``, P(better, and all guardrails hold); ``p_best``; ``expected_loss`` of choosing
        it instead of the truly best system; ``undefined`` (share of the draws in which some number
        is undefined, which are left out); ``doubt``
    chosen : the system to launch: the baseline if no other one meets the rule
    weights : weight of each metric in the gain
    guardrails : how much worse each metric may be
    sure : ``p_all`` from which a system is launched
    level : probability of the intervals
    titles : what sentences and tables call each metric
    """

    table: pd.DataFrame
    chosen: str
    baseline: str
    weights: Mapping[str, float]
    guardrails: Mapping[str, float]
    sure: float
    level: float
    titles: Mapping[str, str]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return f"<assay.Decision: {self.verdict}>"

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    def sentences(self) -> list[str]:
        """State which system to launch, and the numbers of each system."""
        lines = {line["system"]: line for line in lines_of(self.table)}
        return [self.verdict, *(self._about(line) for name, line in lines.items()
                                if name != self.baseline)]  # fmt: skip

    @property
    def verdict(self) -> str:
        """Which system to launch, in one sentence."""
        lines = {line["system"]: line for line in lines_of(self.table)}
        held = "better and within all guardrails" if self.guardrails else "better"
        if self.chosen == self.baseline:
            return (
                f"Keep {self.baseline}: no other system is {held} with probability "
                f"{self.sure:g} or more."
            )
        line = lines[self.chosen]
        return (
            f"Launch {self.chosen}: P({held}) {chance_said(line['p_all'])}, expected loss "
            f"{rounded(line['expected_loss'], 3)}."
        )

    def _about(self, line: dict[str, Any]) -> str:
        numbers = np.array([[line["gain"], line["lower"], line["upper"]]], float)
        decimals = column_decimals(numbers, marks=[0.0])
        told = interval(numbers[0, 0], numbers[0, 1], numbers[0, 2], decimals)
        text = (
            f"{line['system']}: gain over {self.baseline} {told} ({percent(self.level)} "
            f"interval), P(better) {chance_said(line['p_better'])}"
        )
        for name, margin in self.guardrails.items():
            held = chance_said(line[f"p_holds_{name}"])
            text += f", P({self.titles[name]} not worse by more than {margin:g}) {held}"
        if self.guardrails:
            text += f", P(all) {chance_said(line['p_all'])}"
        doubt = f" No conclusion rests on it: {line['doubt']}." if line["doubt"] else ""
        return f"{text}.{doubt}"

    def _repr_html_(self) -> str:
        """Show the sentence and the table in a notebook."""
        shown = self.table.drop(columns=["undefined", "doubt"])
        return notebook_html(self.verdict, {f"Over {self.baseline}": shown})


def decide(
    fit: Fit,
    *,
    gain: str | Mapping[str, float],
    baseline: str,
    guardrails: Mapping[str, float] | None = None,
    sure: float = 0.9,
    estimand: Estimand = "population",
    level: float = 0.95,
) -> Decision:
    r"""Decide which system to launch in place of a baseline.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`, of ratings with at least two systems.
    gain : str or mapping of str to float
        The metric to improve, or several metrics with weights above 0. Where lower values are
        better, a decrease is a gain.
    baseline : str
        The current system.
    guardrails : mapping of str to float, optional
        Metrics with margins of 0 or more: by how much each may be worse than the baseline's.
    sure : float
        Launch a system if it is better and within all guardrails with at least this probability.
    estimand : {"population", "finite"}
        As for :func:`assay.metrics`.
    level : float
        Probability of the intervals.

    Returns
    -------
    Decision
        The system to launch, and a table of gains and probabilities.

    Raises
    ------
    ArgumentError
        If a weight, a margin or a probability is out of range, or a metric has no direction.
    ModelError
        If there are fewer than two systems.
    UnknownNameError
        If the task has no metric, or the ratings no system, of a name.

    Notes
    -----
    With signs :math:`d_m = \pm 1` of the better direction, the gain of system :math:`s` is
    :math:`\sum_m w_m d_m (m_s - m_0)`. All probabilities come from the same draws. So that of
    "better on A and not worse by more than 0.01 on B" is the share of draws in which both hold. It
    is not a product of two probabilities. Among the systems that reach ``sure``, the one with the
    lowest expected loss is launched, unless its labels are in doubt.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("retrieval", n_items=60, n_systems=2, n_clusters=15, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> found = decide(
    ...     tree, gain="ndcg_at_k", baseline="system_1",
    ...     guardrails={"misleading_context_rate_at_k": 0.01},
    ... )
    >>> found.table[["system", "p_all"]].shape
    (2, 2)
    """
    require_level(level)
    require_number(
        "sure", sure, lambda x: 0.5 <= x < 1, allowed="a probability from 0.5 on, such as 0.9"
    )
    weights = _amounts("gain", {gain: 1.0} if isinstance(gain, str) else gain, positive=True)
    margins = _amounts("guardrails", {} if guardrails is None else guardrails, positive=False)
    view = FitView.of(fit)
    ratings = view.ratings
    require_two(ratings.systems)
    pairs_of(ratings.systems, baseline)
    names = list(dict.fromkeys([*weights, *margins]))
    chosen = choose_metrics(ratings.task, names)
    signs = {one.name: SIGNS.get(one.better, 0) for one in chosen}
    for one in chosen:
        if not signs[one.name]:
            raise ArgumentError(
                f"{one.name} has no direction, so no change is a gain. Write "
                f"{_way(one, ratings.task)} below its label in the task file, and fit again. Or "
                "register a metric with `better=` (assay.metric)",
                code="metric-direction",
            )
    draws = metrics(view, estimand=estimand, by="system", metric=names)
    systems = [str(name) for name in draws["system"].to_numpy()]
    values = {
        name: sign * draws[name].transpose(*SAMPLE, "system").to_numpy().reshape(-1, len(systems))
        for name, sign in signs.items()
    }
    table = _table(values, systems, baseline, weights, margins, level)
    labels = {one.name: one.labels for one in chosen}
    of_values = dict.fromkeys(str(draws[name].attrs.get("doubt", "")) for name in names)
    table["doubt"] = [
        "; ".join(filter(None, dict.fromkeys([*of_values, *(
            doubt_about_difference(view, labels[name], ratings.task, system, baseline)
            for name in names if system != baseline
        )])))
        for system in systems
    ]  # fmt: skip
    able = table[
        (table["system"] != baseline) & (table["p_all"] >= sure) & (table["doubt"] == "")
    ].sort_values("expected_loss", kind="stable")
    return Decision(
        table=table, chosen=str(able["system"].iloc[0]) if len(able) else baseline,
        baseline=baseline, weights=weights, guardrails=margins, sure=sure, level=level,
        titles=metric_titles(draws),
    )  # fmt: skip


def _way(metric: Metric, task: Task) -> str:
    """Say what to write below the label of a metric so that it has a direction."""
    read = parse_generic(metric.name, task.label_names)
    label = next((one for one in task.labels if one.name in (metric.labels or ())), task.labels[0])
    return way_to_direct(label, read.word if read is not None else "")


def _amounts(name: str, given: object, *, positive: bool) -> dict[str, float]:
    """Return the number of each metric: weights above 0, or margins of 0 or more."""
    found = dict(given) if isinstance(given, Mapping) else None
    if found is None or (positive and not found):
        raise ArgumentError(
            f"{argument(name, given)}; it must be metrics with their numbers, such as "
            "{'ndcg_at_k': 1.0}",
            code="argument-number",
        )
    for metric, amount in found.items():
        fine = is_number(amount) and np.isfinite(amount) and amount >= 0
        if not isinstance(metric, str) or not fine or (positive and amount == 0):
            raise ArgumentError(
                f"{argument(name, {metric: amount})}; each metric needs a number "
                f"{'above 0' if positive else 'of 0 or more'}",
                code="argument-number",
            )
    return found


def _table(
    values: Mapping[str, Floats],
    systems: list[str],
    baseline: str,
    weights: Mapping[str, float],
    margins: Mapping[str, float],
    level: float,
) -> pd.DataFrame:
    """Return the lines of the decision, from draws in which all numbers are defined."""
    base = systems.index(baseline)
    known = ~np.any([np.isnan(v).any(axis=1) for v in values.values()], axis=0)
    if not known.any():
        raise ArgumentError(
            f"no draw has a number for {some(list(values))} of all systems, so nothing can be "
            "decided. Choose other metrics",
            code="decision-undefined",
        )
    kept = {name: v[known] for name, v in values.items()}
    utility = sum((weight * kept[name] for name, weight in weights.items()), np.zeros(()))
    gains = utility - utility[:, [base]]
    within = {
        name: kept[name] - kept[name][:, [base]] >= -margin - TIE
        for name, margin in margins.items()
    }
    together = np.all([*within.values(), np.ones_like(gains, bool)], axis=0)
    better = gains > TIE
    lower, upper = np.quantile(gains, tails(level), axis=0)
    ranks = rank_table(np.asarray(utility), "higher")
    columns = {"system": systems, "gain": gains.mean(axis=0), "lower": lower, "upper": upper}
    columns |= {"p_better": better.mean(axis=0)}
    columns |= {f"p_holds_{name}": held.mean(axis=0) for name, held in within.items()}
    columns |= {
        "p_guardrails": together.mean(axis=0),
        "p_all": (together & better).mean(axis=0),
        "p_best": ranks["p_best"].to_numpy(),
        "expected_loss": ranks["expected_loss"].to_numpy(),
        "undefined": 1 - known.mean(),
    }
    return pd.DataFrame(columns)
