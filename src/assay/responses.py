r"""The response process: p(answers of a rating | state), given the confusions of its rater.

Without active rules an answer vector has the probability of its path through the gates,
:math:`\prod_l \theta_{j l}[s_l, y_l]`. Rules that the interface blocks or warns about change that:

* ``retry``:
  :math:`p(y \mid s) \propto \prod_l \theta[s_l, y_l] \prod_r \omega_r^{[y \text{ breaks } r]}`
  over the answers that are not blocked; ``warn`` has a learned :math:`\omega_r`.
* ``repair``: a blocked vector turns into one of the admissible vectors with the fewest changes,
  :math:`p(y \mid s) = \sum_v p_{raw}(v \mid s) R[v, y]`.

Partly answered ratings are summed over their completions (``lost``), or normalised over the
answers to the labels that were answered (``draft``).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import NEVER, logsumexp, merge_axes
from assay.confusion import ConfusionLayout
from assay.errors import ModelError
from assay.grammar import NOT_ASKED
from assay.priors import Parameter, Prior
from assay.ratings import Ratings, Resolve
from assay.reading.ids import sorted_rows
from assay.states import MISSING, StateSpace, Vectors, label_order, state_space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Residual = Callable[["Menu"], Any]
"""Log odds of each option beyond the confusions, by menu: (..., unit, state, option)."""
MAX_COMPLETIONS = 4096
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


@dataclass(frozen=True, kw_only=True, eq=False)
class ProductRows:
    """Rows without active rules: a sum over completions of products of confusions.

    ``entries`` (row, completion, state, label) are positions in the flattened confusions of all
    units, with a 0 and a ``NEVER`` behind them.
    """

    entries: Ints

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.entries.size

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        resolve: Resolve,
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Log p(answers of a row | state): (..., row, state)."""
        every = merge_axes(flat, 2)
        first = every[..., :1]
        padded = xp.concatenate([every, xp.zeros_like(first), xp.full_like(first, NEVER)], axis=-1)
        terms = padded[..., self.entries].sum(axis=-1)
        if self.entries.shape[1] == 1:
            return terms[..., 0, :]
        return logsumexp(terms.swapaxes(-1, -2), xp)


