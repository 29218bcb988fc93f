"""How hard items are: classes of difficulty, or a continuous one, summed out exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np

from assay._util.arrays import log_softmax
from assay._util.errors import ModelError
from assay._util.typing import Floats
from assay.modelling.layers.difficulty_nodes import nodes_of
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.prevalence.design import Effect
from assay.modelling.priors import Prior

DEGREES = 3
"""Degrees of items that are hard on all labels. Each costs as much as the first, and eight tell the
labels of real ratings no better."""
ALONE = np.log(2)
"""How hard an item is that is hard on one label alone: half of the answers are guesses at a rate
of 1. Degrees of it tell labels no better, and would cost as much for each label."""
ALL_LABELS = "all labels"
"""The kind of hard items that are hard on every label."""
BY_RATER = "item_difficulty_by_rater"
BY_CLASS = "item_difficulty_by_class"
KINDS: Mapping[str, Literal["classes", "continuous"]] = {
    "item_difficulty": "classes",
    "item_difficulty_continuous": "continuous",
    BY_RATER: "continuous",
    BY_CLASS: "continuous",
}
"""The layers of difficulty, and the kind that each is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difficulty:
    r"""How hard an item is: one hidden number of the item that all its ratings share.

    .. math::

        p(y_i \mid s) = \sum_d \rho_d \prod_a p_d(y_a \mid s), \qquad
        p_d(k' \mid k) = w_{jlk}(h_d)\, \theta_{jlkk'}
            + \bigl(1 - w_{jlk}(h_d)\bigr)\, \bar\theta_{jlk'}, \qquad
        \bar\theta_{jlk'} = \frac{1}{K_l} \sum_{k=1}^{K_l} \theta_{jlkk'}

    with :math:`w` of :class:`~assay.modelling.layers.loading.Loading` and guesses
    :math:`\bar\theta`. ``classes``: an item is easy, hard on one label alone, or more or less hard
    on all labels,

    .. math::

        h_{0l} = 0, \quad h_{dl} = \log 2\, [l = d] \ (d = 1, \ldots, L), \quad
        h_{L+m,\,l} = x_m, \qquad
        \rho_0 = 1 - \rho, \quad \rho_d = \rho\, \kappa_d, \quad
        \rho_{L+m} = \rho\, \kappa_{L+1}\, q_m,

    with :math:`x_m, q_m` of :func:`hard_degrees`. Hard items have a truth of their own
    (:class:`~assay.modelling.layers.hard_truth.HardTruth`). In context :math:`c`, of which system
    :math:`g` has the share :math:`a_{cg}`,

    .. math::

        \rho_{cd} \propto \rho_d\, e^{\tau \sum_g a_{cg} z_{gd}} \ (d \ge 1), \qquad
        \rho_{c0} \propto \rho_0, \qquad z_{gd} \sim \mathrm{Normal}(0, 1)

    ``continuous``: :math:`h_i \sim \mathrm{Beta}(c \rho, c\,(1 - \rho))`, :math:`c = \tfrac12`, on
    all labels, by quadrature (:mod:`~assay.modelling.layers.difficulty_nodes`).

    kind : "none", "classes" or "continuous"
    labels : those on which alone an item can be hard
    priors : ``hard_share``, ``hard_split`` of several kinds, ``hard_share_system_sd`` of systems
    systems : those that each have a share of hard items
    degrees : of hard items; 1 in fits by earlier versions, where all were as hard
    """

    kind: Literal["none", "classes", "continuous"] = "none"
    labels: tuple[str, ...] = ()
    priors: Mapping[str, Prior] = field(default_factory=dict)
    systems: Effect | None = None
    nodes: int = 0
    degrees: int = DEGREES

    @property
    def positions(self) -> Floats:
        """Return :math:`h_d`: (difficulty,), or (difficulty, label) where labels differ in it."""
        if self.kind == "none":
            return np.zeros(1)
        if not self.has_classes:
            return nodes_of(self.nodes).positions
        degrees = hard_degrees(self.degrees)[0]
        if not self.labels:
            return np.append(0.0, degrees)
        count = len(self.labels)
        alone = np.eye(count) * (1.0 if self.degrees == 1 else ALONE)
        return np.concatenate([np.zeros((1, count)), alone, np.outer(degrees, np.ones(count))])

    def hard_labels(self, labels: int) -> Floats:
        """Return how hard each class of hard items is on each label: (hard class, label)."""
        positions = self.positions.reshape(self.classes, -1)[1:]
        return np.broadcast_to(positions, (len(positions), labels))

    @property
    def has_classes(self) -> bool:
        """Whether items are easy or hard."""
        return self.kind == "classes"

    @property
    def classes(self) -> int:
        """Number of classes, or of quadrature nodes."""
        return len(self.positions)

    def parameters(self) -> list[Parameter]:
        """Share of the hard items, by system and of each kind."""
        if self.kind == "none":
            return []
        found = [Parameter(name="hard_share", prior=self.priors["hard_share"], coords={})]
        kinds = {"hard_on": (*self.labels, ALL_LABELS)} if self.labels else {}
        if kinds:
            own = self.priors["hard_split"]
            found.append(Parameter(name="hard_split", dims=("hard_on",), prior=own, coords=kinds))
        if self.systems is not None:
            sd, name = "hard_share_system_sd", "hard_share_system_offset"
            found.append(Parameter(name=sd, prior=self.priors[sd], coords={}))
            coords = kinds | {"system": self.systems.levels}
            found.append(offsets(name, ("system", *kinds), coords, spread=sd, at=0))
        return found

    def hard_shares(self, values: Mapping[str, Any], xp: Any) -> Any:
        r"""Share of each class of hard items, :math:`\rho_d`: (..., context, hard class).

        With one context for all if systems do not differ.
        """
        return xp.exp(self.log_weight(values, xp)[..., 1:])

    def by_item(self, chance: Floats) -> dict[str, Floats]:
        """Say how hard items are, from probabilities of the classes (item, difficulty).

        The dict has ``difficulty`` (item,), its expectation; or ``hard`` (item,), the probability
        of being hard, and ``hard_on_label`` (item, label), if labels differ in it.
        """
        if self.kind == "none":
            return {}
        if not self.has_classes:
            return {"difficulty": chance @ self.positions}
        found = {"hard": chance[:, 1:].sum(axis=1)}
        return found | ({"hard_on_label": chance @ (self.positions > 0)} if self.labels else {})

    def log_weight(self, values: Mapping[str, Any], xp: Any) -> Any:
        r"""Log :math:`\rho_d`: (..., context, difficulty).

        With one context for all if systems do not differ.
        """
        if self.kind == "none":
            return np.zeros((1, 1))
        logs = self._log_shares(values, xp)[..., None, :]
        if self.systems is not None:
            logs = self._by_system(logs, values, xp)
        if not self.has_classes:
            return nodes_of(self.nodes).log_weight(logs, xp)
        kinds = 1 + len(self.labels)
        weight = np.log(hard_degrees(self.degrees)[1])
        by_degree = logs[..., np.append(np.arange(kinds), np.repeat(kinds, self.degrees))]
        return by_degree + np.append(np.zeros(kinds), weight)

    def _by_system(self, logs: Any, values: Mapping[str, Any], xp: Any) -> Any:
        """Shift the log shares of kinds of hard items by the systems' own: (..., context, kind)."""
        assert self.systems is not None
        offset = values["hard_share_system_offset"]
        offset = offset if self.labels else offset[..., None]
        shift = values["hard_share_system_sd"][..., None, None] * (
            xp.matmul(self.systems.share, offset)
        )
        return log_softmax(logs + xp.concatenate([shift[..., :1] * 0.0, shift], axis=-1), xp)

    def _log_shares(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Log shares of easy items and of kinds of hard ones, where systems do not differ."""
        share = values["hard_share"]
        if not self.labels:
            return xp.stack([xp.log1p(share * -1.0), xp.log(share)], axis=-1)
        easy = xp.log1p(share * -1.0)[..., None]
        # A kind that is not there keeps a finite logarithm.
        hard = xp.log(share)[..., None] + xp.log(values["hard_split"] + 1e-300)
        return xp.concatenate([easy, hard], axis=-1)


@cache
def hard_degrees(count: int) -> tuple[Floats, Floats]:
    """Return the degrees of hard items, ascending, and their shares, (degree,): the rule of Gauss
    and Legendre for :math:`e^{-x}` uniform between 0 and 1.

    >>> degrees, weight = hard_degrees(3)
    >>> degrees.round(2), weight.round(2)
    (array([0.12, 0.69, 2.18]), array([0.28, 0.44, 0.28]))
    """
    if count == 1:
        return np.ones(1), np.ones(1)
    node, weight = np.polynomial.legendre.leggauss(count)
    return -np.log((node[::-1] + 1) / 2), weight[::-1] / 2


def difficulty_of(
    layers: set[str],
    priors: Mapping[str, Prior],
    labels: tuple[str, ...] = (),
    systems: Effect | None = None,
    nodes: int = 0,
    degrees: int = DEGREES,
) -> Difficulty:
    """Return the one difficulty that the layers of all rater groups name, or raise ModelError if
    they name several kinds. Other arguments are fields of :class:`Difficulty`.
    """
    named = [name for name in KINDS if name in layers]
    if len(named) > 1:
        raise ModelError(
            f"{' and '.join(named)} cannot be combined: an item has one difficulty, which all "
            "groups that rate it share",
            code="two-difficulties",
        )
    if not named:
        return Difficulty()
    kind = KINDS[named[0]]
    if kind != "classes":
        return Difficulty(kind=kind, priors=priors, systems=systems, nodes=nodes)
    several = labels if len(labels) > 1 else ()
    return Difficulty(kind=kind, labels=several, priors=priors, systems=systems, degrees=degrees)
