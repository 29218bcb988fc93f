"""Ordered classes: true classes lie on a scale, which each rater cuts at thresholds."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from assay._util.arrays import NEVER, logsumexp
from assay._util.errors import ModelError
from assay.modelling.families.cumulative import halfway_gaps, log_rows, places
from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter, offsets


class Ordinal(Family):
    r"""Cumulative logits with thresholds of each rater.

    .. math::

        P(y \le k \mid t) = \operatorname{expit}(c_{jlk} - a_{jl}\, x_{g(j) l t}), \quad
        c_{jl1} < \dots < c_{jl, K-1}

    True classes are at :math:`x_1 < \dots < x_K`, with gaps :math:`\Delta_{glk} = e^{\delta_{glk}}`
    and midpoints of mean 0. A rater scales them by :math:`a_{jl} \sim \mathrm{Normal}(1, \sigma_g)`
    and has the thresholds

    .. math::

        c_{jl1} = b_{jl} + \text{const}, \quad c_{jl,k+1} - c_{jlk} =
            \tfrac{1}{2} (\Delta_{glk} + \Delta_{gl,k+1})\, e^{w_{jlk}},

    of mean :math:`b_{jl}`. With three or more classes, a share :math:`\lambda_g` of answers are
    uniform lapses, lest a few answers two classes off distort the thresholds.
    """

    name: ClassVar[str] = "ordinal"
    by_owner: ClassVar[Mapping[str, Owner]] = {
        "spacing": "group",
        "slope_sd": "group",
        "shift_mean": "group",
        "shift_sd": "group",
        "width_mean": "group",
        "width_sd": "group",
        "lapse": "group",
    }

    def __post_init__(self) -> None:
        """Raise ModelError for labels with unordered classes."""
        super().__post_init__()
        for label in self.layout.task.labels:
            if len(label.classes) > 2 and not label.ordered:
                raise ModelError(
                    f"ordinal needs ordered classes, but label {label.name} has "
                    f"{len(label.classes)} classes without order. Write `ordered = true` under the "
                    "label in the task file, or use `raters='hierarchical'`",
                    code="family-unfit",
                    numbers={"classes": len(label.classes)},
                )

    def parameters(self) -> list[Parameter]:
        """Return class gaps by group, and slope, shift and widths by group and rater."""
        names = self.layout.task.label_names
        gaps, widths = self._names()
        coords = self.rater_coords() | {"label_name": names, "gap": gaps, "threshold_gap": widths}

        def block(name: str, *dims: str) -> Parameter:
            prior = self.joined(name, axes=len(dims) - 1)
            return Parameter(name=name, dims=dims, prior=prior, coords=coords)

        def by_rater(name: str, dim: str, spread: str) -> Parameter:
            at = self.raters.group[:, None]
            return offsets(name, ("rater", dim), coords, spread=spread, at=at)

        found = [
            block("spacing", "group", "gap"),
            block("slope_sd", "group"),
            by_rater("slope_offset", "label_name", "slope_sd"),
            block("shift_mean", "group", "label_name"),
            block("shift_sd", "group"),
            by_rater("shift_offset", "label_name", "shift_sd"),
        ]
        if widths:
            found += [
                block("width_mean", "group", "threshold_gap"),
                block("width_sd", "group"),
                by_rater("width_offset", "threshold_gap", "width_sd"),
                block("lapse", "group"),
            ]
        return found

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log differences of cumulative probabilities, for all labels."""
        group = self.raters.group
        gap = xp.exp(values["spacing"])[..., group, :]
        slope = values["slope_sd"][..., group, None] * values["slope_offset"] + 1.0
        shift = values["shift_mean"][..., group, :] + (
            values["shift_sd"][..., group, None] * values["shift_offset"]
        )
        rows, first = [], 0
        for n, classes in enumerate(self.layout.classes):
            here = gap[..., first : first + classes - 1]
            place = xp.matmul(here, places(classes))
            score = slope[..., n, None] * place
            between = None
            if classes > 2:
                between = xp.matmul(here, halfway_gaps(classes)) * self._stretch(values, n, xp)
            sizes = {"classes": classes, "width": self.layout.width}
            table = log_rows(shift[..., n], between, score, **sizes, xp=xp)
            if classes > 2:
                table = self._with_lapses(table, values["lapse"][..., group], classes, xp)
            rows.append(table)
            first += classes - 1
        return rows[0] if len(rows) == 1 else xp.concatenate(rows, axis=-2)

    def _with_lapses(self, table: Any, lapse: Any, classes: int, xp: Any) -> Any:
        """Mix the rows of one label (..., rater, true class, class) with uniform answers."""
        blind = np.full(self.layout.width, NEVER)
        blind[:classes] = -np.log(classes)
        seen = table + xp.log1p(lapse * -1.0)[..., None, None]
        lapsed = xp.zeros_like(table) + xp.log(lapse)[..., None, None] + blind
        return logsumexp(xp.stack([seen, lapsed], axis=-1), xp)

    def _stretch(self, values: Mapping[str, Any], label: int, xp: Any) -> Any:
        """Return the factor of each rater's threshold gaps, (..., rater, threshold gap)."""
        group = self.raters.group
        first = sum(k - 2 for k in self.layout.classes[:label])
        mine = slice(first, first + self.layout.classes[label] - 2)
        mean = values["width_mean"][..., group, mine]
        sd = values["width_sd"][..., group, None]
        return xp.exp(mean + sd * values["width_offset"][..., mine])

    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of gaps between classes, and between thresholds."""
        gaps, widths = [], []
        for label in self.layout.task.labels:
            pairs = [f"{a} | {b}" for a, b in pairwise(label.classes)]
            gaps += [f"{label.name}: {pair}" for pair in pairs]
            widths += [f"{label.name}: {a} to {b}" for a, b in pairwise(pairs)]
        return tuple(gaps), tuple(widths)
