"""The columns of the source that name an item come back in each export, whatever they hold."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import RatingsError
from assay._util.files import TABLE_SUFFIXES, write_table
from assay.display.frames import key_columns, labels_frame
from assay.fits.datatree import ratings_of
from assay.inference.subsets import join_ratings, take_items
from assay.reporting.pseudonyms import with_pseudonyms

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
KEY = ["url", "day", "part", "page"]
HOW = {"task": "single", "item": KEY, "cluster": ["url", "day"], "system": "maker"}
HOW |= {"rater": "who", "labels": "answer"}


def study() -> pd.DataFrame:
    """Return ratings of pages by three raters: addresses, dates with slashes, and two numbers."""
    rng = np.random.default_rng(3)
    pages = pd.DataFrame(
        [(f"https://a.org/{n // 4}/x", f"{n // 4}/2/2025", f"00{n % 4}", n % 4) for n in range(32)],
        columns=KEY,
    ).assign(maker=["Ada/one", "Bob"] * 16, truth=rng.random(32) < 0.5)
    told = pd.concat([pages.assign(who=name) for name in "uvw"], ignore_index=True)
    right = told.pop("truth").to_numpy() ^ (rng.random(len(told)) < 0.2)
    return told.assign(answer=np.where(right, "yes", "no"))


def pages() -> pd.DataFrame:
    return study()[[*KEY, "maker"]].drop_duplicates().reset_index(drop=True)


def fitted(frame: pd.DataFrame, **how: object) -> xr.DataTree:
    ratings = assay.read_ratings(frame, **(HOW | how))
    return assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    path = tmp_path_factory.mktemp("fit") / "fit.nc"
    return assay.load(assay.save(fitted(study()), path))


def test_parts_with_slashes_come_back_from_a_stored_fit(fit: xr.DataTree) -> None:
    found = key_columns(ratings_of(fit)).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, pages(), check_dtype=False)
    assert found["page"].dtype == np.int64
    assert pd.api.types.is_string_dtype(found["part"])  # 001 is no number
    frame = labels_frame(fit)
    assert list(frame.columns[:7]) == ["item", *KEY, "maker", "label"]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_every_table_has_the_key_columns(suffix: str, fit: xr.DataTree, tmp_path: Path) -> None:
    path = tmp_path / f"labels{suffix}"
    write_table(labels_frame(fit), path)
    texts = {"url": str, "day": str, "part": str}
    match suffix:
        case ".csv" | ".tsv":
            found = pd.read_csv(path, sep="\t" if suffix == ".tsv" else ",", dtype=texts)
        case ".parquet":
            found = pd.read_parquet(path)
        case ".xlsx":
            found = pd.read_excel(path, dtype=texts, engine="openpyxl")
        case ".json" | ".jsonl":
            found = pd.read_json(path, lines=suffix == ".jsonl", dtype=False)
        case _:
            lines = path.read_text(encoding="utf-8").replace("\\_", "_").splitlines()
            mark = "|" if suffix == ".md" else "&"
            rows = [[cell.strip() for cell in line.split(mark)] for line in lines if mark in line]
            rows = [row[1:] if suffix == ".md" else row for row in rows]
            head = next(n for n, row in enumerate(rows) if row[0].endswith("item"))
            rows = [row for row in rows[head:] if not set(row[0]) <= {"-", ":"}]
            found = pd.DataFrame(rows[1:], columns=rows[0])
            found["page"] = found["page"].astype(int)
    pd.testing.assert_frame_equal(found[[*KEY, "maker"]], pages(), check_dtype=False)
    assert found["page"].dtype.kind == "i"


def test_lines_for_other_tools_have_them(fit: xr.DataTree, tmp_path: Path) -> None:
    wanted = pages().to_dict("records")
    path = assay.export_labels(fit, tmp_path / "labels.jsonl", to="huggingface")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [{name: line[name] for name in (*KEY, "maker")} for line in lines] == wanted
    path = assay.export_labels(fit, tmp_path / "records.json", to="argilla")
    assert [one["metadata"] for one in json.loads(path.read_text(encoding="utf-8"))] == wanted
    path = assay.export_labels(fit, tmp_path / "labels.csv", to="cleanlab")
    table = pd.read_csv(path, dtype={"part": str})
    assert list(table.columns) == ["item", *KEY, "maker", "label", "no", "yes"]
    assert table[[*KEY, "maker"]].to_dict("records") == wanted


def test_a_judgement_names_the_document_by_the_key_without_that_of_its_query(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    path = assay.export_labels(fit, tmp_path / "study.qrels", to="qrels")
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[::2]]
    assert [line[0] for line in lines] == (pages()["url"] + "/" + pages()["day"]).tolist()
    assert [line[2] for line in lines] == [f"{row.part}/{row.page}" for row in pages().itertuples()]
    behind = fitted(study(), item=["part", "page", "url"], cluster="url")
    path = assay.export_labels(behind, tmp_path / "other.qrels", to="qrels")
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[::2]]
    assert {line[2] for line in lines} == {f"00{n}/{n}" for n in range(4)}


def test_subsets_joins_and_pseudonyms_keep_the_parts(fit: xr.DataTree, tmp_path: Path) -> None:
    ratings = ratings_of(fit)
    one, other = take_items(ratings, np.arange(5)), take_items(ratings, np.arange(20, 32))
    assert key_columns(one)["url"].tolist() == pages()["url"][:5].tolist()
    wanted = pd.concat([pages()[:5], pages()[20:]], ignore_index=True)
    found = key_columns(join_ratings([one, other])).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    view = with_pseudonyms(fit, tmp_path / "key.csv")
    pd.testing.assert_frame_equal(key_columns(view.ratings), key_columns(ratings))


def test_a_fit_of_earlier_versions_has_what_its_names_tell(fit: xr.DataTree) -> None:
    plain = study().assign(url=lambda t: t["url"].str[-3], day="today")
    old = fitted(plain, cluster="url")
    kept = [name for name in old["constant_data"].data_vars if not str(name).startswith("item_key")]
    old["constant_data"] = old["constant_data"].to_dataset()[kept]
    found = key_columns(ratings_of(old))
    new = key_columns(assay.read_ratings(plain, **(HOW | {"cluster": "url"})))
    assert found["page"].dtype == np.int64
    pd.testing.assert_frame_equal(found, new, check_dtype=False)


def test_columns_of_a_table_of_lists_have_their_own_names() -> None:
    lists = pages().assign(query=lambda t: t["url"])
    lists.loc[len(lists)] = ["https://b.org", "1/1/2025", "004", 9, "Bob", "https://b.org"]
    lists = lists.rename(columns={"maker": "system"})
    how = HOW | {"system": None, "cluster": None, "panels": lists}
    ratings = assay.read_ratings(study().drop(columns="maker"), **how)
    found = key_columns(ratings).reset_index(drop=True)
    wanted = lists[[*KEY, "query", "system"]]
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_a_key_column_called_like_one_of_the_export_has_a_name_of_its_own() -> None:
    frame = study().rename(columns={"page": "item", "part": "label"})
    key = ["url", "day", "label", "item"]
    told = labels_frame(fitted(frame, item=key))
    assert list(told.columns[:7]) == [
        "item",
        "url",
        "day",
        "key[label]",
        "key[item]",
        "maker",
        "label",
    ]
    assert told["key[item]"].tolist() == [0, 1, 2, 3] * 8
    assert told["item"].iloc[5] == "https://a.org/1/x/1/2/2025/001/1"


@pytest.mark.parametrize("role", ["cluster", "stratum", "system", "panel", "group", "session"])
def test_no_two_keys_of_a_role_become_one(role: str) -> None:
    frame = study().assign(n=lambda t: t.groupby(KEY, sort=False).ngroup())
    low = frame["who"] == "u" if role == "group" else frame["n"] < 16
    frame["one"], frame["two"] = np.where(low, "a/b", "a"), np.where(low, "c", "b/c")
    how = {"task": "single", "item": "n", "rater": "who", "labels": "answer"}
    with pytest.raises(RatingsError, check=refusal("same-names")) as caught:
        assay.read_ratings(frame, **how, **{role: ["one", "two"]})
    assert "'a/b' and 'c', 'a' and 'b/c'" in str(caught.value)
    frame["one"] = frame["one"].str.replace("/", ":")
    found = assay.read_ratings(frame, **how, **{role: ["one", "two"]})
    if role not in ("group", "session"):
        assert sorted(key_columns(found)["two"].unique()) == ["b/c", "c"]


@pytest.mark.parametrize("where", ["truth", "panels"])
def test_no_two_keys_of_two_tables_become_one(where: str) -> None:
    frame = study()
    first = frame["url"] == "https://a.org/0/x"
    frame.loc[first, ["url", "day"]] = ["a/b", "c"]
    side = frame[KEY].drop_duplicates().assign(answer="yes", maker="Bob")
    how = {"task": "single", "item": KEY, "rater": "who", "labels": "answer"}
    frame = frame.drop(columns="maker")
    side = side.drop(columns="maker" if where == "truth" else "answer")
    assay.read_ratings(frame, **how, **{where: side})
    side.loc[side["url"] == "a/b", ["url", "day"]] = ["a", "b/c"]
    with pytest.raises(RatingsError, check=refusal("same-names"), match=r"row 0; .*row 0"):
        assay.read_ratings(frame, **how, **{where: side})


def test_no_two_lists_of_systems_become_one() -> None:
    frame = study().assign(n=lambda t: t.groupby(KEY, sort=False).ngroup(), cluster="q")
    low = frame["n"] < 16
    frame["maker"], frame["list"] = np.where(low, "a", "a/b"), np.where(low, "b/c", "c")
    frame.loc[frame["n"] % 16 > 11, "list"] = "z"
    how = {"task": "single", "item": "n", "rater": "who", "labels": "answer", "system": "maker"}
    with pytest.raises(RatingsError, check=refusal("same-names")):
        assay.read_ratings(frame, **how, cluster="cluster", panel="list")
    apart = frame.assign(maker=frame["maker"].str.replace("/", ":"))
    assert (
        assay.read_ratings(apart, **how, cluster="cluster", panel="list").panels["panel"].nunique()
        == 4
    )
