"""Collapsing and grouping are what a plain loop over dictionaries finds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay._util import grouping
from assay._util.grouping import all_apart, sorted_rows, unique_rows
from assay.io.identifiers import codes_of
from assay.likelihood import collapse as likelihood
from assay.likelihood.collapse import collapse

quick = settings(max_examples=150, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)


def in_order_of_appearance(keys):
    """Number each key as it appears, and say where it first does."""
    seen: dict[object, int] = {}
    codes = [seen.setdefault(key, len(seen)) for key in keys]
    return [codes.index(n) for n in range(len(seen))], codes


def rows_of(pattern, cell):
    """Views of a cell: (kind, rows) of each."""
    data = pattern.data
    views = range(data.view_start[cell], data.view_start[cell + 1])
    return [
        (int(data.view_layer[v]), data.rows[data.row_start[v] : data.row_start[v + 1]].tolist())
        for v in views
    ]


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize("largest", [2**62, 3])
@quick
@given(seed=SEEDS)
def test_cells_and_bundles_are_the_distinct_multisets(clustered, layered, largest, seed):
    rng = np.random.default_rng(seed)
    items, count, rows = rng.integers(1, 30), rng.integers(0, 90), rng.integers(1, 6)
    item, row = rng.integers(items, size=count), rng.integers(rows, size=count)
    context, mask = rng.integers(2, size=(2, items))
    cluster = rng.integers(max(1, items // 3), size=items)
    layer = rng.integers(-1, 2, size=rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihood, "LARGEST", largest)
        pattern = collapse(
            item_of_row=item,
            row=row,
            context=context,
            mask=mask,
            masks=np.zeros((2, 3)),
            cluster=cluster if clustered else None,
            layer_of_row=layer if layered else None,
            contexts=2,
        )
    said = [sorted(row[item == i].tolist()) for i in range(items)]
    keys = [(context[i], mask[i], *said[i]) for i in range(items)]
    first, cells = in_order_of_appearance(keys)
    assert pattern.item_cell.tolist() == cells
    assert pattern.data.cell_context.tolist() == context[first].tolist()
    assert pattern.data.cell_mask.tolist() == mask[first].tolist()
    for cell, shown in enumerate(first):
        kinds = {
            k: [r for r in said[shown] if layer[r] == k]
            for k in sorted({int(layer[r]) for r in said[shown]})
        }
        views = [(k * 2 + int(context[shown]) if k >= 0 else -1, v) for k, v in kinds.items()]
        plain = not layered or (layer < 0).all()
        assert rows_of(pattern, cell) == ([(-1, said[shown])] if plain else views)
    owner = cluster if clustered else np.arange(items)
    held = [sorted(pattern.item_cell[owner == c].tolist()) for c in range(owner.max() + 1)]
    shown, bundles = in_order_of_appearance(map(tuple, held))
    assert pattern.cluster_bundle.tolist() == bundles
    assert pattern.data.bundle_weight.tolist() == np.bincount(bundles).tolist()
    start = pattern.data.bundle_start
    for bundle, c in enumerate(shown):
        run = slice(start[bundle], start[bundle + 1])
        found = np.repeat(pattern.data.bundle_cells[run], pattern.data.bundle_counts[run])
        assert found.tolist() == held[c]


@pytest.mark.parametrize("largest", [2**62, 3])
@quick
@given(
    columns=st.integers(0, 40).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([-2, 0, 1, 10**15]), min_size=n, max_size=n),
            min_size=1, max_size=4,
        )
    ),
    step=st.sampled_from([1, 2]),
)  # fmt: skip
def test_distinct_combinations(largest, columns, step):
    arrays = [np.array(column, np.int64) for column in columns]
    rows = list(zip(*columns, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "LARGEST", largest)
        first, code = unique_rows(*arrays)
        distinct, place = sorted_rows(*arrays)
        # Numbers from 0 on.
        known = [np.maximum(array, 0) for array in arrays]
        apart = all_apart(*known, at=np.arange(len(rows)) % step == 0)
    some = list(zip(*(array.tolist() for array in known), strict=True))[::step]
    assert apart == (len(set(some)) == len(some))
    assert (first.tolist(), code.tolist()) == in_order_of_appearance(rows)
    assert list(map(tuple, distinct.tolist())) == sorted(set(rows))
    assert [tuple(distinct[n].tolist()) for n in place] == rows


@quick
@given(names=st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=30))
def test_codes_of_names(names):
    codes, distinct = codes_of(pd.Series(names, dtype="str"))
    assert ["" if code < 0 else distinct[code] for code in codes] == names
    assert list(distinct) == list(dict.fromkeys(n for n in names if n))
