"""Options that are arguments of ``fit``."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.progress import waiting
from assay.cli.options import name_of, pairs
from assay.cli.reading_options import Reading
from assay.cli.shell import say_notes, this_command

if TYPE_CHECKING:
    import xarray as xr

    from assay.inference.executors import Executor


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
            "item_difficulty' if a label has three classes or more; and layers that the data tell.",
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
    copies: Annotated[
        list[str] | None,
        _fitting(
            "A rater who may copy another: COPIER=SOURCE; repeat. Default: pairs that err together "
            "by the test of check, if --raters and --reference are not given.",
            metavar="COPIER=SOURCE",
        ),
    ] = None
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
        self, sources: list[Path], task: str | None, reading: Reading, *, progress: bool
    ) -> "xr.DataTree":
        """Read and fit; warnings are stored in the fit and shown once it is written."""
        import warnings

        import assay
        from assay._util.errors import FitWarning

        with waiting(f"reading {name_of(sources)}", show=progress, stage=True):
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
        self, folder: Path, task: str, reading: Reading, output: Path, *, progress: bool
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
            "executor": executor, "formula": self.formula, "copies": self._copies(),
        }  # fmt: skip

    def _copies(self) -> dict[str, str] | None:
        """Return the source of each copier; None for those that a test finds."""
        return pairs(self.copies, "--copies", str.partition) if self.copies else None

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
