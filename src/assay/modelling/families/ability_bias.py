"""Partial pooling by an ability and biases of each rater (Reitsma et al. 2005, two classes)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from assay._util.arrays import add_products, append_constant, log_softmax, logsumexp
from assay._util.typing import Bools, Floats, Ints
from assay.modelling.confusion import Tilt
from assay.modelling.families.class_names import AverageRaters
from assay.modelling.families.family import Family, Owner
from assay.modelling.families.hierarchical import (
    BY_GROUP,
    binary_leans,
    logit_parameters,
    mean_prior,
)
from assay.modelling.families.lean import BinaryLeans, rater_logits
from assay.modelling.parameters import Parameter, offsets

GROUP_CONFUSIONS = ("confusion_mean", "ability_mean", "answer_rate")
"""Parameters of the confusions of average raters."""


class _Long(NamedTuple):
    """Labels with three or more classes, and their cells.

    labels, answers : names of these labels, and of their answers
    answer_label : position of each answer's label in ``labels``
    cells : whether a cell is theirs (cell,)
    right : place of each answer's cell, where it is right, among theirs (answer,)
    place : position of each cell among those of other labels, followed by these, and last by right
        answers (cell,)
    bias : number of each answer's bias; the number of all biases for none (asked row, class)
    """

    labels: tuple[str, ...]
    answers: tuple[str, ...]
    answer_label: Ints
    cells: Bools
    right: Ints
    place: Ints
    bias: Ints


class AbilityBias(Family):
    r"""Confusions made of an ability and a bias to each answer.

    .. math::

        \theta_{jlk} = \mathrm{softmax}_{k'}\bigl(\gamma_{g(j)lk'} + \beta_{g(j)l}\, b_{jlk'}
            + [k' = k] \log(1 + e^{\eta_{jlk} - \gamma_{g(j)lk}})
            + [k' \ne k]\, \mu_{g(j)lkk'}\bigr), \quad
        \eta_{jlk} = \bar\alpha_{g(j)l} + \mu_{g(j)lkk} + \alpha_{g(j)l}\, a_{jl}
            + \kappa_{g(j)l}\, c_{jlk}

    with :math:`a, b, c \sim \mathrm{Normal}(0, 1)`, for a label with three or more classes; a
    binary row has one logit, as in ``hierarchical``. On hard items a share :math:`e^{-\lambda}` of
    what tells the true class remains.
    """

    name: ClassVar[str] = "ability_bias"
    leans: ClassVar[bool] = True
    by_owner: ClassVar[Mapping[str, Owner]] = {
        **BY_GROUP,
        "mean_by_class": "group",
        "ability_sd": "group",
        "class_sd": "group",
        "bias_sd": "group",
        "answer_rate": "group",
    }

    def parameters(self) -> list[Parameter]:
        """Return means, SDs and rates by group, and abilities, biases and offsets by rater."""
        long, coords = self._long, self.rater_coords()
        found = [] if long.cells.all() else logit_parameters(self, ~long.cells)
        if not long.labels:
            return found
        coords |= {"long_label": long.labels, "long_answer": long.answers}
        coords["long_cell"] = tuple(np.array(coords["cell"], object)[long.cells])
        first, by_group = self.raters.group[:, None] * len(long.labels), ("group", "long_label")
        of_cells = mean_prior(self, long.cells, correct="mean_by_class")
        found.append(
            Parameter(
                name="confusion_mean", dims=("group", "long_cell"), prior=of_cells, coords=coords
            )
        )
        for name, prior in {
            "ability_mean": "mean_correct",
            "ability_sd": "ability_sd",
            "class_sd": "class_sd",
            "bias_sd": "bias_sd",
        }.items():
            own = self.joined(prior, axes=1)
            found.append(Parameter(name=name, dims=by_group, prior=own, coords=coords))
        rates, by_answer = self.joined("answer_rate", axes=1), ("group", "long_answer")
        found.append(Parameter(name="answer_rate", dims=by_answer, prior=rates, coords=coords))
        label_at, answer_at = first + np.arange(len(long.labels)), first + long.answer_label
        # No location, as data inform only the sum of mean ability and class.
        found += [
            offsets(
                "ability_offset", ("rater", "long_label"), coords, spread="ability_sd", at=label_at
            ),
            *(
                offsets(
                    f"{kind}_offset",
                    ("rater", "long_answer"),
                    coords,
                    spread=f"{kind}_sd",
                    at=answer_at,
                )
                for kind in ("class", "bias")
            ),
        ]
        return found

    def binary_leans(self) -> BinaryLeans | None:
        """Return the leans of the raters to the second answers of binary labels."""
        return binary_leans(self, ~self._long.cells)

    def average_raters(self) -> AverageRaters | None:
        """Return the confusions of average raters, whose classes have names by a prior."""
        raters = self.raters
        if raters.crowd is None:
            return None
        groups = [np.bincount(raters.group, one, len(raters.groups)) for one in raters.crowd.T]
        return AverageRaters(
            weight=np.stack(groups),
            log_confusion=self._average,
            parameters=[p for p in self.parameters() if p.name in GROUP_CONFUSIONS],
        )

    def lean_to(self, label: int, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans to the answers of a longer label (draw, class) to all raters' biases."""
        long = self._long
        place = long.labels.index(self.layout.task.labels[label].name)
        moved = np.array(values["bias_offset"])
        sd = values["bias_sd"][:, self.raters.group, place]
        moved[..., long.answer_label == place] += lean[:, None] / sd[..., None]
        return {"bias_offset": moved}

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log softmax of the raters' logits."""
        return self._biased(self._seen(values, xp), self._bias(values, xp), xp)

    def components(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return ratings of one kind; a rater's bias is the same on hard items."""
        seen, layout = self._seen(values, xp)[..., unit_rater, :, :], self.layout
        bias = self._bias(values, xp)
        bias = None if bias is None else bias[..., unit_rater, :]
        if tilt is None or tilt.guessing is None:
            seen = seen if tilt is None else layout.tilt(seen, tilt, xp)
            return [(None, self._biased(seen, bias, xp))]
        long = (layout.row_classes > 2).astype(float)
        binary = None if long.all() else tilt.guessing * (1 - long)
        seen = layout.tilt(seen, tilt._replace(guessing=binary), xp)
        return [(None, self._biased(seen, bias, xp, loss=tilt.guessing * long))]

    def _seen(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log confusions without rates and biases, (..., rater, asked row, class).

        They are normalised where some labels are binary.
        """
        long, group = self._long, self.raters.group
        if not long.labels:
            return self.layout.from_logits(rater_logits(values, group), xp)
        mean, sd = (values[f"ability_{kind}"][..., group, :] for kind in ("mean", "sd"))
        ability = (mean + sd * values["ability_offset"])[..., long.answer_label]
        ability = ability + self._of_answers("class", values)
        logits = self._long_logits(
            values["confusion_mean"][..., group, :], ability, self._rates(values, xp), xp
        )
        if not long.cells.all():
            logits = xp.concatenate([rater_logits(values, group), logits], axis=-1)
        placed = self.layout.placed(logits[..., long.place], xp)
        return placed if long.cells.all() else log_softmax(placed, xp)

    def _long_logits(self, means: Any, ability: Any, rates: Any, xp: Any) -> Any:
        """Return logits of longer rows without rates, and those of right answers, (..., cell)."""
        above = means[..., self._long.right] + ability - rates
        above = logsumexp(xp.stack([above, above * 0.0], axis=-1), xp)
        return xp.concatenate([means, above], axis=-1)

    def _average(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log confusions of a group's average rater, (..., group, asked row, class).

        Those of binary rows mean nothing.
        """
        long, rates = self._long, self._group_rates(values, xp)
        ability = values["ability_mean"][..., long.answer_label]
        logits = self._long_logits(values["confusion_mean"], ability, rates, xp)
        binary = int((~long.cells).sum())
        if binary:
            logits = xp.concatenate([xp.zeros_like(logits[..., [0] * binary]), logits], axis=-1)
        placed = self.layout.placed(logits[..., long.place], xp)
        return self._biased(placed, append_constant(rates, [0.0], xp), xp)

    def _bias(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log rates of answers with biases, followed by a 0, (..., rater, answer)."""
        if not self._long.labels:
            return None
        bias = self._rates(values, xp) + self._of_answers("bias", values)
        return append_constant(bias, [0.0], xp)

    def _of_answers(self, kind: str, values: Mapping[str, Any]) -> Any:
        """Return what raters differ in by class or answer, (..., rater, long answer)."""
        sd = values[f"{kind}_sd"][..., self.raters.group, :][..., self._long.answer_label]
        return sd * values[f"{kind}_offset"]

    def _rates(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log rates of answers without knowing the class, (..., rater, long answer)."""
        return self._group_rates(values, xp)[..., self.raters.group, :]

    def _group_rates(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return a group's log rates of answers, (..., group, long answer)."""
        label = self._long.answer_label
        rate = xp.log(values["answer_rate"])
        means = [
            logsumexp(rate[..., label == n], xp) + -float(np.log((label == n).sum()))
            for n in range(len(self._long.labels))
        ]
        return rate - xp.stack(means, axis=-1)[..., label]

    def _biased(self, table: Any, bias: Any, xp: Any, *, loss: Any = None) -> Any:
        """Shrink log odds by ``loss``, then add rates and biases, (..., unit, asked row, class)."""
        if bias is None:
            return table
        bias = bias[..., self._long.bias]
        if loss is None:
            return log_softmax(table + bias, xp)
        kept = self.layout.kept_of_odds(loss, xp)
        return log_softmax(add_products([(table, kept), (bias, 1.0)], xp), xp)

    @cached_property
    def _long(self) -> _Long:
        layout, labels = self.layout, self.layout.task.labels
        long = [n for n, classes in enumerate(layout.classes) if classes > 2]
        answers = [(n, k) for n in long for k in range(layout.classes[n])]
        cells = np.array([layout.labels[row] in long for row, _ in layout.cells])
        place = np.where(cells, (~cells).sum() + cells.cumsum(), (~cells).cumsum()) - 1
        right = np.zeros(len(answers), np.int64)
        bias = np.full((layout.asked_rows, layout.width), len(answers))
        for cell, (row, reported) in enumerate(layout.cells):
            if cells[cell]:
                answer = answers.index((layout.labels[row], reported))
                bias[row, reported] = answer
                if reported == layout.true_classes[row]:
                    right[answer] = place[cell] - (~cells).sum()
                    place[cell] = len(cells) + answer
        return _Long(
            labels=tuple(labels[n].name for n in long),
            answers=tuple(f"{labels[n].name}: {labels[n].classes[k]}" for n, k in answers),
            answer_label=np.array([long.index(n) for n, _ in answers], np.int64),
            cells=cells,
            right=right,
            place=place,
            bias=bias,
        )
