"""Ratings of items by raters, as arrays with names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import ArgumentError, RatingsError
from assay._util.html import notebook_html
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import cut
from assay.data.states import MISSING, Vectors
from assay.data.task import Task

Partial = Literal["lost", "draft"]
Resolve = Literal["retry", "repair"]
PARTIAL = ("lost", "draft")
RESOLVE = ("retry", "repair")
UNNAMED = "unnamed"
"""Group of raters without names: number 1 of one item is not number 1 of another."""
ITEM_COLUMNS = ("cluster", "stratum", "weight")
"""Columns of ``Ratings.items`` in every task."""
MOST_KINDS = 8
"""Most values of a covariate that divides the items into kinds."""
RETRIEVER_SCORE = "retriever_normal_score"
"""Covariate of sampled pairs, which is read and enters the prevalence without being named."""
AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, SOME_WRONG = 1, 0, -1, -2
NO_FILE = re.compile("[\0\ud800-\udfff]")
"""Characters that the file of a fit cannot contain."""
ALIKE_P = 0.01
"""Largest p-value, over all columns, with which clusters of one unit count as alike."""
PER_RATING = (
    "answers", "item", "rater", "replicate", "abstained", "scores", "session", "audit", "seconds",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LargerUnit:
    """A column whose values (``units`` of them) group the clusters; ``p`` is of those of one unit
    being no more alike than others.
    """

    column: str
    units: int
    p: float

    @property
    def matters(self) -> bool:
        """Whether the clusters of one unit are alike beyond chance."""
        return self.p <= ALIKE_P


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """What was done with every row of the input.

    rows_used : rows that became a rating, or part of one
    set_aside : a line per unused row: ``line`` (number in the file, the header is line 1; for a
        DataFrame the index label), ``item``, ``rater``, ``reason`` (equal for equal causes),
        ``detail``
    roles : a line per column of the source: ``column``, ``role``, ``evidence``, ``alternatives``
    notes : decisions of the reader, in sentences
    source : path of the file, or ``"a DataFrame"``
    sha256 : hash of the input
    larger_units : unused columns that group the clusters: ``column``, ``units``, and ``p`` of the
        clusters of one unit being no more alike than others
    """

    rows_read: int
    rows_used: int
    set_aside: pd.DataFrame
    roles: pd.DataFrame
    notes: tuple[str, ...] = ()
    source: str = ""
    sha256: str = ""
    larger_units: tuple[LargerUnit, ...] = ()

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rows set aside for each reason."""
        return {str(k): int(v) for k, v in self.set_aside["reason"].value_counts().items()}

    def columns_of(self, role: str) -> list[str]:
        """Return the columns of the source that have this role alone."""
        return [str(name) for name in self.roles.loc[self.roles["role"] == role, "column"]]


def ratings_by_rater(ratings: "Ratings") -> dict[str, int]:
    """Return the number of ratings of each rater, by name."""
    count = np.bincount(ratings.rater, minlength=len(ratings.raters))
    return dict(zip(ratings.raters.index.astype(str), count.tolist(), strict=True))


