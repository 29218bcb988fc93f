"""TOML files of users, read within limits."""

import tomllib
from pathlib import Path
from typing import Any
from unicodedata import normalize

MAX_BYTES = 2**20
"""Of a file: a task of a thousand labels with descriptions has a third of that."""


class FileError(ValueError):
    """Why a file cannot be read, as the end of a sentence about it."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, with accents composed as the readers of ratings compose them.

    Raises
    ------
    FileError
        If it cannot be read, is larger than :data:`MAX_BYTES`, nested too deeply, or no TOML.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FileError(f"is larger than {MAX_BYTES:,} bytes; such files are short")
        return tomllib.loads(normalize("NFC", path.read_text(encoding="utf-8")))
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}") from None
    except RecursionError:
        raise FileError("is not valid TOML: brackets stand within each other too often") from None
    except ValueError as error:  # integers of 5,000 digits and NUL in paths among them
        raise FileError(f"is not valid TOML: {error}") from None
