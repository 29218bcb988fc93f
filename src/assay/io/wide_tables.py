"""Tables of another shape: a column for each rater, for each item, or for each class of votes."""

import re
from collections.abc import Sequence

import pandas as pd

from assay._util.errors import as_code
from assay._util.text import first_names, listed
from assay.data.class_words import BINARY_SPELLINGS, canonical
from assay.data.task import Label, Task
from assay.io.cells import EMPTY, spellings
from assay.io.names import COUNT_NAMES, FORM, GENERIC, RECOGNISED, TRUTH_NAMES, bare, squash
from assay.io.reading_log import Ledger

FEWEST_COLUMNS = 2
MOST_CLASSES = 12
COUNTED = frozenset({"vote", "votes"})
"""Words in the names of columns of votes."""
FEWEST_FLAGS = 3
"""Columns from which a single 1 in each row shows the classes of one answer."""
FEWEST_COUNTED = 3
"""Rows from which sums that are all alike show counts of votes."""
FEWEST_VARIED, STEADY = 8, 0.5
"""Where sums are not all alike: the fewest rows, and their variance for that of the columns."""
SHOWN = 4
MOSTLY = 0.9
"""Share of the rows that an item's or a respondent's column tells apart, if each has a row."""
NUMBERS = re.compile(r"(\d+)")
"""What splits a name into its numbers and what stands between them."""
GRID = re.compile(r"(.+?)\s*\[[^\[\]]+\]")
"""A question of a grid, and its row."""
MOST_NAMED = 12
"""Columns that an argument still names one by one."""
EVERY = "*"
"""Stands for all columns that seem to be meant."""
PEOPLE = frozenset({
    "email", "mail", "observer", "participant", "respondent", "coder", "rater", "annotator",
    "worker", "judge", "reviewer", "user", "evaluator", "assessor", "prolific", "username",
})  # fmt: skip
"""Words in the name of a column that says who filled in a form."""
NAMES = frozenset({"name", "yourname", "fullname", "yourfullname", "ihrname", "deinname"})
"""What forms call the question of who fills them in, squashed."""
EXPERTS = PEOPLE | {"expert", "doctor", "dr", "physician", "nurse", "reader", "teacher", "human"}
"""Words in the names of columns that are raters."""
QUESTIONS = ("item", "question", "q", "task", "case", "image", "answer", "is", "how", "text", "doc")
"""How the names of columns begin that stand for items."""


def answer_columns(frame: pd.DataFrame, label: Label, taken: Sequence[str] = ()) -> list[str]:
    """Return the columns that hold nothing but classes of a label, if there are several.

    Where the label leaves its classes to the data, they are columns of a few values that occur in
    other columns, too. Columns ``taken`` have another role.

    Examples
    --------
    >>> frame = pd.DataFrame({"case": ["1", "2"], "Ann": ["yes", "no"], "Ben": ["no", ""]})
    >>> answer_columns(frame, Label(name="ill"))
    ['Ann', 'Ben']
    """
    columns = [str(c) for c in frame.columns if squash(str(c)) not in COUNT_NAMES | TRUTH_NAMES]
    columns = [c for c in columns if c not in taken]
    held = {c: {canonical(str(v)) for v in pd.unique(frame[c])} - EMPTY for c in columns}
    if label.classes:
        words = {canonical(word) for word in spellings(label)}
        found = [c for c, values in held.items() if values and values <= words]
        return found if len(found) >= FEWEST_COLUMNS else []
    roles = {squash(name) for names in RECOGNISED.values() for name in names}
    free = {c: v for c, v in held.items() if bare(c) not in roles and not _names_rows(frame[c])}
    found = _alike(free)
    if len(found) < FEWEST_COLUMNS:
        return []
    values = set().union(*(held[c] for c in found))
    raters = {squash(name) for name in RECOGNISED["rater"]}  # a column each for crowd and expert
    return [c for c in columns if c in found or (bare(c) in raters and held[c] <= values)]


def _names_rows(column: "pd.Series[str]") -> bool:
    """Whether a column tells the rows apart."""
    return len(column) > FEWEST_COUNTED and column.nunique() == len(column)


def _alike(held: dict[str, set[str]]) -> list[str]:
    """Return the largest group of columns that share their few values.

    Each of them has only values of one column, or at most one value of its own and more that
    another column has. If they are called alike but for a number, all columns called so belong to
    them.
    """
    few = {c: v for c, v in held.items() if 1 <= len(v) <= MOST_CLASSES}
    best: list[str] = []
    for values in few.values():
        group = [c for c, own in few.items() if _mostly_of(own, values)]
        if len(group) > len(best):
            best = group
    return [c for c in few if c in best or _called_alike(c, best)]


