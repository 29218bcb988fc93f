"""The files of a data set in several files, each with a name of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.io.file_names import is_table_name, names_without_suffix, short_names
from assay.io.source_folders import FilesSource, FolderSource
from assay.io.sources import Source


@dataclass(frozen=True, kw_only=True)
class Member:
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
    if not isinstance(source, FolderSource | FilesSource):
        file = Path(source.name).name
        yield Member(source=source, file=file, stem=file.split(".")[0])
        return
    every = any_name or (isinstance(source, FilesSource) and source.chosen)
    kept = [file for file in source.files if every or is_table_name(file)]
    names = short_names(kept)
    stems = names_without_suffix(names.values())
    for file, name in names.items():
        yield Member(source=source.member(file), file=name, stem=stems[name])
