"""Options that several commands share: reading, fitting, metrics."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.errors import ArgumentError
from assay._util.progress import waiting
from assay.cli.shell import say_notes, this_command, warn

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from assay.data.ratings import Ratings
    from assay.data.task import Task
    from assay.evaluation.registry import Metric
    from assay.fits.view import Fit
    from assay.inference.executors import Executor


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, Excel, JSON, Parquet or Feather file, the export of a tool, a folder, or - "
        "for standard input. Several files are read as one table.",
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="Name of a task, 'single' for one label with the classes of the file, or a .toml "
        "file. Default: the task that the columns fit.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
FitFile = Annotated[Path, typer.Argument(help="File that 'assay fit' wrote.", show_default=False)]
Table = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the table: .csv, .tsv, .parquet or .json."),
]
Strict = Annotated[bool, typer.Option("--strict", help="End with status 1 if there is a warning.")]
Level = Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of the intervals.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random numbers.")]
Incomplete = Annotated[
    Literal["predict", "drop"], typer.Option(help="Predict or drop panels with unrated items.")
]
Estimands = Annotated[
    Literal["population", "finite", "both"],
    typer.Option(help="Inference on clusters like these, or on these items only."),
]


def source_of(paths: list[Path]) -> Path | list[Path]:
    """Return what ``read_ratings`` reads: the one file, or the list of several."""
    return paths[0] if len(paths) == 1 else paths


def name_of(paths: list[Path]) -> str:
    """Return the name of the one file, or how many there are."""
    return paths[0].name if len(paths) == 1 else f"{len(paths)} files"


def stem_of(paths: list[Path], several: str) -> str:
    """Return what results are named after: the one file; else ``several``."""
    return (paths[0].name.partition(".")[0] if len(paths) == 1 else "") or several


def require_task(task: str | None) -> str:
    """Return the task; refuse None, since data in partitions need a name."""
    if task is not None:
        return task
    from assay.data.task_files import catalogue_names

    known = ", ".join(catalogue_names("tasks"))
    raise ArgumentError(
        f"a folder of partitions needs --task. Give one of {known} ('single' is one label with "
        "the classes of the file), or a .toml file of your own",
        code="task-missing",
    )


def pairs(
    texts: list[str] | None, option: str, split: Callable[[str, str], tuple[str, str, str]]
) -> dict[str, str]:
    """Split texts NAME=VALUE at the equals sign that ``split`` finds."""
    found = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def _fitting(what: str, **more: Any) -> Any:
    return typer.Option(help=what, rich_help_panel="Fitting", **more)


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Options that are arguments of ``fit``."""

    raters: Annotated[
        list[str] | None,
        _fitting(
            "Rater family, with layers: 'pooled + item_difficulty'. GROUP=FAMILY gives a rater "
            "group its own; repeat. Default: 'hierarchical + item_difficulty', or 'ability_bias + "
            "item_difficulty' if a label has three classes or more.",
            metavar="FAMILY",
        ),
    ] = None
    prevalence: Annotated[str, _fitting("loglinear or dirichlet.")] = "loglinear"
    reference: Annotated[
        str | None,
        _fitting("What defines the truth: a rater group, gold, or groups. Default: one consensus."),
    ] = None
    gold_chosen: Annotated[
        Literal["random", "recorded"],
        _fitting("How items with gold were chosen, for --reference gold."),
    ] = "random"
    formula: Annotated[
        str | None,
        _fitting("Covariates of the prevalence: '~ language + length'. Reads their columns."),
    ] = None
    replicates: Annotated[
        Literal["together", "independent"],
        _fitting("Whether repeated ratings of a rater depend on each other."),
    ] = "together"
    method: Annotated[Literal["nuts", "laplace", "map", "em"], _fitting("Method of inference.")] = (
        "nuts"
    )
    draws: Annotated[int, _fitting("Draws of each chain.", min=1)] = 1000
    tune: Annotated[int, _fitting("Warm-up draws of each chain.", min=1)] = 1000
    chains: Annotated[int, _fitting("Number of chains.", min=1)] = 4
    target_accept: Annotated[
        float,
        _fitting("Target acceptance of NUTS; nearer 1 means smaller steps.", min=0.0, max=1.0),
    ] = 0.85
    seed: Annotated[int, _fitting("Seed of random numbers.", min=0)] = 1
    sampler: Annotated[
        Literal["nutpie", "pymc"], _fitting("Sampler for NUTS; pymc serves to check nutpie.")
    ] = "nutpie"
    checkpoint: Annotated[
        Path | None,
        _fitting("Folder for finished chains; the same command continues from them."),
    ] = None
    keep_interrupted: Annotated[
        bool, _fitting("On Ctrl-C, write the draws so far instead of nothing.")
    ] = False
    dask: Annotated[
        str | None,
        _fitting(
            "Scheduler of a Dask cluster that does the work. RATINGS may then be a folder of "
            "Parquet files that one machine cannot hold (laplace, map or em, to a .zarr).",
            metavar="ADDRESS",
        ),
    ] = None
    prior: Annotated[
        list[str] | None,
        _fitting("Replace a prior, e.g. main='Normal(0, 1)'; repeat.", metavar="NAME=PRIOR"),
    ] = None
    priors: Annotated[
        Path | None, _fitting(r"TOML file with a table \[priors]; --prior overrides it.")
    ] = None

    def checked(self) -> "Fitting":
        """Refuse wrong options before anything is read."""
        _ = self._families(), self._priors(), self.covariates()
        if self.priors is not None:
            from assay.modelling.priors import read_priors

            read_priors(self.priors)
        return self

    def covariates(self) -> list[str]:
        """Return the columns in the formula; the number of answers needs none."""
        if self.formula is None:
            return []
        from assay.modelling.spec import N_ANSWERS, covariate_names

        return [name for name in covariate_names(self.formula) if name != N_ANSWERS]

    def fit(
        self, sources: list[Path], task: str | None, reading: "Reading", *, progress: bool
    ) -> "xr.DataTree":
        """Read and fit; warnings are stored in the fit and shown once it is written."""
        import warnings

        import assay
        from assay._util.errors import FitWarning

        with waiting(f"reading {name_of(sources)}", show=progress):
            ratings = reading.read(sources, task, self.covariates())
        say_notes(ratings.accounting)
        with warnings.catch_warnings(), self._executor() as executor:
            warnings.simplefilter("ignore", FitWarning)
            given = self._arguments() | self._sampling(executor)
            tree = assay.fit(ratings, progress=progress, **given)
        tree.attrs["command"] = this_command()
        return tree

    @contextmanager
    def asked(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments of ``fit`` that differ from their defaults."""
        usual = Fitting()
        with self._executor() as executor:
            same = usual._arguments() | usual._sampling(None)
            given = self._arguments() | self._sampling(executor)
            yield {name: value for name, value in given.items() if value != same[name]}

    def fit_dataset(
        self, folder: Path, task: str, reading: "Reading", output: Path, *, progress: bool
    ) -> "xr.DataTree":
        """Fit a folder of partitions into a store, on the workers of the cluster."""
        import warnings

        import assay
        from assay._util.errors import ModelError
        from assay.distributed.store import annotate
        from assay.fits.datatree import accounting_of

        if self.formula is not None:
            raise ModelError(
                "--formula is not available for a folder of partitions",
                code="partitions-unsupported",
            )
        if self.checkpoint is not None or self.keep_interrupted:
            raise ModelError(
                "--checkpoint and --keep-interrupted need NUTS, which is not available for a "
                "folder of partitions",
                code="partitions-unsupported",
            )
        from assay._util.errors import FitWarning

        with warnings.catch_warnings(), self._executor() as executor:
            warnings.simplefilter("ignore", FitWarning)
            tree = assay.fit_dataset(
                folder, task=task, out=output, executor=executor, reading=reading.arguments(),
                progress=progress, **self._arguments(),
            )  # fmt: skip
        annotate(output, {"command": this_command()})
        say_notes(accounting_of(tree.attrs["accounting"]))
        return tree

    def interrupted(self, tree: "xr.DataTree") -> bool:
        """Whether Ctrl-C left fewer draws than requested."""
        sizes = tree["posterior"].sizes
        asked = (self.chains, self.draws)
        return self.keep_interrupted and (sizes["chain"], sizes["draw"]) != asked

    def draws_left(self) -> str:
        """Return where the draws are of a fit that could not be written."""
        if self.checkpoint is not None:
            return f"the draws are finished in {self.checkpoint}, and the same command uses them"
        keep = " (--checkpoint FOLDER keeps them)" if self.method == "nuts" else ""
        return f"the draws were finished but are lost{keep}"

    def _executor(self) -> "AbstractContextManager[Executor | None]":
        """Connect to the Dask cluster, if one is named."""
        import assay

        return nullcontext() if self.dask is None else assay.dask_executor(self.dask)

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments for data of any size."""
        return {
            "raters": self._families(), "prevalence": self.prevalence, "reference": self.reference,
            "gold_chosen": self.gold_chosen,
            "replicates": self.replicates, "priors": self._priors(), "method": self.method,
            "draws": self.draws, "chains": self.chains, "rng": self.seed,
        }  # fmt: skip

    def _sampling(self, executor: "Executor | None") -> dict[str, Any]:
        """Return the arguments for data that one machine can hold."""
        return {
            "tune": self.tune, "target_accept": self.target_accept, "sampler": self.sampler,
            "checkpoint": self.checkpoint, "keep_interrupted": self.keep_interrupted,
            "executor": executor, "formula": self.formula,
        }  # fmt: skip

    def _families(self) -> str | dict[str, str] | None:
        """Return one recipe, or one by rater group; None for the task's default."""
        if not self.raters:
            return None
        if len(self.raters) == 1 and "=" not in self.raters[0]:
            return self.raters[0]
        # A group's name may contain an equals sign; a family's name cannot.
        return pairs(self.raters, "--raters", str.rpartition)

    def _priors(self) -> list[Any]:
        """Return the file of priors, then the priors of the command, which take precedence."""
        # A prior may contain an equals sign; its name cannot.
        own = pairs(self.prior, "--prior", str.partition)
        return [own] if self.priors is None else [self.priors, own]


Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Only this metric; repeat.", metavar="METRIC")
]
MetricFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--metric-file",
        help="Python file with metrics of your own (@assay.metric). The file is executed.",
        metavar="FILE.py",
    ),
]


