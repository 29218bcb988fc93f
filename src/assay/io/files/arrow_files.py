"""Parquet, Feather and Arrow streams, and saved datasets of Hugging Face with their class names."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError
from assay.io.tables import AGAIN

PARQUET, FEATHER, OLD_FEATHER, STREAM = b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
KINDS = {PARQUET: "Parquet", FEATHER: "Feather", OLD_FEATHER: "Feather", STREAM: "Arrow"}
"""The beginning of each kind of file; a stream ends with its mark and zeros, too."""
HUGGING_FACE = b"huggingface"
"""Key of the schema's metadata that has the class names."""
STATE, SPLITS = "state.json", "dataset_dict.json"


def arrow_kind(data: bytes, name: str = "") -> str:
    """Return the kind of Arrow file; empty if it is none."""
    by_name = "Parquet" if name.endswith(".parquet") else ""
    return next((kind for mark, kind in KINDS.items() if data.startswith(mark)), by_name)


def read_arrow(data: bytes, kind: str, source: str) -> pd.DataFrame:
    """Read an Arrow file as a table, with class names for integer codes."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    buffer = io.BytesIO(data)
    try:
        if kind == "Parquet":
            table = parquet.read_table(buffer)
        elif kind == "Feather":
            table = feather.read_table(buffer)
        else:
            table = pa.ipc.open_stream(buffer).read_all()
            if not data.rstrip(b"\0").endswith(STREAM):
                raise ValueError("it ends early")
        frame: pd.DataFrame = table.to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RatingsError.of(
            "damaged-file", f"the {kind} file cannot be read: {error}", source, mend=AGAIN
        ) from None
    metadata = (table.schema.metadata or {}).get(HUGGING_FACE)
    return frame if metadata is None else with_class_names(frame, _features(metadata))


def _features(metadata: bytes) -> Mapping[str, Any]:
    """Return the features in the metadata of a Hugging Face dataset."""
    try:
        features = json.loads(metadata)["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    return features if isinstance(features, dict) else {}


def with_class_names(frame: pd.DataFrame, features: Mapping[str, Any]) -> pd.DataFrame:
    """Replace integer codes by class names, for features (or their lists) with ``names``."""
    for column, feature in features.items():
        names = _names_of(feature)
        if names and column in frame:
            frame = frame.assign(**{column: [_named(cell, names) for cell in frame[column]]})
    return frame


def _names_of(feature: Any) -> Sequence[str]:
    """Return the class names of a feature, or of the elements of its lists."""
    if isinstance(feature, list) and len(feature) == 1:
        return _names_of(feature[0])
    about = feature if isinstance(feature, Mapping) else getattr(feature, "__dict__", {})
    names = about.get("names")
    if isinstance(names, list | tuple):
        return names
    inner = about.get("feature")
    return [] if inner is None else _names_of(inner)


def _named(cell: Any, names: Sequence[str]) -> Any:
    if isinstance(cell, list | tuple | np.ndarray):
        return [_named(one, names) for one in cell]
    if cell is None or pd.isna(cell) or not 0 <= int(cell) < len(names):
        return None  # -1 stands for no class
    return names[int(cell)]


def saved_dataset(path: Path) -> pd.DataFrame | None:
    """Read what ``save_to_disk`` wrote; None for other folders; refuse several splits."""
    if (path / SPLITS).is_file():
        names = sorted(one.parent.name for one in path.glob(f"*/{STATE}"))
        if len(names) == 1:
            return saved_dataset(path / names[0])
        raise RatingsError.of(
            "several-files",
            f"the dataset has {len(names)} splits: {', '.join(names)}",
            str(path),
            mend=f"give the folder of one of them, such as {path / (names or ['train'])[0]}",
            go_on={"source": str(path / names[0])} if names else {},
        )
    if not (path / STATE).is_file():
        return None
    try:
        state = json.loads((path / STATE).read_text(encoding="utf-8"))
        files = [path / one["filename"] for one in state["_data_files"]]
        parts = [read_arrow(file.read_bytes(), "Arrow", str(file)) for file in files]
        return pd.concat(parts, ignore_index=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RatingsError.of(
            "damaged-file", f"the dataset cannot be read: {error}", str(path), mend=AGAIN
        ) from None
