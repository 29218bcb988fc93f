"""Metrics if abstentions depend on the truth, or if the consensus is sometimes wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from assay._util.errors import FitError, ModelError
from assay._util.intervals import require_level
from assay._util.random import seed_of
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import names_given, numbers_given, require_choice, require_count
from assay.data.ratings import Ratings
from assay.data.rules import as_written
from assay.data.task import Task
from assay.evaluation import metrics
from assay.evaluation.estimands import ESTIMANDS, Estimand, is_modelled
from assay.evaluation.fitted import Change, metrics_if
from assay.fits.latent_states import sample_states
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.modelling.prevalence.base import main_columns
from assay.modelling.spec import is_consensus

ODDS_RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)
STREAM = 8
SWEEPS = 500
"""Most EM iterations for the raters' rates of abstention and the prevalence."""
SAME = 1e-7
LARGEST_STEP = 1.0
WIDEST = 40.0
"""Log odds beyond which a probability is numerically 0 or 1."""


def sensitivity_to_abstention(
    fit: Fit,
    *,
    when: Sequence[str] | str | None = None,
    odds_ratio: Sequence[float] | float = ODDS_RATIOS,
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "finite",
    level: float = 0.95,
    draws: int | None = None,
) -> pd.DataFrame:
    r"""Recompute metrics as if raters abstained more, or less, on items of some kind.

    A fit assumes that abstentions (discarded, skipped or flagged ratings) are missing at random,
    that is, uninformative about the truth. The data can hardly test this. Here the odds of
    abstaining are ``odds_ratio`` times as high on items whose truth is of a kind.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of ratings with abstentions.
    when : str or sequence of str, optional
        The kind of item: a condition on its truth, written like a rule (``"misleading"``,
        ``"relevance == partially"``, ``"helpful and not unsafe_content"``). Several are used in
        turn; by default each class of each label, and the second of two classes.
    odds_ratio : float or sequence of float
        Above 0; 1 gives the fit itself.
    metric : str or sequence of str, optional
        All that the task reports if not given.
    estimand, level
        As for :func:`assay.metrics` and :func:`assay.summarize`.
    draws : int, optional
        Number of draws of the fit that are used, at least one of each chain; all by default.

    Returns
    -------
    pandas.DataFrame
        The table of :func:`assay.summarize` with the columns ``when`` and ``odds_ratio`` in front.

    Raises
    ------
    FitError
        If no rating is an abstention, or the model predicts the population (:func:`assay.metrics`),
        which the labels of these items do not affect.
    ModelError
        If a condition in ``when`` holds in every state, or in none, or a number is out of range.
    TaskError
        If a condition cannot be read.

    Notes
    -----
    Each rating e of rater j of item i is an abstention with

    .. math:: \operatorname{logit} P(a_e = 1 \mid s_i) = \alpha_j + u(s_i) \log \rho,

    where u(s) is 1 if the state is of the kind and :math:`\rho` the odds ratio. In each draw of
    the fit's parameters the states are drawn from
    :math:`p(s \mid y, \theta)\, e^{u(s) \tau} \prod_e P(a_e \mid s)`. The :math:`\alpha_j`, and
    the shift :math:`\tau` of the log odds of the kind's prevalence, maximise the likelihood of the
    abstentions. The raters' confusions stay as estimated from the answers: otherwise an
    unsupported assumption would inform them, and intervals would be narrower than without it.
    Raters who never or always abstain provide no information.

    References
    ----------
    Little & Rubin (2019). Statistical analysis with missing data, 3rd ed., chapter 15.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("ais", n_items=30, n_raters=4, missing=0.1, rng=1)
    >>> fit = assay.fit(ratings, raters="hierarchical", method="map", draws=50, chains=1, rng=1)
    >>> table = sensitivity_to_abstention(fit, when="flagged", odds_ratio=(1, 4), estimand="finite")
    >>> list(table.columns[:3])
    ['when', 'odds_ratio', 'metric']
    """
    require_level(level)
    ratios = numbers_given(
        "odds_ratio", odds_ratio, lambda x: 0 < x < np.inf,
        allowed="numbers above 0, of which 1 is the fit as it is",
    )  # fmt: skip
    view = FitView.of(fit)
    ratings = view.ratings
    if not ratings.abstained.any():
        raise FitError(
            "no rating is an abstention, so there is no dependence on the truth to vary. Discarded "
            "or skipped ratings count if they are in the file (docs: your file)",
            code="no-abstentions",
        )
    view = view if draws is None else _thinned(view, require_count("draws", draws))
    tables = []
    for text, holds in _kinds(ratings.task, view.structure.prevalence.space.states, when):
        for ratio in ratios:
            told = view if ratio == 1 else _told_more(view, holds, ratio)
            found = summarize(metrics(told, estimand=estimand, metric=metric), level=level)
            if (modelled := found["estimand"].map(is_modelled)).any():
                raise FitError(
                    _modelled_words(found.loc[modelled, "metric"]), code="modelled-abstentions"
                )
            found.insert(0, "odds_ratio", ratio)
            found.insert(0, "when", text)
            tables.append(found)
    return pd.concat(tables, ignore_index=True)


