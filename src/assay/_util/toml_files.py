"""TOML files of users, with a limit of size."""

import tomllib
from pathlib import Path
from typing import Any
from unicodedata import normalize

MAX_BYTES = 2**20
"""Largest file: a task of a thousand labels with descriptions has a third of that."""


class FileError(ValueError):
    """Why a file cannot be read; the text continues a sentence about the file."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; Unicode is composed (NFC) as in the readers of ratings."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FileError(f"is larger than {MAX_BYTES:,} bytes, the largest size that is read")
        return tomllib.loads(normalize("NFC", path.read_text(encoding="utf-8")))
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}") from None
    except RecursionError:
        raise FileError("is not valid TOML: brackets are nested too deeply") from None
    except ValueError as error:  # integers of 5,000 digits and NUL in paths among them
        raise FileError(f"is not valid TOML: {error}") from None
