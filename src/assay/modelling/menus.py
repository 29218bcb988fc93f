r"""Menus: the answer vectors that a rater could record, under rules that the interface enforces.

* ``retry``:
  :math:`p(y \mid s) \propto \prod_l \theta[s_l, y_l] \prod_r \omega_r^{[y \text{ breaks } r]}`
  over the answers that are not blocked; ``warn`` has a learned :math:`\omega_r`.
* ``repair``: a blocked vector turns into one of the admissible vectors with the fewest changes,
  :math:`p(y \mid s) = \sum_v p_{raw}(v \mid s) R[v, y]`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, logsumexp
from assay.data.ratings import Resolve
from assay.data.states import MISSING, StateSpace, Vectors
from assay.modelling.confusion import ConfusionLayout

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Residual = Callable[["Menu"], Any]
"""Log odds of each option beyond the confusions, by menu: (..., unit, state, option)."""
TINY = 1e-300
"""Keeps the logarithm of what cannot be recorded finite."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Menu:
    """The answer vectors that a rater could record on the labels that were answered.

    Attributes
    ----------
    options : ndarray of int16 (option, label)
        The answer vectors, blocked ones included.
    entries : ndarray of int (state, option, label)
        Position in a rater's flattened confusions of each factor; the last one stands for 1.
    blocked : ndarray of bool (option,)
    warned : ndarray of float (option, warned rule)
    repair : ndarray (option, option)
        Share of each option that is recorded as each other option.
    """

    options: Vectors
    entries: Ints
    blocked: NDArray[np.bool_]
    warned: Floats
    repair: Floats


def build_menu(layout: ConfusionLayout, space: StateSpace, answered: NDArray[np.bool_]) -> Menu:
    """Make the menu of the answer vectors over the labels that were answered.

    A rule is broken by a partial vector if every complete vector that extends it breaks the rule.
    """
    shown = np.where(answered, space.paths, np.int16(MISSING))
    options, extends = np.unique(shown, axis=0, return_inverse=True)
    extends = extends.ravel()
    of_option = np.bincount(extends, minlength=len(options))

    def every(broken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which options only have extensions that are broken."""
        count = np.bincount(extends, weights=broken, minlength=len(options))
        return np.asarray(count == of_option)

    blocked = every(space.blocked)
    warned = np.array([every(w) for w in space.warned.T], float).reshape(-1, len(options)).T
    entries = layout.entries(space.states, options)
    distance = (options[:, None, :] != options[None, :, :]).sum(axis=-1).astype(float)
    distance[:, blocked] = np.inf
    nearest = distance == distance.min(axis=1, keepdims=True)
    return Menu(
        options=options.astype(np.int16),
        entries=np.where(entries < 0, layout.size, entries),
        blocked=blocked,
        warned=warned,
        repair=nearest / nearest.sum(axis=1, keepdims=True),
    )


def menu_log_probability(
    menu: Menu,
    flat: Any,
    values: Mapping[str, Any],
    resolve: Resolve,
    xp: Any,
    residual: Residual | None = None,
) -> Any:
    """Log p(option | state) for each unit: (..., unit, state, option).

    ``flat`` is (..., unit, entry). Blocked options have ``NEVER`` or less.
    """
    logp = append_constant(flat, [0.0], xp)[..., menu.entries].sum(axis=-1)
    if residual is not None:
        logp = logp + residual(menu)
    if menu.warned.shape[1]:
        omega = xp.matmul(xp.log(values["warn_omega"]), menu.warned.T)
        logp = logp + omega[..., None, None, :]
    if resolve == "retry":
        logp = logp + np.where(menu.blocked, NEVER, 0.0)
    logp = logp - logsumexp(logp, xp)[..., None]
    if resolve == "retry" or not menu.blocked.any():
        return logp
    keep = ~menu.blocked
    mended = xp.log(xp.matmul(xp.exp(logp), menu.repair[:, keep]) + TINY)
    place = np.where(keep, np.cumsum(keep) - 1, keep.sum())
    return append_constant(mended, [NEVER], xp)[..., place]
