r"""Maximisation in closed form: probabilities from how many answers are expected of each.

.. math:: \theta_k = \frac{n_k + \alpha_k}{\sum_{k'} (n_{k'} + \alpha_{k'})}.

It is the maximum where the *unconstrained* values have their mode, as everywhere in this package:
a Dirichlet(:math:`\alpha`) adds :math:`\alpha`, not :math:`\alpha - 1`, answers.
:func:`assay.inference.em.closed_form` says which models have it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.modelling.answers import AnswerPart
from assay.modelling.model import Structure
from assay.modelling.parameters import Parameter
from assay.modelling.response_rows import ProductRows

Floats = NDArray[np.float64]
RIGHT = 0.7
"""How often raters are taken to be right where the centre of the prior does not tell classes."""
MADE_UP = 1e3
"""Ratings of each class that stand for that."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Maximisation:
    """The closed form of the maximisation of one model.

    Attributes
    ----------
    structure : Structure
    share : ndarray (context, component)
        Share of each component of the prevalence in each context.
    """

    structure: Structure
    share: Floats

    def values(
        self, here: Mapping[str, Floats], prevalence: Floats, response: Floats
    ) -> dict[str, Floats]:
        """Return the parameters at which the expected log posterior density is highest.

        Parameters
        ----------
        here : mapping of str to ndarray
            The parameters at which the expectations were taken.
        prevalence : ndarray (context, state)
            Derivative of the log-likelihood by the probabilities of the states.
        response : ndarray (row, state)
            Expected number of ratings of each row on items of each state.
        """
        found: dict[str, Floats] = {}
        shares = self._parameters["state_share"]
        found["state_share"] = _simplex(shares, here["state_share"] * (self.share.T @ prevalence))
        first = 0
        for part in self.structure.parts:
            assert isinstance(part, AnswerPart)
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
        """Names of the parameters of each part."""
        return {part.name: [p.name for p in part.parameters()] for part in self.structure.parts}

    def guess(self) -> dict[str, Floats]:
        """Return parameters of raters who are right in ``RIGHT`` of their answers."""
        found: dict[str, Floats] = {}
        for part in self.structure.parts:
            assert isinstance(part, AnswerPart)
            layout, raters = part.family.layout, 1 if part.family.shared else len(part.members)
            log_confusion = layout.from_accuracy(np.full((raters, layout.asked_rows), RIGHT), np)
            counts = MADE_UP * np.exp(log_confusion)
            for name in self._names[part.name]:
                found[name] = _of_counts(part, self._parameters[name], counts)
        return found


def _confusion_counts(part: AnswerPart, response: Floats) -> Floats:
    """Sum the expected ratings over the rows of each cell: (rater, asked row, class)."""
    layout, raters = part.family.layout, 1 if part.family.shared else len(part.members)
    size = len(part.unit_rater) * layout.size
    counts, first = np.zeros(size + 2), 0  # behind the cells stand a factor 1 and one never
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


def _of_counts(part: AnswerPart, parameter: Parameter, counts: Floats) -> Floats:
    """Maximise one block of a part's parameters."""
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
    # Below 1 by what can be told from it: the log odds of 1 are infinite.
    return np.asarray(np.minimum(right / (right + wrong), 1 - np.finfo(float).epsneg))


def _simplex(parameter: Parameter, counts: Floats) -> Floats:
    total = counts + np.broadcast_to(parameter.prior.values[0], parameter.shape)
    return np.asarray(total / total.sum(axis=-1, keepdims=True))
