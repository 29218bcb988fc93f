"""The words of a typed command, divided into options with their values and other words."""

import re
from collections.abc import Callable, Iterator, Sequence


def is_option(word: str) -> bool:
    """Whether a word is an option: not a number, not ``-`` for standard input."""
    return re.match(r"--?[A-Za-z]", word) is not None


def typed_options(
    words: Sequence[str], values_of: Callable[[str], float]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each option with its words (``values_of`` them), and other words one by one, named
    ``""``.

    >>> list(typed_options(["run", "a.csv", "-q", "--item=x", "--draws", "9"], lambda name: 1))
    [('', ['run']), ('', ['a.csv']), ('-q', ['-q']), ('--item', ['--item=x']),
     ('--draws', ['--draws', '9'])]
    """
    name, part, wanted = "", list[str](), 0.0
    for word in words:
        if wanted and not is_option(word):
            part.append(word)
            wanted -= 1
            continue
        if part:
            yield name, part
        name, equals, _ = word.partition("=") if is_option(word) else ("", "", "")
        part, wanted = [word], 0 if equals or not name else values_of(name)
    if part:
        yield name, part
