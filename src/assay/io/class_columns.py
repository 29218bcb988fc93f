"""Columns that are the classes of one answer: numbers of votes, shares, or a single 1 in a row."""

import re
from collections.abc import Sequence

import pandas as pd

from assay._util.errors import as_code
from assay._util.text import listed
from assay.data.class_words import BINARY_SPELLINGS, FOREIGN, canonical
from assay.data.task import Task
from assay.io.likely_columns import holds_marks
from assay.io.name_patterns import find_grid
from assay.io.names import COUNT_NAMES, KNOWN, empty_cells, squash, words_in, words_of
from assay.io.reading_log import Ledger
from assay.io.share_tables import TOTALS, number_column, report_shares, total_column

COUNTED = frozenset({"vote", "votes"})
"""Words in the names of columns of votes."""
FEWEST_COLUMNS = 2
FEWEST_FLAGS = 3
"""Fewest columns with a single 1 in each row that show a one-hot answer."""
FEWEST_COUNTED = 3
"""Fewest rows with equal sums that show counts of votes."""
FEWEST_VARIED, STEADY = 8, 0.5
"""For unequal sums: fewest rows, and largest ratio of their variance to that of the columns."""
MOST_SUMMED = 40
"""Most columns that are summed up to find votes."""
VOTES = r"\d{1,6}(\.0)?"
STEM = re.compile(r"(.+?)[\s_.:/\[-].*")
"""The beginning that the names of classes share: is_abuse in is_abuse.1, is_abuse.-1."""
SHOWN = 4


def report_classes(task: Task, ledger: Ledger) -> bool:
    """Add a problem, and return True, if columns seem to be the classes of one answer."""
    if len(task.labels) != 1 or ledger.problems:
        return False
    frame = ledger.table.frame
    return (
        report_shares(frame, ledger)
        or _report_counts(frame, ledger)
        or report_one_hot(frame, ledger)
    )


def _report_counts(frame: pd.DataFrame, ledger: Ledger) -> bool:
    """Add a problem, and return True, if columns hold numbers of votes for each class."""
    columns = vote_columns(frame)
    if not columns:
        return report_total(frame, ledger)
    sums = frame[columns].replace("", "0").astype(float).sum(axis=1).astype(int)
    if sums.nunique() > 1 and find_grid(frame, [str(c) for c in frame.columns]) is not None:
        return False  # grades, whose sums vary little by chance
    total = f"{sums.min()}" if sums.nunique() == 1 else f"{sums.min()} to {sums.max()}"
    ledger.problem(
        "count-table",
        f"the cells of {listed(columns, SHOWN)} look like counts of votes: each row sums to "
        f"{total}",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"if they are, give {as_code({'counts': columns})}; raters then have no names",
        role="rater",
        numbers={"lowest": sums.min(), "highest": sums.max()},
        go_on={"counts": columns},
    )
    return True


