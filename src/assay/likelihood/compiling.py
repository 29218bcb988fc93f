"""How the functions of this package are compiled, and where machine code is kept.

Numba compiles a function anew when the file in which it stands has changed, and takes no notice
of the files of the functions that it calls. So machine code is kept in a folder that is named by a
digest of all of these files: what was compiled from other sources is never found.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

import numba
import numpy as np

from assay._util.files import is_writable, user_cache
from assay.likelihood.machine_code import checked_files
from assay.likelihood.memory import keep_freed_memory

SETTINGS: Any = numba.config
LOCK = RLock()
keep_freed_memory()


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, without Python's lock, and keeps it on disk.

    Parameters
    ----------
    **options
        Of ``numba.njit``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        with kept_on_disk() as keep:
            return numba.njit(cache=keep, nogil=True, error_model="numpy", **options)(function)

    return decorate


@contextmanager
def kept_on_disk() -> Iterator[bool]:
    """Have Numba keep what is decorated here in :func:`folder`; yields whether there is one.

    Numba asks for its folder once for each function, when it is decorated.
    """
    # The setting is that of the whole process, and chains ask for their functions side by side.
    with LOCK:
        before, chosen = SETTINGS.CACHE_DIR, folder()
        SETTINGS.CACHE_DIR = str(chosen or before)
        try:
            with checked_files():
                yield chosen is not None
        finally:
            SETTINGS.CACHE_DIR = before


@cache
def folder() -> Path | None:
    """Return where machine code of these sources is kept; None if nothing can be written.

    Below the folder that ``NUMBA_CACHE_DIR`` names, else beside the sources, else below the
    user's own. A folder that is somebody else's, or open to everybody, is passed over: machine
    code from it would be run.
    """
    given, mark = SETTINGS.CACHE_DIR, digest()
    beside, own = Path(__file__).parent / "__pycache__", user_cache() / "numba"
    bases = [*([Path(given)] if given else []), beside, own]
    return next((base / mark for base in bases if is_writable(base / mark)), None)


def digest() -> str:
    """Return a digest of the sources of all compiled functions."""
    found = hashlib.sha256()
    sources = [file for file in files(__package__).iterdir() if file.name.endswith(".py")]
    for source in sorted(sources, key=lambda file: file.name):
        found.update(source.name.encode() + source.read_bytes())
    return found.hexdigest()[:16]


@compiled(inline="always")
def at(position):  # type: ignore[no-untyped-def]
    """Return a position as an unsigned number.

    Of a signed one Numba asks at each look whether it counts from the end of the array, which takes
    longer than the look.
    """
    return np.uint64(position)
