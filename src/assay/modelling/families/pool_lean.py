"""How far the raters who took part lean from the pool of raters that defines the truth."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay._util.arrays import softmax
from assay._util.typing import Bools, Floats, Ints
from assay.modelling.families.lean import BinaryLeans
from assay.modelling.parameters import own_values, positive_log_density
from assay.modelling.priors import Prior

SPREADS = np.geomspace(0.001, 6.0, 120)
"""Spreads of leans in a pool, in logits."""
CHUNK_NUMBERS = 4_000_000
"""Largest number of chances of answers that are in memory at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolLean(ABC):
    r"""The mean leans of the raters of some labels, as a random sample of a pool.

    The **lean** :math:`\ell_j` of a rater is how much likelier it is to give one answer, whatever
    is true; the **ability** :math:`a_j` the log odds of right answers. The pool leans to no answer;
    the mean of :math:`J` raters differs by

    .. math::

        \delta \sim \mathrm{Normal}\Bigl(0, \frac{c\, \omega}{\sqrt{J}}\Bigr), \quad
        c = \frac{\bar a / 2}{\tanh(\bar a / 2)}, \quad
        p(\omega \mid S) \propto p(\omega)\, \omega^{-(J - 1)} \exp\Bigl(-\frac{S}{2 \omega^2}\Bigr)

    where :math:`S = \sum_j (\ell_j - \bar\ell)^2`.

    With :math:`c\, \delta` added to all leans, the answers to an item on which the pool is split
    are no evidence. The raters may have several recipes.

    labels : position of each lean's label in the task
    names : of the leans: the label, or the label and an answer
    spread : prior of :math:`\omega`, for the log odds between two answers
    """

    labels: Ints
    names: tuple[str, ...]
    spread: Prior

    @abstractmethod
    def spreads(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return the posterior of the spread, and how far one spread moves the mean lean.

        They are (draw, lean, spread), over ``SPREADS``, and (draw, lean).
        """

    @abstractmethod
    def of_model(self, values: Mapping[str, Floats]) -> Floats:
        """Return the raters' mean leans in the model, (draw, lean)."""

    @abstractmethod
    def moved(self, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans (draw, lean) to those of all raters; return the parameters that change."""

    def _posterior(self, squares: Floats, count: int) -> Floats:
        """Return the posterior of the spread given the sum of squares of ``count`` leans."""
        free, numbers = np.log(SPREADS), [np.asarray(v, float) for v in self.spread.values]
        log_prior = positive_log_density(self.spread.name, SPREADS, free, numbers)
        logs = log_prior - (count - 1) * free - squares[..., None] / (2 * SPREADS**2)
        return np.asarray(softmax(logs, np))


@dataclass(frozen=True, kw_only=True, eq=False)
class BinaryPoolLean(PoolLean):
    r"""Leans of labels with two classes, from the logits of right answers.

    .. math::

        \ell_j = \tfrac{1}{2} (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\, \theta_{j00}), \quad
        a_j = \tfrac{1}{2} (\mathrm{logit}\, \theta_{j11} + \mathrm{logit}\, \theta_{j00})

    parts : the leans of each recipe, of the same labels
    """

    parts: Sequence[BinaryLeans]

    def spreads(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return the posterior of the spread, and how far one spread moves the mean lean."""
        logits = [part.logits(values) for part in self.parts]
        shape = (len(logits[0]), len(self.labels))
        chance, unit = np.empty((*shape, len(SPREADS))), np.empty(shape)
        for n in range(len(self.labels)):
            took = [
                (x[:, p.crowd[n] > 0], p.sign[n]) for p, x in zip(self.parts, logits, strict=True)
            ]
            lean = np.concatenate([own @ sign / 2 for own, sign in took], axis=1)
            ability = np.concatenate([own @ np.abs(sign) / 2 for own, sign in took], axis=1)
            count = lean.shape[1]
            squares = ((lean - lean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            chance[:, n] = self._posterior(squares, count)
            unit[:, n] = _times(ability.mean(axis=1)) / np.sqrt(count)
        return chance, unit

    def of_model(self, values: Mapping[str, Floats]) -> Floats:
        """Return the raters' mean lean in the model, (draw, label)."""
        return np.asarray(sum(part.mean(values, np) for part in self.parts))

    def moved(self, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans to the logits of all raters."""
        named = [(f"{part.prefix}logit_mean", part) for part in self.parts]
        return {name: values[name] + (lean @ part.sign)[:, None] for name, part in named}


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerLeans:
    """What tells how much the raters of one recipe lean to the answers of a longer label.

    prefix : of the names of their parameters
    log_confusion : the family's (draw, rater, asked row, class)
    took : whether a rater belongs to the crowd whose consensus is the truth
    move : adds leans (draw, class) to those of all raters; returns the parameters that change
    """

    prefix: str = ""
    log_confusion: Callable[[Mapping[str, Floats]], Floats]
    took: Bools
    move: Callable[[Mapping[str, Floats], Floats], dict[str, Floats]]


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerPoolLean(PoolLean):
    r"""Leans of a label with three classes or more, one to each answer.

    .. math::

        \ell_{jk'} = \frac{1}{K} \sum_k \Bigl(\log \theta_{jkk'}
            - \frac{1}{K} \sum_{k''} \log \theta_{jkk''}\Bigr), \quad
        a_j = \frac{1}{K} \sum_k \log \theta_{jkk}
            - \frac{1}{K (K - 1)} \sum_{k \ne k'} \log \theta_{jkk'}

    the effects of columns and diagonal in a two-way table. :math:`\sqrt{2 K / (K - 1)}\,
    \ell_{jk'}` varies as the log odds between two answers would. Where the pool is split between
    two, they are no evidence with

    .. math:: c = \frac{\bar a / 2}{\tanh(\bar a / 2)} + \frac{(K - 2)\, \bar a}{2 (e^{\bar a} - 1)}

    parts : the leans of each recipe
    rows : rows of the label, by true class (class,)
    """

    parts: Sequence[AnswerLeans]
    rows: Ints

    def spreads(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return the posterior of the spread, and how far one spread moves the mean lean."""
        lean, ability = self._effects(values)
        classes, count = len(self.rows), lean.shape[1]
        squares = ((lean - lean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        chance = self._posterior(squares * (2 * classes / (classes - 1)), count)
        unit = _times(ability.mean(axis=1), classes) / np.sqrt(2 * count)
        return chance, np.repeat(unit[:, None], classes, axis=1)

    def of_model(self, values: Mapping[str, Floats]) -> Floats:
        """Return the raters' mean lean to each answer, (draw, class)."""
        return np.asarray(self._effects(values)[0].mean(axis=1))

    def moved(self, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans to those of all raters."""
        return {
            part.prefix + name: value
            for part in self.parts
            for name, value in part.move(own_values(values, part.prefix), lean).items()
        }

    def _effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return leans to answers (draw, rater, class) and abilities (draw, rater)."""
        by_part = [self._effects_of(part, values) for part in self.parts if part.took.any()]
        leans, abilities = zip(*by_part, strict=True)
        return np.concatenate(leans, axis=1), np.concatenate(abilities, axis=1)

    def _effects_of(self, part: AnswerLeans, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        own, classes = own_values(values, part.prefix), len(self.rows)
        widest = np.asarray(part.log_confusion({k: v[:1] for k, v in own.items()})).size
        some = max(1, CHUNK_NUMBERS // widest)
        leans, abilities = [], []
        for first in range(0, len(next(iter(own.values()))), some):
            table = part.log_confusion({k: v[first : first + some] for k, v in own.items()})
            here = np.asarray(table)[:, part.took][:, :, self.rows, :classes]
            column, right = here.mean(axis=2), np.trace(here, axis1=2, axis2=3) / classes
            mean = column.mean(axis=-1)
            leans.append(column - mean[..., None])
            abilities.append((right - mean) * classes / (classes - 1))
        return np.concatenate(leans), np.concatenate(abilities)


def _times(ability: Floats, classes: int = 2) -> Floats:
    """Return the factor from a lean on an item's own scale to that of the model's logits."""
    half = np.maximum(np.abs(ability), 1e-3) / 2
    return np.asarray(half / np.tanh(half) + (classes - 2) * half / np.expm1(2 * half))