def _kinds(
    task: Task, states: NDArray[np.int16], when: Sequence[str] | str | None
) -> Iterator[tuple[str, Bools]]:
    """Yield kinds of items, and the states of each kind (state,)."""
    kind = "kind of item, such as 'misleading'"
    texts = _default_kinds(task) if when is None else names_given("when", when, what=kind)
    codes = {name: states[:, n] for n, name in enumerate(task.label_names)}
    for text in texts:
        holds = task.expression(text)(codes)
        if holds.all() or not holds.any():
            always = "every state" if holds.all() else "no state"
            raise ModelError(
                f"`when={text!r}` holds in {always} of task {task.name}",
                code="condition-always-or-never",
            )
        yield text, holds


def _default_kinds(task: Task) -> list[str]:
    """Write each class of each label as a rule; of two classes, only the second."""
    found = []
    for label in task.labels:
        name = as_written(label.name)
        told = [f"{name} == {as_written(word)}" for word in label.classes]
        found += told if len(told) > 2 else [name if label.classes[1] == "yes" else told[1]]
    return found


def _told_more(view: FitView, holds: Bools, ratio: float) -> FitView:
    """Return the fit with states drawn given the abstentions too."""
    rng = np.random.default_rng([int(view.attrs["seed"]), STREAM])
    labels = view["labels"]
    known = labels["state_probability"].to_numpy()[:, holds].sum(axis=1).clip(0, 1)
    shift = abstention_evidence(view.ratings, known, np.log(ratio))
    each, kind = np.unique(shift, return_inverse=True)
    log_weight = np.where(holds, each[:, None], 0.0) - np.maximum(each, 0.0)[:, None]
    more = view.structure.with_evidence(kind.ravel(), log_weight)
    states = sample_states(more, view.draws_of_labels, rng).states
    state = labels["state"]
    told = labels.assign(state=(state.dims, states.reshape(state.shape)))
    return _with_groups(view, labels=told)


