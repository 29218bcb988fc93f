"""Reliability of each rater: confusion, accuracy, and comparisons of accuracies."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from assay._util.arrays import divided
from assay._util.errors import FitError, ModelError
from assay._util.typing import Floats
from assay._util.validation import require_choice
from assay.fits.labels import asked_class_names
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubts_by_label
from assay.inference.settings import MODES_ALONE
from assay.modelling.confusion import Tilt
from assay.modelling.families import WholeFamily
from assay.modelling.rater_model import CategoricalRaterModel, RaterModel
from assay.modelling.structure import Structure

KINDS = ("recorded", "raw")
CHUNK_NUMBERS = 8_000_000


def rater_reliability(
    fit: Fit,
    *,
    kind: Literal["recorded", "raw"] = "recorded",
    by: Literal["system"] | None = None,
) -> xr.DataArray:
    r"""Confusion of each rater on each label: P(reported class | true class).

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        ``recorded`` is the probability of the recorded answer, among the ratings that answer the
        label, averaged over the states by their prevalence. ``raw`` is the parameter of the
        assumed response process. They differ only where rules are blocked or warned about.
    by : {"system", None}
        The confusions on the items of each system, with a dimension ``system`` after ``rater``.
        They differ between systems for raters with the layer ``system_bias``, and are NaN for
        systems that such a rater has not rated.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label, true_class, reported_class), in [0, 1]; NaN where a label does
        not have the class. Of a binary label, the entry (yes, yes) is the sensitivity and
        (no, no) the specificity.

    Raises
    ------
    ModelError
        If ``kind`` or ``by`` has another value, or the ratings have no systems.

    Notes
    -----
    .. math:: P(y_l = k' \mid s_l = k) =
              \frac{\sum_{s: s_l = k} \pi(s) \sum_{y: y_l = k'} p(y \mid s)}
                   {\sum_{s: s_l = k} \pi(s) \sum_{y: y_l \ne \emptyset} p(y \mid s)}

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> rater_reliability(tree).sel(rater="rater_1", true_class="a", reported_class="a").dims
    ('chain', 'draw', 'label')
    """
    require_choice("kind", kind, KINDS)
    if by is not None:
        require_choice("by", by, ("system",), otherwise="None")
    view = FitView.of(fit)
    structure = view.structure
    systems = structure.ratings.systems if by else ()
    if by and not systems:
        raise ModelError(
            "the ratings have no systems, so that reliability by system cannot be given. Read with "
            "`system=`, or leave `by=` out",
            code="too-few-systems",
        )
    table = view.once(
        ("reliability", kind, by),
        lambda: reliability_table(
            structure, view.draws, kind=kind, systems=systems, by_system=states_by_system(view)
        ),
    )
    names = asked_class_names(structure.ratings.task)
    coords = {
        "rater": structure.ratings.raters.index.to_numpy(object),
        **({"system": list(systems)} if by else {}),
        "label": list(structure.ratings.task.label_names),
        "true_class": names,
        "reported_class": names,
    }
    return view.by_chain(table, "reliability", coords, kind=kind)


def class_shares(fit: Fit) -> xr.DataArray:
    """Return the prevalence of each label's classes where it applies, (chain, draw, label,
    true_class); 0 for a class that the label lacks.
    """
    view = FitView.of(fit)
    structure = view.structure
    states, labels = structure.prevalence.space.states, structure.ratings.task.labels
    names = asked_class_names(structure.ratings.task)
    prevalence = average_prevalence(structure, view.draws)
    shares = np.zeros((len(prevalence), len(labels), len(names)))
    for n, label in enumerate(labels):
        for code, name in enumerate(label.classes):
            shares[:, n, names.index(name)] = prevalence[:, states[:, n] == code].sum(axis=1)
    shares /= shares.sum(axis=-1, keepdims=True)
    coords = {"label": list(structure.ratings.task.label_names), "true_class": names}
    return view.by_chain(shares, "class_shares", coords)


def reliability_table(
    structure: Structure,
    values: Mapping[str, Floats],
    *,
    kind: Literal["recorded", "raw"],
    systems: Sequence[str] = (),
    by_system: Floats | None = None,
) -> Floats:
    """Return P(reported | true class), (draw, rater, label, true class, reported class), averaged
    over a rater's ratings of the class. ``systems`` are an axis after raters; ``by_system`` is of
    :func:`states_by_system`.
    """
    draws = len(next(iter(values.values())))
    names = asked_class_names(structure.ratings.task)
    count = len(structure.ratings.raters)
    labels = structure.ratings.task.labels
    each = max(len(systems), 1)
    table = np.full((draws, count, each, len(labels), len(names), len(names)), np.nan)
    for part in structure.parts:
        plain = kind == "raw" or _nothing_between(structure, part)
        states = _states_of_units(structure, part, values, by_system)
        by_unit = part.reliability(values) if plain else _recorded(structure, part, values, states)
        for c in range(each):
            shares = _shares_of_system(part, c) if systems else part.shares
            for n, label in enumerate(labels):
                places = [names.index(name) for name in label.classes]
                here = by_unit[:, :, n, : len(places), : len(places)]
                if states.shape[1] == 1:  # classes are as common in all units of a rater
                    here = np.einsum("ru,dukm->drkm", shares, here)
                else:
                    common = _of_classes(structure, n, states)
                    total = np.einsum("ru,duk->drk", shares, common)
                    here = np.einsum("ru,dukm->drkm", shares, common[..., None] * here)
                    here = divided(here, total[..., None])
                for k, place in enumerate(places):
                    at = (part.members[:, None], c, n, place, np.array(places))
                    table[:, *at] = here[:, :, k]
    return table if systems else table[:, :, 0]


def _of_classes(structure: Structure, label: int, states: Floats) -> Floats:
    """Sum the shares of states (..., state) by the classes of a label, (..., class)."""
    true = structure.prevalence.space.states[:, label]
    classes = range(len(structure.ratings.task.labels[label].classes))
    return np.stack([states[..., true == k].sum(axis=-1) for k in classes], axis=-1)


def _states_of_units(
    structure: Structure, part: RaterModel, values: Mapping[str, Floats], by_system: Floats | None
) -> Floats:
    """Return how common states are where a unit's items are, (draw, unit, state). That is its
    system, if raters differ by system; else all places of items, in one entry.
    """
    share = average_prevalence(structure, values)[:, None]
    if part.bias is None or by_system is None:
        return share
    system = part.bias.unit_system
    return np.where((system >= 0)[:, None], by_system[:, np.maximum(system, 0)], share)


RARE = 1e-9
"""Share of a state that no item of a system has."""


def states_by_system(view: FitView) -> Floats | None:
    """Return the states' shares of each system's items, (draw, system, state); None if needless.

    They are those of the labels, since a prevalence without systems would have them all alike.
    """
    structure = view.structure
    if all(part.bias is None for part in structure.parts):
        return None
    panels, count = structure.ratings.panels, len(structure.prevalence.space.states)
    found = np.empty((len(view.states), len(structure.ratings.systems), count))
    for n, name in enumerate(structure.ratings.systems):
        states = view.states[:, panels.loc[panels["system"] == name, "item"].to_numpy()]
        for s in range(count):
            found[:, n, s] = (states == s).mean(axis=1)
    return found + RARE


def _shares_of_system(part: RaterModel, system: int) -> Floats:
    """Return the share of each unit in a rater's ratings of one system; NaN without ratings."""
    if part.bias is None:
        return part.shares
    own = part.owners * part.n_ratings * (part.bias.unit_system == system)
    total = own.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(own, total, out=np.full(own.shape, np.nan), where=total > 0))


def _nothing_between(structure: Structure, part: RaterModel) -> bool:
    """Return whether recorded answers follow the parameters directly: no rules, no layers."""
    space = structure.prevalence.space
    rules = isinstance(part, CategoricalRaterModel) and (
        isinstance(part.family, WholeFamily) or space.blocked.any() or space.warned.shape[1]
    )
    layered = set(part.raters.groups) & set(structure.perception.groups)
    return not (rules or layered or part.loading is not None)


def _recorded(
    structure: Structure, part: RaterModel, values: Mapping[str, Floats], share: Floats
) -> Floats:
    """Average over states, difficulty and perception, (draw, unit, label, true, reported).

    ``share`` is that of the states, (draw, unit or 1, state).
    """
    space = structure.prevalence.space
    draws, states = len(next(iter(values.values()))), len(space.states)
    width = max(len(label.classes) for label in structure.ratings.task.labels)
    labels = space.states.shape[1]
    table = np.full((draws, len(part.unit_rater), labels, width, width), np.nan)
    chunk = max(1, CHUNK_NUMBERS // max(part.widest, len(part.unit_rater) * states * width))
    for first in range(0, draws, chunk):
        piece = {k: v[first : first + chunk] for k, v in values.items()}
        answer = partial(part.label_chances, piece)
        chance = over_layers(structure, part, piece, answer)
        weighted = chance * share[first : first + chunk, :, :, None, None]
        for label in range(labels):
            for true in range(len(structure.ratings.task.labels[label].classes)):
                here = weighted[:, :, space.states[:, label] == true, label].sum(axis=2)
                total = here.sum(axis=-1, keepdims=True)
                found = np.divide(here, total, out=np.full_like(here, np.nan), where=total > 0)
                table[first : first + chunk, :, label, true] = found
    return table


def over_layers(
    structure: Structure,
    part: RaterModel,
    values: Mapping[str, Floats],
    chances: Callable[[Tilt | None], Floats],
) -> Floats:
    """Sum difficulty and perception, averaged over contexts, out of answer probabilities (draw,
    unit, state, ...), which ``chances`` makes of the layers' tilt of the log odds.
    """
    own, total = part.own(values), None
    weight = difficulty_by_state(structure, values)[:, :, None]
    layers = []
    for g, name in enumerate(part.raters.groups):
        if name in structure.perception.groups:
            misperceived, looks = structure.perception.of_group(name, values)
            layers.append((np.flatnonzero(part.unit_group == g), misperceived, looks.mean(axis=1)))
    for d, tilt in enumerate(part.tilts(own, structure.difficulty.positions, np)):
        chance = chances(tilt)
        after = (None,) * (chance.ndim - 1)
        for units, misperceived, looks in layers:
            afresh = np.einsum("dus...,dts->dut...", chance[:, units], looks)
            blur = misperceived[:, d][:, *after]
            chance[:, units] = (1 - blur) * chance[:, units] + blur * afresh
        here = chance * weight[:, d][..., *after[2:]]
        total = here if total is None else total + here
    assert total is not None
    return total


def average_prevalence(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Return the prevalence over all places of items, (draw, state)."""
    return _over_places(structure, structure.state_chances(values, np))


def _over_places(structure: Structure, table: Floats) -> Floats:
    """Average chances (draw, context, node, state) over all places of items, (draw, state)."""
    prevalence = structure.prevalence
    marginal = np.asarray(prevalence.marginal(table, np))
    if not prevalence.design.systems:
        return marginal
    places = structure.ratings.panels["system"].value_counts()
    weight = np.array([places[name] for name in prevalence.design.systems], float)
    return np.asarray(np.einsum("dgs,g->ds", marginal, weight / weight.sum()))


def average_difficulty(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Return the chances of classes of difficulty over all places, (draw, difficulty)."""
    weight = np.exp(np.asarray(structure.difficulty.log_weight(values, np)))
    if weight.shape[-2] == 1:
        draws = len(next(iter(values.values())))
        return np.broadcast_to(weight[..., 0, :], (draws, weight.shape[-1]))
    return _over_places(structure, weight[:, :, None])


def difficulty_by_state(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Return the chances of classes of difficulty given the state, (draw, difficulty, state)."""
    if not structure.hard_truth.applies:
        weight = np.exp(np.asarray(structure.difficulty.log_weight(values, np)))
        easy = np.asarray(structure.prevalence.table(values, np))
        draws, states = len(easy), easy.shape[-1]
        if weight.shape[-2] == 1:
            same = np.broadcast_to(weight[..., 0, :, None], (draws, weight.shape[-1], states))
            return np.asarray(same)
        both = weight.swapaxes(-1, -2)[..., None, None] * easy[:, None]
        joint = np.stack([_over_places(structure, both[:, d]) for d in range(both.shape[1])], 1)
        return divided(joint, joint.sum(axis=1, keepdims=True))
    share = structure.difficulty.hard_shares(values, np).swapaxes(-1, -2)[..., None, None]
    easy = structure.prevalence.table(values, np)
    moved = structure.hard_chances(values, easy, np)
    moved *= share
    by_class = [_over_places(structure, moved[:, d]) for d in range(moved.shape[1])]
    hard = np.stack(by_class, axis=1)
    every = _over_places(structure, easy * (1 - share.sum(axis=1))) + hard.sum(axis=1)
    hard = np.divide(hard, every[:, None], out=np.zeros_like(hard), where=every[:, None] > 0)
    return np.concatenate([1 - hard.sum(axis=1, keepdims=True), hard], axis=1)


TIE = 1e-12
"""Accuracies that differ by less are equal: the order of a sum changes as much."""


def rater_accuracy(fit: Fit, *, kind: Literal["recorded", "raw"] = "recorded") -> xr.DataArray:
    r"""Return each rater's :math:`A_{jl} = \sum_k \pi_{lk} \theta_{jlkk}`, (chain, draw, rater,
    label), with :math:`\pi` the prevalence where the label applies: the same mix of items for all
    raters.
    """
    view = FitView.of(fit)
    table, shares = rater_reliability(view, kind=kind), class_shares(view).to_numpy()
    hits = np.nan_to_num(np.einsum("cdrlkk->cdrlk", table.to_numpy()))
    return xr.DataArray(
        np.einsum("cdlk,cdrlk->cdrl", shares, hits),
        dims=("chain", "draw", "rater", "label"),
        coords={dim: table[dim] for dim in ("chain", "draw", "rater", "label")},
        name="accuracy",
        attrs=table.attrs,
    )


def compare_raters(fit: Fit, *, kind: Literal["recorded", "raw"] = "recorded") -> xr.DataArray:
    r"""Probability that one rater is right more often than another.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` by ``nuts`` or ``laplace``.
    kind : {"recorded", "raw"}
        Of the confusions, as for :func:`assay.rater_reliability`.

    Returns
    -------
    xarray.DataArray
        (rater, other, label), in [0, 1]: P(accuracy of ``rater`` > accuracy of ``other``), a tie
        counted half. The two orders of a pair add up to 1; a rater compared with itself has 0.5.
        NaN on labels whose classes may not match their names; the coordinate ``doubt`` gives
        the reason (:func:`assay.label_doubts`).

    Raises
    ------
    FitError
        If the fit is a mode alone (``map``, ``em``), which has no uncertainty.
    ModelError
        If ``kind`` is none of the two.

    Notes
    -----
    With :math:`A_{jl}^{(d)} = \sum_k \pi_{lk}^{(d)} \theta_{jlkk}^{(d)}` the probability of a
    right answer of rater :math:`j` in draw :math:`d`, on the same mix of items for all raters,

    .. math:: P_{jj'l} = \frac1D \sum_d \left( [A_{jl}^{(d)} > A_{j'l}^{(d)}]
                         + \tfrac12 [A_{jl}^{(d)} = A_{j'l}^{(d)}] \right).

    Both accuracies are of the same draw, so the better rater can be certain even if intervals
    overlap. These probabilities are calibrated under the prior of the fit (benchmark ``claims``).
    A rater with few ratings has nearly the accuracy of its group.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=200, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, raters="pooled", method="laplace", draws=50, chains=1, rng=1)
    >>> found = compare_raters(tree)  # in a pooled family, all raters are alike
    >>> found.dims, float(found.sel(rater="rater_1", other="rater_2").item())
    (('rater', 'other', 'label'), 0.5)
    """
    view = FitView.of(fit)
    require_choice("kind", kind, KINDS)
    if view.attrs["method"] in MODES_ALONE:
        raise FitError(
            f"a fit with `method={view.attrs['method']!r}` is a posterior mode without draws of "
            "the raters, so it cannot compare them; fit with `method='nuts'` or "
            "`method='laplace'`",
            code="mode-alone",
        )
    accuracy = rater_accuracy(view, kind=kind)
    drawn = accuracy.stack(sample=("chain", "draw")).transpose("rater", "label", "sample")
    names = accuracy["rater"].to_numpy()
    doubted, labels = doubts_by_label(view), accuracy["label"].to_numpy()
    doubts = [doubted.get(name, "") for name in labels]
    better = np.stack([_better(one, drawn.to_numpy()) for one in drawn.to_numpy()])
    better[..., [doubt != "" for doubt in doubts]] = np.nan
    return xr.DataArray(
        better,
        dims=("rater", "other", "label"),
        coords={"rater": names, "other": names, "label": labels, "doubt": ("label", doubts)},
        name="p_better",
        attrs=accuracy.attrs,
    )


def _better(one: Floats, others: Floats) -> Floats:
    """Return P(one > each other), ties half, (other, label); ``one`` is (label, sample)."""
    gaps = one - others
    gaps[np.abs(gaps) < TIE] = 0.0
    return np.asarray((1 + np.sign(gaps).mean(axis=-1)) / 2)
