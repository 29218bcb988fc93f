"""Tables of other shapes: a column a rater, an item or a class, and votes without names."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import ArgumentError, RatingsError
from assay.data.ratings import UNNAMED, Ratings
from assay.data.task import Label, Task
from assay.io import read_ratings
from assay.modelling.spec import DEFAULT_RATERS, raters_for
from tests.refusals import refusal

RATERS = ["Ann", "Bob", "Cy"]


CELLS = [["x", "x", ""], ["y", "x", "y"], ["y", "y", "y"], ["x", "y", "x"], ["x", "x", "x"],
         ["z", "y", "z"], ["z", "z", "z"], ["x", "x", "y"]]  # fmt: skip


WIDE = pd.DataFrame(CELLS, columns=RATERS).assign(unit=[f"u{n}" for n in range(len(CELLS))])


LONG = WIDE.melt(["unit"], var_name="rater", value_name="label")


LONG = LONG[LONG.label != ""]


def said(ratings: Ratings) -> set[tuple[str, str, str]]:
    """Return who said what of which item."""
    classes = np.array(ratings.task.labels[0].classes)[ratings.answers[:, 0]]
    items, raters = ratings.items.index[ratings.item], ratings.raters.index[ratings.rater]
    return set(zip(items, raters, classes, strict=True))


def patterns(ratings: Ratings) -> list[str]:
    """Return the answers to each item, in the order of raters."""
    words = pd.DataFrame(sorted(said(ratings)), columns=["item", "rater", "answer"])
    return sorted(words.groupby("item")["answer"].agg("".join))


REFERENCE = said(read_ratings(LONG))


@pytest.mark.parametrize("columns", [RATERS, "*", ["A*", "Bob", "cy"]])
def test_columns_of_raters_are_read_as_the_long_table(columns: str | list[str]) -> None:
    ratings = read_ratings(WIDE, wide=columns)
    assert said(ratings) == REFERENCE
    assert any("1 cell without an answer" in note for note in ratings.accounting.notes)


def test_items_without_a_name_are_numbered() -> None:
    ratings = read_ratings(WIDE[RATERS], wide=RATERS)
    assert len(ratings.items) == len(WIDE)
    assert patterns(ratings) == patterns(read_ratings(LONG))


def test_a_row_of_grouped_answers_stands_for_as_many_items_as_it_says() -> None:
    whole = pd.DataFrame(CELLS * 2, columns=RATERS).query("Cy != ''")
    grouped = whole.groupby(RATERS, as_index=False).size().rename(columns={"size": "n"})
    ratings = read_ratings(grouped, wide=RATERS)
    assert patterns(ratings) == sorted("".join(row) for row in whole.to_numpy())


def test_columns_of_items_are_read_as_the_long_table(tmp_path: Path) -> None:
    form = WIDE.set_index("unit").T.rename_axis("Email Address").reset_index()
    form.insert(0, "Timestamp", [f"2024/01/0{n} 10:00:00" for n in (1, 2, 3)])
    form.to_csv(tmp_path / "form.csv", index=False)
    assert said(read_ratings(tmp_path / "form.csv", wide_items="u*")) == REFERENCE


def test_both_readings_are_offered_and_none_is_guessed() -> None:
    with pytest.raises(RatingsError, check=refusal("wide-table", columns=3)) as caught:
        read_ratings(WIDE)
    assert "`wide=['Ann', 'Bob', 'Cy']`" in str(caught.value)
    assert "`wide_items=['Ann', 'Bob', 'Cy']`" in str(caught.value)
    assert said(read_ratings(WIDE, **caught.value.go_on)) == REFERENCE


def test_many_columns_are_named_by_a_star() -> None:
    questions = {f"Question {n}?": list("xyxyx") for n in range(40)}
    frame = pd.DataFrame({"Email": list("abcde"), **questions})
    with pytest.raises(RatingsError, check=refusal("wide-table", columns=40)) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"wide_items": "*"}
    assert len(str(caught.value)) < 1000
    ratings = read_ratings(frame, wide_items="*")
    assert (len(ratings.items), len(ratings.raters)) == (40, 5)


COUNTS = pd.DataFrame({"unit": [1, 2, 3], "a": [3, 0, 2], "b": [0, 3, 1]})


def test_counts_of_votes_are_votes_of_raters_without_names() -> None:
    with pytest.raises(RatingsError, check=refusal("count-table", lowest=3, highest=3)) as caught:
        read_ratings(COUNTS)
    ratings = read_ratings(COUNTS, **caught.value.go_on)
    assert ratings.answers[:, 0].tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 1]
    assert set(ratings.raters["group"]) == {UNNAMED}


def test_no_number_of_a_rater_stands_for_a_class() -> None:
    units = pd.DataFrame({"unit": range(300), "a": [2] * 300, "b": [2] * 300})
    ratings = read_ratings(units, counts=["a", "b"])
    shares = [ratings.answers[ratings.rater == n, 0].mean() for n in range(4)]
    assert min(shares) > 0.4
    assert max(shares) < 0.6


def test_columns_called_votes_for_a_class_have_its_name() -> None:
    frame = COUNTS.rename(columns={"a": "votes_yes", "b": "votes_no"})
    classes = read_ratings(frame, counts="*").task.labels[0].classes
    assert set(classes) == {"yes", "no"}


def test_a_column_that_holds_no_counts_is_named_with_what_to_leave_out() -> None:
    frame = COUNTS.assign(c=["much", "1", ""])
    with pytest.raises(RatingsError, check=refusal("no-counts")) as caught:
        read_ratings(frame, counts=["a", "b", "c"])
    assert len(read_ratings(frame, **caught.value.go_on).answers) == 9


VOTES = pd.DataFrame({"item": list("aaabbb"), "label": list("xxyyyx")})


def test_votes_without_names_are_pooled_where_no_column_can_name_raters() -> None:
    ratings = read_ratings(VOTES)
    assert (len(ratings.answers), set(ratings.raters["group"])) == (6, {UNNAMED})
    assert any(getattr(n, "code", "") == "unnamed-raters" for n in ratings.accounting.notes)


def test_votes_by_class_with_their_number_are_votes() -> None:
    grouped = VOTES.groupby(["item", "label"], as_index=False).size()
    ratings = read_ratings(grouped.rename(columns={"size": "n"}))
    assert sorted(ratings.answers[:, 0]) == [0, 0, 0, 1, 1, 1]


def test_where_a_column_may_name_raters_the_caller_says_that_none_does() -> None:
    frame = VOTES.assign(batch=list("uvwuvw"))
    with pytest.raises(RatingsError, check=refusal("no-rater")) as caught:
        read_ratings(frame)
    assert '`rater="row"`' in str(caught.value)
    assert set(read_ratings(frame, rater="row").raters["group"]) == {UNNAMED}


def test_raters_without_names_share_one_confusion() -> None:
    task = read_ratings(VOTES).task
    assert raters_for(task, None, [UNNAMED]) == "pooled + item_difficulty"
    mixed = {"experts": DEFAULT_RATERS, UNNAMED: "pooled + item_difficulty"}
    assert raters_for(task, None, ["experts", UNNAMED]) == mixed
    assert raters_for(task, "mace", [UNNAMED]) == "mace"


def test_two_shapes_and_several_labels_are_refused() -> None:
    with pytest.raises(ArgumentError, check=refusal("two-shapes")):
        read_ratings(WIDE, wide=RATERS, counts="*")
    with pytest.raises(ArgumentError, check=refusal("shape-of-one-label", labels=3)):
        read_ratings(WIDE, task="retrieval", wide=RATERS)
    with pytest.raises(RatingsError, check=refusal("unknown-column"), match="did you mean Ann"):
        read_ratings(WIDE, wide=["Anne", "Bob"])


def test_raters_that_the_task_names_keep_their_names() -> None:
    """Rows without any other column once looked like votes of unnamed raters."""
    named = {"item": ("unit",), "rater": ("checked by",)}
    label = Label(name="label", classes=("x", "y", "z"))
    task = Task(name="mine", labels=(label,), columns=named)
    frame = LONG.rename(columns={"rater": "checked by"})
    assert said(read_ratings(frame, task=task)) == REFERENCE


CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"


needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the cases at ../shared/cases are not here"
)


THREE = ["ann", "bob", "cy"]


FILES: dict[str, dict[str, Any]] = {
    "x.tsv": {},
    "x.json": {},
    "x.jsonl": {},
    "x.parquet": {},
    "x.feather": {},
    "rater_long.csv": {},
    "wide.csv": {"wide": THREE},
}


def crossed(ratings: Ratings) -> pd.DataFrame:
    """Return the answer of each rater to each item."""
    answers = np.array(ratings.task.labels[0].classes)[ratings.answers[:, 0]]
    items, raters = ratings.items.index[ratings.item], ratings.raters.index[ratings.rater]
    return pd.crosstab(items, raters, answers, aggfunc="first")


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    """Return the study as crowd-kit has it."""
    return crossed(read_ratings(CASES / "formats" / "crowdkit.csv"))


@needs_cases
@pytest.mark.parametrize("name", FILES)
def test_a_study_is_the_same_from_every_file(name: str, reference: pd.DataFrame) -> None:
    found = crossed(read_ratings(CASES / "formats" / name, **FILES[name]))
    pd.testing.assert_frame_equal(found, reference, check_names=False)


@needs_cases
@pytest.mark.parametrize("name", ["rater_wide.csv", "rater_grouped.csv"])
def test_tables_without_items_have_the_same_patterns(name: str, reference: pd.DataFrame) -> None:
    found = crossed(read_ratings(CASES / "formats" / name, wide=THREE))
    assert found.value_counts().to_dict() == reference.value_counts().to_dict()


@needs_cases
def test_a_form_is_read_in_both_ways_that_its_refusal_offers() -> None:
    path = CASES / "reading" / "07-respondent-rows" / "input.csv"
    with pytest.raises(RatingsError) as caught:
        read_ratings(path)
    assert caught.value.go_on == {"wide_items": "*"}
    ratings = read_ratings(path, wide_items="*")
    assert (len(ratings.items), len(ratings.raters)) == (20, 5)
    turned = read_ratings(path, wide="*")
    assert (len(turned.items), len(turned.raters)) == (5, 20)


@needs_cases
def test_counts_give_the_agreement_that_fleiss_has() -> None:
    from assay.raters.agreements import agreement

    path = CASES / "reading" / "08-count-table" / "input.csv"
    table = agreement(read_ratings(path, counts=["a", "b", "c"])).table.set_index("statistic")
    assert round(float(table.loc["fleiss_kappa", "value"]), 3) == 0.346