def vote_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns with numbers of votes: called yes and no, or votes; or with row sums that
    hardly vary, since votes for one class exclude others.
    """
    if summed := votes_of_number(frame):
        return summed
    cells = frame.replace("", "0")
    whole = [str(c) for c in frame.columns if cells[c].str.fullmatch(VOTES).all()]
    whole = [c for c in whole if squash(c) not in KNOWN["item"] and (frame[c] != "").any()]
    if (every := _steady(cells, whole, exactly=True)) and COUNT_NAMES & set(map(squash, every)):
        rest = [c for c in every if squash(c) not in COUNT_NAMES]
        if not _steady(cells, rest, exactly=True):
            return every  # the name of a count is that of a class, too
    whole = [c for c in whole if squash(c) not in COUNT_NAMES]
    filled = [c for c in whole if (frame[c] != "").all()]
    total = total_column(cells, whole)
    named = [c for c in filled if c.isalpha() and canonical(c) in BINARY_SPELLINGS]
    named += [c for c in filled if COUNTED & set(words_of(c))]
    named = [c for c in named if c != total]
    if len(named) >= FEWEST_COLUMNS and cells[named].astype(float).to_numpy().max() > 1:
        return named
    # Raters of a few items each leave cells empty, too, but their sums vary.
    return _steady(cells, filled) or _steady(cells, whole, exactly=True)


def votes_of_number(frame: pd.DataFrame) -> list[str]:
    """Return the adjacent columns whose numbers sum to the number of raters in each row."""
    number = number_column(frame)
    if number is None or len(frame) < FEWEST_COUNTED:
        return []
    columns = [str(c) for c in frame.columns]
    whole = [c for c in columns if c != number and frame[c].str.fullmatch(VOTES).all()]
    numbers = frame[[*whole, number]].astype(float)
    if len(whole) > MOST_SUMMED or numbers[number].max() <= 1:
        return []
    for size in range(len(whole), FEWEST_COLUMNS - 1, -1):
        for start in range(len(whole) - size + 1):
            run = whole[start : start + size]
            beside = columns[columns.index(run[0]) : columns.index(run[-1]) + 1]
            if {*beside} <= {*run, number} and (numbers[run].sum(axis=1) == numbers[number]).all():
                return run
    return []


def report_votes(answers: Sequence[str], frame: pd.DataFrame, ledger: Ledger) -> bool:
    """Add a problem, and return True, if there are votes beside a column called like an answer.

    Such a column has the votes for one class, or the class of most votes.
    """
    if votes_of_total(frame) in answers:
        return report_total(frame, ledger)
    return bool(votes_of_number(frame)) and _report_counts(frame, ledger)


def votes_of_total(frame: pd.DataFrame) -> str:
    """Return the column of votes for one class beside one of their total; "" if there is none."""
    yes = {word for word, code in BINARY_SPELLINGS.items() if code}
    for column in map(str, frame.columns):
        words = set(words_of(column))
        if not (COUNTED | yes) & words or not total_column(frame, [column]):
            continue
        if TOTALS & words or frame[column].astype(float).max() <= 1:
            continue
        return column
    return ""


def report_total(frame: pd.DataFrame, ledger: Ledger) -> bool:
    """Add a problem, and return True, if a column holds votes for one class of a total."""
    column = votes_of_total(frame)
    if not column:
        return False
    total = total_column(frame, [column])
    ledger.problem(
        "count-table",
        f"the cells of {column} look like counts of votes, and those of {total} like their total",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"if they are, give {as_code({'counts': column})}, and the other votes of {total} are "
        "another class; raters then have no names",
        role="rater",
        go_on={"counts": column},
    )
    return True


def _steady(frame: pd.DataFrame, whole: Sequence[str], *, exactly: bool = False) -> list[str]:
    """Return the last columns whose sums in each row hardly vary, or not at all."""
    numbers = frame[list(whole)].astype(float)
    for start in range(len(whole) - FEWEST_COLUMNS + 1):
        part = numbers.iloc[:, start:]
        sums, spread = part.sum(axis=1), float(part.var(axis=0).sum())
        if len(frame) < FEWEST_COUNTED or part.to_numpy().max() <= 1 or not spread:
            continue
        if sums.min() < 1:
            continue
        steady = float(sums.var()) < STEADY * spread and bool((part == 0).any(axis=None))
        if sums.nunique() == 1 or (len(part) >= FEWEST_VARIED and steady and not exactly):
            return list(whole[start:])
    return []


def is_mark_column(column: "pd.Series[str]") -> bool:
    """Whether a column holds one word or nothing, and the word does not say no.

    >>> [is_mark_column(pd.Series(cells, dtype="str")) for cells in (["x", ""], ["no", ""])]
    [True, False]
    """
    codes = FOREIGN | BINARY_SPELLINGS
    return holds_marks(column) and all(codes.get(canonical(w)) != 0 for w in words_in(column))


def report_one_hot(frame: pd.DataFrame, ledger: Ledger) -> bool:
    """Add a problem, and return True, if each class has a column of 0 and 1, or of marks."""
    flags = _one_hot(frame)
    if not flags:
        return False
    has = "1" if frame[flags].isin(["0", "1", "true", "false"]).all(axis=None) else "a mark"
    ledger.problem(
        "one-hot",
        f"each row has {has} in a single one of {listed(flags, SHOWN)}: they look like the "
        "classes of one answer",
        allowed="a column with the class",
        mend=f"if they are, give {as_code({'counts': flags})}",
        go_on={"counts": flags},
    )
    return True


def _one_hot(frame: pd.DataFrame) -> list[str]:
    """Return the columns with a single 1 or mark in each row: all such, or those of one stem."""
    columns = [str(c) for c in frame.columns]
    flags = [c for c in columns if frame[c].isin(["0", "1", "true", "false"]).all()]
    marks = [c for c in columns if c not in flags and is_mark_column(frame[c])]
    for part in (flags, marks):
        stems: dict[str, list[str]] = {"": part}
        for column in part:
            if sign := STEM.fullmatch(column):
                stems.setdefault(sign[1], []).append(column)
        for group in stems.values():
            told = ~frame[group].isin(["0", "false"]) & ~frame[group].apply(empty_cells)
            if len(group) < FEWEST_FLAGS or len(frame) < FEWEST_VARIED or not told.any().all():
                continue
            if (told.sum(axis=1) == 1).all():
                return group
    return []
