"""No input ends in another exception than AssayError, whose code and names say what is wrong."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import (
    ArgumentError,
    AssayError,
    RatingsError,
    TaskError,
    UnknownNameError,
)
from assay.io import read_ratings
from assay.io.replicates import ANSWERED, EXACT
from assay.io.skip_logic import BROKEN

HEAD = "item,rater,topically_relevant,evidence_sufficient,misleading\n"
GOOD = HEAD + "1,a,yes,no,no\n"

MALFORMED: dict[str, tuple[bytes, str, tuple[str, ...]]] = {
    "a column without a name": (
        b";Ben;z;0,5;s1\ni6;Ann;x;0,6;s0\ni6;Ben;x;0,6;s0\ni7;Ann;y;0,7;s1\ni7;Ben;y;0,7;s1\n",
        "no-answers no-item no-rater",
        (),
    ),
    "empty file": (b"", "empty-file", ()),
    "blank file": (b"\n\n\r\n", "empty-file", ()),
    "byte order mark only": (b"\xef\xbb\xbf", "empty-file", ()),
    "header only": (HEAD.encode(), "empty-file", ("header",)),
    "binary": (bytes(range(256)) * 10, "binary-file", ()),
    "damaged archive": (b"PK\x03\x04" + b"xl/workbook", "damaged-file", ()),
    "short row": (
        (GOOD + "2,a,yes\n3,a,no,no,no\n").encode(),
        "ragged-rows",
        ("line 3 has 3", "5 fields"),
    ),
    "long row": (
        (GOOD + "2,a,yes,no,no,no\n").encode(),
        "ragged-rows",
        ("line 3 has 6", "5 fields"),
    ),
    "unclosed quote": (
        (GOOD + '2,"a,yes,no,no\n3,b,no,no,no\n').encode(),
        "unparsed-file",
        ("line 3",),
    ),
    "no rater": (
        b"item,topically_relevant\n1,yes\n",
        "no-rater",
        ("topically_relevant", "`rater=`"),
    ),
    "no item": (b"rater,topically_relevant\na,yes\n", "no-item", ("`item=`",)),
    "half an item": (
        b"record_uuid,rater,topically_relevant\nu,a,yes\n",
        "no-item",
        ("chunk_id", "record_uuid"),
    ),
    "no label": (b"item,rater,text\n1,a,hello\n", "no-answers", ("misleading",)),
    "one column": (b"item\n1\n", "no-answers no-rater", ()),
    "unknown value": (
        (GOOD + "2,a,perhaps,no,no\n3,a,perhaps,no,no\n").encode(),
        "unknown-class",
        ("'perhaps'", "topically_relevant", "(2 times)", "lines 3, 4", "yes"),
    ),
    "unknown values in two columns": (
        (GOOD + "2,a,2,no,no\n3,a,no,no,maybe\n").encode(),
        "unknown-class unknown-class",
        ("'2'", "'maybe'"),
    ),
    "all empty answers": (
        (HEAD + "1,a,,,\n2,a,NA,nan,null\n").encode(),
        "no-answer-given",
        (),
    ),
    "all rows set aside": (
        (HEAD + ",a,yes,no,no\n").encode(),
        "no-answer-given",
        ("no item",),
    ),
    "repeat that differs": (
        (GOOD + "1,a,no,no,no\n").encode(),
        "repeated-ratings",
        ("lines 2, 3", 'replicate="row"'),
    ),
    "replicate that repeats": (
        b"item,rater,replicate,misleading\n1,a,1,no\n1,a,1,yes\n",
        "repeated-ratings",
        ("replicate", "lines 2, 3"),
    ),
    "cluster that changes": (
        b"item,rater,query,misleading\n1,a,q1,no\n1,b,q2,no\n",
        "changing-value",
        ("cluster", "'1'", "'q1'", "'q2'", "lines 2, 3"),
    ),
    "rank that is no number": (
        b"item,rater,query,rank,misleading\n1,a,q1,first,no\n",
        "rank-words",
        ("'first'", "column rank, line 2"),
    ),
    "rank twice": (
        b"item,rater,query,rank,misleading\n1,a,q1,1,no\n2,a,q1,1,no\n",
        "panel-ranks",
        ("'q1'", "items share"),
    ),
    "item at two ranks": (
        b"item,rater,query,rank,misleading\n1,a,q1,1,no\n1,b,q1,2,no\n",
        "panel-ranks",
        ("'q1'", "several ranks"),
    ),
    "negative rank": (
        b"item,rater,query,rank,misleading\n1,a,q1,-1,no\n",
        "rank-words",
        ("'-1'",),
    ),
    "weight": (b"item,rater,weight,misleading\n1,a,heavy,no\n", "weight-words", ("'heavy'",)),
    "weight below zero": (
        b"item,rater,weight,misleading\n1,a,-2,no\n",
        "weight-words",
        ("positive",),
    ),
    "stratum that changes": (
        b"item,rater,stratum,misleading\n1,a,x,no\n1,b,y,no\n",
        "changing-value",
        ("stratum",),
    ),
    "label a row, unknown label": (
        b"item,rater,label,value\n1,a,misleading,no\n1,a,mislaeding,no\n",
        "unknown-label",
        ("'mislaeding'", "misleading?"),
    ),
    "label a row, twice": (
        b"item,rater,label,value\n1,a,misleading,no\n1,a,misleading,yes\n",
        "repeated-ratings",
        (),
    ),
    "damaged gzip": (b"\x1f\x8b\x08\x00broken", "damaged-file", ()),
    "damaged parquet": (b"PAR1 and nothing else PAR1", "damaged-file", ("Parquet",)),
    "no header": (b"1,a,yes,no,no\n2,a,no,no,no\n", "no-answers no-item no-rater", ("column 5",)),
    "score out of range": (
        b"item,rater,misleading,misleading_score\n1,a,no,0.2\n2,a,yes,87\n3,a,no,-1\n",
        "no-number",
        (
            "'87', '-1'",
            "column misleading_score, lines 3, 4",
            "from 0 to 1",
            "score_range=(0, 100)",
            "score=''",
        ),
    ),
    "confidence that is no number": (
        b"item,rater,misleading,misleading_confidence\n1,a,no,0.2\n2,a,yes,very\n3,a,no,\n",
        "no-number",
        ("score", "'very'", "line 3"),
    ),
    "confidence with a decimal comma": (
        b"item;rater;misleading;misleading_confidence\n1;a;no;0,5\n2;a;yes;0.5\n",
        "no-number",
        ("score", "'0,5'", "line 2"),
    ),
    "infinite score": (
        b"item,rater,misleading,misleading_score\n1,a,no,0.5\n2,a,yes,inf\n",
        "no-number",
        ("score", "'inf'"),
    ),
    "audit in other words": (
        b"item,rater,misleading,audit\n1,a,no,right\n2,a,yes,unsure\n3,a,yes,later\n",
        "audit-words",
        ("'unsure', 'later'", "lines 3, 4", "right or wrong", 'audit=""'),
    ),
    "negative time": (
        b"item,rater,misleading,seconds\n1,a,no,12\n2,a,yes,-3\n",
        "no-number",
        ("seconds", "'-3'", "column seconds, line 3", "from 0"),
    ),
    "the same item twice in a session": (
        b"item,rater,session,misleading\n1,a,s1,no\n1,a,s1,yes\n",
        "repeated-ratings",
        ("session", "lines 2, 3", 'replicate="row"'),
    ),
    "a rating in two sessions": (
        b"item,rater,label,value,replicate,session\n1,a,misleading,no,1,s1\n"
        b"1,a,topically_relevant,no,1,s2\n",
        "rating-sessions",
        ("column session, line 3",),
    ),
    "score, audit and time wrong at once": (
        b"item,rater,misleading,misleading_score,audit,seconds\n1,a,no,7,hm,4\n2,a,no,1,ok,-4\n",
        "no-number audit-words no-number",
        ("'7'", "'hm'", "'-4'"),
    ),
    "a word near a class": (
        b"item,rater,misleading\n1,a,no\n2,a,yess\n3,a,dunno\n",
        "unknown-class unknown-class",
        ("'yess'", "line 3", 'classes={"misleading": {"yess": "yes", "dunno": "..."}}', '""'),
    ),
    "huge field": ((GOOD + f"2,a,{'x' * 2_000_000},no,no\n").encode(), "unknown-class", ("...",)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused(name: str, tmp_path: Path) -> None:
    data, codes, words = MALFORMED[name]
    path = tmp_path / "ratings.csv"
    path.write_bytes(data)
    with pytest.raises(RatingsError) as caught:
        read_ratings(path, task="retrieval")
    assert [problem.code for problem in caught.value.problems] == codes.split()
    assert [word for word in words if word not in str(caught.value)] == []
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 4000


SET_ASIDE: dict[str, tuple[str, str, int]] = {
    "no item": (GOOD + ",a,yes,no,no\n", "no item", 3),
    "no rater": (GOOD + "2, ,yes,no,no\n", "no rater", 3),
    "row of separators": (
        GOOD + "\n2,a,no,yes,no\n",
        f"{BROKEN} sufficient_is_relevant",
        4,
    ),
    "blocked rule": (
        GOOD + "2,a,yes,yes,yes\n",
        f"{BROKEN} sufficient_is_not_misleading",
        3,
    ),
    "blocked though partly answered": (
        GOOD + "2,a,,yes,yes\n",
        f"{BROKEN} sufficient_is_not_misleading",
        3,
    ),
    "exact repeat": (GOOD + "1,a,yes,no,no\n", EXACT, 3),
    "abstention beside an answer": (
        GOOD + "1,a,,,\n",
        ANSWERED,
        3,
    ),
}


@pytest.mark.parametrize("name", SET_ASIDE)
def test_a_bad_row_is_set_aside_with_its_reason_and_line(name: str, tmp_path: Path) -> None:
    text, reason, line = SET_ASIDE[name]
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    account = read_ratings(path, task="retrieval").accounting
    assert account.reasons == {reason: 1}
    assert account.set_aside["line"].tolist() == [line]
    assert (account.rows_read, account.rows_used) == (2, 1)


TABLE = pd.DataFrame({"item": [1, 2], "rater": ["a", "b"], "label": ["x", "y"]})

CALLS: dict[str, tuple[dict[str, Any], type[AssayError], str, str]] = {
    "partial": ({"partial": "draf"}, ArgumentError, "argument-choice", "draft?"),
    "resolve": ({"resolve": "redo"}, ArgumentError, "argument-choice", "resolve='redo'"),
    "task name": ({"task": "singel"}, UnknownNameError, "unknown-task", "single?"),
    "task type": ({"task": 3}, TaskError, "argument-type", "`task=3`"),
    "task file": ({"task": "nowhere.toml"}, TaskError, "task-file", ""),
    "rater column": ({"rater": "raters"}, RatingsError, "unknown-column", "`rater='raters'`"),
    "item type": ({"item": [1, 2]}, RatingsError, "argument-type", "`item=`"),
    "role type": ({"cluster": 7}, RatingsError, "argument-type", "`cluster=`"),
    "labels column": ({"labels": "lable"}, RatingsError, "unknown-column", "label?"),
    "labels name": ({"labels": {"lab": "label"}}, RatingsError, "unknown-label", "single"),
    "labels type": ({"labels": 5}, RatingsError, "argument-type", "`labels=`"),
    "labels empty": ({"labels": {}}, RatingsError, "empty-labels", "`labels=`"),
    "labels too many": ({"labels": ["label", "item"]}, RatingsError, "labels-count", "2 columns"),
    "label and value": (
        {"label": "label", "value": "valeu"},
        RatingsError,
        "unknown-column",
        "value='valeu'",
    ),
    "response": ({"response": {"rule": "warn"}}, TaskError, "unknown-rule", "task"),
    "response type": ({"response": "warn"}, TaskError, "argument-type", "`response=`"),
    "truth": ({"truth": "gold"}, RatingsError, "truth-not-found", ""),
    "truth type": ({"truth": 4}, RatingsError, "argument-type", "`truth=`"),
    "truth of other items": (
        {"truth": pd.DataFrame({"item": ["z"], "label": ["x"]})},
        RatingsError,
        "truth-unmatched",
        "",
    ),
    "truth without items": (
        {"truth": pd.DataFrame({"unit": ["z"], "label": ["x"]})},
        RatingsError,
        "truth-items",
        "",
    ),
    "truth without labels": (
        {"truth": pd.DataFrame({"item": [1], "remark": ["x"]})},
        RatingsError,
        "truth-labels",
        "",
    ),
    "truth twice": (
        {"truth": pd.DataFrame({"item": [1, 1], "label": ["x", "y"]})},
        RatingsError,
        "truth-conflict",
        "",
    ),
    "group": ({"group": {"a": "people"}}, RatingsError, "group-incomplete", "1 rater: b"),
    "group that changes": (
        {
            "group": "g",
            "source": pd.concat([TABLE, TABLE.assign(rater="a", item=[3, 4])]).assign(
                g=list("xyyz")
            ),
        },
        RatingsError,
        "changing-value",
        "group",
    ),
    "score column": (
        {"score": "scroe"},
        RatingsError,
        "unknown-column",
        "`score=` names 'scroe'",
    ),
    "score of no label": ({"score": {"lable": "item"}}, RatingsError, "unknown-label", "label?"),
    "score type": ({"score": 3}, RatingsError, "argument-type", "`score=`"),
    "score type in a dict": (
        {"score": {"label": 3}},
        RatingsError,
        "unknown-column",
        "`score=` names 3",
    ),
    "one score of several labels": (
        {
            "task": "retrieval",
            "score": "p",
            "source": TABLE.assign(misleading="no", p=0.5),
        },
        RatingsError,
        "one-column-several-labels",
        'score={"topically_relevant": "..."}',
    ),
    "several scores where each row answers one label": (
        {
            "task": "retrieval",
            "score": {"misleading": "p"},
            "source": TABLE.assign(label="misleading", value="no", p=0.5),
        },
        RatingsError,
        "argument-type",
        "`score=`",
    ),
    "score and confidence": (
        {"source": TABLE.assign(s=0.5, c=0.5), "score": "s", "confidence": "c"},
        RatingsError,
        "score-and-confidence",
        "label label",
    ),
    "score range": ({"score_range": (1, 0)}, RatingsError, "score-range", "score_range=(1, 0)"),
    "score range type": ({"score_range": 100}, RatingsError, "score-range", "(0, 1)"),
    "score of classes without order": (
        {
            "source": TABLE.assign(label=["x", "y"], s=0.5)
            .iloc[[0, 1, 0]]
            .assign(item=[1, 2, 3], label=list("xyz")),
            "score": "s",
        },
        RatingsError,
        "score-without-order",
        "",
    ),
    "session column": ({"session": "day"}, RatingsError, "unknown-column", "`session='day'`"),
    "sessions without a column": (
        {"sessions": ["a"]},
        RatingsError,
        "no-session-column",
        "",
    ),
    "sessions incomplete": (
        {"source": TABLE.assign(session=["one", "two"]), "sessions": ["one", "twoo"]},
        RatingsError,
        "sessions-argument",
        "'two'; did you mean twoo?",
    ),
    "sessions twice": (
        {"source": TABLE.assign(session=["one", "two"]), "sessions": ["one", "two", "one"]},
        RatingsError,
        "sessions-argument",
        "more than once",
    ),
    "sessions type": (
        {"source": TABLE.assign(session=["one", "two"]), "sessions": "one"},
        RatingsError,
        "sessions-argument",
        "a list",
    ),
    "audit column": (
        {"audit": "checked"},
        RatingsError,
        "unknown-column",
        "`audit=` names 'checked'",
    ),
    "audit of no label": ({"audit": {"lab": "item"}}, RatingsError, "unknown-label", "'lab'"),
    "seconds column": ({"seconds": "time"}, RatingsError, "unknown-column", "`seconds='time'`"),
    "seconds in two columns": (
        {"source": TABLE.assign(s=1, t=2), "seconds": ["s", "t"]},
        RatingsError,
        "seconds-columns",
        "",
    ),
    "classes type": ({"classes": {"label": "x"}}, RatingsError, "argument-type", "`classes=`"),
    "classes of no label": (
        {"classes": {"lable": {"x": "y"}}},
        RatingsError,
        "unknown-label",
        "label?",
    ),
    "classes that are none": (
        {"task": "relevance", "labels": "label", "classes": {"relevance": {"x": "partial"}}},
        RatingsError,
        "unknown-class",
        "'partial'",
    ),
    "panels": ({"panels": pd.DataFrame({"list": [1]})}, RatingsError, "panels-key", ""),
    "panels of other items": (
        {"panels": pd.DataFrame({"item": ["z"], "system": ["s"]})},
        RatingsError,
        "panels-unmatched",
        "",
    ),
    "panels that disagree": (
        {"panels": pd.DataFrame({"rater": ["a", "a"], "system": ["s", "t"]})},
        RatingsError,
        "panels-repeat",
        "",
    ),
    "missing file": ({"source": "nowhere.csv"}, RatingsError, "unread-file", ""),
    "null in the path": ({"source": "a\0b.csv"}, RatingsError, "unread-file", ""),
    "long path": ({"source": "x" * 5000}, RatingsError, "unread-file", ""),
    "source type": ({"source": 5}, RatingsError, "source-type", "int"),
    "source list": ({"source": [1, 2]}, RatingsError, "source-type", "list"),
    "empty table": ({"source": TABLE.iloc[:0]}, RatingsError, "empty-file", "rows"),
    "no columns": ({"source": pd.DataFrame()}, RatingsError, "empty-file", "rows"),
    "all missing": (
        {"source": TABLE.assign(label=np.nan)},
        RatingsError,
        "no-answer-given",
        "",
    ),
    "10,000 classes": (
        {"source": pd.DataFrame({"item": range(10_000), "rater": "a", "label": range(10_000)})},
        RatingsError,
        "too-many-classes",
        "10000",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_refused(name: str) -> None:
    arguments, kind, code, word = CALLS[name]
    call = {"source": TABLE, "task": "single"} | arguments
    with pytest.raises(kind, check=refusal(code)) as caught:
        read_ratings(**call)
    assert word in str(caught.value)


def test_a_folder_without_the_task_names_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "retreival.csv").write_text(GOOD)
    (tmp_path / "about.csv").write_text("remark\nwell\n")
    with pytest.raises(
        RatingsError, match=r"retreival\.csv", check=refusal("folder-without-task")
    ) as caught:
        read_ratings(tmp_path, task="retrieval")
    assert str(caught.value).count("problem in") == 1


def test_a_wrong_rank_is_one_problem_alone() -> None:
    table = pd.DataFrame({"query": "q", "item": [1, 2, 3], "rater": "a", "misleading": "no"})
    with pytest.raises(RatingsError) as caught:
        read_ratings(table.assign(rank=["1", "x", "3"]), task="retrieval")
    assert [problem.what for problem in caught.value.problems] == ["1 rank cannot be used: 'x'"]


def test_all_problems_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("item,topically_relevant,misleading\n1,dunno,no\n2,yes,hm\n")
    with pytest.raises(RatingsError) as caught:
        read_ratings(path, task="retrieval")
    assert len(caught.value.problems) == 3


def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(read_ratings(path, task="retrieval").answers) == 1


def test_unhashable_cells_do_not_break_the_reader() -> None:
    table = TABLE.assign(extra=[[1], {"a": 2}])
    assert len(read_ratings(table, task="single").answers) == 2


def test_rows_that_cannot_be_read_are_set_aside_and_counted(tmp_path: Path) -> None:
    lines = ["item,rater,label,value", "1,a,misleading,yes", "1,b,misleading,no,no",
             "2,a,misleading,perhaps", "2,b,nothing,yes", '3,a,"misleading",no']  # fmt: skip
    path = tmp_path / "long.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    given = {"task": "retrieval", "label": "label", "value": "value"}
    with pytest.raises(RatingsError) as caught:
        read_ratings(path, **given)
    assert caught.value.go_on == {"set_aside": True}
    accounting = read_ratings(path, **given, set_aside=True).accounting
    assert (accounting.rows_read, accounting.rows_used) == (5, 2)
    aside = accounting.set_aside.set_index("line")["reason"].to_dict()
    assert aside == {
        3: "wrong number of fields", 4: "no class of its label", 5: "no label of the task",
    }  # fmt: skip