def no_accounting(rows: int, source: str = "arrays") -> Accounting:
    """Return the accounting of input that was not read from a file: every row is used."""
    return Accounting(
        rows_read=rows,
        rows_used=rows,
        set_aside=pd.DataFrame(columns=["line", "item", "rater", "reason", "detail"]),
        roles=pd.DataFrame(columns=["column", "role", "evidence", "alternatives"]),
        source=source,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """The truth of a simulation.

    truth : class codes of the drawn states (item, label)
    values : parameters by name
    """

    truth: Vectors
    values: Mapping[str, Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Ratings of items by raters under one task.

    Attributes
    ----------
    task : Task
        With the classes of every label known, and the response strengths of the rules as in the
        interface that these ratings come from.
    answers : ndarray of int16 (rating, label)
        Class codes; ``MISSING`` (-1) if there is none, ``NOT_ASKED`` (-2) if the rater's own
        answers close the label's gate.
    item, rater : ndarray of int64 (rating,)
        Positions in ``items`` and ``raters``.
    replicate : ndarray of int64 (rating,)
        0 for a rater's first rating of an item, 1 for the second, ...
    abstained : ndarray of bool (rating,)
        Whether the rater deliberately skipped the item: all answers and scores are missing.
    items : pandas.DataFrame
        One line per item, index ``item`` (unique strings). Columns ``cluster`` (string; the
        item's own name by default), ``stratum`` (string, ``""`` if none) and ``weight``
        (positive float, 1 if none). Covariates are further columns (numbers or strings).
    raters : pandas.DataFrame
        One line per rater, index ``rater`` (unique strings). Column ``group`` (string).
    truth : ndarray of int16 (item, label)
        Known truth: class codes, ``MISSING`` where it is unknown, ``NOT_ASKED`` where the label is
        known not to apply.
    panels : pandas.DataFrame
        One line per place of an item in a ranked list: ``panel``, ``system``, ``cluster``
        (strings), ``rank`` (int, from 1), ``item`` (position in ``items``). An item may be in
        the panels of several systems, and may have no rating. Without ranked lists each item is
        its own panel with rank 1; ``system`` is ``""`` if there is none. Items of a list without
        an order share rank 1.
    partial, resolve : str
        The cause of partly answered ratings, and the handling of blocked answers.
    accounting : Accounting
        What was done with every row of the input.
    simulated : Simulated or None
        The truth, if these ratings are simulated; fits ignore it.
    scores : ndarray of float (rating, label)
        In [0, 1]: position of the item between the lowest and the highest class, P(upper class)
        of a binary label; NaN without a score. A rating with only scores has no answers, and is
        not an abstention.
    session : ndarray of str (rating,)
        The session, snapshot or period of the rating; ``""`` where it is unknown.
    sessions : tuple of str
        The sessions in order of time; all that occur in ``session``, and perhaps more.
    audit : ndarray of int8 (rating, label)
        1 the answer was checked and is right, 0 it was checked and is wrong, -1 not checked.
        If a rating was found wrong without saying which answer is wrong, every answer has -2
        (``SOME_WRONG``).
    seconds : ndarray of float (rating,)
        Duration of the rating; NaN where it is unknown.
    keys : pandas.DataFrame
        One line per item: its cells in the columns of the source that name it, its cluster,
        stratum, panel, system and rank. Strings, ``""`` where an item has several or none.

    The last six are optional.
    """

    task: Task
    answers: Vectors
    item: Ints
    rater: Ints
    replicate: Ints
    abstained: Bools
    items: pd.DataFrame
    raters: pd.DataFrame
    truth: Vectors
    panels: pd.DataFrame
    partial: Partial = "lost"
    resolve: Resolve = "retry"
    accounting: Accounting = field(default_factory=lambda: no_accounting(0))
    simulated: Simulated | None = None
    scores: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    session: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, object))
    sessions: tuple[str, ...] = ()
    audit: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    seconds: Floats = field(default_factory=lambda: np.zeros(0))
    keys: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        """Fill in omitted fields, and refuse fields of the wrong shape."""
        blank = {
            "scores": _all_alike(np.nan, self.answers.shape),
            "session": _all_alike(np.array("", object), (len(self.answers),)),
            "audit": _all_alike(np.int8(NOT_AUDITED), self.answers.shape),
            "seconds": _all_alike(np.nan, (len(self.answers),)),
        }
        for name, neutral in blank.items():
            given = np.asarray(getattr(self, name), neutral.dtype)
            if given.shape != neutral.shape and _knows_something(given):
                raise RatingsError(
                    f"{name} has shape {given.shape}, but the ratings need {neutral.shape}. "
                    "Select ratings with assay.data.ratings.take_ratings",
                    code="ratings-shape",
                )
            # A frozen dataclass can only be completed this way.
            object.__setattr__(self, name, given if given.shape == neutral.shape else neutral)
        if self.keys.columns.empty:
            object.__setattr__(self, "keys", pd.DataFrame(index=self.items.index))
        # One value in the memory stands for all ratings where none has a session.
        distinct = self.session if any(self.session.strides) else self.session[:1]
        named = [str(s) for s in pd.unique(distinct) if s]
        object.__setattr__(self, "sessions", tuple(self.sessions) or tuple(named))
        unlisted = [name for name in named if name not in self.sessions]
        if unlisted:
            raise RatingsError(
                f"sessions does not list {', '.join(unlisted)}",
                code="unlisted-sessions",
                numbers={"sessions": len(unlisted)},
            )

    @property
    def answered(self) -> Bools:
        """Which ratings have an answer or a score, (rating,)."""
        said = (self.answers != MISSING) | np.isfinite(self.scores)
        return np.asarray(said.any(axis=1))

    @property
    def scores_alone(self) -> Bools:
        """Which ratings have a score and no answer, (rating,)."""
        scored = np.isfinite(self.scores).any(axis=1)
        return np.asarray(scored & ~(self.answers >= 0).any(axis=1))

    @cached_property
    def raters_of_items(self) -> Ints:
        """The number of different raters who answered each item, (item,)."""
        answered, raters = ~self.abstained, max(len(self.raters), 1)
        pairs = np.sort(self.item[answered] * raters + self.rater[answered])
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return np.bincount(pairs // raters, minlength=len(self.items))

    @property
    def has_truth(self) -> Bools:
        """Which items have a known truth, at least in part, (item,)."""
        return np.asarray((self.truth != MISSING).any(axis=1))

    @property
    def systems(self) -> list[str]:
        """Names of the systems, sorted; empty if there are none."""
        return sorted(set(pd.unique(self.panels["system"])) - {""})

    def __repr__(self) -> str:
        """Return sizes and task, on one line."""
        parts = [
            counted(len(self.answers), "rating"),
            counted(len(self.items), "item"),
            counted(len(self.raters), "rater"),
        ]
        if self.items["cluster"].nunique() < len(self.items):
            parts.append(counted(self.items["cluster"].nunique(), "cluster"))
        if self.systems:
            parts.append(counted(len(self.systems), "system"))
        return f"<assay.Ratings of task {self.task.name}: {', '.join(parts)}>"

    def to_frame(self) -> pd.DataFrame:
        """Return a line per rating: ``item``, ``rater``, and the class of each label by its name.

        Missing answers and labels that were not asked are missing. Columns ``replicate``,
        ``session``, ``seconds`` and ``<label>_score`` are included where they are known.

        Examples
        --------
        >>> import assay
        >>> assay.simulate("single", n_items=2, n_raters=3, rng=1).to_frame().columns.tolist()
        ['item', 'rater', 'label']
        """
        columns: dict[str, Any] = {
            "item": self.items.index.to_numpy()[self.item],
            "rater": self.raters.index.to_numpy()[self.rater],
        }
        for n, label in enumerate(self.task.labels):
            names = np.array([*label.classes, None], object)
            codes = self.answers[:, n]
            columns[label.name] = names[np.where(codes >= 0, codes, len(label.classes))]
        for n, label in enumerate(self.task.labels):
            if np.isfinite(self.scores[:, n]).any():
                columns[f"{label.name}_score"] = self.scores[:, n]
        if self.replicate.any():
            columns["replicate"] = self.replicate
        if self.sessions:
            columns["session"] = self.session
        if np.isfinite(self.seconds).any():
            columns["seconds"] = self.seconds
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        """Show the sizes, and the first ratings."""
        return notebook_html(repr(self)[1:-1], {"Ratings": self.to_frame()})


def require_storable(ratings: Ratings) -> None:
    """Refuse names that no file can hold, before a long fit starts."""
    columns: dict[str, pd.Index | pd.Series[Any] | tuple[str, ...]] = {
        "item": ratings.items.index, "cluster": ratings.items["cluster"],
        "stratum": ratings.items["stratum"], "rater": ratings.raters.index,
        "rater group": ratings.raters["group"], "system": ratings.panels["system"],
        "session": ratings.sessions,
    }  # fmt: skip
    for what, names in columns.items():
        known = list(names) if isinstance(names, tuple) else names.tolist()
        if not storable("\n".join(map(str, known))):
            bad = next(name for name in known if not storable(name))
            raise RatingsError(
                f"the {what} {cut(str(bad))} cannot be stored, because its name holds the "
                "character NUL or half a character (a lone surrogate). Rename it",
                code="unstorable-name",
            )


def storable(name: object) -> bool:
    """Return whether a name can be stored in a file."""
    text = str(name)
    return not NO_FILE.search(text)


def system_of_items(ratings: Ratings) -> Ints:
    """Return the position of each item's first system in ``ratings.systems``, -1 without one."""
    panels = ratings.panels.drop_duplicates("item")
    system = np.full(len(ratings.items), -1)
    system[panels["item"]] = pd.Index(ratings.systems).get_indexer(pd.Index(panels["system"]))
    return system


def covariate_columns(items: pd.DataFrame) -> list[str]:
    """Return the columns of the items that a formula may use."""
    return [str(name) for name in items.columns if name not in ITEM_COLUMNS]


def _all_alike(value: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a read-only array of one value that takes no memory."""
    return np.broadcast_to(value, shape)


def _knows_something(values: NDArray[Any]) -> bool:
    """Return whether an array of scores, sessions, audits or times has a known value."""
    if values.dtype == object:
        return bool((values != "").any())
    if values.dtype == np.int8:
        return bool((values != NOT_AUDITED).any())
    return bool(np.isfinite(values).any())


def take_ratings(ratings: Ratings, rows: Bools | NDArray[np.integer]) -> Ratings:
    """Return some of the ratings, with all items, raters, panels, truth and sessions.

    Parameters
    ----------
    ratings : Ratings
    rows : ndarray of bool or int (rating,)
        A mask, or positions.

    Returns
    -------
    Ratings

    Examples
    --------
    >>> from assay.io.examples.anesthesia import anesthesia_ratings
    >>> ratings = anesthesia_ratings()
    >>> take_ratings(ratings, ratings.replicate == 0)
    <assay.Ratings of task single: 225 ratings, 45 items, 5 raters>
    """
    return replace(
        ratings,
        **{name: getattr(ratings, name)[rows] for name in PER_RATING},
    )


def require_ratings(
    function: str, given: object, *, instead: str = "make them with assay.read_ratings(source, ...)"
) -> None:
    """Refuse an argument of ``function`` that is not Ratings."""
    if not isinstance(given, Ratings):
        raise ArgumentError(
            f"{function} takes Ratings, not {type(given).__name__}; {instead}", code="argument-type"
        )


def audited_ratings(ratings: Ratings) -> NDArray[np.int8]:
    """Return the audit of each whole rating, (rating,): 1 right, 0 partly wrong, -1 not fully
    checked (counting only wrong ones of these would bias raters downwards).
    """
    given = ratings.answers >= 0
    whole = given.any(axis=1) & (~given | (ratings.audit != NOT_AUDITED)).all(axis=1)
    wrong = np.isin(ratings.audit, (AUDITED_WRONG, SOME_WRONG)).any(axis=1)
    verdict = np.where(wrong, AUDITED_WRONG, AUDITED_RIGHT)
    return np.where(whole, verdict, NOT_AUDITED).astype(np.int8)
