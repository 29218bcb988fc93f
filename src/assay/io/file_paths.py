"""Paths of files, also of those inside an archive; and which file may be meant by a wrong one."""

import shlex
from difflib import get_close_matches
from pathlib import Path

from assay._util.errors import Problem, RatingsError, suggest
from assay.io.file_names import is_table_name
from assay.io.packed_files import is_archive, packed_file, packed_names


def is_folder(path: Path) -> bool:
    """Whether a path is a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # names that no file can have
        return False


def read_bytes(path: Path) -> bytes:
    """Read a file, or a file inside of an archive.

    Raises
    ------
    RatingsError
        If it is not there, or may not be read.
    """
    try:
        packed = None if path.exists() else _in_archive(path)
        return path.read_bytes() if packed is None else packed
    except (OSError, ValueError) as error:
        raise _unread(path, error) from None


def _in_archive(path: Path) -> bytes | None:
    """Return the bytes of a file whose path goes through a ZIP archive."""
    archive = next((one for one in path.parents if one.is_file()), None)
    data = b"" if archive is None else archive.read_bytes()
    if archive is None or not is_archive(data):
        return None
    name = path.relative_to(archive).as_posix()
    return packed_file(data, name) if name in packed_names(data) else None


def _unread(path: Path, error: Exception) -> RatingsError:
    """Say why a file cannot be read, and which one may be meant."""
    reason = getattr(error, "strerror", None) or error
    beside: list[str] = []
    if isinstance(error, FileNotFoundError) and is_folder(path.parent):
        beside = sorted(one.name for one in path.parent.iterdir() if is_table_name(one.name))
    near = get_close_matches(path.name, beside, n=1) or (beside if len(beside) == 1 else [])
    locked = isinstance(error, PermissionError)
    return RatingsError(
        [
            Problem(
                code="unread-file",
                what=f"the file cannot be read: {reason}",
                mend=suggest(path.name, beside)
                if beside
                else "make it readable"
                if locked
                else "give the path of a file that is there",
                go_on={"source": str(path.with_name(near[0]))} if near else {},
                first=shlex.join(["chmod", "u+r", str(path)]) if locked else "",
            )
        ],
        str(path),
    )
