"""The arguments of ``read_ratings`` as a value that a format can complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError, TaskError
from assay._util.validation import written
from assay.data.ratings import Partial, Resolve
from assay.io.names import ColumnFinder

ColumnArg = str | Sequence[str] | None
PerLabel = str | Mapping[str, str] | None
LabelsArg = Mapping[str, str] | Sequence[str] | str | None
TruthArg = pd.DataFrame | str | Path | Mapping[str, str] | None
BY_ROW = "row"
GroupArg = ColumnArg | Mapping[str, str]
WordsArg = Mapping[str, Mapping[str, str]] | None
SHAPES = ("wide", "wide_items", "counts")
"""Arguments for tables with several ratings in a row."""
LISTS = (tuple, np.ndarray, pd.Index, pd.Series)
"""Types of several names, which become lists."""
ONE_COLUMN = ("label", "value")
COLUMNS = (
    "item", "rater", "cluster", "rank", "system", "panel", "weight", "stratum", "covariates",
    "replicate", "session", "seconds", *SHAPES,
)  # fmt: skip
PER_LABEL = ("score", "confidence", "audit")


NO_ANSWER = ("item", "rater", "system", "cluster", "session", "replicate", "truth")
"""Roles of columns that cannot hold the answers, too."""


def names_in(given: Any) -> list[Any]:
    """Return the names that an argument has, one or several."""
    return [given] if isinstance(given, str) else list(given or ())


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What the caller says of columns and cells; see :func:`~assay.read_ratings`."""

    item: ColumnArg = None
    rater: ColumnArg = None
    labels: LabelsArg = None
    label: str | None = None
    value: str | None = None
    classes: WordsArg = None
    score: PerLabel = None
    confidence: PerLabel = None
    score_range: Sequence[float] = (0, 1)
    cluster: ColumnArg = None
    rank: ColumnArg = None
    system: ColumnArg = None
    panel: ColumnArg = None
    group: GroupArg = None
    truth: TruthArg = None
    truth_rater: str | None = None
    weight: ColumnArg = None
    stratum: ColumnArg = None
    covariates: ColumnArg = None
    replicate: ColumnArg = None
    session: ColumnArg = None
    sessions: Sequence[str] | None = None
    audit: PerLabel = None
    seconds: ColumnArg = None
    panels: str | Path | pd.DataFrame | None = None
    response: Mapping[str, str] | None = None
    partial: Partial = "lost"
    resolve: Resolve = "retry"
    wide: ColumnArg = None
    wide_items: ColumnArg = None
    counts: ColumnArg = None
    ordered: bool | None = None
    set_aside: bool = False

    def __post_init__(self) -> None:
        """Refuse arguments that name no columns; arrays of names become lists."""
        problems = []
        for names, allowed, kinds in (
            (ONE_COLUMN, "a column name", (str,)),
            (("truth_rater",), "the name of a rater", (str,)),
            (COLUMNS, "a column name or a list of them", (str, list)),
            (PER_LABEL, "a column or a dict from label to column", (str, Mapping)),
            (("labels",), "a dict, a list or a column name", (str, list, Mapping)),
            (("group",), "a column, a list of them or a dict", (str, list, Mapping)),
        ):
            for name in names:
                given = getattr(self, name)
                if isinstance(given, LISTS):
                    given = list(given)
                    object.__setattr__(self, name, given)
                listed = given if isinstance(given, list) else []
                named = isinstance(given, kinds) and all(isinstance(one, str) for one in listed)
                if given is not None and not named:
                    problems.append(
                        Problem(
                            code="argument-type",
                            what=f"`{name}=` must be {allowed}, not {written(given)}",
                            role=name if name in COLUMNS else "",
                            go_on={name: None},
                        )
                    )
        if problems:
            raise RatingsError(problems, "the arguments")

    @property
    def roles(self) -> dict[str, ColumnArg]:
        """The named columns, by role."""
        names = (
            "item", "rater", "cluster", "panel", "rank", "system", "weight", "stratum", "session",
            "seconds",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {
            "group": None if isinstance(self.group, Mapping) else self.group,
            "replicate": None if self.by_row else self.replicate,
        }

    @property
    def shapes(self) -> list[str]:
        """The given arguments for tables with several ratings in a row."""
        return [name for name in SHAPES if getattr(self, name)]

    @property
    def named_columns(self) -> list[str]:
        """All columns that the caller names."""
        given = (
            self.labels, self.label, self.value, self.score, self.confidence, self.truth,
            self.audit, self.covariates, *self.roles.values(),
        )  # fmt: skip
        found: list[str] = []
        for one in given:
            if isinstance(one, Mapping):
                found += [name for name in one.values() if isinstance(name, str)]
            elif isinstance(one, str):
                found.append(one)
            elif isinstance(one, list):
                found += [name for name in one if isinstance(name, str)]
        return found

    @property
    def by_row(self) -> bool:
        """Whether file order tells a rater's ratings of one item apart."""
        return self.replicate == BY_ROW

    @property
    def responses(self) -> Mapping[str, str]:
        """The strengths of rules; `TaskError` if they are no mapping."""
        given: object = self.response
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise TaskError(
                f'`response=` must be a dict like {{rule: "warn"}}, not {given!r}',
                code="argument-type",
            )
        return given

    def with_known(self, options: Mapping[str, Any]) -> "Arguments":
        """Fill in options of a format where the caller says nothing."""
        given = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        silent = {
            name for name, (value, default) in given.items()
            if value is None or (isinstance(value, str | tuple) and value == default)
        }  # fmt: skip
        return replace(self, **{name: v for name, v in options.items() if name in silent})

    def of_labels(self, labels: Sequence[str], options: Mapping[str, Any]) -> "Arguments":
        """Leave out what a format knows of labels other than these."""
        kept: dict[str, Any] = {
            name: {label: column for label, column in value.items() if label in labels}
            for name, value in options.items()
            if isinstance(value, Mapping) and getattr(self, name) is value
        }
        return replace(self, **kept)


def require_apart(given: Arguments, finder: ColumnFinder, source: str) -> None:
    """Refuse a column that the caller names for the answers and for what they are about, or for
    all of the item and for the rater.
    """
    said = given.labels.values() if isinstance(given.labels, Mapping) else names_in(given.labels)
    answers = {finder.get(str(name)) or name for name in [*said, *names_in(given.value)]}
    named = {role: getattr(given, role) for role in NO_ANSWER}
    columns = {
        role: [finder.get(name) or name for name in names_in(names)]
        for role, names in named.items()
        if isinstance(names, str | list)
    }
    shared = [("labels", role, c) for role, held in columns.items() for c in held if c in answers]
    if len(columns.get("item", [])) == 1 and columns["item"] == columns.get("rater"):
        shared.append(("rater", "item", columns["item"][0]))
    problems = [
        Problem(
            code="two-roles",
            what=f"`{first}=` and `{role}=` both name column {column}, which cannot be both",
            mend=f"leave out the one that is wrong, such as `{role}=`",
            role=role,
            go_on={role: None},
        )
        for first, role, column in shared
    ]
    if problems:
        raise RatingsError(problems, source)
