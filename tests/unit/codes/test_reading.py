"""Every kind of problem that reading reports: an input that brings it out, and its mend, followed.

A kind is a code. The mend is taken from the message where it is a call or an argument, and else
done as the message says it in words.
"""

import ast
import io
import json
import pathlib
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
import assay.io
from assay._util.errors import RatingsError
from assay.cli.arguments import in_options
from assay.data.ratings import Ratings
from assay.io import read_ratings

Call = dict[str, Any]
ITEMS = 12


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is read (a call), what its message advises, and what holds of the right reading."""

    code: str
    call: Callable[[Path], Call]
    mend: Callable[[str, Call, Path], Call]
    right: Callable[[Ratings], bool] = lambda ratings: True


def table(**more: object) -> pd.DataFrame:
    """Return two ratings of each item, by raters a and b: x, y or z."""
    item = [n for n in range(ITEMS) for _ in "ab"]
    columns = {"item": item, "rater": list("ab") * ITEMS, "label": list("xyzxyyxz") * 3}
    return pd.DataFrame({**columns, **more})


def argument(name: str) -> Callable[[str, Call, Path], Call]:
    """Take the first value that a message gives to an argument."""

    def mend(said: str, call: Call, folder: Path) -> Call:
        value = r"\{[^{}]*(?:\{[^{}]*\})*\}|\[[^\]]*\]|\([^)]*\)|'[^']*'|\"[^\"]*\""
        given = [g for g in re.findall(rf"\b{name}=({value})", said) if "..." not in g]
        assert given, said
        return {**call, name: ast.literal_eval(given[0])}

    return mend


def python(**more: object) -> Callable[[str, Call, Path], Call]:
    """Run the first code that a message gives, on the table that is read, or on its path."""

    def mend(said: str, call: Call, folder: Path) -> Call:
        found = re.search(
            r"in Python(?:[^:]*): (.*?)(?:\. Read it|\. If |, and |\. The raters|, if it| \[[a-z])",
            re.sub(r"in Python\. If [^:]*:", "in Python:", said),
        )
        assert found is not None, said
        source = call["source"]
        path = source if isinstance(source, Path) else None
        frame = pd.read_csv(path) if path and path.suffix == ".csv" else source
        space = {"frame": frame, "pandas": pd, "json": json, "path": path, "pathlib": pathlib}
        exec(found[1], space)
        lines = re.search(r"a task file of the line (labels = \[.*?\])", said)
        if lines:
            (folder / "options.toml").write_text(lines[1], encoding="utf-8")
            more["task"] = folder / "options.toml"
        return {**call, "source": space["frame"], **more}

    return mend


def call(
    source: object = None, task: str | None = "single", **more: object
) -> Callable[[Path], Call]:
    """Return a call; None is the table of above."""
    return lambda folder: {
        "source": table() if source is None else source,
        "task": task,
        **{k: v.copy() if isinstance(v, dict) else v for k, v in more.items()},
    }


def file(text: str | bytes, name: str = "ratings.csv", **more: object) -> Callable[[Path], Call]:
    """Return a call that reads a file."""

    def make(folder: Path) -> Call:
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)
        return {"source": folder / name, "task": "single", **more}

    return make


def archive(**texts: str) -> bytes:
    """Return the bytes of a ZIP archive of files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, text in texts.items():
            packed.writestr(f"{name}.csv", text)
    return data.getvalue()


