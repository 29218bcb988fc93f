"""Decode bytes of a text file: as UTF-8 if valid, else in the likeliest encoding."""

import codecs
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePath

from assay._util.errors import ArgumentError, Note, RatingsError
from assay.io.tables import reader_note

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; that of UTF-32 begins like that of UTF-16, so it comes first."""
FIRST_BYTES = 1 << 16
WIDE_ZEROS = 0.3
"""Share of the bytes at even or at odd places that are zero in UTF-16 of mostly Latin text."""
FEW_ZEROS = 0.1
"""Share of characters NUL up to which a text is one: some programs fill cells up with them."""
CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f]")
FEWEST_UTF8 = 0.2
"""Smallest share of lines with accents that are UTF-8 in a file of two encodings."""
WESTERN = "cp1252"
LATIN = (WESTERN, "cp1250", "iso8859_2", "cp1254", "cp1257", "mac_roman", "cp850")
"""Latin encodings, the most common first; the one with the fewest odd signs is taken."""
TURKISH = "cp1254"
"""Differs from Western text in letters only, which character statistics detect."""
CYRILLIC = ("koi8_r", "cp1251")
"""Encodings tried when statistics suggest half-width katakana."""
ASIAN = ("cp9", "shift", "euc", "gb", "big5", "hz", "iso2022", "johab")
"""Prefixes of names of multibyte encodings."""
IN_WORDS = frozenset("\u2019\u2018\u00b7\u2010\u2011\u00ad")
AFTER_WORDS = frozenset(
    "\u00b2\u00b3\u00ae\u2122\u00a9\u2026\u00bb\u201d\u201c\u2013\u2014\u00b9\u203a"
)
DASHES = frozenset("\u2013\u2014")
BEFORE_WORDS = frozenset("\u00bf\u00a1\u00ab\u201e\u201c\u201d\u201a\u2039\u2022\u2013\u2014")
SAMPLE_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*|[^\s\x00-\x7f]")
FROM_PANDAS = (
    "python -c 'import sys, pandas; pandas.read_{kind}(sys.argv[1])"
    ".to_csv(sys.argv[2], index=False)' {{source}} {{table}}"
)
FROM_R = (
    "Rscript -e 'a <- commandArgs(TRUE); write.csv(readRDS(a[1]), a[2], row.names = FALSE)' "
    "{source} {table}"
)
PROGRAMS = {
    b"<stata_dta>": ("Stata", FROM_PANDAS.format(kind="stata")),
    b"$FL2": ("SPSS", f"pip install pyreadstat && {FROM_PANDAS.format(kind='spss')}"),
    b"X\n\x00\x00\x00": ("R", FROM_R),
}
"""How files of other programs begin: the program, and what makes CSV of them."""


def decode_text(data: bytes, source: str, encoding: str | None = None) -> tuple[str, list[Note]]:
    """Return the text of bytes, and a note if it is not UTF-8; ``encoding`` overrides."""
    if encoding is not None:
        return _decoded(data, source, encoding), []
    named = next((name for mark, name in BOMS if data.startswith(mark)), "")
    if named:
        notes = (
            [] if named == "utf-8-sig" else [_note(named.upper(), "its byte order mark names it")]
        )
        return _decoded(data, source, named), notes
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(data, source)
    first = text[
        :FIRST_BYTES
    ]  # a text holds no characters of control, but for a NUL here and there
    few = first.count("\0") <= FEW_ZEROS * len(first)
    is_text = "\0" not in first or (few and CONTROL.search(first) is None)
    return (text, []) if is_text else _guessed(data, source)


def _decoded(data: bytes, source: str, encoding: str) -> str:
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise ArgumentError(
            f"`encoding={encoding!r}` is not an encoding that Python has, such as 'cp1252', "
            "'latin-1' or 'utf-16'",
            code="unknown-encoding",
            go_on={"encoding": None},
        ) from None
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = data[:start].count(b"\n") + 1
        raise RatingsError.of(
            "encoding",
            f"the file is not {encoding} text: line {line} has the byte 0x{data[start]:02x}",
            source,
            mend=f"leave `encoding={encoding!r}` out to have it found, or name another",
            go_on={"encoding": None},
        ) from None


def _guessed(data: bytes, source: str) -> tuple[str, list[Note]]:
    """Find the encoding of bytes that are not UTF-8."""
    wide = _wide(data[:FIRST_BYTES])
    if not wide and b"\0" not in data[:FIRST_BYTES] and (mixed := _mixed(data)) is not None:
        return mixed
    for name in [wide] if wide else _candidates(data):
        try:
            text = data.decode(name)
        except UnicodeError:
            continue
        word = SAMPLE_WORD.search(text)
        return text, [_note(name, f"it gives words such as {word[0]!r}" if word else "it fits")]
    raise _no_text(data, source)


def _no_text(data: bytes, source: str) -> RatingsError:
    """Refuse bytes that are no text; of known programs, name the command that makes CSV."""
    known = next((one for mark, one in PROGRAMS.items() if data.startswith(mark)), None)
    if known is None:
        return RatingsError.of(
            "binary-file",
            "the file is neither text nor a kind of table that can be read",
            source,
            mend="save it as CSV, Excel, Parquet, Feather or JSON; if it is text, name its "
            "encoding, such as `encoding='cp1252'`",
        )
    table = str(PurePath(source).with_suffix(".csv"))
    title, command = known
    return RatingsError.of(
        "binary-file",
        f"the file has the format of {title}, which cannot be read directly",
        source,
        mend="save it as CSV there, or by the command below",
        first=command.format(source=shlex.quote(source), table=shlex.quote(table)),
        go_on={"source": table},
    )


def _mixed(data: bytes) -> tuple[str, list[Note]] | None:
    """Read a file whose lines have two encodings, as files that were put together have.

    None unless some lines with accents are UTF-8, which lines of other encodings hardly ever are.
    """
    lines, other, accents = [], [], 0
    for n, line in enumerate(data.splitlines(keepends=True), start=1):
        accents += not line.isascii()
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            other.append(n)
            lines.append(line.decode(WESTERN, "replace"))
    if not other or accents - len(other) < FEWEST_UTF8 * accents:
        return None
    what = f"line {other[0]} and {len(other) - 1} more" if len(other) > 1 else f"line {other[0]}"
    text = (
        f"the file has two encodings: {what} of {accents} lines with accents are no UTF-8, and are "
        f"read as {WESTERN}. `encoding=` reads all in one"
    )
    return "".join(lines), [reader_note(text, code="encoding-found")]


def _note(name: str, why: str) -> Note:
    return reader_note(
        f"the file is not UTF-8 text. It is read as {name}, since {why}. `encoding=` names another",
        code="encoding-found",
    )


def _wide(data: bytes) -> str:
    """Return the kind of UTF-16 if every other byte is mostly zero."""
    half = max(len(data) // 2, 1)
    if data[1::2].count(0) > WIDE_ZEROS * half:
        return "utf-16-le"
    return "utf-16-be" if data[::2].count(0) > WIDE_ZEROS * half else ""


def _candidates(data: bytes) -> Iterator[str]:
    """Yield possible encodings, the likeliest first; none if bytes are no text."""
    from charset_normalizer import from_bytes

    if b"\0" in data[:FIRST_BYTES]:
        return
    sample = _telling(data)
    matches = from_bytes(sample)
    best = matches.best()
    if best is None:
        return
    likely = [best.encoding, *(name for one in matches for name in one.could_be_from_charset)]
    signs = ([c for c in sample.decode(one, "replace") if not c.isascii()] for one in likely)
    if all(3 * sum("\uff61" <= c <= "\uff9f" for c in text) > len(text) for text in signs):
        likely = [*CYRILLIC, *likely]  # real text has hardly any half-width katakana
    if not best.encoding.startswith(ASIAN) and _is_latin(sample):
        yield from _latin(sample, best.encoding)
    yield from dict.fromkeys(likely)


def _telling(data: bytes) -> bytes:
    """Return the first lines with non-ASCII bytes, if the file is large."""
    if len(data) <= FIRST_BYTES:
        return data
    found, size = [], 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            found.append(line)
            size += len(line)
        if size > FIRST_BYTES:
            break
    return b"".join(found)


def _is_latin(sample: bytes) -> bool:
    """Whether most words with non-ASCII bytes also have ASCII letters."""
    words = [
        w for w in re.findall(r"[A-Za-z\x80-\xff]+", sample.decode("latin-1")) if not w.isascii()
    ]
    return 2 * sum(bool(re.search("[A-Za-z]", w)) for w in words) >= len(words)


def _latin(sample: bytes, best: str) -> list[str]:
    """Sort Latin encodings by odd signs, then by how common they are."""
    odd = {}
    for name in (TURKISH, *LATIN) if best == TURKISH else LATIN:
        try:
            odd[name] = odd_signs(sample.decode(name))
        except UnicodeError:
            continue
    return sorted(odd, key=lambda name: odd[name])


def odd_signs(text: str) -> int:
    """Count signs beside letters, and capitals within words, that correct text never has."""
    text = f" {text} "
    return sum(
        _is_odd(*text[n - 1 : n + 2]) for n in range(1, len(text) - 1) if not text[n].isascii()
    )


def _is_odd(before: str, sign: str, after: str) -> bool:
    if "\x80" <= sign <= "\x9f":
        return True
    if sign.isalpha():
        return sign.isupper() and before.isalpha() and (after.islower() or before.islower())
    if before.isalpha() and after.isalpha():
        spoken = sign in DASHES and not (before.islower() and after.islower())
        return sign not in IN_WORDS and not spoken
    if before.isalpha():
        return sign not in IN_WORDS | AFTER_WORDS
    return after.isalpha() and sign not in IN_WORDS | BEFORE_WORDS
