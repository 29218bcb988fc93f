"""Known truth as rows of a rater, and unused columns that may hold it."""

from pathlib import Path

import pandas as pd
import pytest

import assay
from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.data.task import Label, Task
from assay.io import read_ratings

ROWS = [
    (n, rater, "xy"[(n + (n % 4 == k)) % 2]) for n in range(20) for k, rater in enumerate("abc")
]
TABLE = pd.DataFrame(ROWS, columns=["item", "rater", "label"]).astype("str")
GOLD = pd.DataFrame({"item": range(20), "rater": "GOLD", "label": ["x", "y"] * 10}).astype("str")

LABELS = tuple(Label(name=name, classes=("x", "y")) for name in ("ok", "kind"))
TWO = Task(name="two", labels=LABELS)


def of_columns(ratings: Ratings) -> list[str]:
    found = assay.check(ratings).findings
    return [f.text for f in found if f.code == "unused-truth-column"]


def test_rows_of_a_rater_become_the_truth() -> None:
    ratings = read_ratings(pd.concat([TABLE, GOLD]), task="single", truth_rater="gold")
    whole = read_ratings(TABLE, task="single", truth=GOLD.drop(columns="rater"))
    assert list(ratings.raters.index) == ["a", "b", "c"]
    assert ratings.truth.tolist() == whole.truth.tolist()
    assert ratings.answers.tolist() == whole.answers.tolist()
    assert ratings.accounting.reasons == {"known truth": 20}
    assert not [f for f in assay.check(ratings).findings if f.code == "truth-rater"]


def test_so_do_rows_that_answer_one_label_each() -> None:
    long = pd.concat([TABLE, GOLD]).rename(columns={"label": "value"})
    both = pd.concat([long.assign(label=name) for name in ("ok", "kind")])
    ratings = read_ratings(both, label="label", value="value", task=TWO, truth_rater="GOLD")
    assert ratings.truth.shape == (20, 2)
    assert (ratings.truth >= 0).all()


def test_a_rater_of_the_truth_must_exist_and_stand_alone() -> None:
    table = pd.concat([TABLE, GOLD])
    with pytest.raises(RatingsError) as refused:
        read_ratings(table, task="single", truth_rater="GOLDEN")
    (problem,) = refused.value.problems
    assert (problem.code, problem.go_on) == ("unknown-truth-rater", {"truth_rater": "GOLD"})
    with pytest.raises(RatingsError) as refused:
        read_ratings(table, task="single", truth_rater="GOLD", truth=GOLD)
    assert [p.code for p in refused.value.problems] == ["truth-twice"]


def test_a_column_with_a_class_for_each_item_may_be_the_truth() -> None:
    table = TABLE.assign(reference=["xy"[n % 2] for n in range(20) for _ in "abc"])
    (text,) = of_columns(read_ratings(table, task="single"))
    assert "`truth='reference'`" in text
    assert not of_columns(read_ratings(table, task="single", truth="reference"))
    text = table["reference"].map({"x": "A long text", "y": "Another text"})
    assert not of_columns(read_ratings(table.assign(reference=text), task="single"))
    other = table.assign(reference=["xxyy"[n % 4] for n in range(20) for _ in "abc"])
    assert not of_columns(read_ratings(other, task="single"))  # it says nothing of the answers


def test_the_truth_of_an_export_has_its_name_in_the_file(tmp_path: Path) -> None:
    rows = [
        {"HITId": f"h{n}", "AssignmentId": f"{n}{w}", "WorkerId": w, "AssignmentStatus": "Approved",
         "Input.text": f"t{n}", "Input.gold": "xy"[n % 2], "Answer.tone.label": "xy"[n % 2]}
        for n in range(10) for w in "abc"
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path := tmp_path / "batch.csv", index=False)
    assert any("gold" in text for text in of_columns(read_ratings(path)))
    assert read_ratings(path, truth="Input.gold").has_truth.all()
