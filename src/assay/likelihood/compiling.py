"""Compilation of functions, and the folder of their machine code, named by a digest of all files:
Numba ignores the files of functions that a function calls.
"""

import gc
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
from numba.core import event, types
from numba.extending import lower_builtin, register_jitable, type_callable

from assay._util.files import is_writable, user_cache
from assay.likelihood.linking import LinkedCompiler
from assay.likelihood.machine_code import checked_files
from assay.likelihood.memory import keep_freed_memory

SETTINGS: Any = numba.config
LOCK = RLock()
keep_freed_memory()


class GarbageKept(event.Listener):
    """Collect no garbage while a function of ours is compiled: that took a tenth of the time.

    Numba compiles one function at a time, with those that it calls.
    """

    inside = 0

    def on_start(self, event: Any) -> None:
        """Stop collecting at the first function."""
        ours = event.data["dispatcher"].py_func.__module__.startswith("assay.")
        if self.inside == 0 and (not ours or not gc.isenabled()):
            return
        if self.inside == 0:
            gc.disable()
        self.inside += 1

    def on_end(self, event: Any) -> None:
        """Collect again after the first function."""
        if self.inside:
            self.inside -= 1
            if self.inside == 0:
                gc.enable()


event.register("numba:compile", GarbageKept())


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: ``numba.njit`` with these options, cached, without Python's lock."""
    settings: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        with kept_on_disk() as keep:
            return numba.njit(cache=keep, **settings)(function)

    return decorate


def linked(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of what only compiled functions call: Python calls the plain function."""
    settings: Any = {"error_model": "numpy", "pipeline_class": LinkedCompiler, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        return register_jitable(**settings)(function)

    return decorate


@contextmanager
def kept_on_disk() -> Iterator[bool]:
    """Make Numba cache functions decorated inside in :func:`folder`; yield whether it exists."""
    # The setting is global to the process, and chains run in threads.
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
    """Return the folder of the machine code: below ``NUMBA_CACHE_DIR``, beside the sources, or in
    the user's cache. None if none is writable by the user alone, since its code is run.
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


def at(position: Any) -> Any:
    """Return a position as unsigned integer, for which Numba does not check negative indexing."""
    return np.uint64(position)


@type_callable(at)
def _type_of_position(_context: Any) -> Any:
    def found(position: Any) -> Any:
        return types.uint64 if isinstance(position, types.Integer) else None

    return found


@lower_builtin(at, types.Integer)  # type: ignore[untyped-decorator]
def _lower_position(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)
