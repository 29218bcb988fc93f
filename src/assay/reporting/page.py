"""A page as values, sections of blocks, and as one HTML file with its figures."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings, filterwarnings

import pandas as pd

from assay import __version__
from assay._util.errors import Numbers, plain_numbers
from assay._util.files import write_text
from assay._util.html import coded, command_html
from assay._util.text import printable
from assay.display.table import Row, Table
from assay.plots.style import COLOURS, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTH = 4.6
"""Width of a figure in inches, readable on a telephone."""
SALT = "assay"
NOT_SHOWN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", flags=re.DOTALL)
IDS = re.compile(r'\bid="([^"]+)"')
REFERENCES = re.compile(r'url\(#([^)]+)\)|href="#([^"]+)"')
FONT = re.compile(r"font: ([\d.]+px) [^;\"]+|font-family: [^;\"]+;?\s*")


def to_svg(drawn: "Figure | Axes", *, name: str, words: str) -> str:
    """Return a figure as an accessible SVG element; its ids begin with ``name``, unique on the
    page.

    Text stays text, colours are variables of the page, and nothing refers to other files.
    """
    import matplotlib as mpl

    stream, figure = StringIO(), figure_of(drawn)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": SALT}), catch_warnings():
        # Text stays text: the browser has the glyphs that the font of the drawing lacks.
        filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    body = NOT_SHOWN.sub("", text[text.index("<svg") :])
    return _labelled(_themed(_own_ids(body, name)), name, words)


def _own_ids(text: str, name: str) -> str:
    """Keep the ids that are referred to, prefixed by the figure's name."""
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
    """Add role and description to the element, and let the page decide its size."""
    opening, _, rest = text.partition(">")
    box = re.search(r'viewBox="[^"]+"', opening)
    assert box is not None
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box[0]} role="img" aria-labelledby="{name}-words">'
        f'<title id="{name}-words">{escape(words)}</title>{rest}'
    )


@dataclass(frozen=True, kw_only=True)
class Prose:
    """Paragraphs."""

    kind: ClassVar[str] = "prose"
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bullets:
    """A list, after a line that introduces it."""

    kind: ClassVar[str] = "bullets"
    items: tuple[str, ...]
    lead: str = ""


@dataclass(frozen=True, kw_only=True)
class Code:
    """Text to copy unchanged."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True, kw_only=True)
class Callout:
    """A highlighted sentence: a verdict, or a doubt."""

    kind: ClassVar[str] = "callout"
    word: str
    text: str
    level: str = "note"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure as inline SVG, with its caption."""

    kind: ClassVar[str] = "picture"
    svg: str
    caption: str


Block = Prose | Bullets | Code | Callout | Picture | Table


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Something that the report cannot say: what, why, and the input that would enable it; ``code``
    is the kind of reason (:mod:`assay.codes`).
    """

    level: ClassVar[str] = "note"
    what: str
    why: str
    enable: str
    code: str
    numbers: Numbers = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", plain_numbers(self.numbers))

    def to_dict(self) -> dict[str, Any]:
        """Return the gap for JSON."""
        return {"code": self.code, "level": self.level, "numbers": self.numbers} | {
            "what": self.what,
            "why": self.why,
            "enable": self.enable,
        }


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding that affects the conclusion.

    weight : findings are ranked by it, the largest first
    code : kind of finding (:mod:`assay.codes`)
    section : key of the section that has the numbers, which sets it
    hedge : why a comparison of systems may be wrong, as a clause; empty if it is not in doubt
    doubted : what the model does not reproduce, of what page one rests on; empty if nothing
    """

    level: ClassVar[str] = "warning"
    weight: float
    text: str
    code: str
    numbers: Numbers = field(default_factory=dict, hash=False)
    section: str = ""
    hedge: str = ""
    doubted: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", plain_numbers(self.numbers))

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "code": self.code,
            "level": self.level,
            "numbers": self.numbers,
            "text": self.text,
        }


