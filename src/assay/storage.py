"""save and load: one netCDF or Zarr file holds a fit and all that is needed to go on."""

from pathlib import Path
from typing import Any

import xarray as xr

from assay.arguments import path_given
from assay.errors import FitError
from assay.files import draft
from assay.fit_data import require_fit

ZARR = ".zarr"


def save(fit: xr.DataTree, path: str | Path) -> Path:
    """Write a fit to one netCDF file, or to a Zarr folder if the path ends in ``.zarr``.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    path : str or path
        Where to; an existing file is replaced, and stays as it was if writing fails.

    Returns
    -------
    pathlib.Path
        Where the fit was written.

    Raises
    ------
    FitError
        If the tree is not a fit, or the path cannot be written.
    """
    require_fit(fit)
    target = path_given("path", path)
    if not target.parent.is_dir():
        raise FitError(f"cannot write {target}: the folder {target.parent} does not exist")
    if target.is_dir() and target.suffix != ZARR:
        raise FitError(f"cannot write {target}: it is a folder; give a file name, e.g. fit.nc")
    try:
        with draft(target) as unfinished:
            if target.suffix == ZARR:
                fit.to_zarr(unfinished, mode="w", consolidated=False)
            else:
                fit.to_netcdf(unfinished, engine="h5netcdf")
    except OSError as error:
        raise FitError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def load(path: str | Path) -> xr.DataTree:
    """Read a fit that :func:`save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    FitError
        If there is no such file, or it holds no fit.
    """
    source = path_given("path", path)
    if not source.exists():
        raise FitError(f"there is no file {source}; write one with assay.save(fit, 'fit.nc')")
    try:
        engine = "zarr" if source.is_dir() else "h5netcdf"
        options: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
        with xr.open_datatree(source, engine=engine, **options) as opened:
            fit = opened.load()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FitError(f"{source} is not a fit that assay wrote: {error}") from None
    require_fit(fit)
    return fit
