"""save and load: one netCDF or Zarr file holds a fit and all that is needed to go on."""

from pathlib import Path

import numpy as np
import xarray as xr

from assay.arguments import path_given
from assay.errors import FitError
from assay.files import draft, require_fit_place
from assay.fit_data import require_fit
from assay.interrupts import unbroken

ZARR = ".zarr"
LATER = "log_likelihood"
"""The group that is read when it is used: 8 bytes for each draw of each cluster or item."""
WRITERS = "assay.save(fit, 'fit.nc') or assay fit ratings.csv -o fit.nc"
LARGE = 2**30
"""Bytes from which on the draws of the states are not held in memory either."""


def save(fit: xr.DataTree, path: str | Path) -> Path:
    """Write a fit to one netCDF file, or to a Zarr folder.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    path : str or path
        Where to: it ends in ``.nc`` (netCDF) or ``.zarr``. An existing file is replaced, and stays
        as it was if writing fails.

    Returns
    -------
    pathlib.Path
        Where the fit was written.

    Raises
    ------
    FitError
        If the tree is not a fit, or the path ends otherwise or cannot be written.
    KeyboardInterrupt
        At Ctrl-C, once the group that is being written is done; it says whether the file stands.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> with TemporaryDirectory() as folder:
    ...     load(save(tree, Path(folder) / "fit.nc")).attrs["method"]
    'map'
    """
    require_fit(fit)
    target = path_given("path", path)
    require_fit_place(target)
    try:
        with draft(target) as unfinished:
            for node in fit.subtree:
                with unbroken():
                    _write(node, unfinished)
    except OSError as error:
        raise FitError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def load(path: str | Path) -> xr.DataTree:
    """Read a fit that :func:`save` wrote.

    Parameters
    ----------
    path : str or path
        Of a ``.nc`` file, or a ``.zarr`` folder.

    Returns
    -------
    xarray.DataTree
        Of a Zarr folder, the log-likelihood is read when it is used: few questions need it, and it
        is larger than all else. Draws of states of more than 1 GiB are so too, and metrics read
        them some draws at a time.

    Raises
    ------
    FitError
        If there is no such file, or it holds no fit.
    """
    source = path_given("path", path)
    if not source.exists():
        raise FitError(f"there is no file {source}; write one with {WRITERS}")
    try:
        with unbroken():
            fit = _open(source)
        if source.is_dir():
            _read(fit, LATER, largest=LARGE)
        else:
            with fit:
                _read(fit)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_fit(source, error) from None
    try:
        require_fit(fit)
    except FitError:
        raise _no_fit(source, "it holds other data") from None
    return fit


def _no_fit(source: Path, why: object) -> FitError:
    """Say that something else stands there; ratings are often taken for a fit."""
    return FitError(
        f"{source} is not a fit that assay wrote: {why}. A fit is the .nc file or .zarr "
        f"folder that comes from {WRITERS}"
    )


def _write(node: xr.DataTree, target: Path) -> None:
    """Add a group to what is written of a fit."""
    group = node.to_dataset(inherit=False)
    if target.suffix == ZARR:
        group.to_zarr(target, group=node.path, mode="a", consolidated=False)
    else:
        group.to_netcdf(target, group=node.path, mode="a", engine="h5netcdf")


def _open(source: Path) -> xr.DataTree:
    if source.is_dir():
        return xr.open_datatree(source, engine="zarr", consolidated=False, chunks=None)
    return xr.open_datatree(source, engine="h5netcdf")


def _read(fit: xr.DataTree, later: str = "", largest: float = np.inf) -> None:
    """Read a fit into memory, without the group that is read later and larger variables."""
    for name, node in fit.children.items():
        for variable in node.to_dataset(inherit=False).variables.values():
            if name != later and variable.nbytes <= largest:
                with unbroken():
                    variable.load()
