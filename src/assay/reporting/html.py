"""A page as one HTML file."""

from importlib.resources import files
from pathlib import Path

from assay import __version__
from assay.errors import FitError
from assay.files import draft
from assay.reporting.page import Page


def to_html(page: Page, path: Path) -> None:
    """Write a page; the file appears whole or not at all.

    Raises
    ------
    FitError
        If the file cannot be written.
    """
    text = page_html(page)
    try:
        with draft(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FitError(f"cannot write {path}: {error.strerror or error}") from None


def page_html(page: Page) -> str:
    """Return a page as HTML. Whatever comes from the data is escaped."""
    from jinja2 import Environment, StrictUndefined

    here = files("assay.reporting")
    style = (here / "report.css").read_text(encoding="utf-8")
    template = (here / "report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(template).render(page=page, style=style, version=__version__)
