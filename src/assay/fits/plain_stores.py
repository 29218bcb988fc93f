"""Safety checks of stored fits before they are opened: HDF5 files can refer to other files, and
Zarr stores can name codecs that run code.
"""

import json
from pathlib import Path
from typing import Any

from assay._util.errors import FitError

ZARR_CODECS = frozenset({"blosc", "bytes", "crc32c", "gzip", "transpose", "vlen-utf8", "zstd"})
"""Codecs that unpack numbers and text, and nothing else."""
MAX_METADATA = 50 * 2**20
"""Most bytes of one metadata file."""


def require_plain(source: Path) -> None:
    """Refuse a store that holds anything except its own data."""
    if source.is_dir():
        _require_plain_zarr(source)
    else:
        _require_plain_hdf5(source)


def _require_plain_hdf5(source: Path) -> None:
    import h5py

    with h5py.File(source, "r") as file:
        left: list[Any] = [file]
        seen = set()
        while left:
            group = left.pop()
            if group.id.__hash__() in seen:
                raise FitError(f"group {group.name} contains itself", code="unsafe-store")
            seen.add(group.id.__hash__())
            for name in group:
                link = group.get(name, getlink=True)
                if not isinstance(link, h5py.HardLink):
                    raise FitError(
                        f"{name} points to {_target(link)}, and is refused", code="unsafe-store"
                    )
                found = group[name]
                if isinstance(found, h5py.Group):
                    left.append(found)
                elif isinstance(found, h5py.Dataset) and (found.external or found.is_virtual):
                    raise FitError(
                        f"{name} lies in other files, and is refused", code="unsafe-store"
                    )


def _target(link: Any) -> str:
    return repr(getattr(link, "filename", None) or getattr(link, "path", "elsewhere"))


def _require_plain_zarr(source: Path) -> None:
    for file in source.rglob("*"):
        if file.is_symlink():
            raise FitError(
                f"{file.name} points to another place, and is refused", code="unsafe-store"
            )
        if file.name in {".zarray", ".zgroup", ".zattrs", ".zmetadata"}:
            raise FitError(
                "it is a Zarr store of format 2; fits are of format 3", code="unsafe-store"
            )
        if file.name == "zarr.json":
            _require_plain_codecs(file)


def _require_plain_codecs(file: Path) -> None:
    if file.stat().st_size > MAX_METADATA:
        raise FitError(f"{file.parent.name}/zarr.json is too large", code="unsafe-store")
    about = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(about, dict) or about.get("zarr_format") != 3:
        raise FitError("it is no Zarr store of format 3", code="unsafe-store")
    if "consolidated_metadata" in about and about["consolidated_metadata"] is not None:
        raise FitError(
            "its metadata are consolidated, which those of a fit are not", code="unsafe-store"
        )
    if about.get("storage_transformers"):
        raise FitError(
            f"{file.parent.name} has storage transformers, which a fit has not", code="unsafe-store"
        )
    for codec in about.get("codecs", ()):
        name = codec.get("name") if isinstance(codec, dict) else codec
        if name not in ZARR_CODECS:
            raise FitError(
                f"{file.parent.name} is packed by {name!r}, and is refused", code="unsafe-store"
            )
