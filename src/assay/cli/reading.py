"""How ratings are read: options that check, fit, agreement and report share, as one value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli.options import pairs

if TYPE_CHECKING:
    from assay.data.ratings import Ratings


def _column(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", help=what, metavar="COLUMN", rich_help_panel="Columns")


def _per_label(name: str, what: str) -> Any:
    return _column(name, f"{what} LABEL=COLUMN if there are several labels; repeat.")


def _reading(what: str, **more: Any) -> Any:
    return typer.Option(help=what, rich_help_panel="Reading", **more)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The arguments of ``read_ratings``."""

    item: Annotated[
        list[str] | None, _column("item", "Item; repeat for a key of several parts.")
    ] = None
    rater: Annotated[str | None, _column("rater", "Rater.")] = None
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
        _column("group", "Group of the rater; RATER=GROUP if no column has it: repeat for each."),
    ] = None
    weight: Annotated[str | None, _column("weight", "Design weight.")] = None
    stratum: Annotated[str | None, _column("stratum", "Stratum.")] = None
    covariate: Annotated[
        list[str] | None,
        _column("covariate", "Of the item, kept with it; those of --formula are. Repeat."),
    ] = None
    replicate: Annotated[
        str | None, _column("replicate", "Replicate; 'row' numbers by file order.")
    ] = None
    session: Annotated[str | None, _column("session", "Session, snapshot or period.")] = None
    seconds: Annotated[str | None, _column("seconds", "Time that the rating took.")] = None
    score: Annotated[list[str] | None, _per_label("score", "Scores.")] = None
    confidence: Annotated[
        list[str] | None, _per_label("confidence", "Confidence in the answer given.")
    ] = None
    audit: Annotated[
        list[str] | None, _per_label("audit", "Whether an answer was checked and found right.")
    ] = None
    score_range: Annotated[
        tuple[float, float], _reading("Scores that stand for 0 and for 1.", metavar="LOW HIGH")
    ] = (0.0, 1.0)
    sessions: Annotated[
        list[str] | None, _reading("Sessions in order of time; repeat.", metavar="SESSION")
    ] = None
    word: Annotated[
        list[str] | None,
        _reading("What a word of the file stands for; repeat.", metavar="LABEL:WORD=CLASS"),
    ] = None
    panels: Annotated[Path | None, _reading("Table of panels.")] = None
    truth: Annotated[str | None, _reading("Column or file of known truth.")] = None
    partial: Annotated[
        Literal["lost", "draft"], _reading("How partly answered ratings came about.")
    ] = "lost"
    resolve: Annotated[
        Literal["retry", "repair"], _reading("How raters resolve a blocked answer.")
    ] = "retry"
    response: Annotated[
        list[str] | None,
        _reading(
            "What the interface did with answers that break a rule: block, warn or off.",
            metavar="RULE=STRENGTH",
        ),
    ] = None

    def read(self, source: Path, task: str, covariates: Sequence[str] = ()) -> "Ratings":
        """Read ratings; ``covariates`` are columns that the model needs besides."""
        from assay import read_ratings

        given = self.arguments()
        given["covariates"] = [*(given["covariates"] or ()), *covariates] or None
        return read_ratings(source, task=task, **given)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``read_ratings``."""
        unlike = ("word", "covariate")
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in unlike}
        return given | self._parsed()

    def _parsed(self) -> dict[str, Any]:
        """Return the arguments that are written otherwise on the command line."""
        per_label = {
            name: _columns(getattr(self, name), f"--{name}")
            for name in ("labels", "score", "confidence", "audit")
        }
        return per_label | {
            # A rater's name may hold an equals sign, that of a group does not.
            "group": _columns(self.group, "--group", str.rpartition),
            "item": self.item or None,
            "sessions": self.sessions or None,
            "covariates": self.covariate or None,
            "classes": _words(self.word) or None,
            # A rule may hold an equals sign, and the name of a strength does not.
            "response": pairs(self.response, "--response", str.rpartition),
        }


def _columns(
    texts: list[str] | None, option: str, split: Callable[..., tuple[str, str, str]] = str.partition
) -> str | dict[str, str] | None:
    """Return one column for all, or what is given for each that is named."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return pairs(texts, option, split)


def _words(texts: list[str] | None) -> dict[str, dict[str, str]]:
    """Split texts LABEL:WORD=CLASS; an empty CLASS means no answer."""
    found: dict[str, dict[str, str]] = {}
    for text in texts or ():
        rest, equals, name = text.rpartition("=")
        label, colon, word = (part.strip() for part in rest.partition(":"))
        if not (equals and colon and label and word):
            raise typer.BadParameter(f"{text!r} is not LABEL:WORD=CLASS", param_hint="--word")
        found.setdefault(label, {})[word] = name.strip()
    return found
