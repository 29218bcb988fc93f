"""The marginal likelihood in JAX: gathers and sums over segments of flat arrays.

The same function as :func:`~assay.kernels.marginal_likelihood.value_and_gradient` has (a test holds
them equal), where :mod:`assay.likelihood` says what it is. Nothing is as large as items x raters,
or as cells x nodes x states.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.kernels.data import Data
from assay.model import Tables

Floats = NDArray[np.float64]
Positions = NDArray[np.int32]
TINY = 1e-300
"""Floor of a probability before its logarithm is taken."""
CHUNK_NUMBERS = 8_000_000
"""Numbers (slot, node) that are held at once; beyond, the nodes are taken in turns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FlatData:
    """The data of the likelihood as positions in flat arrays.

    Cells of one context stand together in blocks, so that their sums over states are products of
    matrices, and nothing is as large as cells x nodes x states.

    Attributes
    ----------
    rows, row_view : ndarray of int (entry,)
        The row of each entry of a view, and the view.
    view_layer, view_cell : ndarray of int (view,)
        The kind of perception (-1 for none) and the cell of each view.
    cell_mask : ndarray of int (cell,)
    masks : ndarray (mask, state)
    slot_cell : ndarray of int (block, slot)
        The cell in each slot of each block; any cell where the slot is empty.
    block_context : ndarray of int (block,)
    member_slot, member_bundle : ndarray of int (member,)
        The cells of each bundle, as slots.
    member_count : ndarray (member,)
    bundle_weight : ndarray (bundle,)
    """

    rows: Positions
    row_view: Positions
    view_layer: Positions
    view_cell: Positions
    cell_mask: Positions
    masks: Floats
    slot_cell: Positions
    block_context: Positions
    member_slot: Positions
    member_bundle: Positions
    member_count: Floats
    bundle_weight: Floats


def flatten_data(data: Data) -> FlatData:
    """Lay out the data of a :class:`~assay.likelihood.Pattern` for sums over segments."""
    slot_cell, block_context, cell_slot = _blocks(np.asarray(data.cell_context))
    return FlatData(
        rows=_positions(data.rows),
        row_view=_owners(data.row_start),
        view_layer=_positions(data.view_layer),
        view_cell=_owners(data.view_start),
        cell_mask=_positions(data.cell_mask),
        masks=np.asarray(data.masks, float),
        slot_cell=slot_cell,
        block_context=block_context,
        member_slot=cell_slot[data.bundle_cells],
        member_bundle=_owners(data.bundle_start),
        member_count=np.asarray(data.bundle_counts, float),
        bundle_weight=np.asarray(data.bundle_weight, float),
    )


def _positions(values: Any) -> Positions:
    """Half the memory of 64 bits, and faster to look up."""
    return np.asarray(values, np.int32)


def _owners(start: NDArray[np.int64]) -> Positions:
    """Segment of each entry, from where the segments begin."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))


def _blocks(cell_context: NDArray[np.int64]) -> tuple[Positions, Positions, Positions]:
    """Put the cells of each context into blocks of one width, at most half of it empty.

    Returns
    -------
    slot_cell : ndarray of int (block, slot)
    block_context : ndarray of int (block,)
    cell_slot : ndarray of int (cell,)
        Position of each cell among all slots.
    """
    contexts, counts = np.unique(cell_context, return_counts=True)
    width = max(1, len(cell_context) // len(contexts))
    blocks = -(-counts // width)
    first_slot = np.repeat(np.cumsum([0, *blocks[:-1]]) * width, counts)
    first_cell = np.repeat(np.cumsum([0, *counts[:-1]]), counts)
    order = np.argsort(cell_context, kind="stable")
    cell_slot = np.empty(len(cell_context), np.int32)
    cell_slot[order] = first_slot + np.arange(len(order)) - first_cell
    slot_cell = np.zeros(int(blocks.sum()) * width, np.int32)
    slot_cell[cell_slot] = np.arange(len(cell_slot))
    return slot_cell.reshape(-1, width), _positions(np.repeat(contexts, blocks)), cell_slot


def log_likelihood(tables: Tables, log_weight: Floats, data: FlatData, xp: Any) -> Any:
    """Marginal log-likelihood of the data."""
    import jax

    chance, height = _cell_chances(tables, data, xp)
    at = jax.checkpoint(lambda nodes: _bundle_chances(chance, height, nodes, data, xp))
    step = max(1, CHUNK_NUMBERS // data.slot_cell.size)
    pieces = [
        at(tables.prevalence[:, first : first + step]) for first in range(0, len(log_weight), step)
    ]
    joint = xp.concatenate(pieces, axis=1) + log_weight
    return xp.logsumexp(joint, axis=1) @ data.bundle_weight


def _bundle_chances(chance: Any, height: Any, nodes: Any, data: FlatData, xp: Any) -> Any:
    """Log likelihood of each bundle at some nodes: (bundle, node).

    ``nodes`` (context, node, state) has the probabilities of the states there.
    """
    by_block = xp.matmul(chance[data.slot_cell], nodes.swapaxes(1, 2)[data.block_context])
    by_slot = xp.log(xp.maximum(by_block, TINY)) + height[data.slot_cell][..., None]
    members = _take(by_slot.reshape(-1, nodes.shape[1]), data.member_slot)
    counted = members * data.member_count[:, None]
    return _segment_sum(counted, data.member_bundle, len(data.bundle_weight))


def _cell_chances(tables: Tables, data: FlatData, xp: Any) -> tuple[Any, Any]:
    """Evidence (cell, state) relative to its largest, and the logarithm of that (cell,)."""
    import jax

    views, cells = len(data.view_layer), len(data.cell_mask)
    response = xp.moveaxis(tables.response, 0, 1)
    parts = _segment_sum(_take(response, data.rows), data.row_view, views)
    if (data.view_layer >= 0).any():
        parts = _perceive(parts, tables.layer, data.view_layer, xp)
    if not np.array_equal(data.view_cell, np.arange(cells)):
        parts = _segment_sum(parts, data.view_cell, cells)
    known = data.masks[data.cell_mask][:, None, :]
    parts = parts + tables.difficulty[:, None] + known
    height = jax.lax.stop_gradient(parts.max(axis=(1, 2)))
    chance = xp.exp(parts - height[:, None, None])
    if tables.hard_truth.size:
        return chance[:, 0] + xp.matmul(chance[:, 1], tables.hard_truth.T), height
    return chance.sum(axis=1), height


def _perceive(parts: Any, layer: Any, kind: Positions, xp: Any) -> Any:
    """Sum out what items look like: (view, difficulty, state), where the view has a layer."""
    import jax

    table = _take(layer, np.maximum(kind, 0))
    classes = parts.shape[1]
    blur, looks = table[:, :classes], table[:, classes:]
    top = jax.lax.stop_gradient(parts.max(axis=-1, keepdims=True))
    clear = xp.exp(parts - top)
    afresh = xp.matmul(clear, looks.swapaxes(-1, -2))
    seen = xp.log(xp.maximum((1.0 - blur) * clear + blur * afresh, TINY)) + top
    return xp.where(kind[:, None, None] >= 0, seen, parts)


def _take(table: Any, at: Positions) -> Any:
    return table.at[at].get(mode="promise_in_bounds")


def _segment_sum(terms: Any, owner: Positions, count: int) -> Any:
    """Sum over entries of the same owner; owners are sorted."""
    import jax

    return jax.ops.segment_sum(
        terms, owner, count, indices_are_sorted=True, mode="promise_in_bounds"
    )