@dataclass(frozen=True, kw_only=True)
class Section:
    """A titled part of the page; ``gaps`` are what it would report with other input.

    A section that ``is_sheet`` has a printed page of its own.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]
    gaps: tuple[Gap, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_appendix: bool = True
    is_sheet: bool = False

    def __post_init__(self) -> None:
        own = tuple(replace(one, section=self.key) for one in self.findings)
        object.__setattr__(self, "findings", own)


@dataclass(frozen=True, kw_only=True)
class Front:
    """Page one: the question, the answer in sentences, a figure, a table, the data.

    sentences : heading and text of each
    cautions : reasons why the answer is less certain
    command, command_notes : what to run against these reasons, if anything; on the files in it
    data : one line on the data and the reference
    """

    question: str
    sentences: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    picture: Picture | None
    table: Table | None
    data: str
    command: str = ""
    command_notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """The whole report; ``findings`` are for programs, page one and the sections show them."""

    title: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    front: Front | None = None
    notice: str = ""
    gaps: tuple[Gap, ...] = ()

    @property
    def main(self) -> tuple[Section, ...]:
        """The sections that follow page one."""
        return tuple(one for one in self.sections if not one.is_appendix)

    @property
    def appendix(self) -> tuple[Section, ...]:
        """The sections of the appendix."""
        return tuple(one for one in self.sections if one.is_appendix)

    @property
    def shown_tables(self) -> dict[str, Table]:
        """The tables, by key."""
        blocks = (block for section in self.sections for block in section.blocks)
        return {block.key: block for block in blocks if isinstance(block, Table)}

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The frames behind the tables, by key."""
        return {key: table.frame for key, table in self.shown_tables.items()}


def picture(drawn: "Figure | Axes", *, name: str, words: str, caption: str = "") -> Picture:
    """Return a figure with its caption, which is ``words`` (the description) if not given."""
    return Picture(svg=to_svg(drawn, name=name, words=words), caption=caption or f"{words}.")


def percent_cell(share: float) -> str:
    """Write a share in whole per cent, or ``none``."""
    return f"{share:.0%}" if share == share else "none"


def reworded(page: Page, say: Callable[[str], str]) -> Page:
    """Return a page with sentences reworded by ``say``; text from the data is unchanged."""
    sections = [
        replace(
            section,
            blocks=tuple(_reworded(block, say) for block in section.blocks),
            findings=tuple(replace(one, text=say(one.text)) for one in section.findings),
        )
        for section in page.sections
    ]
    findings = tuple(replace(one, text=say(one.text)) for one in page.findings)
    front = page.front and replace(
        page.front,
        sentences=tuple((head, say(text)) for head, text in page.front.sentences),
        cautions=tuple(map(say, page.front.cautions)),
        command_notes=tuple(map(say, page.front.command_notes)),
    )
    return replace(page, sections=tuple(sections), findings=findings, front=front)


def _reworded(block: Block, say: Callable[[str], str]) -> Block:
    match block:
        case Prose():
            return replace(block, paragraphs=tuple(map(say, block.paragraphs)))
        case Bullets():
            return replace(block, items=tuple(map(say, block.items)), lead=say(block.lead))
        case Callout():
            return replace(block, text=say(block.text))
        case Table():
            rows, marks = block.rows, {say(text): mark for text, mark in block.marks.items()}
            if block.is_prose:
                rows = tuple(Row(cells=tuple(map(say, row.cells))) for row in rows)
            return replace(block, rows=rows, note=say(block.note), marks=marks)
        case Picture():
            return replace(block, caption=say(block.caption))
        case Code():
            return block


def prose(*paragraphs: str) -> Prose:
    """Return paragraphs, without empty ones."""
    return Prose(paragraphs=tuple(printable(text) for text in paragraphs if text))


def bullets(items: Sequence[str], lead: str = "") -> tuple[Bullets, ...]:
    """Return a list, or nothing if it has no items."""
    if not items:
        return ()
    return (Bullets(items=tuple(map(printable, items)), lead=lead),)


def to_html(page: Page, path: Path) -> None:
    """Write a page; the file appears whole or not at all."""
    write_text(path, page_html(page))


def page_html(page: Page) -> str:
    """Return a page as HTML; everything from the data is escaped."""
    from jinja2 import Environment, StrictUndefined

    here = files("assay.reporting")
    style = (here / "report.css").read_text(encoding="utf-8")
    template = (here / "report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"coded": coded, "command": command_html}
    return environment.from_string(template).render(page=page, style=style, version=__version__)
