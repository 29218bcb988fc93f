"""How many of what: counts, verbs and lists as a sentence has them."""

from collections.abc import Sequence

IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}


def some(names: Sequence[str], limit: int = 5) -> str:
    """List the first few of some names.

    Examples
    --------
    >>> some(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(str(n) for n in names[:limit]) + more


def listed(names: Sequence[str], limit: int = 20) -> str:
    """List the first of some names, and say that there are more.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    'a, b, ...'
    """
    return ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")


def counted(count: int, word: str, verb: str = "") -> str:
    """Write a number of things, and what they do.

    Examples
    --------
    >>> counted(1, "rater"), counted(2, "rating")
    ('1 rater', '2 ratings')
    >>> counted(1, "item", "have"), counted(2, "item", "have")
    ('1 item has', '2 items have')
    """
    return f"{count} {word}{'s' * (count != 1)}{f' {does(count, verb)}' * bool(verb)}"


def does(count: int, verb: str) -> str:
    """Write what some things do, by their number.

    Examples
    --------
    >>> does(1, "give"), does(2, "give"), does(1, "have")
    ('gives', 'give', 'has')
    """
    if count != 1:
        return verb
    return IRREGULAR.get(verb, f"{verb}s")


def sentence(text: str) -> str:
    """Make a sentence of a finding.

    Examples
    --------
    >>> sentence("two raters look like one")
    'Two raters look like one.'
    """
    return f"{text[:1].upper()}{text[1:]}."