def _called_alike(column: str, others: Sequence[str]) -> bool:
    """Whether a name differs from others, which are alike, in no more than one number.

    Rows of a grid are alike, too: forms write the row in brackets behind the question.

    Examples
    --------
    >>> [_called_alike(name, ["1_Q1", "2_Q1"]) for name in ("30_Q1", "3_Q2", "note")]
    [True, False, False]
    """
    if len(others) >= FEWEST_COLUMNS and all(_grid(name) == _grid(column) != "" for name in others):
        return True
    parts = [NUMBERS.split(name) for name in others]
    if len(others) < FEWEST_COLUMNS or any(len(own) != len(parts[0]) for own in parts):
        return False
    own = NUMBERS.split(column)
    same = [len(set(cells)) == 1 for cells in zip(*parts, strict=True)]
    if same.count(False) != 1 or len(own) != len(same):
        return False
    changing = same.index(False)
    fits = all(a == b for n, (a, b) in enumerate(zip(own, parts[0], strict=True)) if n != changing)
    return fits and own[changing].isdigit()


def _grid(column: str) -> str:
    """Return the question of a grid, whose row stands in brackets behind it; else nothing."""
    found = GRID.fullmatch(column.strip())
    return found[1] if found else ""


def _mostly_of(own: set[str], values: set[str]) -> bool:
    shared = len(own & values)
    return own <= values or (shared >= 2 and shared >= len(own) - 1)


def report_wide(task: Task, ledger: Ledger, taken: Sequence[str] = ()) -> bool:
    """Add a problem if a row of the table seems to hold several ratings, and say whether.

    Columns ``taken`` have another role by name.
    """
    if len(task.labels) != 1 or ledger.problems:
        return False
    frame, label = ledger.table.frame, task.labels[0]
    if _report_counts(frame, label, ledger) or _report_one_hot(frame, label, ledger):
        return True
    columns = answer_columns(frame, label, taken)
    if not columns:
        return False
    rest = [str(c) for c in frame.columns if str(c) not in columns]
    item, person = item_of(frame, rest), person_of(rest)
    if any(frame[c].nunique() < MOSTLY * len(frame) for c in (item, person) if c):
        return False  # several rows of one item or rater: rows are ratings
    if item and person and not _numbers_rows(frame, item):
        return False  # several questions on what is rated
    _report_shape(frame, columns, label, item, person, ledger)
    return True


def _report_shape(
    frame: pd.DataFrame, columns: list[str], label: Label, item: str, person: str, ledger: Ledger
) -> None:
    """Say what the columns seem to be, with the arguments that read them so."""
    rest = [str(c) for c in frame.columns if c not in columns]
    form = is_form(rest)
    ways = ["wide", "wide_items"]
    if 2 * sum(bool(EXPERTS & set(words_of(c))) for c in columns) > len(columns):
        seen = "a row seems to hold the answers of all raters to one item"
    elif person or form:
        seen, ways = "a row seems to hold all answers of one rater", ways[::-1]
    elif item and not _are_questions(columns):
        seen = "a row seems to hold all answers to one item"
    else:
        seen = "they may be raters, items or questions"
    named = (
        EVERY if len(columns) > MOST_NAMED and columns == answer_columns(frame, label) else columns
    )
    said = {"wide": "raters", "wide_items": "items"}
    offers = [f"{as_code({way: named})} if they are {said[way]}" for way in ways]
    ledger.problem(
        "wide-table",
        f"no column holds the answers, and {len(columns)} columns hold classes of {label.name}: "
        f"{first_names(columns, SHOWN)}; {seen}",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"say what the columns are: {', '.join(offers)}; if they are several questions, write "
        "a task file with a label for each",
        role="rater",
        numbers={"columns": len(columns)},
        go_on={ways[0]: named},
    )


def _are_questions(columns: Sequence[str]) -> bool:
    """Whether most columns are called what items are: item 3, Q12, Is answer 1 correct?"""
    starts = [squash(c).strip("0123456789").startswith(QUESTIONS) for c in columns]
    return 2 * sum(starts) > len(columns)


def item_of(frame: pd.DataFrame, rest: Sequence[str]) -> str:
    """Return the column that is called what items are."""
    known = [squash(name) for name in RECOGNISED["item"]]
    found = [c for c in rest if bare(c) in known and not names_people(c)]
    return min(found, key=lambda c: known.index(bare(c)), default="")


def _numbers_rows(frame: pd.DataFrame, column: str) -> bool:
    """Whether a column of a generic name only numbers the rows."""
    return squash(column) in set(map(squash, GENERIC)) and frame[column].nunique() == len(frame)


