"""Options that are arguments of ``read_ratings``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.errors import RatingsError
from assay.cli.options import pairs, source_of

if TYPE_CHECKING:
    from assay.data.ratings import Ratings
    from assay.data.task import Task


def _column(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", help=what, metavar="COLUMN", rich_help_panel="Columns")


def _per_label(name: str, what: str) -> Any:
    return _column(name, f"{what} With several labels: LABEL=COLUMN; repeat.")


def _reading(what: str, **more: Any) -> Any:
    return typer.Option(help=what, rich_help_panel="Reading", **more)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options that are arguments of ``read_ratings``."""

    item: Annotated[
        list[str] | None, _column("item", "Item; repeat for a key of several columns.")
    ] = None
    rater: Annotated[
        list[str] | None, _column("rater", "Rater; repeat for a key of several columns.")
    ] = None
    labels: Annotated[list[str] | None, _per_label("labels", "Answers.")] = None
    label: Annotated[
        str | None, _column("label", "Name of the label, if a row has one answer.")
    ] = None
    value: Annotated[str | None, _column("value", "The answer, if a row has one answer.")] = None
    cluster: Annotated[str | None, _column("cluster", "Cluster, e.g. the query.")] = None
    rank: Annotated[str | None, _column("rank", "Rank in the list.")] = None
    system: Annotated[str | None, _column("system", "System under evaluation.")] = None
    panel: Annotated[str | None, _column("panel", "Ranked list.")] = None
    group: Annotated[
        list[str] | None,
        _column("group", "Group of the rater. If no column has it: RATER=GROUP; repeat."),
    ] = None
    weight: Annotated[str | None, _column("weight", "Design weight.")] = None
    stratum: Annotated[str | None, _column("stratum", "Stratum.")] = None
    covariate: Annotated[
        list[str] | None,
        _column("covariate", "Covariate of the item (those of --formula are read anyway); repeat."),
    ] = None
    replicate: Annotated[
        str | None,
        _column(
            "replicate", "Replicate; 'row': by order of the file; 'options': rows are options."
        ),
    ] = None
    session: Annotated[str | None, _column("session", "Session, snapshot or period.")] = None
    seconds: Annotated[str | None, _column("seconds", "Time that the rating took.")] = None
    score: Annotated[list[str] | None, _per_label("score", "Scores.")] = None
    confidence: Annotated[
        list[str] | None, _per_label("confidence", "Confidence in the answer given.")
    ] = None
    audit: Annotated[
        list[str] | None, _per_label("audit", "Result of an audit: right or wrong.")
    ] = None
    score_range: Annotated[
        tuple[float, float], _reading("Scores that mean 0 and 1.", metavar="LOW HIGH")
    ] = (0.0, 1.0)
    sessions: Annotated[
        list[str] | None, _reading("Sessions in order of time; repeat.", metavar="SESSION")
    ] = None
    word: Annotated[
        list[str] | None,
        _reading("Class that a word of the file means; repeat.", metavar="LABEL:WORD=CLASS"),
    ] = None
    format: Annotated[
        str | None, _reading("Format of the file, if several fit; 'table' means none of them.")
    ] = None
    sheet: Annotated[
        str | None, _reading("Sheet, if the spreadsheet has several; '*' reads all.")
    ] = None
    encoding: Annotated[
        str | None, _reading("Encoding of the text, e.g. latin-1, if not recognised.")
    ] = None
    wide: Annotated[
        list[str] | None,
        _reading(
            "Columns that are raters, in a table with a row for each item; '*' means all columns "
            "with answers; a pattern reads names with parts: '{rater}_{label}', "
            "'{system}.{label}.{rater}', and '{item}: {label}' where each row is a rater.",
            metavar="COLUMN ...",
        ),
    ] = None
    wide_items: Annotated[
        list[str] | None,
        _reading(
            "Columns that are items, in a table with a row for each rater.", metavar="COLUMN ..."
        ),
    ] = None
    counts: Annotated[
        list[str] | None,
        _reading(
            "Columns that are classes and hold numbers of votes, or one with those of each row.",
            metavar="COLUMN ...",
        ),
    ] = None
    ordered: Annotated[
        bool | None,
        typer.Option(
            "--ordered/--unordered",
            help="Whether numbers that are classes are grades, or only codes.",
            rich_help_panel="Reading",
        ),
    ] = None
    set_aside: Annotated[bool, _reading("Set aside rows that cannot be read, and count them.")] = (
        False
    )
    panels: Annotated[Path | None, _reading("Table of panels.")] = None
    truth: Annotated[str | None, _reading("Column or file of known truth.")] = None
    truth_rater: Annotated[
        str | None, _reading("Rater whose rows are known truth.", metavar="RATER")
    ] = None
    partial: Annotated[
        Literal["lost", "draft"], _reading("Why ratings lack answers: lost, or a draft.")
    ] = "lost"
    resolve: Annotated[
        Literal["retry", "repair"], _reading("How raters resolve a blocked answer.")
    ] = "retry"
    response: Annotated[
        list[str] | None,
        _reading(
            "Response of the interface to answers that break a rule: block, warn or off.",
            metavar="RULE=STRENGTH",
        ),
    ] = None

    def read(
        self,
        sources: list[Path],
        task: "str | Task | None",
        covariates: Sequence[str] = (),
        *,
        labels: dict[str, str] | None = None,
    ) -> "Ratings":
        """Read ratings; ``covariates`` and ``labels`` are added to those of the options.

        A refusal ends with what was tried and reads the files.
        """
        from assay import read_ratings
        from assay.cli.proposals import tried

        given = self.arguments() | {"source": source_of(sources), "task": task}
        given["covariates"] = [*(given["covariates"] or ()), *covariates] or None
        given["labels"] = given["labels"] or labels
        try:
            return read_ratings(**given)
        except RatingsError as error:
            raise tried(error, read_ratings, given, sources) from None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``read_ratings``."""
        unlike = ("word", "covariate")
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in unlike}
        return given | self._parsed()

    def _parsed(self) -> dict[str, Any]:
        """Return the arguments whose options are written differently."""
        per_label = {
            name: _columns(getattr(self, name), f"--{name}")
            for name in ("score", "confidence", "audit")
        } | {"labels": _labels(self.labels)}
        return per_label | {
            # A rater's name may contain an equals sign; a group's name cannot.
            "group": _columns(self.group, "--group", str.rpartition),
            "item": self.item or None,
            # A word such as `row` is no list.
            "rater": self.rater[0] if self.rater and len(self.rater) == 1 else self.rater or None,
            "sessions": self.sessions or None,
            "wide": self.wide or None,
            "wide_items": self.wide_items or None,
            "counts": self.counts or None,
            "covariates": self.covariate or None,
            "classes": _words(self.word) or None,
            # A rule may contain an equals sign; a strength cannot.
            "response": pairs(self.response, "--response", str.rpartition),
        }


def _columns(
    texts: list[str] | None, option: str, split: Callable[..., tuple[str, str, str]] = str.partition
) -> str | dict[str, str] | None:
    """Return one column for all, or columns by name."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return pairs(texts, option, split)


def _labels(texts: list[str] | None) -> str | dict[str, str] | None:
    """Return the columns of answers; several bare names are labels of the same name."""
    if texts is None or len(texts) < 2:
        return _columns(texts, "--labels")
    named = [text if "=" in text else "=".join((text, text)) for text in texts]
    return pairs(named, "--labels", str.partition)


def _words(texts: list[str] | None) -> dict[str, dict[str, str]]:
    """Split texts LABEL:WORD=CLASS; an empty CLASS means no answer."""
    found: dict[str, dict[str, str]] = {}
    for text in texts or ():
        rest, equals, name = text.rpartition("=")
        label, colon, word = (part.strip() for part in rest.partition(":"))
        if not (equals and colon and label):
            raise typer.BadParameter(f"{text!r} is not LABEL:WORD=CLASS", param_hint="--word")
        found.setdefault(label, {})[word] = name.strip()
    return found
