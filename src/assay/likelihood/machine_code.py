"""Machine code on disk with a checksum; damaged or foreign files are compiled again.

Numba unpickles and runs its files unchecked, so a damaged one may crash the process.
"""

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core import caching

DIGEST = hashlib.sha256().digest_size
FILES: Any = caching
"""Numba's module, untyped."""
PlainFiles: Any = caching.IndexDataCacheFile


class CheckedFiles(PlainFiles):  # type: ignore[misc]
    """Index and code of one function; unreadable files count as absent."""

    def save(self, key: Any, data: Any) -> None:
        """Store code; errors of the disk are ignored."""
        with suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, found = self._checked(self._index_path)
        except (OSError, ValueError):
            return {}
        fresh = (version, stamp) == (self._version, self._source_stamp)
        return dict(found) if fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._keep(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        try:
            return self._checked(self._data_path(name))
        except ValueError as error:
            raise OSError(str(error)) from None  # numba then compiles anew

    def _save_data(self, name: str, data: Any) -> None:
        self._keep(self._data_path(name), data)

    def _keep(self, path: str, value: Any) -> None:
        data = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def _checked(self, path: str) -> Any:
        content = Path(path).read_bytes()
        data = content[DIGEST:]
        if hashlib.sha256(data).digest() != content[:DIGEST]:
            raise ValueError(f"{path} is damaged, or not a file of assay")
        return pickle.loads(data)


@contextmanager
def checked_files() -> Iterator[None]:
    """Make functions that are decorated inside use :class:`CheckedFiles`."""
    FILES.IndexDataCacheFile = CheckedFiles
    try:
        yield
    finally:
        FILES.IndexDataCacheFile = PlainFiles