@dataclass(frozen=True, kw_only=True, eq=False)
class MenuRows:
    """Rows under active rules: complete ones pick an option, others sum over a set of them.

    Attributes
    ----------
    menu : Menu
    unit : ndarray of int (row,)
    option : ndarray of int (row,) or None
        The option that each row shows, if all rows are complete.
    among : ndarray of float (row, option) or None
        0 for the options that the row's answers admit, ``NEVER`` elsewhere.
    """

    menu: Menu
    unit: Ints
    option: Ints | None = None
    among: Floats | None = None

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.menu.entries.size * (int(self.unit.max()) + 1)

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        resolve: Resolve,
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Log p(answers of a row | state): (..., row, state)."""
        logp = menu_log_probability(self.menu, flat, values, resolve, xp, residual)
        if self.option is not None:
            return logp.swapaxes(-1, -2)[..., self.unit, self.option, :]
        assert self.among is not None
        return logsumexp(logp[..., self.unit, :, :] + self.among[:, None, :], xp)


@dataclass(frozen=True, kw_only=True, eq=False)
class Responses:
    """Everything about the response process that does not depend on parameters.

    Attributes
    ----------
    row : ndarray of int (rating,)
        Row of the response table of each rating; -1 if all its answers are missing.
    row_unit : ndarray of int (row,)
        Whose confusion each row uses.
    pooled_unasked : tuple of int
        Labels whose answers to items to which they do not apply are pooled across raters; none if
        the family has answers of its own there.
    blocks : tuple of ProductRows and MenuRows
        Consecutive rows of the table, by how they are computed.
    """

    layout: ConfusionLayout
    space: StateSpace
    row: Ints
    row_unit: Ints
    pooled_unasked: tuple[int, ...]
    blocks: tuple[ProductRows | MenuRows, ...]
    resolve: Resolve

    def parameters(self) -> list[Parameter]:
        """Confusions of labels that the truth does not ask, and strengths of the warnings."""
        task, found = self.layout.task, []
        for label in (task.labels[n] for n in self.pooled_unasked):
            dim = f"class_of_{label.name}"
            flat = Prior(name="Dirichlet", values=(np.ones(len(label.classes)),))
            coords = {dim: label.classes}
            found.append(
                Parameter(name=f"unasked_{label.name}", dims=(dim,), prior=flat, coords=coords)
            )
        if self.space.warned_names:
            uniform = Prior(name="Beta", values=(1.0, 1.0))
            coords = {"warned_rule": self.space.warned_names}
            found.append(
                Parameter(name="warn_omega", dims=("warned_rule",), prior=uniform, coords=coords)
            )
        return found

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return max((block.widest for block in self.blocks), default=0)

    def full_confusion(self, log_confusion: Any, values: Mapping[str, Any], xp: Any) -> Any:
        """Append the rows of true class "not asked" that are pooled: (..., unit, row, class)."""
        extra = []
        for label in self.pooled_unasked:
            row = xp.log(values[f"unasked_{self.layout.task.labels[label].name}"])
            pad = self.layout.width - self.layout.classes[label]
            if pad:
                row = xp.concatenate([row, *[xp.full_like(row[..., :1], NEVER)] * pad], axis=-1)
            extra.append(xp.zeros_like(log_confusion[..., :1, :]) + row[..., None, None, :])
        return xp.concatenate([log_confusion, *extra], axis=-2) if extra else log_confusion

    def table(
        self,
        log_confusion: Any,
        values: Mapping[str, Any],
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Log p(answers of a row | state).

        Parameters
        ----------
        log_confusion : (..., unit, asked row, class)
        values : mapping
            The parameters of :meth:`parameters`, with the same leading axes.
        residual : callable, optional
            Dependence between the answers of a rating beyond its rules, by menu.

        Returns
        -------
        (..., row, state)
        """
        flat = merge_axes(self.full_confusion(log_confusion, values, xp), 2)
        parts = [b.table(flat, values, self.resolve, xp, residual) for b in self.blocks]
        return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-2)


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
    padded = xp.concatenate([flat, xp.zeros_like(flat[..., :1])], axis=-1)
    logp = padded[..., menu.entries].sum(axis=-1)
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
    padded = xp.concatenate([mended, xp.full_like(mended[..., :1], NEVER)], axis=-1)
    return padded[..., np.where(keep, np.cumsum(keep) - 1, keep.sum())]


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
    entries = np.stack(
        [
            layout.entry(n, space.states[:, n][:, None], options[:, n][None, :])
            for n in range(options.shape[1])
        ],
        axis=-1,
    )
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


def build_responses(
    ratings: Ratings,
    layout: ConfusionLayout,
    unit: Ints,
    units: int,
    *,
    whole: bool = False,
    unasked: bool = False,
) -> Responses:
    """Find the distinct (unit, answers) rows of some ratings and how each is computed.

    Parameters
    ----------
    unit : ndarray of int (rating,)
        Whose confusion each rating uses; -1 for ratings that are not computed here.
    units : int
        Number of confusions.
    whole : bool
        Whether answer vectors are always looked up as a whole, rules or not.
    unasked : bool
        Whether the confusions have rows of true class "not asked" of their own.

    Raises
    ------
    ModelError
        If a rating has an answer vector that the task's rules block: such rows are to be set
        aside when ratings are read.
    """
    space = state_space(ratings.task)
    # That a question was not asked is an answer too: to the question that closed it.
    counts = (ratings.answers != MISSING).any(axis=1) & (unit >= 0)
    unique, place = sorted_rows(unit[counts], *ratings.answers[counts].T)
    row = np.full(len(ratings.answers), -1, np.int64)
    row[counts] = place
    blocks, order = [], []
    found = _blocks(ratings, layout, space, unique[:, 0], unique[:, 1:], units, whole=whole)
    for block, members in found:
        blocks.append(block)
        order.append(members)
    members = np.concatenate([*order, np.zeros(0, np.int64)])
    position = np.empty(len(unique), np.int64)
    position[members] = np.arange(len(unique))
    row[counts] = position[row[counts]]
    return Responses(
        layout=layout,
        space=space,
        row=row,
        row_unit=unique[members, 0],
        pooled_unasked=() if unasked else layout.unasked_labels,
        blocks=tuple(blocks),
        resolve=ratings.resolve,
    )


