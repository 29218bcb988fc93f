r"""What has to be counted: sums over items that all statistics are functions of.

For item :math:`i`, :math:`n_{ik}` raters gave class :math:`k` and :math:`r_i = \sum_k n_{ik}`
answered. Every sum is one over items, so that a bootstrap sample only weighs them anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.data.meetings import Design
from assay.raters.agreements.columns import Column

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Sums over items: ``value`` of ``item`` is added to the sum number ``row`` of ``size``."""

    size: int
    row: Ints
    item: Ints
    value: Floats

    def total(self) -> Floats:
        """Return the sums over all items: (size, 1)."""
        return np.bincount(self.row, self.value, minlength=self.size)[:, None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """The sums of one column.

    Attributes
    ----------
    column : Column
    blocks : mapping of str to Block
        ``agree``: shares of agreeing pairs of raters, of items with two answers or more, and
        ``pairable``: how many there are; ``same``: agreeing pairs over r - 1; ``marginal``: answers
        by class on those items; ``rated`` and ``share``: the items with an answer, and the shares
        of the classes on them; ``crossed`` (ordered classes): pairs of different answers over
        r - 1, by the two classes; ``shared``, ``matched``: meetings by pair of raters, and those
        that agree; ``left``, ``right``: answers by pair of raters and class.
    pair_of_key : ndarray of int (key,)
        The pair of raters of each row of ``left`` and ``right``.
    n_items, n_ratings : int
        Items with two answers or more, and the answers to them.
    """

    column: Column
    blocks: Mapping[str, Block]
    pair_of_key: Ints
    n_items: int
    n_ratings: int


def build_tally(column: Column, design: Design) -> Tally:
    """Count one column of answers."""
    codes, given = column.codes, column.codes >= 0
    answers = np.bincount(design.item[given], minlength=len(design.cluster))
    cells, count = np.unique(design.item[given] * column.classes + codes[given], return_counts=True)
    met = given[design.left] & given[design.right]
    pairs, pair_of_key = _pair_blocks(column, design, met)
    blocks = _class_blocks(cells, count, answers, column.classes) | pairs
    if column.ordered:
        blocks["crossed"] = _crossed(column, design, met, answers)
    many = answers >= 2
    return Tally(
        column=column,
        blocks=blocks,
        pair_of_key=pair_of_key,
        n_items=int(many.sum()),
        n_ratings=int(answers[many].sum()),
    )


def _class_blocks(cells: Ints, count: Ints, answers: Ints, classes: int) -> dict[str, Block]:
    """Sum over cells of item and class, where ``count`` raters gave the class."""
    every, kind = cells // classes, cells % classes
    share = Block(size=classes, row=kind, item=every, value=count / answers[every])
    keep = answers[every] >= 2
    item, kind, count = every[keep], kind[keep], count[keep]
    several = answers[item]
    agreeing = count * (count - 1) / (several - 1)
    return {
        "share": share,
        "rated": _number_of(answers >= 1),
        "pairable": _number_of(answers >= 2),
        "agree": Block(size=1, row=np.zeros_like(item), item=item, value=agreeing / several),
        "same": Block(size=1, row=np.zeros_like(item), item=item, value=agreeing),
        "marginal": Block(size=classes, row=kind, item=item, value=count.astype(float)),
    }


def _number_of(counted: NDArray[np.bool_]) -> Block:
    item = np.flatnonzero(counted)
    return Block(size=1, row=np.zeros_like(item), item=item, value=np.ones(len(item)))


def _crossed(column: Column, design: Design, met: NDArray[np.bool_], answers: Ints) -> Block:
    left, right = column.codes[design.left[met]], column.codes[design.right[met]]
    item = design.item[design.left[met]]
    apart = left != right
    row, item = (left * column.classes + right)[apart], item[apart]
    return Block(size=column.classes**2, row=row, item=item, value=1 / (answers[item] - 1))


def _pair_blocks(
    column: Column, design: Design, met: NDArray[np.bool_]
) -> tuple[dict[str, Block], Ints]:
    """Sum over meetings, by pair of raters."""
    left, right = column.codes[design.left[met]], column.codes[design.right[met]]
    item, pair = design.item[design.left[met]], design.pair[met]
    # Chance agreement has a term for a class only where both raters of the pair use it.
    key_left, key_right = pair * column.classes + left, pair * column.classes + right
    keys = np.intersect1d(key_left, key_right)
    match = left == right

    def block(size: int, row: Ints, keep: NDArray[np.bool_]) -> Block:
        return Block(size=size, row=row[keep], item=item[keep], value=np.ones(int(keep.sum())))

    blocks = {
        "shared": block(len(design.raters), pair, np.ones_like(match)),
        "matched": block(len(design.raters), pair, match),
    }
    for side, key in (("left", key_left), ("right", key_right)):
        blocks[side] = block(len(keys), np.searchsorted(keys, key), np.isin(key, keys))
    return blocks, keys // column.classes