def names_people(column: str) -> bool:
    """Whether the name of a column says that people stand in it.

    Examples
    --------
    >>> [names_people(name) for name in ("Email Address", "tone.responses.users", "subject")]
    [True, True, False]
    """
    known = {squash(name) for name in RECOGNISED["rater"]}
    words = {word.removesuffix("s") for word in words_of(column)} | set(words_of(column))
    return bare(column) in known or bool(words & PEOPLE)


def words_of(column: str) -> list[str]:
    """Return the words of a name: Email Address is email and address."""
    return "".join(c if c.isalpha() else " " for c in column.casefold()).split()


def is_form(rest: Sequence[str]) -> bool:
    """Whether forms add such columns to the answers of each respondent."""
    return any(part in squash(c) for c in rest for part in FORM)


def person_of(rest: Sequence[str]) -> str:
    """Return the column that says who filled in the row."""
    known = {squash(name) for name in RECOGNISED["rater"]}
    found = [c for c in rest if names_people(c)]
    if is_form(rest):
        found += [c for c in rest if squash(c).rstrip("?:") in NAMES]
    return min(found, key=lambda c: bare(c) not in known, default="")


def _report_counts(frame: pd.DataFrame, label: Label, ledger: Ledger) -> bool:
    """Add a problem if columns hold numbers of votes for each class, and say whether."""
    columns = vote_columns(frame)
    if not columns:
        return False
    sums = frame[columns].astype(float).sum(axis=1).astype(int)
    total = f"{sums.min()}" if sums.nunique() == 1 else f"{sums.min()} to {sums.max()}"
    ledger.problem(
        "count-table",
        f"the cells of {listed(columns, SHOWN)} look like counts of votes: each row sums to "
        f"{total}",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"if they are, say so: {as_code({'counts': columns})}; the raters have no names then",
        role="rater",
        numbers={"lowest": sums.min(), "highest": sums.max()},
        go_on={"counts": columns},
    )
    return True


def vote_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that hold numbers of votes.

    They are called yes and no, or votes for something. Or their sums hardly differ from row to
    row: of the votes that one class has more, others have less, while raters' answers go together.

    Examples
    --------
    >>> frame = pd.DataFrame({"unit": ["1", "2", "3"], "a": ["3", "0", "2"], "b": ["0", "3", "1"]})
    >>> vote_columns(frame)
    ['a', 'b']
    """
    whole = [str(c) for c in frame.columns if frame[c].str.fullmatch(r"\d{1,6}(\.0)?").all()]
    known = {squash(name) for name in RECOGNISED["item"]}
    whole = [c for c in whole if squash(c) not in known | COUNT_NAMES]
    numbers = frame[whole].astype(float)
    named = [c for c in whole if c.isalpha() and canonical(c) in BINARY_SPELLINGS]
    named += [c for c in whole if COUNTED & set(words_of(c))]
    if len(named) >= FEWEST_COLUMNS and numbers[named].to_numpy().max(initial=0) > 1:
        return named
    for start in range(len(whole) - FEWEST_COLUMNS + 1):
        part = numbers.iloc[:, start:]
        if len(frame) >= FEWEST_COUNTED and part.to_numpy().max() > 1 and _are_votes(part):
            return whole[start:]
    return []


def _are_votes(part: pd.DataFrame) -> bool:
    """Whether the sums of rows are steady while the numbers are not."""
    sums, spread = part.sum(axis=1), float(part.var(axis=0).sum())
    if not spread or sums.min() < 1:
        return False
    steady = float(sums.var()) < STEADY * spread and bool((part == 0).any(axis=None))
    return bool(sums.nunique() == 1) or (len(part) >= FEWEST_VARIED and steady)


def _report_one_hot(frame: pd.DataFrame, label: Label, ledger: Ledger) -> bool:
    """Add a problem if each class has a column of 0 and 1, and say whether."""
    flags = [str(c) for c in frame.columns if frame[c].isin(["0", "1", "true", "false"]).all()]
    part = frame[flags].isin(["1", "true"])
    if len(flags) < FEWEST_FLAGS or len(frame) < FEWEST_VARIED or not part.any(axis=0).all():
        return False
    if not (part.sum(axis=1) == 1).all():
        return False
    ledger.problem(
        "one-hot",
        f"each row has 1 in a single one of {listed(flags, SHOWN)}: they look like the classes of "
        "one answer",
        allowed="a column with the class",
        mend=f"if they are, say so: {as_code({'counts': flags})}",
        go_on={"counts": flags},
    )
    return True
