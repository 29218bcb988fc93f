"""Examples: the bundled ones are what their source says, the others are checked and shaped."""

import builtins
import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError, UnknownNameError
from assay.io.examples import _catalogue
from assay.io.examples.downloads import CACHE

BUNDLED = [name for name, example in _catalogue().items() if not example.files]
PUBLIC = [name for name, example in _catalogue().items() if example.files]


@pytest.fixture
def cache(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds what a download would bring; nothing is fetched."""
    pytest.importorskip("pooch", reason="the extra assay[examples] is not installed")
    if not (shared_data / "raw").is_dir():
        pytest.skip("the original files at ../shared/data/raw are not here")
    for name in PUBLIC:
        shutil.copytree(shared_data / "raw" / name, tmp_path / name)
    monkeypatch.setenv(CACHE, str(tmp_path))
    return tmp_path


def test_the_list_has_a_source_and_a_licence_for_each() -> None:
    listed = assay.load_example()
    assert list(listed.index) == [*BUNDLED, *PUBLIC]
    assert list(listed.index[listed["bundled"]]) == BUNDLED
    assert (listed[["shows", "source", "licence"]] != "").all(axis=None)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_example_is_read_whole_and_without_its_truth(name: str) -> None:
    ratings = assay.load_example(name)
    table = assay.load_example(name, table=True)
    assert ratings.accounting.rows_used == len(table)
    assert ratings.accounting.source.startswith(f"the example {name}: ")
    assert not ratings.has_truth.any()
    assert not [column for column in table if column.startswith("true_")]
    assert not [name for name in ratings.task.label_names if name.startswith("true_")]


def test_the_counts_of_caries_are_the_printed_ones() -> None:
    ratings = assay.load_example("caries")
    said = ratings.to_frame().pivot(index="item", columns="rater", values="caries") == "yes"
    assert len(said) == 3869
    assert said.all(axis=1).sum() == 100
    assert (~said).all(axis=1).sum() == 1880


def test_simulated_truth_is_that_of_the_items() -> None:
    ratings = assay.load_example("rater_audit")
    assert ratings.simulated is not None
    right = ratings.answers[:, 0] == ratings.simulated.truth[ratings.item, 0]
    share = pd.Series(right).groupby(ratings.raters.index.to_numpy()[ratings.rater]).mean()
    assert share["Hugo"] < 0.65 < share["Finn"] < 0.85 < share.drop(["Hugo", "Finn"]).min()


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(UnknownNameError, check=refusal("unknown-example")) as raised:
        assay.load_example("anaesthesia")
    assert all(name in str(raised.value) for name in [*BUNDLED, *PUBLIC])


def test_a_public_example_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pooch":
            raise ImportError(name)
        return usual(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(FitError, match=r"assay\[examples\]", check=refusal("extra-not-installed")):
        assay.load_example("convabuse")


def test_a_file_with_another_hash_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pooch

    def offline(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(pooch.downloaders.HTTPDownloader, "__call__", offline)
    file = cache / "convabuse" / "ConvAbuseEMNLPfull.csv"
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(FitError, check=refusal("example-not-fetched")) as raised:
        assay.load_example("convabuse")
    assert str(cache / "convabuse") in str(raised.value)


def test_hashes_are_those_of_the_files(cache: Path) -> None:
    for name in PUBLIC:
        for url, digest in _catalogue()[name].files.items():
            there = (cache / name / url.split("/")[-1]).read_bytes()
            assert hashlib.sha256(there).hexdigest() == digest


def test_convabuse_is_the_tidy_table(cache: Path, shared_data: Path) -> None:
    table = assay.load_example("convabuse", table=True)
    tidy = pd.read_csv(shared_data / "convabuse" / "annotations.csv")
    code = {"not abusive": 1, "ambiguous": 0, "mild": -1, "strong": -2, "very strong": -3}
    assert np.array_equal(table["severity"].map(code), tidy["severity"])
    assert np.array_equal(table["item"].str.removeprefix("utterance_").astype(int), tidy["item"])
    ratings = assay.load_example("convabuse")
    assert repr(ratings) == (
        "<assay.Ratings of task single: 12768 ratings, 4052 items, 8 raters, 2 systems>"
    )


def test_diras_has_the_scores_of_the_tidy_table(cache: Path, shared_data: Path) -> None:
    table = assay.load_example("diras_chatreport", table=True)
    tidy = pd.read_csv(shared_data / "diras_chatreport" / "annotations.csv")
    for rater in ("gpt4", "gpt4_no_explanation", "gpt4_no_cot"):
        own = table.loc[table["rater"] == rater, "score"].astype(float)
        theirs = tidy.loc[tidy["rater"] == rater, "score"]
        assert sorted(own) == pytest.approx(sorted(theirs), abs=1e-4)
    assert (table["rater"] == "expert_meta").sum() == 142
    ratings = assay.load_example("diras_chatreport")
    assert len(ratings.items) == 660
    assert not ratings.has_truth.any()


def test_xsum_has_the_shares_of_the_tidy_table(cache: Path, shared_data: Path) -> None:
    table = assay.load_example("xsum_hallucination", table=True)
    tidy = pd.read_csv(shared_data / "xsum_hallucination" / "annotations.csv")
    own = (table["hallucinated"] == "yes").groupby(table["system"]).sum()
    theirs = tidy.groupby("system")["hallucinated"].sum()
    assert own.to_dict() == theirs.to_dict()
    # One slot has no line in this file; the tidy table has it from the file of factuality.
    assert len(table) == len(tidy) - 1
