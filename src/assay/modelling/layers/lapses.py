"""Raters who at times answer without looking: a share of ratings that the truth has no part in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, log_softmax
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lapses:
    r"""Ratings that are lapses: blind answers, by a strategy of each rater.

    .. math::

        p(y \mid s) = (1 - \epsilon_j)\, p_{\text{seen}}(y \mid s)
            + \epsilon_j \prod_l \xi_{jl}[y_l], \quad
        \operatorname{logit} \epsilon_j = m_{g(j)} + \tau_{g(j)} e_j, \quad
        \xi_{jl} = \mathrm{softmax}(n_{g(j)l} + \upsilon_{g(j)} w_{jl}),

    with :math:`e_j, w_{jlk} \sim \mathrm{Normal}(0, 1)`. A rating is a lapse as a whole. Each of
    the two is normalised over the answers that the interface admits; questions that the truth
    would not ask are answered alike in both.

    Attributes
    ----------
    raters : Raters
        Of the family; one row for all if they share a confusion.
    shared : bool
    unit_rater : ndarray of int (unit,)
    """

    layout: ConfusionLayout
    raters: Raters
    shared: bool
    unit_rater: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Chance of a lapse and strategy: mean and SD of each group, offset of each rater."""
        answers = [f"{la.name}: {c}" for la in self.layout.task.labels for c in la.classes]
        coords = {
            "lapsing": ("all",) if self.shared else self.raters.names,
            "lapsing_group": ("all",) if self.shared else self.raters.groups,
            "blind_answer": answers,
        }
        group = self._group[:, None]
        dims: dict[str, tuple[str, ...]] = {"lapse": (), "strategy": ("blind_answer",)}
        mean_at = {"lapse": self._group, "strategy": group * len(answers) + np.arange(len(answers))}
        found = []
        for name, more in dims.items():
            by_group = [("mean", ("lapsing_group", *more)), ("sd", ("lapsing_group",))]
            found += [
                Parameter(
                    name=f"{name}_{kind}",
                    dims=own,
                    prior=self.priors[f"{name}_{kind}"],
                    coords=coords,
                )
                for kind, own in by_group
            ]
            found.append(
                Parameter(
                    name=f"{name}_offset",
                    dims=("lapsing", *more),
                    prior=Prior(name="Normal", values=(0.0, 1.0)),
                    coords=coords,
                    spread=f"{name}_sd",
                    location=f"{name}_mean",
                    spread_at=group if more else self._group,
                    location_at=mean_at[name],
                )
            )
        return found

    @property
    def _group(self) -> Ints:
        """Group of each rater who lapses."""
        return np.zeros(1, np.int64) if self.shared else self.raters.group

    def log_odds(self, values: Mapping[str, Any]) -> Any:
        r"""Return logit :math:`\epsilon_j`: (..., rater), one for all if they share a confusion."""
        sd = values["lapse_sd"][..., self._group]
        return values["lapse_mean"][..., self._group] + sd * values["lapse_offset"]

    def mix(
        self, seen: list[tuple[Any, Any]], values: Mapping[str, Any], xp: Any
    ) -> list[tuple[Any, Any]]:
        """Add the lapses to the kinds of ratings: (log weight, log confusion) of each."""
        logit = self.log_odds(values)[..., self.unit_rater]
        weight = log_softmax(xp.stack([logit * 0.0, logit], axis=-1), xp)
        kept = [
            (weight[..., 0] if own is None else own + weight[..., 0], table) for own, table in seen
        ]
        return [*kept, (weight[..., 1], self._blind(values, xp))]

    def _blind(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Log strategy in every asked row: (..., unit, asked row, class)."""
        layout = self.layout
        sd = values["strategy_sd"][..., self._group, None]
        logits = values["strategy_mean"][..., self._group, :] + sd * values["strategy_offset"]
        first = np.concatenate([[0], np.cumsum(layout.classes)])
        where = np.full((len(layout.classes), layout.width), first[-1])
        for label, classes in enumerate(layout.classes):
            where[label, :classes] = first[label] + np.arange(classes)
        table = log_softmax(append_constant(logits, [NEVER], xp)[..., where], xp)
        return table[..., self.unit_rater, :, :][..., np.array(layout.labels), :]