def register(files: Sequence[Path] | None) -> "list[Metric]":
    """Run the files that register metrics; their output goes to standard error."""
    if not files:
        return []
    from assay.evaluation import load_metrics

    with redirect_stdout(sys.stderr):
        return [metric for path in files for metric in load_metrics(path)]


def say_unsuited(own: "Sequence[Metric]", fit: "Fit") -> None:
    """Warn of own metrics that do not suit the task, and are not reported."""
    from assay.fits.view import FitView

    task = FitView.of(fit).task
    for metric in own:
        if metric.task not in (None, task.name):
            warn(
                f"metric {metric.name!r} is left out: it is for task {metric.task}, not {task.name}"
            )
        elif lacks := metric.lacks(task):
            warn(
                f"metric {metric.name!r} is left out: it needs the labels {', '.join(lacks)}, but "
                f"task {task.name} has {', '.join(task.label_names)}"
            )


def say_left_out(left_out: "pd.DataFrame") -> None:
    """Warn of metrics of the task that are left out, and why."""
    if len(left_out):
        warn(f"{', '.join(left_out['metric'])}: left out. {left_out['reason'].iloc[0]}")


def rope_of(text: str | None) -> float | tuple[float, float] | None:
    """Parse a region of practical equivalence: half width, or both ends."""
    try:
        numbers = [] if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [0.0] * 3
    match numbers:
        case []:
            return None
        case [width]:
            return width
        case [low, high]:
            return low, high
    raise typer.BadParameter(f"{text!r} is not NUMBER or LOW,HIGH", param_hint="--rope")


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
    sheet: Annotated[str | None, _reading("Sheet, if the spreadsheet has several.")] = None
    encoding: Annotated[
        str | None, _reading("Encoding of the text, e.g. latin-1, if not recognised.")
    ] = None
    wide: Annotated[
        list[str] | None,
        _reading(
            "Columns that are raters, in a table with a row for each item; '*' means all columns "
            "with answers.",
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
        _reading("Columns that are classes and hold numbers of votes.", metavar="COLUMN ..."),
    ] = None
    set_aside: Annotated[bool, _reading("Set aside rows that cannot be read, and count them.")] = (
        False
    )
    panels: Annotated[Path | None, _reading("Table of panels.")] = None
    truth: Annotated[str | None, _reading("Column or file of known truth.")] = None
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
        """Read ratings; ``covariates`` and ``labels`` are added to those of the options."""
        from assay import read_ratings

        given = self.arguments()
        given["covariates"] = [*(given["covariates"] or ()), *covariates] or None
        given["labels"] = given["labels"] or labels
        return read_ratings(source_of(sources), task=task, **given)

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
        if not (equals and colon and label and word):
            raise typer.BadParameter(f"{text!r} is not LABEL:WORD=CLASS", param_hint="--word")
        found.setdefault(label, {})[word] = name.strip()
    return found
