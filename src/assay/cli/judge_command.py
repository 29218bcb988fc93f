"""The command that lets a language model rate the items of any task."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.errors import FitError
from assay._util.files import write_table
from assay.cli.judge_options import Model, Sending, say_notes_of, say_plan, show_plan
from assay.cli.options import Json, Quiet, Strict, pairs
from assay.cli.program import command
from assay.cli.shell import DOUBTED, say, show
from assay.cli.tables import deliver, require_table

if TYPE_CHECKING:
    import pandas as pd

    from assay.studies.judges.ask import ModelAnswers


def _judging(name: str, what: str, **more: Any) -> Any:
    return typer.Option(name, help=what, rich_help_panel="Asking", **more)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Options: the prompt, and the columns that the model sees."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Ratings to write: .csv, .tsv, .parquet or .json."),
    ] = None
    prompt: Annotated[
        str | None,
        _judging("--prompt", "Name of a prompt, or a .toml file. Default: that of the task."),
    ] = None
    definitions: Annotated[
        Path | None,
        _judging("--definitions", "File with a definition of relevance for each query."),
    ] = None
    slots: Annotated[
        list[str] | None,
        _judging(
            "--slot", "Column for a slot of the prompt, if not recognised; repeat.",
            metavar="SLOT=COLUMN",
        ),
    ] = None  # fmt: skip
    texts: Annotated[
        list[str] | None,
        _judging("--text", "Column that the prompt 'judge' shows; repeat.", metavar="COLUMN"),
    ] = None
    item: Annotated[
        list[str] | None,
        _judging(
            "--item", "Column that names the item; repeat for a key of several parts.",
            metavar="COLUMN",
        ),
    ] = None  # fmt: skip
    rater: Annotated[
        str | None, _judging("--name", "Name of the rater. Default: model and prompt.")
    ] = None
    confidence: Annotated[
        Literal["ask", "token", "none"],
        _judging("--confidence", "Confidence stated by the model, or from token probabilities."),
    ] = "ask"
    window: Annotated[
        int, _judging("--window", "Documents in a window, for prompts that order lists.", min=2)
    ] = 20
    step: Annotated[int, _judging("--step", "Documents from one window to the next.", min=1)] = 10

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``ask_model``."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "output"}
        slots = pairs(self.slots, "--slot", str.partition) or None
        return given | {"slots": slots, "texts": self.texts or None, "item": self.item or None}


@command("judge items.csv --task ais --model gpt-4o --dry-run")
def judge(
    items: Annotated[Path, typer.Argument(help="Items with their texts: CSV, JSON lines, ...")],
    task: Annotated[str, typer.Option("--task", help="Name of a task, or a .toml file.")],
    model: Model,
    judging: Judging,
    sending: Sending,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Let a language model rate items, at any endpoint with the interface of OpenAI."""
    run_model(items, task, model, judging, sending, as_json, quiet, strict)


def run_model(
    items: Path, task: str, model: str, judging: Judging, sending: Sending, as_json: bool,
    quiet: bool, strict: bool,
) -> None:  # fmt: skip
    """Show the plan, send the requests, and deliver the ratings."""
    from assay import ask_model
    from assay.display.terminal import frame_table

    given = judging.arguments() | sending.arguments(items, progress=not quiet) | {"model": model}
    plan = ask_model(items, task, **(given | {"dry_run": True})).plan
    if sending.dry_run:
        show_plan(plan)
        return
    output = judging.output
    if output is not None:
        # Before any request is paid for.
        require_table(output, example="ratings.csv")
    say_plan(plan)
    found = ask_model(items, task, **given)
    say_notes_of(found.notes)
    extra = {"unparsed": found.unparsed}
    deliver("ratings", found.ratings, as_json, output, list, extra=extra)
    if output is None and not as_json:
        show(frame_table("Answers", counts_of(found)))
    if output is not None and len(found.unparsed):
        beside = output.with_name(f"{output.stem}.unparsed{output.suffix}")
        write_table(found.unparsed, beside)
        say(f"wrote {beside}: answers that could not be read")
    if found.ratings.empty:
        raise FitError("No item has a rating.", code="no-model-ratings")
    if strict and found.notes:
        raise typer.Exit(DOUBTED)


def counts_of(found: "ModelAnswers") -> "pd.DataFrame":
    """Count ratings, and unreadable answers by label."""
    import pandas as pd

    unread = found.unparsed["label"].value_counts()
    lines = [(f"without a class for {name}", int(number)) for name, number in unread.items()]
    return pd.DataFrame([("ratings", len(found.ratings)), *lines], columns=["answers", "number"])
