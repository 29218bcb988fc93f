r"""The mode by expectation maximisation (EM), for models whose M step has a closed form.

.. math:: \theta_k = \frac{n_k + \alpha_k}{\sum_{k'} (n_{k'} + \alpha_{k'})}.

This is the mode of the *unconstrained* values: a Dirichlet(:math:`\alpha`) prior adds
:math:`\alpha` answers, not :math:`\alpha - 1`. The E step's :math:`n_k` is the derivative of the
log-likelihood by :math:`\log \theta_k`. Two steps are extrapolated, to a point no lower than after
the first (SQUAREM: Varadhan & Roland 2008, Scandinavian Journal of Statistics 35, 335-353).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assay._util.progress import steps
from assay._util.typing import Floats
from assay.inference.density import Density, unconstrain
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode
from assay.inference.optimise import prior_centre
from assay.inference.precision import Precision
from assay.modelling.parameters import Parameter
from assay.modelling.rater_model import CategoricalRaterModel
from assay.modelling.responses import ProductRows
from assay.modelling.structure import Structure

RIGHT = 0.7
"""Assumed accuracy of raters if the prior's centre does not tell classes apart."""
MADE_UP = 1e3
"""Pseudo-ratings of each class that state this accuracy."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Maximisation:
    """The M step of a model in closed form.

    ``share`` is the share of each prevalence component in each context, (context, component).
    """

    structure: Structure
    share: Floats

    def values(
        self, here: Mapping[str, Floats], prevalence: Floats, response: Floats
    ) -> dict[str, Floats]:
        """Return the parameters that maximise the expected log posterior density.

        here : parameters of the E step
        prevalence : derivative of the log-likelihood by state probabilities (context, state)
        response : expected number of ratings of each row on items of each state (row, state)
        """
        found: dict[str, Floats] = {}
        shares = self._parameters["state_share"]
        found["state_share"] = _simplex(shares, here["state_share"] * (self.share.T @ prevalence))
        first = 0
        for part in self.structure.parts:
            assert isinstance(part, CategoricalRaterModel)
            rows = slice(first, first + part.repeats.count)
            counts, first = _confusion_counts(part, response[rows]), rows.stop
            for name in self._names[part.name]:
                found[name] = _of_counts(part, self._parameters[name], counts)
        return found

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return {p.name: p for p in self.structure.parameters()}

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Parameter names of each part."""
        return {part.name: [p.name for p in part.parameters()] for part in self.structure.parts}

    def guess(self) -> dict[str, Floats]:
        """Return parameters at which raters are right with probability ``RIGHT``."""
        found: dict[str, Floats] = {}
        for part in self.structure.parts:
            assert isinstance(part, CategoricalRaterModel)
            layout, raters = part.family.layout, 1 if part.family.shared else len(part.members)
            log_confusion = layout.from_accuracy(np.full((raters, layout.asked_rows), RIGHT), np)
            counts = MADE_UP * np.exp(log_confusion)
            for name in self._names[part.name]:
                found[name] = _of_counts(part, self._parameters[name], counts)
        return found


def _confusion_counts(part: CategoricalRaterModel, response: Floats) -> Floats:
    """Return the expected ratings of each confusion cell, (rater, asked row, class)."""
    layout, raters = part.family.layout, 1 if part.family.shared else len(part.members)
    size = len(part.unit_rater) * layout.size
    counts, first = np.zeros(size + 2), 0  # the last two: a factor 1, and an impossible answer
    for block in part.responses.blocks:
        assert isinstance(block, ProductRows)
        entries = block.entries[:, 0]
        here = response[first : first + len(entries), :, None]
        weight = np.broadcast_to(here, entries.shape)
        counts += np.bincount(entries.ravel(), weight.ravel(), minlength=size + 2)
        first += len(entries)
    by_unit = counts[:size].reshape(len(part.unit_rater), -1, layout.width)
    found = np.zeros((raters, *by_unit.shape[1:]))
    np.add.at(found, part.unit_rater, by_unit)
    return found


def _of_counts(part: CategoricalRaterModel, parameter: Parameter, counts: Floats) -> Floats:
    """Return the maximum of one of a part's parameters."""
    layout = part.family.layout
    if parameter.prior.name == "Dirichlet":
        classes = parameter.shape[-1]
        rows = np.flatnonzero(layout.row_classes == classes)
        return _simplex(parameter, counts[:, rows, :classes].reshape(parameter.shape))
    right = counts[:, np.arange(layout.asked_rows), list(layout.true_classes)]
    wrong = counts.sum(axis=-1) - right
    if len(parameter.shape) == 1:
        right, wrong = right.sum(axis=-1), wrong.sum(axis=-1)
    alpha, beta = parameter.prior.values
    right, wrong = right + alpha, np.maximum(wrong, 0.0) + beta
    # The log odds of 1 are infinite.
    return np.asarray(np.minimum(right / (right + wrong), 1 - np.finfo(float).epsneg))


def _simplex(parameter: Parameter, counts: Floats) -> Floats:
    total = counts + np.broadcast_to(parameter.prior.values[0], parameter.shape)
    return np.asarray(total / total.sum(axis=-1, keepdims=True))