def book(folder: Path) -> Call:
    """Write a spreadsheet of two sheets."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(folder / "ratings.xlsx") as sheets:
        for name in ("one", "two"):
            table().to_excel(sheets, sheet_name=name, index=False)
    return {"source": folder / "ratings.xlsx", "task": "single"}


def instead(**more: object) -> Callable[[str, Call, Path], Call]:
    """Do what a message says in words: give other arguments, or another table."""
    return lambda said, before, folder: {**before, **more}


DIRECTED = 'labels = [{{name = "label", classes = [], better = {}}}]'


def _with_good_class(said: str, call: Call, folder: Path) -> Call:
    """Write the class that a message names into the task file."""
    named = re.search(r"such as better = (\"[^\"]*\")", said)
    assert named is not None, said
    return {**call, "task": _written(folder, DIRECTED.format(named[1]))}


DAMAGED = '[{"id": 1, "data": {}, "annotations": [{"id": 1, "completed_by": 1}]}]'
EMPTY = '[{"id": 1, "data": {}, "annotations": []}]'


def exported_again() -> Callable[[str, Call, Path], Call]:
    """Write an export as the tool does."""
    result = [{"from_name": "tone", "type": "choices", "value": {"choices": ["x"]}}]
    tasks = [
        {"id": 1, "data": {}, "annotations": [{"completed_by": who, "result": result}
                                              for who in (1, 2)]}
    ]  # fmt: skip

    def mend(said: str, before: Call, folder: Path) -> Call:
        (folder / "export.json").write_text(json.dumps(tasks))
        return before

    return mend


def without(*names: str) -> Callable[[str, Call, Path], Call]:
    return lambda said, before, folder: {k: v for k, v in before.items() if k not in names}


def column(**new: object) -> Callable[[str, Call, Path], Call]:
    """Mend columns of the table."""
    return lambda said, before, folder: {**before, "source": before["source"].assign(**new)}


def rewritten(text: str | bytes, name: str = "ratings.csv") -> Callable[[str, Call, Path], Call]:
    """Write the file as the message says."""
    return lambda said, before, folder: {**before, **file(text, name)(folder)}


def classes(*names: str) -> Callable[[Ratings], bool]:
    return lambda ratings: ratings.task.labels[0].classes == names


def shape(items: int, raters: int, count: int) -> Callable[[Ratings], bool]:
    return lambda r: (len(r.items), len(r.raters), len(r.answers)) == (items, raters, count)


def options(*names: str) -> Callable[[Ratings], bool]:
    return lambda ratings: set(ratings.task.label_names) == set(names)


GOOD = "item,rater,label\n1,a,x\n1,b,y\n2,a,x\n"
NUMBERS = [str(n) for n in range(ITEMS)]
OPTIONS = ["calm", "calm|sad", "sad", "angry", "angry|sad", "calm"]
CHOSEN = [["calm"], ["calm", "sad"], ["sad"], ["angry"], [], ["angry", "sad"]]
WIDE = {"Ann": list("xyzx") * 3, "Ben": list("xyyx") * 3, "Cem": list("xzzy") * 3}
BINARY = table(label=list("0110") * 6)
UNITS = {
    "query": [f"q{n // 20}" for n in range(200)],
    "model": [("m", "n")[n // 2 % 2] for n in range(200)],
    "chunk": [f"c{n // 4 % 5}" for n in range(200)],
    "rater": list("ab") * 100,
    "label": [("x", "y")[(n // 2 * (n // 2 + 3) // 5 + (n % 7 == 0)) % 2] for n in range(200)],
}
RANKED = pd.DataFrame(
    {
        "query": ["q", "q", "r"],
        "item": [1, 2, 3],
        "rater": "a",
        "label": list("xyx"),
    }
)
LONG = pd.DataFrame(
    {
        "item": [1, 1],
        "rater": "a",
        "label": ["misleading", "topically_relevant"],
        "value": ["no", "yes"],
        "replicate": 1,
        "session": ["s1", "s2"],
    }
)

# fmt: off
KINDS = [
    # Files.
    Kind(code="empty-file", call=file(""), mend=rewritten(GOOD)),
    Kind(code="encoding", call=file(GOOD.encode("utf-16"), encoding="ascii"),
         mend=without("encoding")),
    Kind(code="binary-file", call=file(bytes(range(256)) * 9), mend=rewritten(GOOD)),
    Kind(
        code="json-file",
        call=file('{"item": "u1", "rater": "w1", "label": "x"}\n{"item": "u2",\n', "a.jsonl"),
        mend=instead(set_aside=True),
        right=lambda r: len(r.answers) == 1 and r.accounting.rows_read == 2,
    ),
    Kind(
        code="json-file",
        call=file('[{"item": "u1", ', "answers.json"),
        mend=rewritten('[{"item": "u1", "rater": "w1", "label": "x"}]', "answers.json"),
    ),
    Kind(code="web-page", call=file("<!doctype html><p>Sign in"), mend=rewritten(GOOD)),
    Kind(code="lfs-pointer", call=file("version https://git-lfs.github.com/spec/v1\n"),
         mend=rewritten(GOOD)),
    Kind(code="damaged-file", call=file(b"PK\x03\x04 a sheet"), mend=rewritten(GOOD)),
    Kind(code="damaged-file", call=file(b"\x1f\x8b\x08\x00broken"), mend=rewritten(GOOD)),
    Kind(code="unread-file", call=call("nowhere.csv"), mend=rewritten(GOOD)),
    Kind(code="source-type", call=call(5), mend=instead(source=table())),
    Kind(
        code="unparsed-file",
        call=file('item,"' + "x" * 200_000 + '"\n1,2\n'),
        mend=rewritten(GOOD),
    ),
    Kind(code="ragged-rows", call=file(GOOD + "3,a,b,c\n"), mend=rewritten(GOOD + '3,a,"b,c"\n')),
    Kind(
        code="folder-without-task",
        call=lambda folder: (file("item,remark\n1,a\n", "a.csv")(folder)
                             | file(GOOD, "singel.csv")(folder) | {"source": folder}),
        mend=lambda said, before, folder: {
            **before, "source": folder / re.search(r"(\w+\.csv);", said)[1]
        },
    ),
    Kind(code="folder-without-task", call=lambda folder: call(folder / "empty")(folder)
         | {"source": _empty(folder)}, mend=lambda said, before, folder: {
             **before, **file(GOOD)(before["source"]), "source": before["source"]}),
    Kind(
        code="json-file",
        call=file('[{"item": "u1", "rater": "w1", "label": "x"},', "answers.json"),
        mend=rewritten('[{"item": "u1", "rater": "w1", "label": "x"}]', "answers.json"),
    ),
    Kind(
        code="json-shape",
        call=file("[1, 2]", "answers.json"),
        mend=rewritten('[{"item": "u1", "rater": "w1", "label": "x"}]', "answers.json"),
    ),
    Kind(
        code="several-files",
        call=file(archive(a=GOOD, b="item,remark\n1,a\n"), "answers.zip"),
        mend=rewritten(archive(a=GOOD), "answers.zip"),
    ),
    Kind(code="several-sheets", call=book, mend=argument("sheet")),
    Kind(code="unknown-sheet", call=lambda folder: book(folder) | {"sheet": "three"},
         mend=instead(sheet="two")),
    Kind(code="damaged-export", call=file(DAMAGED, "export.json"), mend=exported_again()),
    Kind(code="no-ratings", call=file(EMPTY, "export.json"), mend=exported_again()),
    # Tables of another shape.
    Kind(
        code="wide-table",
        call=call(pd.DataFrame({"unit": NUMBERS, **WIDE})),
        mend=argument("wide"),
        right=shape(ITEMS, 3, 36),
    ),
    Kind(
        code="wide-table",
        call=call(pd.DataFrame({"Timestamp": NUMBERS, "Email Address": NUMBERS, **WIDE})),
        mend=argument("wide_items"),
        right=shape(3, ITEMS, 36),
    ),
    Kind(
        code="wide-table",
        call=call(pd.DataFrame(WIDE)),
        mend=argument("wide"),
        right=shape(ITEMS, 3, 36),
    ),
    Kind(
        code="wide-table",
        call=call(pd.DataFrame({"unit": NUMBERS, "rater1": list("abca") * 3,
                                "rater2": list("bcab") * 3, "is1": list("xyxx") * 3,
                                "is2": list("xyyx") * 3})),
        mend=lambda said, before, folder: (
            argument("rater")(said, before, folder) | argument("labels")(said, before, folder)
        ),
        right=shape(ITEMS, 3, 24),
    ),
    Kind(
        code="wide-table",
        call=call(pd.DataFrame({"unit": NUMBERS} | {
            f"{system}_ann{n}": list("xyyxxy"[n:] + "xyyxxy"[:n]) * 2
            for system in ("gpt4", "llama") for n in (1, 2, 3)
        })),
        mend=argument("wide"),
        right=lambda r: shape(2 * ITEMS, 3, 72)(r) and list(r.systems) == ["gpt4", "llama"],
    ),
    Kind(
        code="count-table",
        call=call(
            pd.DataFrame({"unit": NUMBERS, "x": [3, 2, 0] * 4, "y": [1, 1, 4] * 4,
                              "z": [0, 1, 0] * 4})
        ),
        mend=argument("counts"),
        right=lambda r: shape(ITEMS, 4, 4 * ITEMS)(r) and classes("x", "y", "z")(r),
    ),
    Kind(
        code="count-table",
        call=call(pd.DataFrame({"case": NUMBERS, "x": [3, 2, 0, 5] * 3, "y": [1, 1, 4, 0] * 3})),
        mend=argument("counts"),
        right=lambda r: len(r.answers) == 48 and classes("x", "y")(r),
    ),
    Kind(
        code="one-hot",
        call=call(table(x=[1, 0, 0] * 8, y=[0, 1, 0] * 8, z=[0, 0, 1] * 8).drop(columns="label")),
        mend=argument("counts"),
        right=lambda r: shape(ITEMS, 2, 24)(r) and classes("x", "y", "z")(r),
    ),
    Kind(
        code="one-hot",
        call=call(
            table(x=["x", "", ""] * 8, y=["", "x", ""] * 8, z=["", "", "x"] * 8)
            .drop(columns="label")
        ),
        mend=argument("counts"),
        right=lambda r: shape(ITEMS, 2, 24)(r) and classes("x", "y", "z")(r),
    ),
    Kind(
        code="no-answers",
        call=call(table(relevant=list("xyyx") * 6, Certainty=list("abca") * 6)
                  .drop(columns="label")),
        mend=argument("labels"),
        right=lambda r: shape(ITEMS, 2, 24)(r) and classes("x", "y")(r),
    ),
    # Cells of several values.
    Kind(
        code="broken-cells",
        call=call(table(answer=['{"relevant": "x"}', '{"relevant": "y"}', '{"relevant": "x"}'] * 7
                        + ['{"relevant": "y"}', '{"relevant": "x"}', "ERROR timeout"])
                  .drop(columns="label"), labels="relevant"),
        mend=instead(set_aside=True),
        right=lambda r: len(r.answers) == 23 and classes("x", "y")(r),
    ),
    Kind(
        code="multi-select",
        call=call(table(label=OPTIONS * 4)),
        mend=python(),
        right=options("angry", "calm", "sad"),
    ),
    Kind(
        code="multi-select",
        call=call(table(label=[f"{'; '.join(chosen)};" for chosen in CHOSEN[:4]] * 6)),
        mend=python(),
        right=options("angry", "calm", "sad"),
    ),
    Kind(
        code="multi-select",
        call=call(table(label=CHOSEN * 4)),
        mend=python(),
        right=lambda r: options("angry", "calm", "sad")(r) and int(r.abstained.sum()) == 4,
    ),
    Kind(
        code="multi-select",
        call=call(table(label=[np.array(chosen) for chosen in CHOSEN] * 4)),
        mend=python(),
        right=options("angry", "calm", "sad"),
    ),
    Kind(
        code="multi-select",
        call=call(table(label=[json.dumps(chosen) for chosen in CHOSEN] * 4)),
        mend=python(),
        right=options("angry", "calm", "sad"),
    ),
    Kind(
        code="multi-select",
        call=call(table(label=[np.array(chosen) for chosen in [[1.0], [1.0, 2.0], [2.0]]] * 8)),
        mend=python(),
        right=options("1.0", "2.0"),
    ),
    Kind(
        code="multi-select-rows",
        call=call(table(label=CHOSEN * 4).explode("label"), replicate="row"),
        mend=instead(replicate="options", task=None),
        right=options("angry", "calm", "sad"),
    ),
    Kind(
        code="list-cells",
        call=call(
            pd.DataFrame({"item": [1, 2], "folk": [["a", "b"], ["a", "c"]],
                              "label": [["x", "y"], ["x", "x"]]})
        ),
        mend=argument("rater"),
        right=shape(2, 3, 4),
    ),
    Kind(
        code="too-many-states",
        call=call(table(**{f"q{n}": list("abcdef") * 4 for n in range(5)}), task=None,
                  labels={f"q{n}": f"q{n}" for n in range(5)}),
        mend=argument("labels"),
        right=lambda r: len(r.task.labels) == 3,
    ),
    Kind(
        code="list-cells",
        call=call(pd.DataFrame({"item": NUMBERS, "label": [list("xxy"), list("xyz")] * 6})),
        mend=python(),
        right=shape(ITEMS, 3, 3 * ITEMS),
    ),
    Kind(
        code="list-cells",
        call=call(pd.DataFrame({"item": NUMBERS, "label": ["x|x|y", "y|y|x"] * 6})),
        mend=python(),
        right=shape(ITEMS, 3, 3 * ITEMS),
    ),
    Kind(
        code="list-cells",
        call=call(pd.DataFrame({"item": [1, 2, 3], "rater": [["a", "b"]] * 3,
                                "label": [["x", "y"], ["x"], ["y", "y"]]})),
        mend=instead(set_aside=True),
        right=lambda r: shape(2, 2, 4)(r) and len(r.accounting.set_aside) == 1,
    ),
    Kind(
        code="nested-cells",
        call=call(table(label=["{'value': Tone('x')}", "{'value': Tone('y')}"] * ITEMS)),
        mend=column(label=["x", "y"] * ITEMS),
        right=classes("x", "y"),
    ),
    # Columns.
    Kind(
        code="no-answers",
        call=call(table(tone=list("xyzx") * 6).drop(columns="label")),
        mend=argument("labels"),
    ),
    Kind(code="no-item", call=call(table().rename(columns={"item": "essay"})),
         mend=argument("item"), right=shape(ITEMS, 2, 2 * ITEMS)),
    Kind(code="no-rater", call=call(table().rename(columns={"rater": "by"})),
         mend=instead(rater="by"), right=shape(ITEMS, 2, 2 * ITEMS)),
    Kind(code="no-rater", call=call(table(text=range(24)).drop(columns="rater")),
         mend=argument("rater"), right=shape(ITEMS, 2, 2 * ITEMS)),
    Kind(
        code="which-column",
        call=call(pd.DataFrame(
            [(f"{n} x", a, b, "xy"[(n + len(a + b)) % 3 > 0]) for n in range(12)
             for a in ("one", "three", "four") for b in ("i", "vii", "viii", "iix")],
            columns=["a", "b", "c", "d"])),
        mend=instead(rater="c", item=["a", "b"], labels="d"),
    ),
    Kind(
        code="no-rater",
        call=call(pd.DataFrame({"item": [1, 1, 2], "label": list("xyx"), "n": [3, 1, 4],
                                "day": list("abc")})),
        mend=argument("rater"),
        right=shape(2, 4, 8),
    ),
    Kind(
        code="no-counts",
        call=call(pd.DataFrame({"item": [1, 2], "x": [1, 2], "y": [2, 1], "z": ["a", "b"]}),
                  counts=["x", "y", "z"]),
        mend=argument("counts"),
        right=shape(2, 3, 6),
    ),
    Kind(code="unknown-column", call=call(rater="ratr"), mend=instead(rater="rater")),
    Kind(code="unknown-label", call=call(labels={"lable": "label"}),
         mend=instead(labels={"label": "label"})),
    Kind(code="shared-column", call=call(task="grounding", labels={
        "support_present": "label", "source_cited": "label"}),
        mend=lambda said, before, folder: {
            **before, "labels": {"support_present": "label"},
            "source": table(label=["yes", "no"] * ITEMS),
        }),
    Kind(code="empty-labels", call=call(labels={}), mend=instead(labels={"label": "label"})),
    Kind(code="labels-count", call=call(labels=["label", "item"]), mend=instead(labels=["label"])),
    Kind(code="argument-type", call=call(labels=5), mend=instead(labels="label")),
    Kind(code="one-column-several-labels", call=call(
        table(label="yes", p=0.5).rename(columns={"label": "misleading"}), "retrieval", score="p"),
        mend=instead(score={"misleading": "p"})),
    Kind(
        code="which-item",
        call=call(table(answer_id=[n // 2 for n in range(24)],
                        question=[(n // 2 + n % 2) % ITEMS for n in range(24)])
                  .drop(columns="item")),
        mend=argument("item"),
    ),
    Kind(
        code="item-or-system",
        call=call(table(system=["m", "n"] * ITEMS).rename(columns={"item": "question"})),
        mend=argument("item"),
        right=shape(2 * ITEMS, 2, 2 * ITEMS),
    ),
    Kind(
        code="item-key",
        call=call(pd.DataFrame(UNITS)),
        mend=argument("item"),
        right=lambda r: len(r.items) == 100 and not r.replicate.any(),
    ),
    Kind(
        code="item-key",
        call=call(pd.DataFrame(UNITS), replicate="row"),
        mend=lambda said, before, folder: argument("item")(
            said, without("replicate")(said, before, folder), folder
        ),
        right=lambda r: len(r.items) == 100 and not r.replicate.any(),
    ),
    Kind(
        code="same-names",
        call=call(table(query=["a/b", "a"] * ITEMS, chunk=["c", "b/c"] * ITEMS),
                  item=["query", "chunk"], replicate="row"),
        mend=column(query=["a:b", "a"] * ITEMS, chunk=["c", "b:c"] * ITEMS),
    ),
    # Answers.
    Kind(
        code="unknown-class",
        call=call(table(label=["no", "yess"] * ITEMS).rename(columns={"label": "misleading"}),
                  "retrieval"),
        mend=argument("classes"),
        right=lambda r: set(r.answers[:, 2]) == {0, 1},
    ),
    Kind(
        code="unknown-class",
        call=call(table(label=["no", "unsure"] * ITEMS).rename(columns={"label": "misleading"}),
                  "retrieval"),
        mend=argument("classes"),
        right=lambda r: int(r.abstained.sum()) == ITEMS,
    ),
    Kind(
        code="too-many-classes",
        call=call(pd.DataFrame({"item": [n // 2 for n in range(400)], "rater": list("ab") * 200,
                                "label": [n / 400 for n in range(400)]})),
        mend=lambda said, before, folder: {**before, "score": "label"},
        right=lambda r: bool(np.isfinite(r.scores).all()),
    ),
    Kind(
        code="too-many-classes",
        call=call(pd.DataFrame({"item": range(300), "rater": "a",
                                "label": [f"well, {n}" for n in range(300)]})),
        mend=lambda said, before, folder: {
            **before, "source": before["source"].assign(label=["x", "y", "z"] * 100)},
    ),
    Kind(
        code="too-many-classes",
        call=call(pd.DataFrame({"item": range(300), "rater": "a", "label": range(300),
                                    "grade": list("xyz") * 100})),
        mend=instead(labels="grade"),
    ),
    Kind(
        code="no-classes",
        call=lambda folder: {
            "source": table(q="p", value="x").assign(q=["tone", "lang"] * ITEMS),
            "task": _written(folder, 'labels = [{name = "tone", classes = []}, '
                             '{name = "lang", classes = []}]'),
            "label": "q", "value": "value",
        },
        mend=lambda said, before, folder: {
            **before,
            "task": _written(folder, 'labels = [{name = "tone", classes = ["x", "y"]}, '
                             '{name = "lang", classes = ["x", "y"]}]'),
        },
    ),
    Kind(
        code="label-direction",
        call=lambda folder: call(task=_written(folder, DIRECTED.format('"higher"')))(folder),
        mend=_with_good_class,
        right=lambda r: r.task.labels[0].better == "x",
    ),
    Kind(
        code="label-direction",
        call=lambda folder: call(task=_written(folder, DIRECTED.format('"Y"')))(folder),
        mend=instead(task=None),
    ),
    Kind(
        code="minus-one",
        call=call(table(label=["0", "1", "-1"] * 8)),
        mend=argument("classes"),
        right=lambda r: classes("0", "1")(r) and int(r.abstained.sum()) == 8,
    ),
    Kind(code="no-answer-given", call=call(table(label="")), mend=column(label=["x", "y"] * ITEMS)),
    Kind(
        code="repeated-ratings",
        call=call(pd.concat([table(), table(label=list("xyzxyyxy") * 3)])),
        mend=argument("replicate"),
        right=lambda r: int(r.replicate.sum()) == 2 * ITEMS,
    ),
    # Truth.
    Kind(
        code="truth-vocabulary",
        call=call(table(label=["pass", "fail"] * ITEMS).assign(
            label=[("pass", "fail")[n // 2 % 2] for n in range(24)],
            gold=[(1, 0)[n // 2 % 2] for n in range(24)]), truth="gold"),
        mend=argument("classes"),
        right=lambda r: classes("fail", "pass")(r) and set(r.truth[:, 0]) == {0, 1},
    ),
    Kind(
        code="truth-several",
        call=call(table(gold=["x\ny", "x\ny", "x", "x", "y", "y"] * 4), truth="gold"),
        mend=lambda said, before, folder: {
            **before, "source": before["source"].assign(
                gold=before["source"]["gold"].mask(before["source"]["gold"] == "x\ny"))},
        right=lambda r: int((r.truth[:, 0] < 0).sum()) == ITEMS // 3,
    ),
    Kind(code="truth-not-found", call=call(table(gold="x"), truth="godl"),
         mend=lambda said, before, folder: {
             **before, "truth": re.search(r"did you mean (\w+)\?", said)[1]}),
    Kind(code="truth-items", call=call(truth=pd.DataFrame({"unit": [1], "label": ["x"]})),
         mend=instead(truth=pd.DataFrame({"item": [1], "label": ["x"]}))),
    Kind(code="truth-labels", call=call(truth=pd.DataFrame({"item": [1], "remark": ["x"]})),
         mend=instead(truth=pd.DataFrame({"item": [1], "gold": ["x"]}))),
    Kind(code="truth-conflict",
         call=call(truth=pd.DataFrame({"item": [1, 1], "label": ["x", "y"]})),
         mend=instead(truth=pd.DataFrame({"item": [1], "label": ["y"]}))),
    Kind(code="truth-unmatched", call=call(truth=pd.DataFrame({"item": ["A"], "label": ["x"]})),
         mend=instead(truth=pd.DataFrame({"item": [1], "label": ["x"]}))),
    Kind(
        code="truth-impossible",
        call=call(table(label="no").rename(columns={"label": "misleading"}), "retrieval",
                  truth=pd.DataFrame({"item": [1], "topically_relevant": ["no"],
                                          "evidence_sufficient": ["yes"]})),
        mend=instead(truth=pd.DataFrame({"item": [1], "topically_relevant": ["yes"],
                                             "evidence_sufficient": ["yes"]})),
    ),
    Kind(code="unknown-truth-rater", call=call(truth_rater="bb"), mend=instead(truth_rater="b")),
    Kind(code="binary-spellings", call=call(table(label=["yes", "no", "1", "0"] * 6), task=None),
         mend=argument("classes")),
    Kind(code="truth-twice", mend=without("truth_rater"),
         call=call(truth_rater="b", truth=pd.DataFrame({"item": [1], "label": ["x"]}))),
    Kind(code="two-roles", call=call(labels="label", item="Label"), mend=without("item")),
    Kind(code="two-roles", call=call(labels={"label": "label"}, rater="label"),
         mend=without("rater")),
    # Scores, times, audits, sessions.
    Kind(code="no-number", call=call(table(label=["no", "yes"] * ITEMS, score=87)),
         mend=argument("score_range")),
    Kind(code="no-number",
         call=call(table(score=[1, 5, 3, 4] * 6, kind=["u", "v"] * ITEMS, text=[*range(24)])
              .drop(columns="label"), task=None),
         mend=argument("labels"), right=classes("1", "3", "4", "5")),
    Kind(code="score-range", call=call(score_range=(1, 0)), mend=instead(score_range=(0, 1))),
    Kind(code="score-and-confidence", call=call(table(label=["no", "yes"] * ITEMS, s=0.5, c=0.5),
                                                score="s", confidence="c"),
         mend=without("confidence")),
    Kind(
        code="score-without-order",
        call=call(table(p=0.5), score="p"),
        mend=lambda said, before, folder: {
            **before,
            "task": _written(folder, 'labels = [{name = "label", classes = ["x", "y", "z"], '
                             "ordered = true}]"),
        },
        right=lambda r: bool(np.isfinite(r.scores).all()),
    ),
    Kind(code="seconds-columns", call=call(table(s=1, t=2), seconds=["s", "t"]),
         mend=instead(seconds="s")),
    Kind(code="audit-words", call=call(table(audit=["right", "later"] * ITEMS)),
         mend=column(audit=["right", ""] * ITEMS)),
    Kind(code="no-session-column", call=call(table(day=["u", "v"] * ITEMS), sessions=["u", "v"]),
         mend=instead(session="day")),
    Kind(code="sessions-argument", call=call(table(session=["u", "v"] * ITEMS), sessions=["u"]),
         mend=instead(sessions=["u", "v"])),
    Kind(code="rating-sessions", call=call(LONG, "retrieval"), mend=argument("replicate")),
    # What belongs to items, raters, panels.
    Kind(code="changing-value", call=call(table(stratum=["p", "q"] * ITEMS)),
         mend=argument("stratum")),
    Kind(
        code="changing-value",
        call=call(table(query=["p", "q"] * ITEMS)),
        mend=argument("item"),
        right=shape(2 * ITEMS, 2, 2 * ITEMS),
    ),
    Kind(code="changing-value", call=call(table(domain=["p", "q"] * ITEMS), covariates="domain"),
         mend=without("covariates")),
    Kind(code="weight-words", call=call(table(weight="heavy")), mend=column(weight=2)),
    Kind(code="group-incomplete", call=call(group={"a": "people"}),
         mend=instead(group={"a": "people", "b": "people"})),
    Kind(code="covariate-name", call=call(table(stratum="p"), covariates="stratum"),
         mend=lambda said, before, folder: {
             **before, "source": before["source"].rename(columns={"stratum": "domain"}),
             "covariates": "domain"}),
    Kind(code="covariate-gaps", call=call(table(domain=["", "", "p", "p"] * 6),
                                          covariates="domain"),
         mend=column(domain=["unknown", "unknown", "p", "p"] * 6)),
    Kind(code="rank-words", call=call(RANKED.assign(rank=["first", "2", "1"])),
         mend=column(rank=["1", "2", "1"])),
    Kind(code="panel-ranks", call=call(RANKED.assign(rank=["1", "1", "1"])),
         mend=column(rank=["1", "2", "1"])),
    Kind(code="panel-clusters", call=call(RANKED.assign(panel="p")),
         mend=column(panel=["p", "p", "o"])),
    Kind(code="share-table", call=call(
        pd.DataFrame({"item": range(ITEMS), "share_yes": [0.5, 0.25, 1.0] * 4, "n": 4})),
        mend=argument("counts"), right=shape(ITEMS, 4, 4 * ITEMS)),
    Kind(code="order-of-words", call=call(ordered=True), mend=instead(ordered=None)),
    Kind(code="panels-key", call=call(panels=pd.DataFrame({"list": [1]})),
         mend=instead(panels=pd.DataFrame({"rater": ["a", "b"], "system": ["m", "n"]}))),
    Kind(code="panels-values", call=call(panels=pd.DataFrame({"rater": ["c"], "system": ["m"]})),
         mend=instead(panels=pd.DataFrame({"rater": ["a", "b"], "system": ["m", "n"]}))),
    Kind(code="panels-repeat",
         call=call(panels=pd.DataFrame({"rater": ["a", "a"], "system": ["m", "n"]})),
         mend=instead(panels=pd.DataFrame({"rater": ["a", "b"], "system": ["m", "n"]}))),
    Kind(code="panels-unmatched",
         call=call(panels=pd.DataFrame({"item": ["A"], "system": "m"})),
         mend=instead(panels=pd.DataFrame({"item": range(ITEMS), "system": "m"}))),
]
# fmt: on


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def _written(folder: Path, text: str) -> Path:
    (folder / "own.toml").write_text(text, encoding="utf-8")
    return folder / "own.toml"


def problems_of(call: Mapping[str, Any]) -> RatingsError:
    with pytest.raises(RatingsError) as caught:
        read_ratings(**call)
    return caught.value


@pytest.mark.parametrize("kind", KINDS, ids=[f"{n}-{kind.code}" for n, kind in enumerate(KINDS)])
def test_a_problem_is_told_and_its_mend_works(kind: Kind, tmp_path: Path) -> None:
    call = kind.call(tmp_path)
    error = problems_of(call)
    found = {problem.code: problem for problem in error.problems}
    assert kind.code in found
    assert f"[{kind.code}]" in str(error)
    ratings = read_ratings(**kind.mend(str(found[kind.code]), call, tmp_path))
    assert kind.right(ratings)


BY_HAND = {
    "binary-file": "a file that no program is known to have written",
    "damaged-export": "nothing in it is whole",
    "damaged-file": "a packed file that is cut off cannot be unpacked",
    "empty-file": "there is nothing to read",
    "folder-without-task": "the folder holds no table",
    "json-file": "no record in it is whole",
    "json-shape": "it holds no records",
    "label-direction": "only a person knows which class is good",
    "lfs-pointer": "git has to fetch the file",
    "nested-cells": "only a person knows which part of a dictionary is the answer",
    "no-answer-given": "there is nothing to read",
    "no-ratings": "there is nothing to read",
    "same-names": "only a person knows how to call the items",
    "source-type": "the object is no table",
    "too-many-classes": "texts are no classes, and no other column holds any",
    "unparsed-file": "a quotation mark stands open to the end",
    "which-column": "only a person knows who rated",
    "web-page": "a page that asks for a password holds no table",
    "unread-file": "no file is beside it that may be meant",
}
"""Kinds of which some inputs have to be mended by hand, with the reason: no argument reads them.

