"""Folders for what can be made again: compiled code."""

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """Return the folder where this package keeps what it can make again for this user."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "assay"


def is_writable(folder: Path) -> bool:
    """Whether files can be written into a folder, which is made if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
