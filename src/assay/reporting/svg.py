"""Figures as inline SVG that follows the page's theme and speaks to screen readers."""

import re
from html import escape
from io import StringIO
from typing import TYPE_CHECKING
from warnings import catch_warnings, filterwarnings

from assay.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.6
"""Of a figure in inches: readable on a telephone."""

SALT = "assay"
NOT_SHOWN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", flags=re.DOTALL)
IDS = re.compile(r'\bid="([^"]+)"')
REFERENCES = re.compile(r'url\(#([^)]+)\)|href="#([^"]+)"')
FONT = re.compile(r"font: ([\d.]+px) [^;\"]+|font-family: [^;\"]+;?\s*")


def to_svg(figure: "Figure", *, name: str, words: str) -> str:
    """Return a figure as an SVG element to stand in a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn with the palette of :mod:`assay.plots.style`.
    name : str
        Unique on the page: ids start with it.
    words : str
        What a reader who does not see the figure is told.

    Returns
    -------
    str
        ``<svg role="img" ...>``. Letters stay letters, colours are variables of the page with
        the light theme's as fallback, and nothing points out of the file.
    """
    import matplotlib as mpl

    stream = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": SALT}), catch_warnings():
        # Letters stay letters: the browser has the glyphs that the font of the drawing lacks.
        filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    body = NOT_SHOWN.sub("", text[text.index("<svg") :])
    return _labelled(_themed(_own_ids(body, name)), name, words)


def _own_ids(text: str, name: str) -> str:
    """Keep the ids that something refers to, each with the figure's name before it."""
    used = {first or second for first, second in REFERENCES.findall(text)}
    text = IDS.sub(lambda m: f'id="{name}-{m[1]}"' if m[1] in used else "", text)
    return REFERENCES.sub(
        lambda m: f"url(#{name}-{m[1]})" if m[1] else f'href="#{name}-{m[2]}"', text
    )


def _themed(text: str) -> str:
    """Replace the palette by variables, and the font by the page's."""
    for use, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{use}, {colour})")
    return FONT.sub(lambda m: f"font-size: {m[1]}" if m[1] else "", text)


def _labelled(text: str, name: str, words: str) -> str:
    """Give the element its role and words, and let the page decide its size."""
    opening, _, rest = text.partition(">")
    box = re.search(r'viewBox="[^"]+"', opening)
    assert box is not None
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box[0]} role="img" aria-labelledby="{name}-words">'
        f'<title id="{name}-words">{escape(words)}</title>{rest}'
    )
