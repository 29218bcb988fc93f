"""A folder, an archive or a list of files as an opened input."""

import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, final

from assay._util.errors import RatingsError
from assay._util.text import listed
from assay.io.files.file_paths import SUFFIXES, is_table_name, names_without_suffix, short_names
from assay.io.files.sources import Source
from assay.io.tables import AGAIN, Table


@dataclass(frozen=True, kw_only=True)
class SeveralFiles(Source):
    """Files that are opened by name."""

    kind = "folder"

    @property
    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """The names of the files."""

    @abstractmethod
    def _open(self, file: str) -> Source: ...

    def member(self, file: str) -> Source:
        """Open a file, once."""
        if file not in self._opened:
            self._opened[file] = replace(self._open(file), lenient=self.lenient)
        return self._opened[file]

    @cached_property
    def _opened(self) -> dict[str, Source]:
        return {}


@final
@dataclass(frozen=True, kw_only=True)
class FolderSource(SeveralFiles):
    """A folder, whose files are opened by name with ``open_file``."""

    path: Path
    open_file: Callable[[Path], Source] = field(repr=False)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The names of its files, sorted."""
        return tuple(sorted(p.name for p in self.path.iterdir() if p.is_file()))

    @cached_property
    def deeper(self) -> tuple[str, ...]:
        """The files of its folders that hold records or rows, sorted; hidden ones left out."""
        paths = [p.relative_to(self.path) for p in self.path.glob("*/**/*") if p.is_file()]
        shown = [p.as_posix() for p in paths if not any(part[0] in "._" for part in p.parts)]
        return tuple(sorted(filter(is_table_name, shown)))

    def _open(self, file: str) -> Source:
        return self.open_file(self.path / file)

    def plain_table(self, name: str = "") -> Table:
        """Return the table in the file of this name, such as ``retrieval.csv``."""
        for suffix in SUFFIXES:
            if f"{name}{suffix}" in self.files:
                return self.member(f"{name}{suffix}").plain_table()
        held = list(filter(is_table_name, self.files))
        near = [*(get_close_matches(f"{name}.csv", held, n=1) if name else []), *held][:1]
        what = f"tables of different columns: {listed(held)}" if held else "no table"
        raise RatingsError.of(
            "folder-without-task",
            f"the folder has {what}",
            self.name,
            allowed="tables of the same columns, or one table" + f", or {name}.csv" * bool(name),
            mend="give the path of one file" if held else "export the ratings into it",
            go_on={"source": str(self.path / near[0])} if near else {},
        )


@final
@dataclass(frozen=True, kw_only=True)
class FilesSource(SeveralFiles):
    """Several files: those of an archive, or those of a list of paths.

    contents : reads the bytes of each file, by its name
    open_bytes : opens these bytes under a name
    paths : path of each file alone, by its name
    chosen : whether the caller named each file
    """

    contents: Mapping[str, Callable[[], bytes]] = field(repr=False)
    open_bytes: Callable[[bytes, str], Source] = field(repr=False)
    paths: Mapping[str, str] = field(default_factory=dict, repr=False)
    chosen: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self.contents)

    def _open(self, file: str) -> Source:
        try:
            data = self.contents[file]()
        except (OSError, zipfile.BadZipFile, zlib.error) as error:
            raise RatingsError.of("damaged-file", str(error), self.name, mend=AGAIN) from None
        return self.open_bytes(data, f"{self.name}/{file}")

    def plain_table(self, name: str = "") -> Table:
        """Refuse to choose among the files."""
        tables = list(filter(is_table_name, self.files))
        first = (*tables, *self.files)[:1]
        what = "files of different columns" if tables else "files, none of them a table"
        raise RatingsError.of(
            "several-files",
            f"there are {len(self.files)} {what}: {listed(self.files)}",
            self.name,
            mend="give one of them",
            go_on={"source": self.paths[first[0]]} if first and first[0] in self.paths else {},
        )


class Member(NamedTuple):
    """One file of a data set.

    file : its name, with folders only where another file has the same name
    stem : its name without suffix, which may name a rater
    """

    source: Source
    file: str
    stem: str


def members_of(source: Source, *, any_name: bool = False) -> Iterator[Member]:
    """Yield the source itself, or the files of a folder, archive or list.

    Files that the caller did not name count only if they have records or rows by their name, unless
    ``any_name``.
    """
    if not isinstance(source, SeveralFiles):
        file = Path(source.name).name
        yield Member(source, file, file.split(".")[0])
        return
    every = any_name or (isinstance(source, FilesSource) and source.chosen)
    kept = [file for file in source.files if every or is_table_name(file)]
    names = short_names(kept)
    stems = names_without_suffix(names.values())
    for file, name in names.items():
        yield Member(source.member(file), name, stems[name])