def _thinned(view: FitView, draws: int) -> FitView:
    """Keep some draws of the parameters and the states, evenly spread over each chain."""
    posterior, labels = view["posterior"], view["labels"]
    sizes = posterior.sizes
    wanted = min(max(1, -(-draws // sizes["chain"])), sizes["draw"])
    kept = {"draw": np.linspace(0, sizes["draw"] - 1, wanted).round().astype(int)}
    return _with_groups(view, posterior=posterior.isel(kept), labels=labels.isel(kept))


def _with_groups(view: FitView, **changed: xr.Dataset) -> FitView:
    """Return the fit with some groups replaced."""
    groups = {name: view[name] for name in view.tree.children}
    tree = xr.DataTree.from_dict(groups | changed)
    tree.attrs = dict(view.attrs)
    return FitView.of(tree)


def abstention_evidence(ratings: Ratings, chance: Floats, log_odds: float) -> Floats:
    r"""Return the evidence of abstentions, in log odds, that each item is of a kind, (item,).

    It is :math:`\sum_e \log P(a_e \mid u = 1) - \log P(a_e \mid u = 0)` over the item's abstentions
    and answers, plus the shift of the kind's prevalence. ``chance`` (item,) is P(kind) without
    abstentions, ``log_odds`` the log odds ratio of abstaining.
    """
    count = np.bincount(ratings.rater, minlength=len(ratings.raters))
    abstained = np.bincount(ratings.rater, ratings.abstained, len(ratings.raters))
    telling = ((abstained > 0) & (abstained < count))[ratings.rater]
    item, rater = ratings.item[telling], ratings.rater[telling]
    gave_none = ratings.abstained[telling]
    before, prevalence = _log_odds(chance), _log_odds(chance.mean())
    own, now = _log_odds(abstained / count), chance
    shift = np.zeros(len(chance))
    for _ in range(SWEEPS):
        last, here = shift, now[item]
        own = _step(own, rater, here, abstained, log_odds)
        answered = log_expit(-own - log_odds) - log_expit(-own)
        # log P(a = 1) is log P(a = 0) plus the log odds, which differ by the log odds ratio.
        told = np.bincount(item, answered[rater] + log_odds * gave_none, len(chance))
        shift = told + (_log_odds(now.mean()) - prevalence)
        now = expit(before + shift)
        if np.abs(shift - last).max() < SAME:
            break
    return shift


def _step(own: Floats, rater: Ints, chance: Floats, abstained: Floats, log_odds: float) -> Floats:
    """Take a Newton step towards log odds at which each rater's expected abstentions match."""
    more, less = expit(own + log_odds)[rater], expit(own)[rater]
    size = len(own)
    expected = np.bincount(rater, chance * more + (1 - chance) * less, size)
    slope = np.bincount(rater, chance * more * (1 - more) + (1 - chance) * less * (1 - less), size)
    lacking = np.divide(abstained - expected, slope, out=np.zeros(size), where=slope > 0)
    return np.asarray(own + lacking.clip(-LARGEST_STEP, LARGEST_STEP))


def _log_odds(chance: Any) -> Any:
    return logit(chance).clip(-WIDEST, WIDEST)


def _modelled_words(names: pd.Series) -> str:
    return (
        f"the model predicts the population of {', '.join(dict.fromkeys(names))}, at least in "
        "part, because there are few clusters. The labels of these items do not change it. Use "
        "`estimand='finite'`"
    )


SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
TILT_SD = 1.0
TILT_STREAM = 7
TINY = 1e-12
SCALINGS = 20
"""Iterations after which truncated probabilities have the requested mean."""
CELLS = 1_000_000
"""States handled at a time: bounds the memory."""


def sensitivity_to_consensus(
    fit: Fit,
    *,
    wrong: Sequence[float] | float = SHARES,
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Recompute metrics as if the consensus were wrong on a share of the items.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit whose reference is the consensus of all raters, or of the rater groups.
    wrong : float or sequence of float
        Shares of the items on which the truth differs from the consensus, in [0, 1).
    metric : str or sequence of str, optional
        All that the task reports if not given.
    estimand, level
        As for :func:`assay.metrics` and :func:`assay.summarize`.
    rng : int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        The table of :func:`assay.summarize` with the column ``wrong`` in front.

    Raises
    ------
    FitError
        If the reference is gold or one group: then the data identify such errors.
    ModelError
        If a share is out of range.

    Notes
    -----
    The data do not identify how often the consensus is wrong, so ``wrong`` is an assumption. In
    every draw, new states of items are drawn from the prevalence of their context, tilted by
    :math:`\exp(x_s \cdot \tau)` with one :math:`\tau \sim \mathrm{Normal}(0, 1)` for the draw.
    The probability of a new state is such that the share ``wrong`` of the items changes:

    .. math:: P(s_i' \ne s_i) = \min\left(1,\;
              \varepsilon\, \frac{1 - \tilde\pi(s_i)}{\mathrm{mean}_j\,(1 - \tilde\pi(s_j))}\right).

    The direction of the errors is unknown too: a draw may have most of its errors on the items of
    one class.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> fit = assay.fit(ratings, method="map", draws=50, chains=1, rng=1)
    >>> table = sensitivity_to_consensus(fit, wrong=(0.0, 0.1), estimand="finite")
    >>> sorted(set(table["wrong"]))
    [0.0, 0.1]
    """
    view = FitView.of(fit)
    if not is_consensus(view.attrs["reference"]):
        raise FitError(
            f"the truth of this fit is {view.attrs['reference']}, so the fit estimates how often "
            "raters are wrong. See assay.group_misperception(fit)",
            code="learned-truth",
        )
    require_choice("estimand", estimand, ESTIMANDS)
    require_level(level)
    shares = numbers_given(
        "wrong", wrong, lambda x: 0 <= x < 1, allowed="shares of the items, from 0 to below 1"
    )
    misjudged = _Misjudged.of(view, seed_of(rng))
    tables = []
    for share in shares:
        change = misjudged.wrong_on(share) if share else None
        found = summarize(metrics_if(view, change, estimand=estimand, metric=metric), level=level)
        found.insert(0, "wrong", share)
        tables.append(found)
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Misjudged:
    """Random errors of the consensus, on the same items and states for each share: ``steps``,
    cumulative tilted prevalence (draw, context, state), and ``context`` (item,).
    """

    steps: Floats
    context: Ints
    seed: int

    @classmethod
    def of(cls, view: FitView, seed: int) -> "_Misjudged":
        """Draw the tilt of each draw of the fit."""
        structure, values = view.structure, view.draws
        prevalence = structure.prevalence
        columns = main_columns(prevalence.task, prevalence.space)[0]
        weight = np.exp(prevalence.log_weight)
        table = (np.asarray(structure.state_chances(values, np)) * weight[:, None]).sum(axis=-2)
        rng = np.random.default_rng([seed, TILT_STREAM])
        tilt = np.exp(TILT_SD * rng.standard_normal((len(table), columns.shape[1])) @ columns.T)
        steps = (table * tilt[:, None, :]).cumsum(axis=-1)
        return cls(steps=steps, context=prevalence.design.item_context, seed=seed)

    def wrong_on(self, share: float) -> Change:
        """Return a function that replaces the states of a share of the items."""
        rng = np.random.default_rng(self.seed)

        def change(states: NDArray[np.int16]) -> NDArray[np.int16]:
            found = states.copy()
            run = max(1, CELLS // states.shape[1])
            for first in range(0, len(found), run):
                own = found[first : first + run]
                chance, place = rng.random(own.shape), rng.random(own.shape)
                draws = np.arange(first, first + len(own))[:, None]
                upto = self.steps[draws, self.context, own]
                before = np.where(own > 0, self.steps[draws, self.context, own - 1], 0.0)
                total = self.steps[draws, self.context, -1]
                differs = 1 - (upto - before) / total
                draw, item = np.nonzero(chance < _as_often(differs, share))
                weight = (upto - before)[draw, item]
                point = place[draw, item] * (total[draw, item] - weight)
                point += np.where(point >= before[draw, item], weight, 0.0)
                here = self.steps[first + draw, self.context[item]]
                own[draw, item] = np.minimum((point[:, None] >= here).sum(1), here.shape[1] - 1)
            return found

        return change


def _as_often(differs: Floats, share: float) -> Floats:
    """Scale probabilities (draw, item) to the mean ``share`` over the items, none above 1."""
    often = differs
    for _ in range(SCALINGS):
        mean = often.mean(axis=1, keepdims=True)
        often = np.minimum(often * (share / np.maximum(mean, TINY)), 1.0)
        if (often < 1).all():
            break
    return often
