"""Sentences of Markdown pages, of the texts in code, and of docstrings.

Headings, tables, code, formulas and references are no sentences.
"""

import ast
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


TEXT_WORDS = 6
"""Words from which a literal is a text for users, not a name or a fragment."""
GRAMMAR = "?start:"
"""Begins the grammar of a parser, which is no text."""


def texts_of(code: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each literal with words; a placeholder is one word."""
    tree = ast.parse(code)
    statements = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = {id(node) for node in statements if isinstance(node, ast.Constant)}
    for node in literals(tree):
        text = template(node) or ""
        long = len(re.findall(r"[A-Za-z]{2,}", text)) >= TEXT_WORDS
        if long and id(node) not in docstrings and GRAMMAR not in text:
            # Indented lines of a message are sentences, too.
            yield node.lineno, re.sub(r"(?m)^ +", "", text)


def literals(node: ast.AST) -> Iterator[ast.expr]:
    """Yield literals, sums of literals as one, and those within their placeholders."""
    if not isinstance(node, ast.expr) or template(node) is None:
        for child in ast.iter_child_nodes(node):
            yield from literals(child)
        return
    yield node
    for part in placeholders(node):
        yield from literals(part)


def template(node: ast.expr) -> str | None:
    """Return the text of a literal with a word for each placeholder; None for other nodes."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) or "Value" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = template(node.left), template(node.right)
        return None if sides == (None, None) else "".join(side or "Value" for side in sides)
    return None


def placeholders(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions within a literal."""
    if isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from [side] if template(side) is None else placeholders(side)


ROLE = re.compile(r":\w+:`[^`]*`")
NAMES = re.compile(r"`[^`]*`(?:(?:, | and | or |, and |, or )`[^`]*`)+")
"""A list of names, such as the columns of a table, which is read at a glance."""
UNDERLINE = re.compile(r"-{3,}$")
TYPED = frozenset({"Parameters", "Returns", "Yields", "Attributes", "Raises", "Warns"})
"""Sections whose lines without indentation are names and types."""
UNREAD = frozenset({"References", "Examples", "See Also"})
BLOCK = re.compile(r"\.\. |.*::$|>>> ")
"""Begins a formula, an example or another block that is no prose."""


def docstring_page(docstring: str) -> str:
    """Return a numpydoc docstring as a page: without doctests, formulas, references and types."""
    kept: list[str] = []
    section, block = "", -1
    lines = docstring.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if UNDERLINE.match(after):
            section, text = text, ""
        if text and depth <= block:
            block = -1
        typed = section in TYPED and depth == 0
        if block >= 0 or typed or section in UNREAD or UNDERLINE.match(line):
            text = ""
        elif BLOCK.match(text):
            block, text = depth, ""
        kept.append(text)
    page = ROLE.sub("`code`", "\n".join(kept)).replace("``", "`")
    return "\n\n".join(NAMES.sub("`names`", " ".join(block.split())) for block in blocks(page))
