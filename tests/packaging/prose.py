"""Sentences of Markdown pages, and the longest of them; code, tables and formulas are left out."""

import re
from collections.abc import Iterator

# Full stops that end no sentence.
ABBREVIATIONS = re.compile(r"\b(?:et al|e\.g|i\.e|vs|cf|Fig|Eq|Dr|resp|approx)\.")
BULLET = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
CITATION = re.compile(r"\([^()]*[A-Z][^()]*\b(?:19|20)\d\d[a-z]?\b[^()]*\)")
END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_]*[A-Z0-9ÄÖÜ])")
HIDDEN = re.compile(r"<!--.*?-->|\$\$.*?\$\$(?: *\([\w-]+\))?", re.DOTALL)
WORD = re.compile(r"[^\W_]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page in Markdown; an item of a list is one or more of its own."""
    for block in blocks(text):
        yield from (s for s in split(plain(block)) if words(s))


def words(sentence: str) -> int:
    """Count the words of a sentence; one of code or a formula counts as one."""
    return sum(bool(WORD.search(token)) for token in sentence.split())


def split(block: str) -> list[str]:
    """Split a paragraph of plain text into sentences."""
    kept = ABBREVIATIONS.sub(lambda found: found[0].replace(".", "\0"), block)
    return [part.replace("\0", ".") for part in END.split(kept)]


def plain(block: str) -> str:
    """Put one word for code and formulas, and the text of a link for the link."""
    text = re.sub(r"(`+)(?:.+?)\1", "Code", block, flags=re.DOTALL)
    text = re.sub(r"\$[^$]+\$", "Formula", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>\s][^>]*>", "", text)
    return CITATION.sub("", " ".join(text.split()))


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and items of lists; headings, tables, code and comments end them."""
    block: list[str] = []
    for line in prose_lines(text):
        begins = BULLET.match(line)
        if block and (begins or not line.strip()):
            yield " ".join(block)
            block = []
        if line.strip():
            block.append(line[begins.end() :] if begins else line)
    if block:
        yield " ".join(block)


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of prose, with an empty line in the place of all others."""
    fence, indent, blank, references = "", 0, True, False
    for line in HIDDEN.sub(lambda found: "\n" * found[0].count("\n"), text).splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})(.*)", line)
        if mark and (not fence or mark[1] == fence.split()[0]):
            # The body of a figure or a note is prose; its options are not.
            fence = "" if fence else f"{mark[1]} {mark[2].strip()}"
            yield ""
            continue
        depth = len(line) - len(line.lstrip())
        code = blank and depth >= indent + 4
        if not line.strip():
            blank = True
        elif not code:
            begins = BULLET.match(line)
            indent = begins.end() if begins else (0 if not depth else indent)
            blank = False
        references = "References" in line if re.match(r"#{1,6} ", line) else references
        hidden = references or fence and (not re.search(r"\{(figure|note|warning|tip)\}", fence) or line.startswith(":"))
        yield "" if hidden or code or re.match(r"\s*(\||#{1,6} |\(.*\)=$|:::)", line) else line