The message says what to do.
"""
STEPS = 3


@pytest.mark.parametrize("kind", KINDS, ids=[f"{n}-{kind.code}" for n, kind in enumerate(KINDS)])
def test_a_refusal_ends_with_arguments_that_go_on(kind: Kind, tmp_path: Path) -> None:
    call = kind.call(tmp_path)
    error = problems_of(call)
    if kind.code in BY_HAND and not error.go_on:
        assert all(problem.mend for problem in error.problems)
        return
    for _ in range(STEPS):
        assert error.go_on, str(error)
        call |= error.go_on
        try:
            assert len(read_ratings(**call).answers)
            return
        except RatingsError as again:
            error = again
    pytest.fail(f"still refused: {error}")


def codes_in_source() -> dict[str, list[str]]:
    """Return the codes that are written in the reader, and where."""
    found: dict[str, list[str]] = {}
    folder = Path(assay.io.__file__).parent
    for path in sorted(
        [*folder.glob("*.py"), *folder.glob("files/*.py"), *folder.glob("formats/annot*.py")]
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            given = given_code(node)
            if given is None:
                continue
            place = f"{path.name}:{node.lineno}"
            options = [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]
            for option in options:
                if isinstance(option, ast.Constant):
                    found.setdefault(str(option.value), []).append(place)
                else:
                    assert path.name == "reading_log.py", f"{place}: no code"
    return found


def given_code(node: ast.AST) -> ast.expr | None:
    """Return what a call that reports a problem gives as its code."""
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "Problem":
        return next((k.value for k in node.keywords if k.arg == "code"), ast.Name(id="none"))
    if name == "problem":
        return node.args[0]
    if name == "of" and getattr(node.func.value, "id", "") == "RatingsError":
        return node.args[0]
    if name == "RatingsError":
        assert not isinstance(node.args[0], ast.Constant | ast.JoinedStr), "a text has no code"
    return None


def test_every_kind_has_an_input_and_a_mend() -> None:
    written = codes_in_source()
    assert set(written) == {kind.code for kind in KINDS} | {"excel-missing"}  # see test_sources
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in written)


@pytest.mark.parametrize("code", ["item-key", "minus-one", "truth-vocabulary", "which-item"])
def test_what_a_message_advises_is_typed_on_the_command_line_too(code: str, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from assay.cli import app

    kind = next(kind for kind in KINDS if kind.code == code)
    call = kind.call(tmp_path)
    call["source"].to_csv(tmp_path / "ratings.csv", index=False)
    typed = ["check", str(tmp_path / "ratings.csv"), "--task", "single"]
    typed += [f"--truth={call['truth']}"] if "truth" in call else []
    before = CliRunner().invoke(app, typed)
    assert before.exit_code == 1
    said = in_options(str(problems_of(call)))
    advice = re.search(
        r"(--(?:item|word) (?:'[^']*'|\S+)(?: --(?:item|word) (?:'[^']*'|\S+))*)", said
    )
    assert advice is not None
    after = CliRunner().invoke(app, [*typed, *shlex.split(advice[1].rstrip(";,"))])
    assert after.exit_code == 0, after.output
