"""Machine code on disk with a checksum: what is damaged or foreign is compiled anew.

Numba unpickles and runs whatever stands in its files, so that a damaged one ends in a traceback,
or ends the process.
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
"""Numba's module, whose functions have no types."""
PlainFiles: Any = caching.IndexDataCacheFile


class CheckedFiles(PlainFiles):  # type: ignore[misc]
    """The index and the code of one function; unreadable ones count as absent."""

    def save(self, key: Any, data: Any) -> None:
        """Keep code; a disk that is full, or closed to us, is no reason to fail."""
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
            raise ValueError(f"{path} is damaged, or no file of assay")
        return pickle.loads(data)


@contextmanager
def checked_files() -> Iterator[None]:
    """Have functions that are decorated here keep their code in :class:`CheckedFiles`."""
    FILES.IndexDataCacheFile = CheckedFiles
    try:
        yield
    finally:
        FILES.IndexDataCacheFile = PlainFiles
