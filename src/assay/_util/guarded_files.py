"""Files that HDF5 can write to on disks that may be full."""

import io
import os
from pathlib import Path
from typing import Any


class GuardedFile(io.RawIOBase):
    """A file whose writes never fail inside HDF5, which could not close it, or would end the
    process. Later writes are held in memory, and :meth:`check` raises the first error.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0))
        self._error: OSError | None = None
        self._held: list[tuple[int, bytes]] = []
        self._at = self._size = 0

    def check(self) -> None:
        """Raise the error of the first failed write."""
        if self._error is not None:
            raise self._error

    def sync(self) -> None:
        """Flush to the disk, or raise: some systems report a full disk only now."""
        self.check()
        os.fsync(self._file)

    def readable(self) -> bool:
        """Return True."""
        return True

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def write(self, data: Any) -> int:
        """Write at the position; hold in memory what cannot be written."""
        view = memoryview(data).cast("B")
        if self._error is None:
            try:
                self._put(view)
            except OSError as error:
                self._error = error
        if self._error is not None:
            self._held.append((self._at, bytes(view)))
        self._at += len(view)
        self._size = max(self._size, self._at)
        return len(view)

    def _put(self, view: memoryview) -> None:
        done = 0
        os.lseek(self._file, self._at, os.SEEK_SET)
        while done < len(view):
            done += os.write(self._file, view[done:])

    def readinto(self, buffer: Any) -> int:
        """Read from the position, including data held in memory."""
        view = memoryview(buffer).cast("B")
        length = max(0, min(len(view), self._size - self._at))
        os.lseek(self._file, self._at, os.SEEK_SET)
        found = os.read(self._file, length)
        view[:length] = found + bytes(length - len(found))
        for start, held in self._held:
            first, last = max(start, self._at), min(start + len(held), self._at + length)
            if first < last:
                view[first - self._at : last - self._at] = held[first - start : last - start]
        self._at += length
        return length

    def truncate(self, size: int | None = None) -> int:
        """Set the size of the file."""
        self._size = self._at if size is None else size
        if self._error is None:
            try:
                os.ftruncate(self._file, self._size)
            except OSError as error:
                self._error = error
        return self._size

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            os.close(self._file)
        super().close()
