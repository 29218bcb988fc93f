r"""The response process p(answers of a rating | state), as rows of the response table.

A row is a distinct answer vector of one unit. Without active rules its probability is
:math:`\prod_l \theta_{j l}[s_l, y_l]` along its path through the gates. Else it is one option of a
menu (:mod:`assay.modelling.interface_rules`). Partial ratings are summed over completions
(``lost``), or normalised over answers to the answered labels (``draft``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import NEVER, append_constant, logsumexp, merge_axes, sum_of_entries
from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay._util.typing import Floats, Ints
from assay.data.ratings import Ratings, Resolve
from assay.data.states import MISSING, StateSpace, state_space
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.interface_rules import (
    AdmissibleResponses,
    Residual,
    build_menu,
    completions_of,
    menu_log_probability,
)
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class ProductRows:
    """Rows without active rules: sums over completions of products of confusions.

    entries : (row, completion, state, label), positions in the flat confusions of all units, a 0
        and a ``NEVER``
    """

    entries: Ints

    @property
    def widest(self) -> int:
        """Size of the largest array for one draw's table."""
        return self.entries.size

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Return log p(answers of a row | state), (..., row, state)."""
        padded = append_constant(merge_axes(flat, 2), [0.0, NEVER], xp)
        terms = sum_of_entries(padded, self.entries, xp)
        if self.entries.shape[1] == 1:
            return terms[..., 0, :]
        return logsumexp(terms.swapaxes(-1, -2), xp)


def product_rows(
    layout: ConfusionLayout, space: StateSpace, unit: Ints, answers: Ints, units: int
) -> ProductRows:
    """Return rows of confusions, for units (row,) and answers (row, label)."""
    vectors, which = sorted_rows(*answers.T)
    completions = [completions_of(layout, tuple(vector)) for vector in vectors.tolist()]
    widest = max(len(found) for found in completions)
    one, never = units * layout.size, units * layout.size + 1
    shape = (len(vectors), widest, len(space.states), answers.shape[1])
    entries = np.full(shape, -1, np.int64)
    beyond = np.ones(shape[:2], bool)
    for n, found in enumerate(completions):
        entries[n, : len(found)] = layout.entries(space.states, found).swapaxes(0, 1)
        beyond[n, : len(found)] = False
    own = entries[which]
    own = np.where(own < 0, one, own + unit[:, None, None, None] * layout.size)
    own[beyond[which], :, 0] = never
    return ProductRows(entries=own)


@dataclass(frozen=True, kw_only=True, eq=False)
class MenuRows:
    """Rows with active rules: a complete one is an option, others sum over several options.

    option : the option of each row, if all rows are complete
    among : 0 for options that a row's answers allow, else ``NEVER`` (row, option)
    """

    menu: AdmissibleResponses
    unit: Ints
    option: Ints | None = None
    among: Floats | None = None

    @property
    def widest(self) -> int:
        """Size of the largest array for one draw's table."""
        return self.menu.entries.size * (int(self.unit.max()) + 1)

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Return log p(answers of a row | state), (..., row, state)."""
        logp = menu_log_probability(self.menu, flat, values, xp, residual)
        if self.option is not None:
            return logp.swapaxes(-1, -2)[..., self.unit, self.option, :]
        assert self.among is not None
        return logsumexp(logp[..., self.unit, :, :] + self.among[:, None, :], xp)


def menu_rows(menu: AdmissibleResponses, unit: Ints, answers: Ints) -> MenuRows:
    """Return rows of options, for units (row,) and answers (row, label).

    ModelError is raised if no option fits a row.
    """
    known = answers[:, None, :] != MISSING
    unanswered = menu.options[None] == MISSING
    fits = ((answers[:, None, :] == menu.options[None]) | ~known | unanswered).all(axis=-1)
    fits &= ~menu.blocked
    if not fits.any(axis=1).all():
        raise ModelError(
            "some ratings have answers that gates or blocked rules forbid. Read them with "
            "read_ratings, which sets such rows aside, or read with `response={rule: 'warn'}`",
            code="forbidden-answers",
        )
    if (fits.sum(axis=1) == 1).all():
        return MenuRows(menu=menu, unit=unit, option=fits.argmax(axis=1))
    return MenuRows(menu=menu, unit=unit, among=np.where(fits, 0.0, NEVER))


@dataclass(frozen=True, kw_only=True, eq=False)
class Responses:
    """The response process without its parameters.

    row : row of the response table of each rating, -1 if all answers are missing
    pooled_unasked : labels with answers pooled across raters where they do not apply
    blocks : consecutive rows of the table, by how they are computed
    """

    layout: ConfusionLayout
    space: StateSpace
    row: Ints
    row_unit: Ints
    pooled_unasked: tuple[int, ...]
    blocks: tuple[ProductRows | MenuRows, ...]
    resolve: Resolve

    def parameters(self) -> list[Parameter]:
        """Return confusions of labels that do not apply, and strengths of warnings."""
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
        """Size of the largest array for one draw's table."""
        return max((block.widest for block in self.blocks), default=0)

    def full_confusion(self, log_confusion: Any, values: Mapping[str, Any], xp: Any) -> Any:
        """Append pooled rows of true class "not asked", (..., unit, row, class)."""
        extra = []
        for label in self.pooled_unasked:
            row = xp.log(values[f"unasked_{self.layout.task.labels[label].name}"])
            row = append_constant(
                row, [NEVER] * (self.layout.width - self.layout.classes[label]), xp
            )
            extra.append(xp.zeros_like(log_confusion[..., :1, :]) + row[..., None, None, :])
        return xp.concatenate([log_confusion, *extra], axis=-2) if extra else log_confusion

    def table(
        self,
        log_confusion: Any,
        values: Mapping[str, Any],
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Return log p(answers of a row | state), (..., row, state), from ``log_confusion`` (...,
        unit, asked row, class). ``residual`` joins the answers of a rating, by menu.
        """
        flat = merge_axes(self.full_confusion(log_confusion, values, xp), 2)
        parts = [b.table(flat, values, xp, residual) for b in self.blocks]
        return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-2)


def build_responses(
    ratings: Ratings,
    layout: ConfusionLayout,
    unit: Ints,
    units: int,
    *,
    whole: bool = False,
    unasked: bool = False,
) -> Responses:
    """Return the distinct (unit, answers) rows of ratings, and how each is computed.

    unit : of each rating, -1 for other parts' ratings
    whole : whether answer vectors always come from a menu
    unasked : whether the family has own rows of true class "not asked"
    """
    space = state_space(ratings.task)
    # "Not asked" is also an answer, to the question that closed it.
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
    """Yield blocks of distinct rows by how they are computed, each with its rows."""
    active = bool(whole or space.blocked.any() or space.warned.shape[1])
    partial = (answers == MISSING).any(axis=1)
    draft = partial & (ratings.partial == "draft")
    if not active:
        by_menu = draft & any(label.asked_if for label in ratings.task.labels)
        plain = np.flatnonzero(~by_menu)
        if len(plain):
            yield product_rows(layout, space, unit[plain], answers[plain], units), plain
    else:
        by_menu = draft
        everything = build_menu(layout, space, np.ones(answers.shape[1], bool), ratings.resolve)
        for rows in (np.flatnonzero(~partial), np.flatnonzero(partial & ~draft)):
            if len(rows):
                yield menu_rows(everything, unit[rows], answers[rows]), rows
    for answered in np.unique(answers[by_menu] != MISSING, axis=0):
        rows = np.flatnonzero(by_menu & ((answers != MISSING) == answered).all(axis=1))
        menu = build_menu(layout, space, answered, ratings.resolve)
        yield menu_rows(menu, unit[rows], answers[rows]), rows
