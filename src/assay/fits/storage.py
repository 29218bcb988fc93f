"""The functions ``save`` and ``load``: a fit as one netCDF or Zarr store."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from assay._util.errors import FitError
from assay._util.files import draft, require_fit_place
from assay._util.guarded_files import GuardedFile
from assay._util.progress import unbroken
from assay._util.validation import cut, path_given
from assay.fits.datatree import require_fit
from assay.fits.plain_stores import require_plain
from assay.fits.schema import OPTIONAL, require_schema

ZARR = ".zarr"
LATER = "log_likelihood"
"""Group that is read on demand: 8 bytes for each draw of each cluster or item."""
WRITERS = "assay.save(fit, 'fit.nc') or assay fit ratings.csv -o fit.nc"
LARGE = 2**30
"""Bytes above which the draws of the states are not held in memory."""
CHUNK = 2**24
"""Most bytes per checksum."""
KEPT = {"chunks"}
"""Encoding of a variable that a Zarr store keeps."""


def save(fit: xr.DataTree, path: str | Path) -> Path:
    """Write a fit to one netCDF file, or to a Zarr folder.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    path : str or path
        The target, which ends in ``.nc`` (netCDF) or ``.zarr``. An existing file is replaced, and
        unchanged if writing fails.

    Returns
    -------
    pathlib.Path
        The file or folder that was written.

    Raises
    ------
    FitError
        If the tree is not a fit, or the path ends otherwise or cannot be written.
    KeyboardInterrupt
        At Ctrl-C, after the current group is written; it says whether the file is complete.

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
            if target.suffix == ZARR:
                _write_zarr(fit, unfinished)
            else:
                _write_netcdf(fit, unfinished)
    except OSError as error:
        raise FitError(
            f"cannot write {target}: {error.strerror or error}. The fit itself is unharmed; "
            "save it to another disk",
            code="file-not-written",
        ) from None
    return target


def load(path: str | Path) -> xr.DataTree:
    """Read a fit that :func:`save` wrote.

    Parameters
    ----------
    path : str or path
        A ``.nc`` file, or a ``.zarr`` folder.

    Returns
    -------
    xarray.DataTree
        From a Zarr folder, the log-likelihood, which is large, is read on demand. So are draws of
        states of more than 1 GiB, which metrics read some draws at a time.

    Raises
    ------
    FitError
        If there is no such file, or it is not a fit, is damaged or has a later schema. Also if it
        refers to other files, or requires code to be run.
    """
    source = path_given("path", path)
    if not source.exists():
        raise FitError(f"there is no file {source}; write one with {WRITERS}", code="no-such-file")
    try:
        require_plain(source)
        with unbroken():
            fit = _open(source)
        if source.is_dir():
            _require_chunks(source, fit)
            _read(fit, LATER, largest=LARGE)
        else:
            with fit:
                _read(fit)
    except FitError as error:
        raise _no_fit(source, error) from None
    except Exception as error:  # h5py, zarr and xarray raise errors of any type
        why = str(error) or type(error).__name__
        raise _no_fit(source, f"it is damaged, or not a fit ({cut(why, 200)})") from None
    try:
        require_fit(fit)
    except FitError:
        raise _no_fit(source, "it holds other data") from None
    try:
        require_schema(fit)
    except FitError as error:
        raise FitError(
            f"{source} cannot be used: {error}",
            code=error.code or "damaged-fit",
            numbers=error.numbers,
        ) from None
    return fit


def _no_fit(source: Path, why: object) -> FitError:
    """Return the error for a file that is no fit; it is often a file of ratings."""
    return FitError(
        f"{source} is not a fit that assay wrote: {why}. A fit is the .nc file or .zarr "
        f"folder that comes from {WRITERS}",
        code=getattr(why, "code", "") or "not-a-fit",
    )


def _write_zarr(fit: xr.DataTree, target: Path) -> None:
    """Write each group, including chunks of zeros, so that lost chunks are noticed."""
    from zarr.codecs import Crc32cCodec, ZstdCodec

    packed = {"compressors": (ZstdCodec(), Crc32cCodec())}
    for group, path in _groups(fit):
        numbers = {
            name: {key: group[name].encoding[key] for key in KEPT & group[name].encoding.keys()}
            | packed
            for name in _numeric(group)
        }
        with unbroken():
            group.to_zarr(
                target,
                group=path,
                mode="a",
                consolidated=False,
                write_empty_chunks=True,
                encoding=numbers,
            )


def _write_netcdf(fit: xr.DataTree, target: Path) -> None:
    """Write each group, with checksums of numbers, so that damage is noticed."""
    with GuardedFile(target) as file:
        for group, path in _groups(fit):
            encoding = {
                name: {"fletcher32": True, "chunksizes": _chunk(group[name])}
                for name in _numeric(group)
                if group[name].size and group[name].ndim
            }
            with unbroken():
                group.to_netcdf(file, group=path, mode="a", engine="h5netcdf", encoding=encoding)
            file.check()
        file.sync()


def _numeric(group: xr.Dataset) -> list[str]:
    """Return the names of the numeric variables, including coordinates."""
    return [str(name) for name, values in group.variables.items() if values.dtype.kind in "biuf"]


def _chunk(values: xr.DataArray) -> tuple[int, ...]:
    """Return the shape of the chunks: whole trailing dims, as many of the leading ones as fit."""
    shape = list(values.shape)
    for axis, length in enumerate(shape):
        beyond = values.dtype.itemsize * math.prod(shape) / CHUNK
        shape[axis] = max(1, int(length / max(beyond, 1.0)))
    return tuple(shape)


def _groups(fit: xr.DataTree) -> Iterator[tuple[xr.Dataset, str]]:
    """Yield the groups of a fit with their paths."""
    for node in fit.subtree:
        yield node.to_dataset(inherit=False), node.path


def _require_chunks(source: Path, fit: xr.DataTree) -> None:
    """Refuse a store with lost chunks, which would be read as zeros."""
    import zarr

    if fit.attrs.get("schema_version", 1) == 1:
        return
    for name, group in zarr.open_group(source, mode="r", zarr_format=3).groups():
        for variable, array in group.arrays():
            lost = array.nchunks - array.nchunks_initialized
            if lost and variable not in OPTIONAL:  # partitions of a data set may lack optional ones
                raise FitError(
                    f"{name}/{variable} lacks {lost} of {array.nchunks} chunks",
                    code="damaged-fit",
                    numbers={"lost": lost, "chunks": array.nchunks},
                )


def _open(source: Path) -> xr.DataTree:
    if source.is_dir():
        return xr.open_datatree(source, engine="zarr", consolidated=False, chunks=None)
    return xr.open_datatree(source, engine="h5netcdf")


def _read(fit: xr.DataTree, later: str = "", largest: float = np.inf) -> None:
    """Read a fit into memory, without the group ``later`` and variables above ``largest`` bytes."""
    for name, node in fit.children.items():
        for variable in node.to_dataset(inherit=False).variables.values():
            if name != later and variable.nbytes <= largest:
                with unbroken():
                    variable.load()
