"""Raters who give scores: a monotone model of scores given the true class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from assay._util.arrays import NEVER, append_constant, log_softmax, logsumexp
from assay._util.typing import Floats, Ints
from assay.data.score_bins import ScoreLayout
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior

REACH = 2.0
"""Bins over which the prior rise of a likelihood ratio falls by a factor e."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    r"""Scores in bins, with likelihood ratios that never fall as the score rises.

    .. math::

        p(b \mid k) \propto \exp\Bigl(\beta_{jlb} + \sum_{k'=1}^{K-1} \bigl([k' \le k] -
            \tfrac{1}{2}\bigr) m_{jlk'b}\Bigr), \quad
        m_{jlk'b} = \sum_{b' \le b} e^{\eta_{jlk'b'}}

    Adjacent classes have the likelihood ratio :math:`e^{m_{jlk'b}}` up to a factor.
    """

    name: ClassVar[str] = "scored"
    layout: ScoreLayout
    raters: Raters
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return frequencies of scores and rises of likelihood ratios, by group and by rater."""
        coords = {
            "rater": self.raters.names,
            "group": self.raters.groups,
            "score_bin": self.layout.bin_names,
            "score_step": self.layout.step_names,
            "label_name": self.layout.task.label_names,
        }
        rise = self.priors["rise_mean"]
        centre, spread = rise.values
        nearby = (centre + rise_places(self.layout), spread)
        priors = {**self.priors, "rise_mean": Prior(name="Normal", values=nearby, parts=(rise,))}

        def block(name: str, *dims: str, basis: Floats | None = None) -> Parameter:
            return Parameter(name=name, prior=priors[name], dims=dims, coords=coords, basis=basis)

        def by_rater(name: str, dim: str, spread: str) -> Parameter:
            at = self.raters.group[:, None]
            return offsets(name, ("rater", dim), coords, spread=spread, at=at)

        return [
            # Probabilities do not depend on the level that a label's bins share.
            block("score_mean", "group", "score_bin", basis=level_and_contrasts(self.layout)),
            block("score_sd", "group"),
            by_rater("score_offset", "score_bin", "score_sd"),
            block("rise_mean", "group", "score_step"),
            block("rise_sd", "group"),
            by_rater("rise_offset", "score_step", "rise_sd"),
            block("strength_sd", "group"),
            by_rater("strength_offset", "label_name", "strength_sd"),
        ]

    def log_scores(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> Any:
        """Return log P(bin or guess | true class), (..., unit, asked row, code).

        Codes are the label's bins, then its classes for an answer without a score, the sum of its
        bins.
        """
        group, layout = self.raters.group[unit_rater], self.layout
        base = (
            values["score_mean"][..., group, :]
            + values["score_sd"][..., group, None] * values["score_offset"][..., unit_rater, :]
        )
        rise = (
            values["rise_mean"][..., group, :]
            + values["rise_sd"][..., group, None] * values["rise_offset"][..., unit_rater, :]
        )
        strength = (
            values["strength_sd"][..., group, None] * values["strength_offset"][..., unit_rater, :]
        )
        rows = []
        for label, classes in enumerate(layout.classes):
            bins = classes * layout.parts
            log_rise = rise[..., layout.step_slice(label)] + strength[..., label, None]
            if tilt is not None:
                log_rise = log_rise + tilt.total[..., layout.first_row(label), None]
            by_pair = _reshape(xp.exp(log_rise), (classes - 1, bins - 1))
            ratio = xp.matmul(by_pair, np.triu(np.ones((bins - 1, bins)), 1))
            sign = np.tril(np.ones((classes, classes - 1)), -1) - 0.5
            score = base[..., None, layout.bin_slice(label)] + xp.matmul(sign, ratio)
            logs = log_softmax(score, xp)
            guess = logsumexp(_reshape(logs, (classes, layout.parts)), xp)
            pad = [NEVER] * (layout.width - bins - classes)
            both = xp.concatenate([logs, guess], axis=-1)
            rows.append(append_constant(both, pad, xp) if pad else both)
        return rows[0] if len(rows) == 1 else xp.concatenate(rows, axis=-2)


def level_and_contrasts(layout: ScoreLayout) -> Floats:
    """Return an orthonormal basis of the bins: each label's level, and contrasts.

    >>> from assay.data.score_bins import score_layout
    >>> from assay.data.task_files import load_task
    >>> basis = level_and_contrasts(score_layout(load_task("grounding")))
    >>> bool(np.allclose(basis @ basis.T, np.eye(len(basis))))
    True
    """
    from scipy.linalg import block_diag, helmert

    found: Floats = block_diag(*(helmert(k * layout.parts, full=True) for k in layout.classes))
    return found


def rise_places(layout: ScoreLayout) -> Floats:
    """Return the log prior shares of a likelihood ratio's rise by step, (score_step,).

    With three or more classes it rises mostly where the regions of neighbours meet; a uniform rise
    would leave inner classes without scores in their favour.
    """
    found = []
    for classes in layout.classes:
        steps = np.arange(1, classes * layout.parts)
        for lower in range(1, classes):
            away = np.abs(steps - lower * layout.parts) if classes > 2 else np.zeros(len(steps))
            weight = np.exp(-away / REACH)
            found.append(np.log((2 * layout.parts - 1) * weight / weight.sum()))
    return np.concatenate(found)


def _reshape(x: Any, shape: tuple[int, int]) -> Any:
    """Split the last axis in two."""
    lead = [x.shape[n] for n in range(x.ndim - 1)]
    return x.reshape((*lead, *shape))
