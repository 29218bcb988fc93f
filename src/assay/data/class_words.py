"""Words for classes: yes and no in several languages, and spellings that mean the same."""

import re
from collections.abc import Sequence

BINARY_SPELLINGS = {
    "no": 0, "n": 0, "false": 0, "f": 0, "0": 0,
    "yes": 1, "y": 1, "true": 1, "t": 1, "1": 1,
}  # fmt: skip
OTHER_LANGUAGES: dict[str, tuple[str, str]] = {
    "German": ("nein falsch", "ja wahr"),
    "French": ("non faux", "oui vrai"),
    "Spanish": ("falso", "sí si verdadero"),
    "Italian": ("falso", "sì vero"),
    "Portuguese": ("não nao falso", "sim verdadeiro"),
    "Dutch": ("nee onwaar", "ja waar"),
    "Danish, Norwegian, Swedish": ("nej nei", "ja"),
    "Polish": ("nie", "tak"),
    "Russian": ("нет", "да"),
    "Chinese": ("否", "是"),
    "Japanese": ("いいえ", "はい"),
}
"""No and yes as people and spreadsheets elsewhere write them; what they stand for is noted."""
FOREIGN = {
    word: code
    for pair in OTHER_LANGUAGES.values()
    for code, words in enumerate(pair)
    for word in words.split()
}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
EXACT = 1e15
"""Whole numbers below this are told apart by their floating-point value."""


def canonical(text: str) -> str:
    """Return the spelling under which a value is looked up; equal numbers have one spelling.

    Examples
    --------
    >>> canonical(" 2.0 "), canonical("Yes")
    ('2', 'yes')
    """
    text = text.strip().casefold()
    if len(text) < 40 and NUMBER.fullmatch(text):
        number = float(text)
        if abs(number) < EXACT:
            return str(int(number)) if number.is_integer() else repr(number)
    return text


def no_before_yes(classes: Sequence[str]) -> bool:
    """Whether two classes are no and yes in some spelling, in this order.

    Examples
    --------
    >>> [no_before_yes(pair) for pair in (("0", "1"), ("nein", "ja"), ("ja", "nein"), ("a", "b"))]
    [True, True, False, False]
    """
    codes = [(FOREIGN | BINARY_SPELLINGS).get(canonical(name)) for name in classes]
    return codes == [0, 1]
