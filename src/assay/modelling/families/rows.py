"""Confusions by rows with Dirichlet priors, for Dawid-Skene and pooled confusions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay._util.arrays import NEVER, append_constant, merge_axes
from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Family
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior, distinct


def row_parameters(family: Family) -> list[Parameter]:
    """Return confusion rows, a block ``confusion_K`` ([rater,] row, class) for each length K."""
    layout, found = family.layout, []
    owner = () if family.shared else ("rater",)
    parts = distinct([family.priors["confusion"]] if family.shared else family.owned("confusion"))
    for classes, rows in _blocks(layout).items():
        dims = (f"row_{classes}", f"class_{classes}")
        coords = family.rater_coords() | {
            dims[0]: tuple(layout.row_names[r] for r in rows),
            dims[1]: tuple(str(k) for k in range(classes)),
        }
        found.append(
            Parameter(
                name=f"confusion_{classes}",
                dims=(*owner, *dims),
                prior=Prior(name="Dirichlet", values=(_counts(family, rows),), parts=parts),
                coords=coords,
            )
        )
    return found


def rows_to_table(family: Family, values: Mapping[str, Any], xp: Any) -> Any:
    """Return the log of blocks of rows (..., rater, row, class) as one padded table."""
    layout = family.layout
    where = np.full((layout.asked_rows, layout.width), -1)
    flat, offset = [], 0
    for classes, rows in _blocks(layout).items():
        for n, row in enumerate(rows):
            where[row, :classes] = offset + n * classes + np.arange(classes)
        flat.append(merge_axes(xp.log(values[f"confusion_{classes}"]), 2))
        offset += len(rows) * classes
    table = append_constant(xp.concatenate(flat, axis=-1), [NEVER], xp)
    return table[..., np.where(where < 0, offset, where)]


def _blocks(layout: ConfusionLayout) -> dict[int, Ints]:
    """Return the asked rows by their number of classes."""
    return {int(k): np.flatnonzero(layout.row_classes == k) for k in np.unique(layout.row_classes)}


def _counts(family: Family, rows: Ints) -> Floats:
    """Return prior counts of rows with one number of classes, ([rater,] row, class)."""
    raters, every = len(family.raters.names), family.priors["confusion"]
    if family.shared:
        return _prior_counts(family.layout, every, rows)
    own = family.owned("confusion")
    # Raters without a prior of their own share one object.
    common = _prior_counts(family.layout, every, rows, raters=raters)
    found = np.array(np.broadcast_to(common, (raters, *common.shape[-2:])))
    for j, prior in enumerate(own):
        if prior is not every:
            found[j] = _prior_counts(family.layout, prior, rows)
    return found


def _prior_counts(
    layout: ConfusionLayout, prior: Prior, rows: Ints, *, raters: int | None = None
) -> Floats:
    """Return prior counts of rows, (row, class), or (rater, row, class) if given for each rater."""
    if prior.name == "Confusion":
        correct, total = prior.values
        return layout.prior_counts(rows, correct=correct, total=total)
    classes, found = int(layout.row_classes[rows[0]]), []
    for row in rows:
        label = layout.task.labels[layout.labels[row]].name
        counts = np.asarray(_of_label(prior.values[0], label, layout))
        _check_shape(counts, label, classes, raters)
        found.append(counts[..., layout.true_classes[row], :])
    lead = np.broadcast_shapes(*(c.shape[:-1] for c in found))
    return np.stack([np.broadcast_to(c, (*lead, classes)) for c in found], axis=-2)


def _of_label(counts: Any, label: str, layout: ConfusionLayout) -> Any:
    """Return the counts of one label, from a mapping by label or the same for all."""
    if not isinstance(counts, Mapping):
        return counts
    names = layout.task.label_names
    if set(counts) != set(names):
        raise ModelError(
            f"prior confusion has counts of {', '.join(counts)}, but needs counts of every label "
            f"of task {layout.task.name}: {', '.join(names)}",
            code="prior-counts",
        )
    return counts[label]


def _check_shape(counts: Floats, label: str, classes: int, raters: int | None) -> None:
    allowed = [(classes, classes)] + ([] if raters is None else [(raters, classes, classes)])
    if counts.shape not in allowed:
        shown = " or ".join(" x ".join(map(str, shape)) for shape in allowed)
        raise ModelError(
            f"prior confusion has counts {' x '.join(map(str, counts.shape))} for label {label}, "
            f"which needs {shown} ([rater,] true class, reported class). Give labels with "
            "other classes their own counts: Counts({'label': [[8, 2], [1, 9]], ...})",
            code="prior-counts",
        )
