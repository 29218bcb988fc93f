"""The command line: each command reads, computes, writes, and only then renders.

Exit status: 0 done, 1 the data or the fit has a problem, 2 wrong usage, 130 interrupted. Whatever
is heavy is imported inside the commands, so that ``assay --help`` answers at once.
"""

import functools
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from assay.errors import AssayError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from assay.ratings import Ratings

SHOWN_LABELS = 20
INTERRUPTED = 130
SUFFIXES = (".csv", ".tsv", ".parquet")

app = typer.Typer(
    name="assay",
    help="What is true of items that several raters judged, how reliable each rater is, and what "
    "that means for metrics, with honest uncertainty.",
    epilog="Start with: assay demo. Exit status: 0 done, 1 the data or the fit has a problem, "
    "2 wrong usage.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Source = Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or an exported folder.")]
TaskName = Annotated[str, typer.Option("--task", help="Name of a task, or a .toml file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
FitFile = Annotated[Path, typer.Argument(help="File that 'assay fit' wrote.", show_default=False)]
Table = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the table: .csv, .tsv or .parquet.")
]
Level = Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of the intervals.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]


def _column(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", help=what, metavar="COLUMN", rich_help_panel="Columns")


Item = Annotated[list[str] | None, _column("item", "Item; repeat for a key of several parts.")]
Rater = Annotated[str | None, _column("rater", "Rater.")]
LabelColumn = Annotated[str | None, _column("label", "Name of the label, if a row has one answer.")]
Value = Annotated[str | None, _column("value", "The answer, if a row has one answer.")]
Cluster = Annotated[str | None, _column("cluster", "Cluster, e.g. the query.")]
Rank = Annotated[str | None, _column("rank", "Rank in the list.")]
System = Annotated[str | None, _column("system", "System under evaluation.")]
Panel = Annotated[str | None, _column("panel", "Ranked list.")]
Group = Annotated[str | None, _column("group", "Group of the rater.")]
Weight = Annotated[str | None, _column("weight", "Design weight.")]
Stratum = Annotated[str | None, _column("stratum", "Stratum.")]
Replicate = Annotated[str | None, _column("replicate", "Replicate; 'row' numbers by file order.")]
Panels = Annotated[Path | None, typer.Option(help="Table of panels.", rich_help_panel="Reading")]
Truth = Annotated[
    str | None, typer.Option(help="Column or file of known truth.", rich_help_panel="Reading")
]
Partial = Annotated[
    Literal["lost", "draft"],
    typer.Option(help="How partly answered ratings came about.", rich_help_panel="Reading"),
]
Resolve = Annotated[
    Literal["retry", "repair"],
    typer.Option(help="How raters resolve a blocked answer.", rich_help_panel="Reading"),
]
Response = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE=STRENGTH", rich_help_panel="Reading",
        help="What the interface did with answers that break a rule: block, warn or off.",
    ),
]  # fmt: skip


