"""Save a fit elsewhere if its own place cannot be written."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from assay._util.errors import FitError
from assay._util.files import Unwritten

if TYPE_CHECKING:
    import xarray as xr

    from assay.cli.fitting_options import Fitting


def write_fit(tree: "xr.DataTree", output: Path, fitting: "Fitting") -> None:
    """Write a fit; on failure save it elsewhere, or say where its draws are.

    Raises FitError, which names the other place, and `Unwritten` at Ctrl-C.
    """
    import assay

    try:
        assay.save(tree, output)
    except Unwritten as error:
        raise Unwritten(f"{error}; {fitting.draws_left()}") from None
    except FitError as error:
        why = str(error).partition(". The fit itself")[0]
        place = _elsewhere(tree, output)
        if place is None:
            raise FitError(f"{why}; {fitting.draws_left()}", code="file-not-written") from None
        raise FitError(
            f"{why}. The fit is in {place} instead. Move it from there", code="fit-elsewhere"
        ) from None


def _elsewhere(tree: "xr.DataTree", output: Path) -> Path | None:
    """Save the fit to a new folder, on another disk if possible."""
    import assay

    folders = [Path(tempfile.gettempdir()), Path.home(), Path.cwd()]
    here = output.parent.resolve()
    for base in sorted(folders, key=lambda folder: _disk(folder) == _disk(here)):
        try:
            place = Path(tempfile.mkdtemp(prefix="assay-fit-", dir=base))
        except OSError:
            continue
        try:
            return assay.save(tree, place / output.name)
        except FitError:
            place.rmdir()
    return None


def _disk(folder: Path) -> int:
    try:
        return folder.stat().st_dev
    except OSError:
        return -1