def _blocks(
    ratings: Ratings,
    layout: ConfusionLayout,
    space: StateSpace,
    unit: Ints,
    answers: Ints,
    units: int,
    *,
    whole: bool,
) -> Iterator[tuple[ProductRows | MenuRows, Ints]]:
    """Split the distinct rows by how they are computed; yields each block with its rows."""
    active = bool(whole or space.blocked.any() or space.warned.shape[1])
    partial = (answers == MISSING).any(axis=1)
    draft = partial & (ratings.partial == "draft")
    if not active:
        by_menu = draft & any(label.asked_if for label in ratings.task.labels)
        plain = np.flatnonzero(~by_menu)
        if len(plain):
            yield _product_rows(layout, space, unit[plain], answers[plain], units), plain
    else:
        by_menu = draft
        everything = build_menu(layout, space, np.ones(answers.shape[1], bool))
        for rows in (np.flatnonzero(~partial), np.flatnonzero(partial & ~draft)):
            if len(rows):
                yield _menu_rows(everything, unit[rows], answers[rows]), rows
    for answered in np.unique(answers[by_menu] != MISSING, axis=0):
        rows = np.flatnonzero(by_menu & ((answers != MISSING) == answered).all(axis=1))
        yield _menu_rows(build_menu(layout, space, answered), unit[rows], answers[rows]), rows


def _menu_rows(menu: Menu, unit: Ints, answers: Ints) -> MenuRows:
    """Find each row's options on the menu."""
    known = answers[:, None, :] != MISSING
    unanswered = menu.options[None] == MISSING
    fits = ((answers[:, None, :] == menu.options[None]) | ~known | unanswered).all(axis=-1)
    fits &= ~menu.blocked
    if not fits.any(axis=1).all():
        raise ModelError(
            "some ratings have answers that their gates or blocked rules forbid; read them with "
            "read_ratings, which sets such rows aside, or read with response={rule: 'warn'}"
        )
    if (fits.sum(axis=1) == 1).all():
        return MenuRows(menu=menu, unit=unit, option=fits.argmax(axis=1))
    return MenuRows(menu=menu, unit=unit, among=np.where(fits, 0.0, NEVER))


def _product_rows(
    layout: ConfusionLayout, space: StateSpace, unit: Ints, answers: Ints, units: int
) -> ProductRows:
    """Find the confusions that each row multiplies."""
    vectors, which = sorted_rows(*answers.T)
    completions = [_completions(layout, tuple(vector)) for vector in vectors.tolist()]
    widest = max(len(found) for found in completions)
    one, never = units * layout.size, units * layout.size + 1
    shape = (len(vectors), widest, len(space.states), answers.shape[1])
    entries = np.full(shape, -1, np.int64)
    beyond = np.ones(shape[:2], bool)
    for n, found in enumerate(completions):
        entries[n, : len(found)] = _entries(layout, space, found)
        beyond[n, : len(found)] = False
    own = entries[which]
    own = np.where(own < 0, one, own + unit[:, None, None, None] * layout.size)
    own[beyond[which], :, 0] = never
    return ProductRows(entries=own)


def _entries(layout: ConfusionLayout, space: StateSpace, vectors: Ints) -> Ints:
    """Positions in one rater's confusions: (completion, state, label)."""
    columns = [
        layout.entry(n, space.states[:, n][None, :], vectors[:, n][:, None])
        for n in range(vectors.shape[1])
    ]
    return np.stack(columns, axis=-1)


def _completions(layout: ConfusionLayout, answer: tuple[int, ...]) -> Ints:
    """Complete the gating labels of an answer vector in every way that its gates allow.

    Labels that gate nothing may stay ``MISSING``: summed over their classes they are a factor 1.
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
            f"a rating leaves so many gating labels of task {task.name} open that it has more than "
            f"{MAX_COMPLETIONS} completions; read with partial='draft' if raters stopped half-way"
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
            f"a rating of task {task.name} answers a question that its own answers close; "
            "read ratings with read_ratings, which sets such rows aside"
        )
    return np.asarray(vectors[fits], np.int64)