def _in_words[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Turn what can go wrong with a user's input into words on standard error."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except AssayError as error:
            _fail(str(error) + _hint(str(error)))
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of our output has gone: typer ends without a word
        except OSError as error:
            _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        except MemoryError:
            _fail("not enough memory; take fewer draws or chains")

    return run


@contextmanager
def _interruptible() -> Iterator[None]:
    """End with KeyboardInterrupt if Ctrl-C was pressed, even if a library swallowed it.

    nutpie takes an interrupt for "stop here" and hands over the draws made so far; a fit that was
    cut off must not be written as if it were whole.
    """
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception:
        # What the draws that were cut off led to is no news.
        if not pressed:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _fail(text: str) -> NoReturn:
    _say(f"error: {text}")
    raise typer.Exit(1)


def _hint(text: str) -> str:
    """Say how arguments of the Python functions are written here, if a message names one."""
    found = re.search(r'\b(\w+)="', text)
    return f'\n(here, {found[1]}="..." is --{found[1]} ...)' if found else ""


def _version(asked: bool) -> None:
    if asked:
        from assay import __version__

        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def assay(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command(epilog="Example: assay demo --keep fits")
@_in_words
def demo(
    seed: Seed = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Few draws: a first look.")] = False,
    keep: Annotated[Path | None, typer.Option(help="Save the two fits in this folder.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the whole path on real ratings, and on a simulated study whose truth is known."""
    from assay.demo import run_demo
    from assay.render import make_console

    with _interruptible():
        run_demo(
            make_console(), seed=seed, quick=quick, keep=keep, progress=not quiet, as_json=as_json
        )


@app.command(epilog="Example: assay check ratings.csv --task retrieval --system model")
@_in_words
def check(
    source: Source,
    task: TaskName,
    item: Item = None,
    rater: Rater = None,
    label: LabelColumn = None,
    value: Value = None,
    cluster: Cluster = None,
    rank: Rank = None,
    system: System = None,
    panel: Panel = None,
    group: Group = None,
    weight: Weight = None,
    stratum: Stratum = None,
    replicate: Replicate = None,
    panels: Panels = None,
    truth: Truth = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
    response: Response = None,
    as_json: Json = False,
) -> None:
    """Report what the ratings can tell, and what they cannot, before any model is fitted."""
    ratings = _read(locals())
    from assay import check as check_ratings

    report = check_ratings(ratings)
    if as_json:
        typer.echo(report.to_json())
    else:
        from assay.render import check_parts

        _print(*check_parts(report))
    if report.at_least("problem"):
        raise typer.Exit(1)


@app.command(epilog="Example: assay fit ratings.csv --task retrieval -o fit.nc")
@_in_words
def fit(
    source: Source,
    task: TaskName,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .nc, or a .zarr folder.")
    ],
    raters: Annotated[str, typer.Option(help="Rater family.")] = "hierarchical",
    prevalence: Annotated[str, typer.Option(help="loglinear or dirichlet.")] = "loglinear",
    method: Annotated[
        Literal["nuts", "laplace", "map"], typer.Option(help="How to find the posterior.")
    ] = "nuts",
    draws: Annotated[int, typer.Option(min=1, help="Draws kept of each chain.")] = 1000,
    tune: Annotated[int, typer.Option(min=1, help="Warm-up draws of each chain.")] = 1000,
    chains: Annotated[int, typer.Option(min=1)] = 4,
    seed: Seed = 1,
    prior: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PRIOR", help="Replace a prior, e.g. main='Normal(0, 1)'."),
    ] = None,
    item: Item = None,
    rater: Rater = None,
    label: LabelColumn = None,
    value: Value = None,
    cluster: Cluster = None,
    rank: Rank = None,
    system: System = None,
    panel: Panel = None,
    group: Group = None,
    weight: Weight = None,
    stratum: Stratum = None,
    replicate: Replicate = None,
    panels: Panels = None,
    truth: Truth = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
    response: Response = None,
    quiet: Quiet = False,
) -> None:
    """Fit a model to ratings and write the fit to one file."""
    given = locals()
    priors = _pairs(prior, "--prior", str.partition)
    _require_place(output)
    ratings = _read(given)
    import warnings

    import assay
    from assay.errors import FitWarning

    with warnings.catch_warnings(), _interruptible():
        # They stand in the fit and are shown once it is written.
        warnings.simplefilter("ignore", FitWarning)
        tree = assay.fit(
            ratings, raters=raters, prevalence=prevalence, priors=priors, method=method,
            draws=draws, tune=tune, chains=chains, rng=seed, progress=not quiet,
        )  # fmt: skip
    assay.save(tree, output)
    _report_fit(tree, output)


def _report_fit(tree: "xr.DataTree", output: Path) -> None:
    """Say what was written, and whether it can be trusted."""
    from assay.render import convergence_words, doubts

    words, *notes = convergence_words(tree)
    typer.echo(f"wrote {output}: {words}")
    for note in notes:
        _say(f"warning: {note}")
    if doubts(tree):
        raise typer.Exit(1)


@app.command(epilog="Example: assay metrics fit.nc --estimand finite -o metrics.csv")
@_in_words
def metrics(
    fit_file: FitFile,
    estimand: Annotated[
        Literal["population", "finite", "both"],
        typer.Option(help="About clusters like these, or these items."),
    ] = "both",
    by: Annotated[Literal["system", "none"], typer.Option(help="Apart, or pooled.")] = "system",
    incomplete: Annotated[
        Literal["predict", "drop"], typer.Option(help="What to do with panels not all rated.")
    ] = "predict",
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
) -> None:
    """Report the metrics of the task with their intervals."""
    import pandas as pd

    import assay

    tree = assay.load(fit_file)
    every: tuple[Literal["finite", "population"], ...] = ("finite", "population")
    chosen = every if estimand == "both" else (estimand,)
    summaries: dict[str, pd.DataFrame] = {
        name: assay.summarize(
            assay.metrics(
                tree, estimand=name, by=None if by == "none" else by, incomplete=incomplete
            ),
            level=level,
        )
        for name in chosen
    }

    def show() -> None:
        from assay.render import metrics_table

        _print(metrics_table(summaries))

    _deliver("metrics", pd.concat(summaries.values(), ignore_index=True), as_json, output, show)


@app.command(epilog="Example: assay raters fit.nc --kind raw")
@_in_words
def raters(
    fit_file: FitFile,
    kind: Annotated[
        Literal["recorded", "raw"],
        typer.Option(help="Of what ends up in the data, or before the interface blocks."),
    ] = "recorded",
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
) -> None:
    """Report how reliable each rater is."""
    import assay
    from assay.fit_data import ratings_of
    from assay.render import reliability_frame, reliability_tables

    tree = assay.load(fit_file)
    frame = reliability_frame(tree, kind, level)

    def show() -> None:
        _print(*reliability_tables(frame, ratings_of(tree).task))

    _deliver("raters", frame, as_json, output, show)


@app.command(epilog="Example: assay labels fit.nc --uncertain 50 -o to_rate_again.csv")
@_in_words
def labels(
    fit_file: FitFile,
    as_json: Json = False,
    output: Table = None,
    uncertain: Annotated[
        int | None, typer.Option(min=1, help="Only the N least certain.", metavar="N")
    ] = None,
) -> None:
    """Report the probability of each class of each label of each item."""
    import assay
    from assay.render import labels_frame, labels_table, least_certain

    frame = labels_frame(assay.load(fit_file))
    chosen = frame if uncertain is None else least_certain(frame, uncertain)

    def show() -> None:
        shown = least_certain(chosen, uncertain or SHOWN_LABELS)
        _print(labels_table(shown, len(frame)))
        if len(shown) < len(chosen):
            _say("all of them: -o labels.csv")

    _deliver("labels", chosen, as_json, output, show)


def _read(given: dict[str, Any]) -> "Ratings":
    """Read ratings with the options that a command shares with read_ratings."""
    from assay import read_ratings

    names = (
        "rater", "label", "value", "cluster", "rank", "system", "panel", "group", "weight",
        "stratum", "replicate", "panels", "truth", "partial", "resolve",
    )  # fmt: skip
    return read_ratings(
        given["source"],
        task=given["task"],
        item=given["item"] or None,
        response=_pairs(given["response"], "--response", str.rpartition),
        **{name: given[name] for name in names},
    )


def _pairs(
    texts: list[str] | None, option: str, split: Callable[[str, str], tuple[str, str, str]]
) -> dict[str, str]:
    """Split NAME=VALUE; a rule may hold an equals sign, and so may a prior."""
    found = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def _require_place(path: Path) -> None:
    """Refuse a path that cannot be written before hours of sampling, not after."""
    if path.suffix != ".zarr" and path.is_dir():
        _fail(f"cannot write {path}: it is a folder; give a file name, e.g. fit.nc")
    if not path.parent.is_dir():
        _fail(f"cannot write {path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        _fail(f"cannot write {path}: no permission to write in {path.parent}")


def _print(*parts: Any) -> None:
    from assay.render import make_console

    console = make_console()
    for part in parts:
        console.print(part)


def _deliver(
    name: str, frame: "pd.DataFrame", as_json: bool, output: Path | None, show: Callable[[], None]
) -> None:
    """Write a table to a file, then print it as JSON or let it be shown."""
    if output is not None:
        _write(frame, output)
        _say(f"wrote {output}: {len(frame)} lines")
    if as_json:
        records = frame.to_json(orient="records", double_precision=15)
        typer.echo(f'{{"{name}": {records}}}')
    elif output is None:
        show()


def _write(frame: "pd.DataFrame", path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise typer.BadParameter(
            f"{path}: a table ends in {', '.join(SUFFIXES)}", param_hint="--output"
        )
    _require_place(path)
    with _draft(path) as draft:
        if path.suffix == ".parquet":
            frame.to_parquet(draft, index=False)
        else:
            frame.to_csv(draft, index=False, sep="," if path.suffix == ".csv" else "\t")


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """Give a path to write to that takes the place of ``path`` at once, when all went well."""
    import tempfile

    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".assay-") as folder:
        draft = Path(folder) / path.name
        yield draft
        draft.replace(path)


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that goes away (`| head`) ends the program without a word, as elsewhere.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names that the terminal cannot show are shown as escapes.
            stream.reconfigure(errors="backslashreplace")
    app()
