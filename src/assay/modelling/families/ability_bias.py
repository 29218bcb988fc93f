"""Partial pooling by an ability and biases of each rater (Reitsma et al. 2005, two classes)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from assay._util.arrays import append_constant, log_softmax
from assay._util.errors import ModelError
from assay._util.typing import Bools, Ints
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Family, Owner
from assay.modelling.families.hierarchical import (
    BY_GROUP,
    lean_prior,
    logit_parameters,
    pool_lean,
)
from assay.modelling.families.lean import LeanPrior, rater_logits
from assay.modelling.families.pool_lean import PoolLean
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior, distinct


class _Long(NamedTuple):
    """Labels with three or more classes, and their cells.

    labels, answers : names of these labels, and of their answers
    answer_label : position of each answer's label in ``labels``
    cells : whether a cell is theirs
    ability : number of each cell's ability; the number of all abilities for none (cell,)
    bias : number of each answer's bias; the number of all biases for none (asked row, class)
    """

    labels: tuple[str, ...]
    answers: tuple[str, ...]
    answer_label: Ints
    cells: Bools
    ability: Ints
    bias: Ints


class AbilityBias(Family):
    r"""Logits of a confusion vary together: an ability, a bias to each answer, and a residual.

    .. math::

        \theta_{jlk} = \mathrm{softmax}_{k'}\bigl(\mu_{g(j)lkk'}
            + (\bar\alpha_{g(j)l} + \alpha_{g(j)l}\, a_{jl})\, [k' = k] + \beta_{g(j)l}\, b_{jlk'}
            + \sigma_{g(j)lkk'}\, z_{jlkk'}\bigr), \quad a, b, z \sim \mathrm{Normal}(0, 1)

    for a label with three or more classes. A rater with a bias to an answer gives it more often
    whatever is true: one number replaces :math:`K` unrelated ones of ``hierarchical``. All classes
    of a label share the group's mean ability :math:`\bar\alpha`, and :math:`\mu_{kk}` is a class's
    deviation from it: a priori, raters who know the other classes hardly ever fail to name one. A
    binary row has one logit, as in ``hierarchical``.

    On hard items a share :math:`e^{-\lambda}` of the log odds between answers to a longer label
    remains, and the bias stays. (Guesses instead, as in other families, lose a class of
    weather_amt: accuracy 0.81 instead of 0.86.)
    """

    name: ClassVar[str] = "ability_bias"
    by_owner: ClassVar[Mapping[str, Owner]] = {
        **BY_GROUP,
        "mean_by_class": "group",
        "rest_sd": "group",
        "ability_sd": "group",
        "bias_sd": "group",
    }

    def parameters(self) -> list[Parameter]:
        """Return means and SDs by group, and ability, biases and residuals by rater."""
        found, long = logit_parameters(self, self._rest(), correct="mean_by_class"), self._long
        if not long.labels:
            return found
        coords = self.rater_coords() | {"long_label": long.labels, "long_answer": long.answers}
        first, by_group = self.raters.group[:, None] * len(long.labels), ("group", "long_label")
        for name, prior in {
            "ability_mean": "mean_correct",
            "ability_sd": "ability_sd",
            "bias_sd": "bias_sd",
        }.items():
            own = self.joined(prior, axes=1)
            found.append(Parameter(name=name, dims=by_group, prior=own, coords=coords))
        label_at, answer_at = first + np.arange(len(long.labels)), first + long.answer_label
        # No location, as data inform only the sum of mean ability and class.
        found += [
            offsets(
                "ability_offset", ("rater", "long_label"), coords, spread="ability_sd", at=label_at
            ),
            offsets(
                "bias_offset", ("rater", "long_answer"), coords, spread="bias_sd", at=answer_at
            ),
        ]
        return found

    def lean_prior(self) -> LeanPrior | None:
        """Return the prior of the raters' mean lean, on binary labels."""
        return lean_prior(self, "mean_by_class")

    def pool_lean(self) -> PoolLean | None:
        """Return how the raters' mean lean differs from their pool's, on binary labels."""
        return pool_lean(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log softmax of the raters' logits."""
        return self._biased(self._seen(values, xp), self._bias(values, xp), xp)

    def components(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return ratings of one kind; a rater's bias is the same on hard items."""
        seen, layout = self._seen(values, xp)[..., unit_rater, :, :], self.layout
        long = (layout.row_classes > 2).astype(float)
        if tilt is not None and tilt.guessing is not None:
            binary = None if long.all() else tilt.guessing * (1 - long)
            seen = layout.tilt(seen, tilt._replace(guessing=binary), xp)
            seen = layout.nearer_guessing(seen, tilt.guessing * long, xp)
        elif tilt is not None:
            seen = layout.tilt(seen, tilt, xp)
        bias = self._bias(values, xp)
        return [(None, self._biased(seen, None if bias is None else bias[..., unit_rater, :], xp))]

    def _seen(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log confusions without biases, (..., rater, asked row, class)."""
        logits, long = rater_logits(values, self.raters.group), self._long
        if long.labels:
            group = self.raters.group
            mean, sd = (values[f"ability_{kind}"][..., group, :] for kind in ("mean", "sd"))
            ability = append_constant(mean + sd * values["ability_offset"], [0.0], xp)
            logits = logits + ability[..., long.ability]
        return self.layout.from_logits(logits, xp)

    def _bias(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return each rater's bias to each answer, followed by a 0, (..., rater, answer)."""
        long = self._long
        if not long.labels:
            return None
        sd = values["bias_sd"][..., self.raters.group, :][..., long.answer_label]
        return append_constant(sd * values["bias_offset"], [0.0], xp)

    def _biased(self, table: Any, bias: Any, xp: Any) -> Any:
        """Add biases to log confusions, (..., unit, asked row, class)."""
        return table if bias is None else log_softmax(table + bias[..., self._long.bias], xp)

    def _rest(self) -> Prior:
        """Return the prior of offsets' SDs: ``sd`` for binary rows, ``rest_sd`` for longer ones."""
        long = self._long.cells
        kinds = {"sd": not long.all(), "rest_sd": bool(long.any())}
        read = {name: self.joined(name, axes=1) for name, there in kinds.items() if there}
        if len(read) == 1:
            return next(iter(read.values()))
        binary, rest = read.values()
        if binary.name != rest.name:
            raise ModelError(
                f"priors sd and rest_sd are {binary.name} and {rest.name}. Both must be of one "
                "kind, because this model has labels with two classes and labels with more",
                code="prior-kinds-mixed",
            )
        numbers = zip(binary.values, rest.values, strict=True)
        return Prior(
            name=rest.name,
            values=tuple(np.where(long, more, two) for two, more in numbers),
            parts=distinct([binary, rest]),
        )

    @cached_property
    def _long(self) -> _Long:
        layout, labels = self.layout, self.layout.task.labels
        long = [n for n, classes in enumerate(layout.classes) if classes > 2]
        answers = [(n, k) for n in long for k in range(layout.classes[n])]
        ability, bias = [], np.full((layout.asked_rows, layout.width), len(answers))
        for row, reported in layout.cells:
            label, true = layout.labels[row], layout.true_classes[row]
            right = label in long and reported == true
            ability.append(long.index(label) if right else len(long))
            if label in long:
                bias[row, reported] = answers.index((label, reported))
        return _Long(
            labels=tuple(labels[n].name for n in long),
            answers=tuple(f"{labels[n].name}: {labels[n].classes[k]}" for n, k in answers),
            answer_label=np.array([long.index(n) for n, _ in answers], np.int64),
            cells=np.array([layout.labels[row] in long for row, _ in layout.cells]),
            ability=np.array(ability, np.int64),
            bias=bias,
        )