FAMILIES = ("dawid_skene", "pooled", "class_conditional", "one_coin")
"""Families whose parameters are answer probabilities with conjugate priors."""
NEAR = 1e-10
"""Expected gain in log posterior density below which EM stops."""
CYCLES = 5_000
"""Largest number of cycles."""
TELLING = 1e-6
"""Least difference of an answer's log probabilities between states that tells these apart."""


class Expected(NamedTuple):
    """The E step at one point.

    height, gradient : of the log posterior density, by unconstrained values
    prevalence : derivative of the log-likelihood by state probabilities (context, state)
    response : expected number of ratings of each row on items of each state (row, state)
    """

    height: float
    gradient: Floats
    prevalence: Floats
    response: Floats


def closed_form(structure: Structure) -> Maximisation | None:
    """Return a model's M step in closed form; None without one, as with gates, layers, active
    rules, repeats with a learned consistency, or families beyond :data:`FAMILIES`.
    """
    plain = structure.difficulty.kind == "none" and not structure.perception.groups
    if not plain or structure.prevalence.name != "dirichlet":
        return None
    if not all(_is_counted(part) for part in structure.parts):
        return None
    shares = next(p for p in structure.parameters() if p.name == "state_share")
    # The table is linear in the components' shares, so unit vectors give the coefficients.
    each = np.eye(shares.shape[0])[:, :, None] * np.ones(shares.shape[1])
    table = structure.prevalence.table({"state_share": each}, np)
    return Maximisation(structure=structure, share=np.ascontiguousarray(table[:, :, 0, 0].T))


def _is_counted(part: Any) -> bool:
    """Return whether a part's ratings are products of its raters' answer probabilities."""
    return (
        isinstance(part, CategoricalRaterModel)
        and part.family.name in FAMILIES
        and part.drift is None
        and part.bias is None
        and part.loading is None
        and part.misreading is None
        and not part.repeats.urns
        and not part.copying.names
        and not part.responses.parameters()
        and all(
            isinstance(block, ProductRows) and block.entries.shape[1] == 1
            for block in part.responses.blocks
        )
    )


def expect(density: Density, x: Floats) -> Expected:
    """Do the E step at one point."""
    steps()(1)
    height, gradient, (by_prevalence, by_response, *_) = density.with_tables(x)
    return Expected(
        height=height,
        gradient=gradient,
        prevalence=by_prevalence[:, :, 0],
        response=by_response[0],
    )


def starting_point(form: Maximisation, density: Density) -> Floats:
    """Return the centre of the prior, or a guess if the centre does not tell classes apart.

    Such a centre is a saddle that EM never leaves.
    """
    centre = prior_centre(density)
    _, _, response, *_ = density.tables(centre)
    if np.ptp(response, axis=-1).max(initial=0.0) > TELLING:
        return centre
    values = density.constrain(centre)
    return unconstrain(density, values | form.guess())


class Ascent(NamedTuple):
    """A mode, and the log posterior density at the start and after each cycle."""

    x: Floats
    heights: tuple[float, ...]


def ascend(form: Maximisation, density: Density, start: Floats) -> Ascent:
    """Run EM from a start to a mode, in cycles of two steps and an extrapolation, until a second
    step gains less than ``NEAR``.
    """

    def step(x: Floats, expected: Expected) -> Floats:
        values = form.values(density.constrain(x), expected.prevalence, expected.response)
        return unconstrain(density, values)

    x, here = start, expect(density, start)
    heights = [here.height]
    for _ in range(CYCLES):
        first = step(x, here)
        there = expect(density, first)
        second = step(first, there)
        gain = 0.5 * float(there.gradient @ (second - first))
        if gain < NEAR:
            x, here = first, there
        else:
            x, here = _leap(density, x, first, second, there.height)
        heights.append(here.height)
        if gain < NEAR:
            break
    return Ascent(x, tuple(heights))


def _leap(
    density: Density, x: Floats, first: Floats, second: Floats, floor: float
) -> tuple[Floats, Expected]:
    """Return the extrapolation of two EM steps, or the second step if the extrapolation is too low.

    It must reach ``floor``, the height of the first step; the second step is never lower than that.
    """
    ahead, bend = first - x, second - 2 * first + x
    length = float(np.sqrt((ahead @ ahead) / max(float(bend @ bend), 1e-300)))
    if length > 1:
        place = x + 2 * length * ahead + length**2 * bend
        found = expect(density, place)
        if found.height >= floor:
            return place, found
    return second, expect(density, second)


def find_em_modes(
    form: Maximisation, density: Density, rng: np.random.Generator, *, starts: int = 4
) -> list[Mode]:
    """Find modes by EM from every start, as :func:`assay.inference.mode_search.find_modes`."""

    def climb(density: Density, start: Floats, _: Precision | None) -> tuple[Floats, float]:
        x, heights = ascend(form, density, start)
        return x, heights[-1]

    return find_modes(
        form.structure,
        density,
        rng,
        starts=starts,
        centre=starting_point(form, density),
        ascend=climb,
        widths=False,
    )
