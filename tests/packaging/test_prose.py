"""Pages and messages are in plain English: short sentences, and no habits that stop a reader."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from prose import docstring_page, sentences, texts_of, words

import assay
from assay.codes import FAMILIES

ROOT = Path(__file__).parents[2]

LONG, TOO_LONG = 25, 35
MOST_LONG = 0.02  # share of the sentences of a corpus that may have more than LONG words

CORPORA = ["docs", "models", "codes", "messages", "docstrings"]

# Habits, and plain words for them.
MANNERISMS = {
    r"nobody|whoever|who knows": "the noun that is meant (no rater, each rater, if you know)",
    r"but for": "except for",
    r"(?:is|are|was|were) told(?! (?:apart|from))|told of": "is reported, is given",
    r"says? so": "what is said (a note reports it)",
    r"(?:refused|said|say it|says it) in words": "is refused with a message",
    r"at their word": "is trusted",
    r"held against": "is compared with",
    r"hangs? on": "depends on",
    r"hangs? together": "is correlated, depends on each other",
    r"foretells?": "predicts",
    r"what is (?:said|known|none) of": "the noun that is meant",
    r"tells? nothing of": "has no information on",
    r"all the same": "still",
    r"(?<!there )(?:is|are) none(?=[.,;:])": "is no ...",
    r"the (?:model|prior|fit|file|data|table) (?:knows?|believes?)": "a verb of a thing",
}


def pages(folder: str) -> Iterator[tuple[str, str]]:
    """Place and text of each page of a folder."""
    for path in sorted((ROOT / folder).rglob("*.md")):
        # The page of messages is made of their codes, which are a corpus of their own.
        if path.name != "messages.md":
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def messages() -> Iterator[tuple[str, str]]:
    """Place and text of each literal of the package that users may see."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for line, text in texts_of(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}", text


def docstrings() -> Iterator[tuple[str, str]]:
    """Name and text of the docstring of each public function, class and method."""
    for name, home in assay._HOME.items():
        place = ROOT / "src/assay" / home.replace(".", "/")
        module = place.with_suffix(".py")
        for path in [module] if module.exists() else sorted(place.rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                    yield from ((name, docstring_page(text)) for text in documented(node))


def documented(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """Yield the docstring of a function, or those of a class and its public methods."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    public = [one for one in methods if not one.name.startswith("_")]
    for one in [node, *(public if isinstance(node, ast.ClassDef) else [])]:
        if text := ast.get_docstring(one):
            yield text


def texts(corpus: str) -> list[tuple[str, str]]:
    """Place and text of all that a corpus has."""
    if corpus == "codes":
        return [pair for family in FAMILIES for pair in family.codes.items()]
    if corpus == "messages":
        return list(messages())
    if corpus == "docstrings":
        return list(docstrings())
    if corpus == "docs":
        return [("README.md", (ROOT / "README.md").read_text(encoding="utf-8")), *pages("docs")]
    return list(pages(corpus))


@cache
def written(corpus: str) -> list[tuple[str, str]]:
    """Place and sentence, for all sentences of a corpus."""
    return [(place, one) for place, text in texts(corpus) for one in sentences(text)]


def longer(said: list[tuple[str, str]], limit: int) -> list[str]:
    """Sentences of more than ``limit`` words, with their place and number of words."""
    return [f"{place}: {words(one)} words: {one}" for place, one in said if words(one) > limit]


@pytest.mark.parametrize("corpus", CORPORA)
def test_sentences_are_short(corpus: str) -> None:
    said = written(corpus)
    assert len(said) > 300
    assert longer(said, TOO_LONG) == []
    long = longer(said, LONG)
    assert len(long) <= MOST_LONG * len(said), "\n".join(long)


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_sentence_has_a_mannerism(corpus: str) -> None:
    found = [
        f"{place}: {match[0]!r} (write: {instead}): {one}"
        for place, one in written(corpus)
        for habit, instead in MANNERISMS.items()
        if (match := re.search(rf"\b(?:{habit})(?!\w)", one, re.IGNORECASE))
    ]
    assert found == []


PAGE = """
# A heading of a page is no sentence

One sentence (Dawid & Skene 1979), of *Code* `a. B c` and $x. Y$. Another, e.g. this
one, ends [in a link](page.md). 2 of 3 raters agree.

<!-- A comment is no
sentence. -->
| a table | is none. |
|---|---|

- An item. It has two sentences.
- Next item

  goes on:

      code of the item. It is none.

$$ x = 1. Y $$ (eq-name)

    code. More code.

    Still code.

```{figure} picture.png
:alt: An option. None.

A caption.
```

```python
print("No. Sentence.")
```

## References

Dawid, A. P. (1979). A title.
"""


def test_sentences_are_found_in_markdown() -> None:
    assert [(words(one), one) for one in sentences(PAGE)] == [
        (7, "One sentence , of *Code* Code and Formula."),
        (8, "Another, e.g. this one, ends in a link."),
        (5, "2 of 3 raters agree."),
        (2, "An item."),
        (4, "It has two sentences."),
        (2, "Next item"),
        (2, "goes on:"),
        (2, "A caption."),
    ]


CODE = '''
"""A docstring is none."""

LIMIT = 3
"""A text after an assignment is none, however many words it has."""
NAMES = ["a name", "two words"]


def check(many: int, why: str) -> None:
    text = f"{many} items of {why} have no rating{' at all' * (many > 1)}. Their labels " "follow."
    text += ", but for those with known truth" + f" of {many} people or more"
    raise ValueError("a sum of " + why + " and " + str(many) + f" is one text: {more('Not this.')}")
'''


def test_texts_are_found_in_code() -> None:
    assert [text for _, text in texts_of(CODE)] == [
        "Value items of Value have no ratingValue. Their labels follow.",
        ", but for those with known truth of Value people or more",
        "a sum of Value and Value is one text: Value",
    ]


DOCSTRING = """
Report the agreement of raters.

Parameters
----------
level : float
    Probability of the intervals. It is between 0 and 1.
labels : str, optional
    One of ``x``, ``y`` and ``z``.

Returns
-------
DataFrame
    A line per rater. Columns:

    - ``rater``
    - ``share``: right answers, see :func:`other`

Notes
-----
With a formula

.. math:: x = 1. Y = 2,

the sentence goes on.

References
----------
A title. Another title.

Examples
--------
>>> agreement(1)
A printed line. Another one.
"""


def test_sentences_are_found_in_docstrings() -> None:
    assert list(sentences(docstring_page(DOCSTRING))) == [
        "Report the agreement of raters.",
        "Probability of the intervals.",
        "It is between 0 and 1.",
        "One of Code.",
        "A line per rater.",
        "Columns:",
        "Code",
        "Code: right answers, see Code",
        "With a formula",
        "the sentence goes on.",
    ]
