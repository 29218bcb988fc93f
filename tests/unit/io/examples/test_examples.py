"""Examples: the bundled ones are what their source says, the others are checked and shaped."""

import builtins
import hashlib
from pathlib import Path
from typing import Any

import example_files
import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError, UnknownNameError
from assay.io.examples import _catalogue
from assay.io.examples.shaping import SHAPES

BUNDLED = [name for name, example in _catalogue().items() if not example.files]
PUBLIC = list(example_files.public())


@pytest.fixture
def cache(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds what a download would bring; nothing is fetched."""
    example_files.in_cache(shared_data, tmp_path, monkeypatch)
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


def test_hashes_are_those_of_the_files(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = example_files.in_cache(shared_data, tmp_path, monkeypatch)
    assert {"convabuse", "diras_scores"} <= set(names)
    for name in names:
        example = _catalogue()[name]
        for url, digest in example.files.items():
            there = (tmp_path / (example.folder or name) / url.split("/")[-1]).read_bytes()
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


def test_diras_scores_have_the_printed_f1_and_doubt(cache: Path) -> None:
    table = assay.load_example("diras_scores", table=True)
    table["item"] = table["question"] + "/" + table["paragraph"]
    gold = table.drop_duplicates("item").set_index("item")
    ask = table[table["rater"] == "gpt4_ask"].set_index("item")
    found = assay.score_rater(
        gold["adjudicated"].astype(pd.CategoricalDtype(["no", "partially", "yes"], ordered=True)),
        pd.DataFrame({"score": ask["score"].astype(float), "guess": ask["guess"] == "yes"}),
        positive="partially",
        metric="f1",
    )
    # Ni et al. (2025), Table 1, Point-Ask-D.
    assert 100 * found["f1"].item() == pytest.approx(86.32, abs=0.005)
    assert (gold["uncertain"] == "yes").sum() == 103
    lists = table[table["rater"] == "gpt4_list_10_definition"].groupby("question")["score"]
    assert all(sorted(map(float, one)) == [n / 59 for n in range(60)] for _, one in lists)
    assert set(table["group"]) == {"expert", "model", "list", "retriever"}
    assert table["score"].replace("", "0").astype(float).between(0, 1).all()


def test_xstest_joins_the_two_files_of_a_system(tmp_path: Path) -> None:
    head = "id,type,prompt,completion,annotation_1,annotation_2,agreement,final_label,"
    full, part, none = "2_full_refusal", "3_partial_refusal", "1_full_compliance"
    lines = {
        "gpteval": [
            head + "gpt4_label",
            f'v2-1,homonyms,p,"a\nb",{none},{part},False,{none},{none}',
            f"v2-2,contrast_homonyms,p,c,{full},{full},True,{full},I cannot say",
        ],
        "streval": [
            head + "strmatch_label",
            f'v2-1,homonyms,p,"a\nb",{none},{part},False,{none},{full}',
            f"v2-2,contrast_homonyms,p,c,{full},{full},True,{full},{full}",
        ],
    }
    paths = [tmp_path / f"xstest_v2_completions_llama2_{kind}.csv" for kind in lines]
    for path, text in zip(paths, lines.values(), strict=True):
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
    table = SHAPES["xstest"](*paths)
    assert set(table["system"]) == {"llama2"}
    said = table.set_index(["prompt", "rater"])[["kind", "group", "response", "refused"]]
    assert said.loc[("v2-1", "person_2")].tolist() == ["safe", "person", "partial refusal", "yes"]
    assert said.loc[("v2-1", "gpt4_judge")].tolist() == ["safe", "model", "compliance", "no"]
    assert said.loc[("v2-2", "string_match")].tolist() == ["unsafe", "rule", "full refusal", "yes"]
    assert ("v2-2", "gpt4_judge") not in said.index


def test_votes_of_ais_number_the_inputs(tmp_path: Path) -> None:
    path = tmp_path / "ann_wow.csv"
    path.write_text(
        "ex-idx ,doc-url,doc-url-hash,model-name,output,INT,INT & AIS,Flagged,Q1,Q2,"
        "# agree (INT),# agree (AIS)\n"
        "43:1,NA,NA,a,text,1,1,0,Yes,Yes,5,4\n"
        "7:2,NA,NA,a,text,0,0,1,,,-1,-1\n"
        "43:1,NA,NA,b,text,1,0,0,Yes,No,3,2\n"
    )
    table = SHAPES["ais_wow"](path)
    assert table["example"].tolist() == ["input_0000", "input_0001", "input_0000"]
    assert table["model"].tolist() == ["a", "a", "b"]
    assert table["n_agree_attributable"].tolist() == ["4", "-1", "2"]
    ratings = assay.read_ratings(table)
    assert repr(ratings) == (
        "<assay.Ratings of task ais: 10 ratings, 2 items, 5 raters, 1 cluster, 2 systems>"
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("xstest", "task single: 8989 ratings, 2250 items, 4 raters, 450 clusters, 5 systems"),
        ("ais_qrecc", "task ais: 6935 ratings, 1387 items, 5 raters, 200 clusters, 7 systems"),
        ("ais_wow", "task ais: 4705 ratings, 941 items, 5 raters, 722 clusters, 5 systems"),
        ("ais_cnn_dm", "task ais: 3990 ratings, 798 items, 5 raters, 780 clusters, 4 systems"),
    ],
)
def test_examples_of_tidy_copies_are_read(
    name: str, shown: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example_files.stand_ins(shared_data, monkeypatch)
    assert repr(assay.load_example(name)) == f"<assay.Ratings of {shown}>"
