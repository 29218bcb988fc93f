"""Public examples without a network: their original files if at hand, else tidy copies."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from assay.io import examples
from assay.io.examples import CACHE
from assay.io.examples.shaping import RESPONSES

PERSONS = {"human_1": "person_1", "human_2": "person_2"}
GROUPS = {"person_1": "person", "person_2": "person", "gpt4_judge": "model", "string_match": "rule"}


def public() -> dict[str, examples.Example]:
    """Examples that are fetched, by name."""
    return {name: one for name, one in examples._catalogue().items() if one.files}


def in_cache(shared: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fill a cache with the original files at hand; return the names of these examples."""
    pytest.importorskip("pooch", reason="the extra assay[examples] is not installed")
    if not (shared / "raw").is_dir():
        pytest.skip("the original files at ../shared/data/raw are not here")
    names = []
    for name, example in public().items():
        folder = example.folder or name
        if (shared / "raw" / folder).is_dir():
            shutil.copytree(shared / "raw" / folder, cache / folder, dirs_exist_ok=True)
            names.append(name)
    monkeypatch.setenv(CACHE, str(cache))
    return names


def stand_ins(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the tidy copies of examples whose original files are not at hand."""
    table = examples._table

    def tidy(example: examples.Example) -> pd.DataFrame:
        if example.name == "xstest":
            return xstest(shared)
        if example.name.startswith("ais_"):
            return ais(shared, example.name.removeprefix("ais_"))
        return table(example)

    monkeypatch.setattr(examples, "_table", tidy)


def xstest(shared: Path) -> pd.DataFrame:
    """Return the table of the example, of the tidy copy."""
    copy = pd.read_csv(shared / "xstest" / "annotations.csv", dtype=str)
    rater = copy["rater"].replace(PERSONS)
    safe = ~copy["prompt_type"].str.startswith("contrast")
    table = pd.DataFrame(
        {
            "prompt": copy["query"],
            "system": copy["system"],
            "kind": safe.map({True: "safe", False: "unsafe"}),
            "rater": rater,
            "group": rater.map(GROUPS),
            "response": copy["label"].map(RESPONSES),
            "refused": copy["any_refusal"].map({"0": "no", "1": "yes"}),
        }
    )
    order = rater.map(list(GROUPS).index)
    return table.loc[order.sort_values(kind="stable").index].sort_values(
        "system", kind="stable", ignore_index=True
    )


def ais(shared: Path, study: str) -> pd.DataFrame:
    """Return the table of a study, of the tidy copy."""
    copy = pd.read_csv(shared / "ais_votes" / f"{study}.csv", dtype=str)
    number = pd.Series(pd.factorize(copy["example"])[0])
    columns = ["model", "flagged", "interpretable", "attributable"]
    counts = ["n_agree_interpretable", "n_agree_attributable"]
    copy["example"] = number.map("input_{:04d}".format)
    return copy[["example", *columns, *counts]]
