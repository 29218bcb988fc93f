"""The function ``summarize``: a table with mean and interval of each quantity."""

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import FitError
from assay._util.intervals import interval_ends, require_level
from assay._util.typing import Floats

SAMPLE_DIMS = ("chain", "draw", "sample")


def summarize(dataset: xr.Dataset | xr.DataArray, *, level: float = 0.95) -> pd.DataFrame:
    """Summarise draws in a tidy table.

    Parameters
    ----------
    dataset : xarray.Dataset or xarray.DataArray
        Draws, e.g. from :func:`assay.metrics`: every variable has a ``draw`` (or ``sample``) dim,
        and may have a ``chain`` dim.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        A line per variable and combination of the other dims, with these columns:

        - ``metric``, ``system`` (``""`` if none), and a column per further dim
        - ``estimand``, ``mean``, ``sd``, ``lower``, ``upper``, ``level``
        - ``undefined``: share of the draws that are NaN, which are left out; ``n_undefined``:
          their number
        - ``reference``, if the dataset has it: what defines the truth
        - ``doubt``, if the dataset has it: why the number may mislead

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1, or a variable has no draws. Also if the argument is
        not a dataset of draws of numbers (e.g. a fit, or draws of labels).

    Notes
    -----
    Intervals are equal-tailed: the quantiles :math:`(1 - level) / 2` and :math:`(1 + level) / 2`.

    Examples
    --------
    >>> draws = xr.Dataset({"hit": (("chain", "draw"), [[0.2, 0.4, 0.6, np.nan]])})
    >>> table = summarize(draws, level=0.5)
    >>> table[["metric", "mean", "lower", "upper", "undefined"]]
      metric  mean  lower  upper  undefined
    0    hit   0.4    0.3    0.5       0.25
    """
    require_level(level)
    if isinstance(dataset, xr.DataArray):
        name = "value" if dataset.name is None else str(dataset.name)
        if name in dataset.dims:
            raise FitError(
                f"draws of {name!r} are codes of classes, which have no mean; their probabilities "
                "are assay.label_probabilities(fit)",
                code="codes-not-numbers",
            )
        dataset = dataset.to_dataset(name=name, promote_attrs=True)
    if not isinstance(dataset, xr.Dataset):
        raise FitError(
            f"summarize takes draws (a Dataset or DataArray), not {type(dataset).__name__}; of a "
            "fit, give assay.summarize(assay.metrics(fit))",
            code="argument-type",
        )
    parts = [_summary(str(name), dataset, level) for name in dataset.data_vars]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["metric"])
    front = ["metric", "system"]
    statistics = ["mean", "sd", "lower", "upper", "level", "undefined", "n_undefined"]
    back = ["estimand", *statistics, "reference", "doubt"]
    extra = [column for column in table.columns if column not in {*front, *back}]
    table = table.reindex(columns=[*front, *extra, *back])
    gaps = [column for column in ("system", *extra) if table[column].isna().any()]
    return table.assign(**{c: table[c].astype(object).where(table[c].notna(), "") for c in gaps})


def _summary(name: str, dataset: xr.Dataset, level: float) -> pd.DataFrame:
    """Return the lines of one variable."""
    variable = dataset[name]
    sample = [dim for dim in SAMPLE_DIMS if dim in variable.dims]
    if not {"draw", "sample"} & set(sample):
        raise FitError(
            f"variable {name!r} has the dims {variable.dims}; draws have a dim 'draw'",
            code="draws-dims",
        )
    others = [str(dim) for dim in variable.dims if dim not in sample]
    draws = variable.transpose(*others, *sample).to_numpy().astype(float)
    sizes = [variable.sizes[dim] for dim in others]
    lines = _statistics(draws.reshape(int(np.prod(sizes)), -1), level)
    for dim, codes in zip(others, np.indices(sizes), strict=True):
        lines[dim] = variable[dim].to_numpy()[codes.ravel()]
    said = {**dataset.attrs, **variable.attrs}
    return lines.assign(
        metric=name,
        estimand=str(said.get("estimand", "")),
        level=level,
        reference=str(said.get("reference", "")),
        doubt=str(said.get("doubt", "")),
    )


def _statistics(draws: Floats, level: float) -> pd.DataFrame:
    """Return mean, SD and interval of each line of draws, without NaN; NaN if nothing is left."""
    count = np.isnan(draws).sum(axis=1)
    undefined = count / draws.shape[1]
    columns = ["mean", "sd", "lower", "upper"]
    table = pd.DataFrame(np.nan, index=range(len(draws)), columns=columns)
    some = undefined < 1
    kept = draws[some]
    if kept.size:
        table.loc[some] = np.column_stack(
            [np.nanmean(kept, axis=1), np.nanstd(kept, axis=1), *interval_ends(kept, level)]
        )
    return table.assign(undefined=undefined, n_undefined=count)
