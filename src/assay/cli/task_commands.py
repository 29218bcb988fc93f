"""Commands for tasks: draft one from a file, show it, export its form for raters."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay._util.errors import FitError, as_code
from assay._util.files import require_place
from assay.cli.application import app
from assay.cli.arguments import in_options
from assay.cli.options import Sources, source_of, stem_of
from assay.cli.program import command
from assay.cli.reading_options import Reading
from assay.cli.shell import say, say_notes, show, tell, warn

if TYPE_CHECKING:
    from assay.data.ratings import Ratings

COLUMNS = (
    "item", "rater", "cluster", "rank", "system", "panel", "group", "weight", "stratum",
    "covariates", "replicate", "session", "seconds", "score", "confidence", "audit", "truth",
)  # fmt: skip
"""Arguments that name columns other than those of answers."""
BY_ROW = "row"
"""The value of an argument that means file order."""
SHAPES = ("wide", "wide_items", "counts")
"""Arguments that describe the shape of the table; then no column is a question."""
tasks = typer.Typer(no_args_is_help=True, help="Draft, show and export task files.")
app.add_typer(tasks, name="task")


@command("task init ratings.csv -o task.toml", of=tasks)
def init(
    sources: Sources,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write, .toml. Default: FILE.toml here."),
    ] = None,
) -> None:
    """Draft a task file from ratings: labels, classes, columns, and rules that all answers keep."""
    from assay import load_task
    from assay.display.task_text import task_text
    from assay.io.task_choice import draft_arguments

    path = output or Path(f"{stem_of(sources, 'task')}.toml")
    require_place(path, example="task.toml")
    if output is None and path.exists():
        raise FitError(
            f"{path} exists already. Name another file: `output='task.toml'`", code="file-exists"
        )
    given = reading.arguments()
    taken = [c for role in COLUMNS for c in _several(given[role])]
    beside = {name: given[name] for name in ("format", "sheet", "encoding")}
    shaped = any(given[name] for name in SHAPES)
    labels = given["labels"] or given["value"]
    roles = {role: found for role in ("item", "rater") if (found := _several(given[role]))}
    draft = {} if shaped else draft_arguments(source_of(sources), labels, taken, roles, **beside)
    ratings = reading.read(sources, draft.get("task"), labels=draft.get("labels"))
    say_notes(ratings.accounting)
    if left := draft.get("left"):
        say(f"note: {left}. --labels names others")
    named = {"item": reading.item or []}
    named |= {"replicate": [BY_ROW]} if given["replicate"] == BY_ROW else {}
    text = task_text(ratings, path.stem, {role: names for role, names in named.items() if names})
    path.write_text(text, encoding="utf-8")
    load_task(path)
    tell(f"wrote {path}: {_sizes(ratings)}")
    files = shlex.join(map(str, sources))
    say(f"next: check the file, then assay run {files} {_kept(reading, path)}")


def _kept(reading: Reading, path: Path) -> str:
    """Return the options that are still needed beside the task file."""
    needless = {"labels", "value", "item", *(["rater"] if reading.rater != [BY_ROW] else [])}
    kept = {n: v for n, v in reading.arguments().items() if v and n not in needless}
    usual = Reading().arguments()
    return in_options(
        as_code({n: v for n, v in kept.items() if v != usual[n]} | {"task": str(path)})
    )


def _several(given: object) -> list[str]:
    """Return the columns of an argument that names none, one or several."""
    return [given] if isinstance(given, str) else list(given) if isinstance(given, list) else []


def _sizes(ratings: "Ratings") -> str:
    from assay._util.text import counted
    from assay.checks.regularities import regular_gates, regular_rules

    found = {
        "label": len(ratings.task.labels),
        "suggested rule": len(regular_rules(ratings)),
        "suggested gate": len(regular_gates(ratings)),
    }
    return ", ".join(counted(count, word) for word, count in found.items())


@command("task show retrieval", of=tasks, name="show")
def show_task(
    task: Annotated[str, typer.Argument(help="Name of a task, or a .toml file.")],
) -> None:
    """Show the labels, rules and states of a task."""
    from assay import load_task
    from assay.display.task_text import task_parts

    for part in task_parts(load_task(task)):
        show(part, "")


@command("task export retrieval --to label-studio -o retrieval.xml", of=tasks)
def export(
    task: Annotated[str, typer.Argument(help="Name of a task, or a .toml file.")],
    to: Annotated[
        Literal["label-studio", "argilla", "guidelines"],
        typer.Option(help="A label config, the settings of a dataset, or guidelines for raters."),
    ],
    texts: Annotated[
        list[str] | None,
        typer.Option("--text", help="Field of the data with text for raters; repeat."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. Default: TASK.SUFFIX here."),
    ] = None,
) -> None:
    """Write the form of a task for an annotation tool, or guidelines for raters."""
    from assay import load_task
    from assay.studies.forms import make_form

    read = load_task(task)
    form = make_form(read, to, texts)
    path = output or Path(f"{read.name}{form.suffix}")
    require_place(path, example=f"{read.name}{form.suffix}")
    if output is None and path.exists():
        raise FitError(
            f"{path} exists already. Name another file: `output='form{form.suffix}'`",
            code="file-exists",
        )
    path.write_text(form.text, encoding="utf-8")
    tell(f"wrote {path}")
    for note in form.notes:
        warn(note)
