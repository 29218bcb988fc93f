"""The prior that a class has the name that most raters give it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import TINY, logsumexp, merge_axes
from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay.modelling.parameters import Parameter, own_values

SHARPNESS = 10.0
"""Nats that a class loses per log ratio by which average raters prefer another answer to its own.

Of raters who prefer another answer by half, 4 nats; of those who prefer its own so, 0.02.
"""
TRIES = 10_000
"""Largest number of draws from other priors for one that this prior accepts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AverageRaters:
    """The confusions of the average raters of one recipe's groups.

    prefix : of the names of their parameters
    weight : share of each group in the crowd whose consensus is the truth (label, group)
    log_confusion : that of each group's average rater, (..., group, asked row, class)
    parameters : those of these confusions, without the prefix
    """

    prefix: str = ""
    weight: Floats
    log_confusion: Callable[[Mapping[str, Any], Any], Any]
    parameters: Sequence[Parameter]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassNamesPrior:
    r"""A prior of the confusions of average raters, where raters alone say what is true.

    .. math::

        p(\mu, \gamma) \propto p_0(\mu, \gamma) \prod_k \frac{\bar\theta_{kk}^s}
        {\sum_{k'} \bar\theta_{kk'}^s}, \qquad
        \bar\theta = \sum_g w_g \bar\theta_g, \quad s = 10

    The true class is what most raters of the pool would say: contested items are no class of its
    name.

    rows : the asked row of each class (class,)
    right : its right answer (class,)
    label : its label (class,)
    parts : the average raters of each recipe
    """

    width: int
    rows: Ints
    right: Ints
    label: Ints
    parts: Sequence[AverageRaters]

    def log_density(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the addition to the log prior, (..., class)."""
        tables = [p.log_confusion(own_values(values, p.prefix), xp) for p in self.parts]
        table = tables[0] if len(tables) == 1 else xp.concatenate(tables, axis=-3)
        weight = np.concatenate([part.weight for part in self.parts], axis=1)[self.label]
        answers = np.arange(self.width)
        by_group = merge_axes(table, 2).swapaxes(-1, -2)
        by_group = by_group[..., self.rows[:, None] * self.width + answers, :]
        share = weight / weight.sum(axis=1, keepdims=True)
        logs = logsumexp(by_group + np.log(share + TINY)[:, None], xp) * SHARPNESS
        right = logs[..., np.arange(len(self.rows)), self.right]
        return right - logsumexp(logs, xp)  # padding is never said

    def redraw(self, values: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, Floats]:
        """Draw the parameters anew until this prior accepts them.

        Raise ModelError if other priors say that raters call classes by other names.
        """
        unknowns = {part.prefix + p.name: p for part in self.parts for p in part.parameters}
        found = {name: values[name] for name in unknowns}
        for _ in range(TRIES):
            if np.log(rng.random()) < self.log_density(found, np).sum():
                return found
            found = {name: p.draw(rng) for name, p in unknowns.items()}
        raise ModelError(
            "the priors say that raters hardly ever call the classes by their names, so no "
            "parameters can be drawn. Raise `mean_correct` in `priors=`, or lower the SDs of "
            "`mean_by_class` and `mean_other`",
            code="classes-without-names",
        )
