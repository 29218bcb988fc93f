"""Words for classes: yes and no in several languages, and equivalent spellings."""

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
"""Words for no and yes in other languages; a note reports their reading."""
FOREIGN = {
    word: code
    for pair in OTHER_LANGUAGES.values()
    for code, words in enumerate(pair)
    for word in words.split()
}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
EXACT = 1e15
"""Whole numbers below this have distinct floating-point values."""


def canonical(text: str) -> str:
    """Return the spelling under which a value is looked up; equal numbers have one spelling."""
    text = text.strip().casefold()
    if len(text) < 40 and NUMBER.fullmatch(text):
        number = float(text)
        if abs(number) < EXACT:
            return str(int(number)) if number.is_integer() else repr(number)
    return text


def no_before_yes(classes: Sequence[str]) -> bool:
    """Return whether two classes are no and yes in some spelling, in this order."""
    codes = [(FOREIGN | BINARY_SPELLINGS).get(canonical(name)) for name in classes]
    return codes == [0, 1]
