"""Reading: what must not depend on names, order or spelling, whatever the ratings."""

from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay._util.errors import AssayError, RatingsError
from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import load_task
from assay.io import read_ratings

LABELS = load_task("retrieval").label_names
CELLS = st.sampled_from(["yes", "no", ""])
ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3), CELLS, CELLS, CELLS),
    min_size=1,
    max_size=25,
    unique_by=lambda row: row[:2],
)
RELAXED = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def table_of(rows: list[tuple[int, int, str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item", "rater", *LABELS]).astype("str")


def read(table: pd.DataFrame) -> Ratings | None:
    """Read; None if no rating has an answer."""
    try:
        return read_ratings(table, task="retrieval")
    except RatingsError as error:
        if [p.what.partition(";")[0] for p in error.problems] != ["no rating has an answer"]:
            raise
        return None


def facts(ratings: Ratings) -> set[tuple[object, ...]]:
    """Return the ratings as a set of named facts."""
    items, raters = ratings.items.index[ratings.item], ratings.raters.index[ratings.rater]
    return {(i, r, *a) for i, r, a in zip(items, raters, ratings.answers.tolist(), strict=True)}


@RELAXED
@given(rows=ROWS)
def test_every_row_is_accounted_for_and_what_is_kept_can_be_recorded(
    rows: list[tuple[int, int, str, str, str]],
) -> None:
    ratings = read(table_of(rows))
    if ratings is None:
        return
    account = ratings.accounting
    assert account.rows_read == len(rows)
    assert account.rows_used + len(account.set_aside) == account.rows_read
    assert sum(account.reasons.values()) == len(account.set_aside)
    assert len(ratings.answers) == account.rows_used
    space = state_space(ratings.task)
    allowed = space.paths[~space.blocked]

    def possible(answers: "np.typing.NDArray[np.int16]") -> bool:
        return bool(((allowed == answers) | (answers == MISSING)).all(axis=1).any())

    assert all(possible(a) for a in ratings.answers)
    codes = {"yes": 1, "no": 0, "": MISSING}
    aside = set(account.set_aside["line"])
    for line, row in enumerate(rows):
        assert possible(np.array([codes[v] for v in row[2:]])) == (line not in aside)


@RELAXED
@given(
    rows=ROWS, random=st.randoms(use_true_random=False), separator=st.sampled_from([",", ";", "\t"])
)
def test_row_order_and_shape_change_nothing_and_a_file_says_the_same(
    rows: list[tuple[int, int, str, str, str]], random: Random, separator: str, tmp_path: Path
) -> None:
    shuffled, table, path = list(rows), table_of(rows), tmp_path / "ratings.csv"
    random.shuffle(shuffled)
    one, other = read(table), read(table_of(shuffled))
    long = read(table.melt(["item", "rater"], list(LABELS), "label", "value"))
    assert (one is None) == (other is None) == (long is None)
    if one is None or other is None or long is None:
        return
    assert facts(one) == facts(other) == facts(long)
    assert one.accounting.reasons == other.accounting.reasons
    table.to_csv(path, index=False, sep=separator)
    file = read_ratings(path, task="retrieval")
    assert facts(one) == facts(file)
    lines = file.accounting.set_aside["line"].tolist()
    assert lines == [line + 2 for line in one.accounting.set_aside["line"]]


UNIT = st.one_of(st.none(), st.floats(0, 1).map(lambda x: round(x, 6)))
EXTRAS = st.lists(
    st.tuples(
        st.integers(0, 6), st.integers(0, 3), CELLS, UNIT,
        st.sampled_from(["right", "wrong", ""]), st.sampled_from(["s1", "s2", "s10", ""]),
        st.one_of(st.none(), st.integers(0, 500)),
    ),
    min_size=1, max_size=20, unique_by=lambda row: (row[0], row[1], row[5]),
)  # fmt: skip
EXTRA_COLUMNS = (
    "item", "rater", "misleading", "misleading_score", "misleading_audit", "session", "seconds",
)  # fmt: skip


def extra_facts(ratings: Ratings) -> set[str]:
    items, raters = ratings.items.index[ratings.item], ratings.raters.index[ratings.rater]
    columns = (
        items, raters, ratings.answers[:, 2], ratings.scores[:, 2], ratings.audit[:, 2],
        ratings.session, ratings.seconds, ratings.abstained, ratings.replicate,
    )  # fmt: skip
    return {repr(tuple(map(str, row))) for row in zip(*columns, strict=True)}


@settings(RELAXED, max_examples=40)
@given(rows=EXTRAS, random=st.randoms(use_true_random=False))
def test_scores_sessions_audits_and_times_stay_with_their_rating(
    rows: list[tuple[object, ...]], random: Random, tmp_path: Path
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    tables = [pd.DataFrame(r, columns=EXTRA_COLUMNS) for r in (rows, shuffled)]
    one, two = read(tables[0]), read(tables[1])
    assert (one is None) == (two is None)
    if one is None or two is None:
        return
    assert extra_facts(one) == extra_facts(two)
    assert one.sessions == tuple(s for s in ("s1", "s2", "s10") if s in set(one.session))
    told = (one.answers >= 0) | np.isfinite(one.scores)
    assert (one.abstained == ~told.any(axis=1)).all()
    tables[0].to_csv(tmp_path / "r.csv", index=False)
    assert extra_facts(read_ratings(tmp_path / "r.csv", task="retrieval")) == extra_facts(one)


@RELAXED
@given(data=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_in_words(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(data)
    with suppress(AssayError):
        ratings = read_ratings(path, task="single")
        assert len(ratings.answers)


@RELAXED
@given(text=st.text(alphabet='irl,;\t\n\r"10.-x\u00e9\u2028 ', max_size=80))
def test_any_text_after_a_header_is_read_or_refused_in_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(("item,rater,label,rank,query\n" + text).encode())
    with suppress(AssayError):
        ratings = read_ratings(path, task="single")
        account = ratings.accounting
        assert account.rows_used + len(account.set_aside) == account.rows_read


ODD = st.sampled_from(
    [
        "x", "y", "", "None", "-1", "0", "1", "2", "yes", "no", "a|b", "a, b", "x\ny", '["x"]',
        '["x", "y"]', "['x' 'y']", "{'a': 1}", "accept", "reject", "ignore", "submitted", "draft",
        "\u0430", "e\u0301", None, float("nan"), float("inf"), True, 2.5, 10**30, ["x"], ["x", "y"],
        [], ("x", "y"), {"a": 1}, {"x", "y"}, [["x"]], [None], np.array(["x", "y"]),
        np.array([[1], [2]]), np.int64(3), pd.Timestamp("2024-01-01"), pd.NaT, b"x",
    ]
)  # fmt: skip
NAMES = st.sampled_from(
    ["label", "answer", "accept", "options", "status", "query", "model", "chunk", "unit", "gold",
     "Email Address", "Timestamp", "A", "B", "worker", "was_cancelled", "score", "rank", "n"]
)  # fmt: skip


@settings(RELAXED, max_examples=50)
@given(data=st.data(), names=st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_any_cells_are_read_or_refused_in_words(data: st.DataObject, names: list[str]) -> None:
    size = data.draw(st.integers(1, 12))
    columns: dict[str, object] = {
        name: pd.Series(data.draw(st.lists(ODD, min_size=size, max_size=size)), dtype=object)
        for name in names
    }
    if data.draw(st.booleans()):
        columns |= {"item": [n // 2 for n in range(size)], "rater": list("ab" * size)[:size]}
    arguments = {
        role: data.draw(st.sampled_from([None, *columns])) for role in ("labels", "rater", "truth")
    }
    with suppress(AssayError):
        ratings = read_ratings(pd.DataFrame(columns), task="single", **arguments)
        assert len(ratings.answers)
