"""The tables behind a report as files."""

from pathlib import Path
from typing import Literal

from assay._util.errors import FitError
from assay._util.files import write_table
from assay.reporting.page import Page

TableFormat = Literal["csv", "tsv", "json", "parquet"]


def export_tables(page: Page, folder: Path, table_format: TableFormat = "csv") -> list[Path]:
    """Write every table of a page, a file each named by its key.

    Parameters
    ----------
    page : Page
    folder : path
        Made if it is not there.
    table_format : {"csv", "tsv", "json", "parquet"}

    Returns
    -------
    list of pathlib.Path

    Raises
    ------
    FitError
        If the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for key, frame in page.tables.items():
            path = folder / f"{key}.{table_format}"
            write_table(frame, path)
            written.append(path)
    except OSError as error:
        raise FitError(
            f"cannot write tables in {folder}: {error.strerror or error}", code="file-not-written"
        ) from None
    return written
