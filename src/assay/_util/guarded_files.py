"""Files for HDF5 to write to, on disks that may be full."""

import io
import os
from pathlib import Path
from typing import Any


class GuardedFile(io.RawIOBase):
    """A file whose writes never fail while HDF5 looks on.

    HDF5 cannot close a file that it cannot write to: it raises from destructors, or ends the
    process. So the first failure is noted, what is written from then on is held in memory, and
    :meth:`check` raises once HDF5 is done.

    Parameters
    ----------
    path : path
        Of a new file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0))
        self._error: OSError | None = None
        self._held: list[tuple[int, bytes]] = []
        self._at = self._size = 0

    def check(self) -> None:
        """Raise the error of the first write that failed."""
        if self._error is not None:
            raise self._error

    def sync(self) -> None:
        """Have everything on the disk, or raise: some systems tell only now that it is full."""
        self.check()
        os.fsync(self._file)

    def readable(self) -> bool:
        """Whether it can be read: it can."""
        return True

    def writable(self) -> bool:
        """Whether it can be written to: it can."""
        return True

    def seekable(self) -> bool:
        """Whether places in it can be found: they can."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def write(self, data: Any) -> int:
        """Write at the place; hold in memory what cannot be written."""
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
        """Read from the place on, what is held in memory included."""
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
        """Cut the file, or lengthen it with zeros."""
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
