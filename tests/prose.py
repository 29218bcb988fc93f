"""Sentences of Markdown pages; headings, tables, code, formulas and references are none."""

import re
from collections.abc import Iterator

ABBREVIATIONS = re.compile(r"\b(?:et al|e\.g|i\.e|vs|cf|Fig|Eq|Dr|resp|approx)\.")
BULLET = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
CITATION = re.compile(r"\([^()]*[A-Z][^()]*\b(?:19|20)\d\d[a-z]?\b[^()]*\)")
END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_]*[A-Z0-9ÄÖÜ])")
# Comments, and displayed formulas with the name of the equation.
HIDDEN = re.compile(r"<!--.*?-->|\$\$.*?\$\$(?: *\([\w-]+\))?", re.DOTALL)
HEADING = re.compile(r"#{1,6} ")
FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
# Fences whose body is prose, after options that begin with a colon.
PROSE_FENCE = re.compile(r"\{(?:figure|note|warning|tip)\}")
NO_PROSE = re.compile(r"\s*(?:\||#{1,6} |\(.*\)=$|:::)")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page; an item of a list has its own."""
    for block in blocks(text):
        yield from (sentence for sentence in split(plain(block)) if words(sentence))


def words(sentence: str) -> int:
    """Count words; a span of code, or a formula, is one."""
    return sum(any(c.isalnum() for c in token) for token in sentence.split())


def split(block: str) -> list[str]:
    """Split a paragraph without markup into its sentences."""
    kept = ABBREVIATIONS.sub(lambda found: found[0].replace(".", "\0"), block)
    return [part.replace("\0", ".") for part in END.split(kept)]


def plain(block: str) -> str:
    """Put a word for each span of code and each formula, and its text for a link."""
    text = re.sub(r"(`+)(?:.+?)\1", "Code", block, flags=re.DOTALL)
    text = re.sub(r"\$[^$]+\$", "Formula", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>\s][^>]*>", "", text)
    return " ".join(CITATION.sub("", text).split())


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and items of lists."""
    block: list[str] = []
    for line in [*prose_lines(text), ""]:
        begins = BULLET.match(line)
        if block and (begins or not line.strip()):
            yield " ".join(block)
            block = []
        if line.strip():
            block.append(line[begins.end() :] if begins else line)


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of a page, empty where they are no prose."""
    fence, indent, blank, references = "", 0, True, False
    # A bar makes the place of what is hidden a line without prose, as that of a table.
    shown = HIDDEN.sub(lambda found: "|" + "\n|" * found[0].count("\n"), text)
    for line in shown.splitlines():
        mark = FENCE.match(line)
        if mark and (not fence or mark[1] == fence.split()[0]):
            fence = "" if fence else f"{mark[1]} {mark[2]}"
            yield ""
            continue
        depth = len(line) - len(line.lstrip())
        # An indented block after an empty line; paragraphs of a list item are less deep.
        code = blank and depth >= indent + 4
        if line.strip() and not code:
            begins = BULLET.match(line)
            indent = begins.end() if begins else indent if depth else 0
        blank = not line.strip() or (blank and code)
        if HEADING.match(line):
            references = "References" in line
        fenced = fence and (line.startswith(":") or not PROSE_FENCE.search(fence))
        yield "" if references or fenced or code or NO_PROSE.match(line) else line
