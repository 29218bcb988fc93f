"""Folders with saved Hugging Face datasets."""

import json
from pathlib import Path

import pandas as pd

from assay._util.errors import RatingsError
from assay.io.arrow_files import read_arrow
from assay.io.tables import AGAIN

STATE, SPLITS = "state.json", "dataset_dict.json"


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
