r"""Answer vectors that an interface allows, and completions of partial ratings.

* ``retry``:
  :math:`p(y \mid s) \propto \prod_l \theta[s_l, y_l] \prod_r \omega_r^{[y \text{ breaks } r]}`
  over the answers that are not blocked; ``warn`` has a learned :math:`\omega_r`.
* ``repair``: a blocked vector becomes one of the allowed vectors with the fewest changes,
  :math:`p(y \mid s) = \sum_v p_{raw}(v \mid s) R[v, y]`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from assay._util.arrays import NEVER, TINY, append_constant, logsumexp, sum_of_entries
from assay._util.errors import ModelError
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Resolve
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, StateSpace, Vectors, label_order
from assay.modelling.confusion import ConfusionLayout

MAX_COMPLETIONS = 4096


def completions_of(layout: ConfusionLayout, answer: tuple[int, ...]) -> Ints:
    """Return all completions of an answer vector's gating labels that its gates allow.

    Other labels may stay ``MISSING``, since the sum over their classes is a factor 1.
    """
    task = layout.task
    gates = {n: task.expression(la.asked_if) for n, la in enumerate(task.labels) if la.asked_if}
    gating = {task.label_names.index(name) for gate in gates.values() for name in gate.labels}
    choices = [
        [NOT_ASKED, *range(layout.classes[n])] if code == MISSING and n in gating else [int(code)]
        for n, code in enumerate(answer)
    ]
    if np.prod([len(c) for c in choices]) > MAX_COMPLETIONS:
        raise ModelError(
            f"a rating of task {task.name} leaves many gating labels open and has more than "
            f"{MAX_COMPLETIONS} completions. If raters stopped half-way, read with "
            "`partial='draft'`",
            code="too-many-completions",
            numbers={"most": MAX_COMPLETIONS},
        )
    vectors = np.array(list(product(*choices)))
    columns = {name: vectors[:, n] for n, name in enumerate(task.label_names)}
    fits = np.ones(len(vectors), bool)
    for n in label_order(task):
        asked = gates[n](columns) if n in gates else np.ones(len(vectors), bool)
        code = vectors[:, n]
        fits &= (code == MISSING) | (asked == (code != NOT_ASKED))
    if not fits.any():
        raise ModelError(
            f"a rating of task {task.name} answers a question that its own answers close. Read the "
            "ratings with read_ratings, which sets such rows aside",
            code="forbidden-answers",
        )
    return np.asarray(vectors[fits], np.int64)


Residual = Callable[["AdmissibleResponses"], Any]
"""Log odds of options beyond the confusions, by menu, (..., unit, state, option)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdmissibleResponses:
    """The answer vectors that a rater could record on the answered labels.

    options : (option, label); with blocked ones only if these are repaired
    entries : position of each factor in a rater's flat confusions; the last one is 1 (state,
        option, label)
    warned : warned rules that each option breaks (option, warned rule)
    repair : share of each option that is recorded as each other one (option, option)
    """

    options: Vectors
    entries: Ints
    blocked: Bools
    warned: Floats
    repair: Floats


def build_menu(
    layout: ConfusionLayout, space: StateSpace, answered: Bools, resolve: Resolve = "retry"
) -> AdmissibleResponses:
    """Return the menu for the answered labels.

    A partial vector breaks a rule if all complete vectors that extend it do.
    """
    shown = np.where(answered, space.paths, np.int16(MISSING))
    options, extends = np.unique(shown, axis=0, return_inverse=True)
    extends = extends.ravel()
    of_option = np.bincount(extends, minlength=len(options))

    def every(broken: Bools) -> Bools:
        """Return the options whose extensions are all broken."""
        count = np.bincount(extends, weights=broken, minlength=len(options))
        return np.asarray(count == of_option)

    blocked = every(space.blocked)
    warned = np.array([every(w) for w in space.warned.T], float).reshape(-1, len(options)).T
    if resolve == "retry":
        options, warned, blocked = options[~blocked], warned[~blocked], blocked[~blocked]
    entries = layout.entries(space.states, options)
    distance = (options[:, None, :] != options[None, :, :]).sum(axis=-1).astype(float)
    distance[:, blocked] = np.inf
    nearest = distance == distance.min(axis=1, keepdims=True)
    return AdmissibleResponses(
        options=options.astype(np.int16),
        entries=np.where(entries < 0, layout.size, entries),
        blocked=blocked,
        warned=warned,
        repair=nearest / nearest.sum(axis=1, keepdims=True),
    )


def menu_log_probability(
    menu: AdmissibleResponses,
    flat: Any,
    values: Mapping[str, Any],
    xp: Any,
    residual: Residual | None = None,
) -> Any:
    """Return log p(option | state), (..., unit, state, option).

    ``flat`` holds the confusions (..., unit, entry). Blocked options have ``NEVER``.
    """
    logp = sum_of_entries(append_constant(flat, [0.0], xp), menu.entries, xp)
    if residual is not None:
        logp = logp + residual(menu)
    if menu.warned.shape[1]:
        omega = xp.matmul(xp.log(values["warn_omega"]), menu.warned.T)
        logp = logp + omega[..., None, None, :]
    logp = logp - logsumexp(logp, xp)[..., None]
    if not menu.blocked.any():
        return logp
    keep = ~menu.blocked
    mended = xp.log(xp.matmul(xp.exp(logp), menu.repair[:, keep]) + TINY)
    place = np.where(keep, np.cumsum(keep) - 1, keep.sum())
    return append_constant(mended, [NEVER], xp)[..., place]
