"""A page as one HTML file."""

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from assay import __version__
from assay._util.errors import FitError
from assay._util.files import draft
from assay.reporting.page import Page

if TYPE_CHECKING:
    from markupsafe import Markup


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
        raise FitError(
            f"cannot write {path}: {error.strerror or error}", code="file-not-written"
        ) from None


def page_html(page: Page) -> str:
    """Return a page as HTML. Whatever comes from the data is escaped."""
    from jinja2 import Environment, StrictUndefined

    here = files("assay.reporting")
    style = (here / "report.css").read_text(encoding="utf-8")
    template = (here / "report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["foldable"] = foldable
    return environment.from_string(template).render(page=page, style=style, version=__version__)


def foldable(name: str) -> "Markup":
    """Escape a name, and let it break after the signs that join its parts, not within a word.

    Examples
    --------
    >>> print(foldable("prevalence[tone=a<b]"))
    prevalence[<wbr>tone=<wbr>a&lt;b]
    """
    from markupsafe import Markup, escape

    # Escaped text has these signs from the name alone.
    return Markup(re.sub(r"(?<=\w)([_/\[=])(?=\w)", r"\1<wbr>", str(escape(name))))
