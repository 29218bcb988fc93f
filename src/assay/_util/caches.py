"""Folders for what can be made again: compiled code."""

import os
import stat
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
    """Whether a folder is ours alone to write into; it is made if it does not exist.

    What is kept there is run later. So a folder of another user, or one that everybody may write
    into, does not count.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.stat()
    except OSError:
        return False
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & stat.S_IWOTH):
        return False
    return os.access(folder, os.W_OK)
