"""How a model is fitted: options that fit and report share, as one value."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.progress import waiting
from assay.cli.options import pairs
from assay.cli.shell import say_notes, this_command

if TYPE_CHECKING:
    import xarray as xr

    from assay.cli.reading import Reading
    from assay.inference.executors import Executor


def _fitting(what: str, **more: Any) -> Any:
    return typer.Option(help=what, rich_help_panel="Fitting", **more)


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """The arguments of ``fit``."""

    raters: Annotated[
        list[str] | None,
        _fitting(
            "Rater family, with layers: 'pooled + item_difficulty'. GROUP=FAMILY gives a rater "
            "group its own; repeat. If not given, 'hierarchical + item_difficulty', or where a "
            "label has three classes or more 'ability_bias + item_difficulty'.",
            metavar="FAMILY",
        ),
    ] = None
    prevalence: Annotated[str, _fitting("loglinear or dirichlet.")] = "loglinear"
    reference: Annotated[
        str | None,
        _fitting("Whose truth is meant: a rater group, gold, or groups; else one consensus."),
    ] = None
    gold_chosen: Annotated[
        Literal["random", "recorded"],
        _fitting("How the items with gold were chosen, for --reference gold."),
    ] = "random"
    formula: Annotated[
        str | None,
        _fitting("Covariates of the prevalence: '~ language + length'. Their columns are read."),
    ] = None
    replicates: Annotated[
        Literal["together", "independent"],
        _fitting("Whether a rater's ratings of one item hang together."),
    ] = "together"
    method: Annotated[
        Literal["nuts", "laplace", "map", "em"], _fitting("How to find the posterior.")
    ] = "nuts"
    draws: Annotated[int, _fitting("Draws kept of each chain.", min=1)] = 1000
    tune: Annotated[int, _fitting("Warm-up draws of each chain.", min=1)] = 1000
    chains: Annotated[int, _fitting("Chains.", min=1)] = 4
    target_accept: Annotated[
        float, _fitting("Of NUTS: nearer to 1 for smaller steps.", min=0.0, max=1.0)
    ] = 0.85
    seed: Annotated[int, _fitting("Of everything random.", min=0)] = 1
    sampler: Annotated[
        Literal["nutpie", "pymc"], _fitting("Who runs NUTS; pymc is there to check nutpie.")
    ] = "nutpie"
    checkpoint: Annotated[
        Path | None,
        _fitting("Folder that keeps finished chains; the same command goes on from them."),
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
        Path | None, _fitting(r"TOML file with a table \[priors]; --prior goes before it.")
    ] = None

    def checked(self) -> "Fitting":
        """Say what is wrong with the options before anything is read."""
        _ = self._families(), self._priors(), self.covariates()
        if self.priors is not None:
            from assay.modelling.prior_files import read_priors

            read_priors(self.priors)
        return self

    def covariates(self) -> list[str]:
        """Return the columns that the formula reads."""
        if self.formula is None:
            return []
        from assay.modelling.formulas import covariate_names

        return covariate_names(self.formula)

    def fit(self, source: Path, task: str, reading: "Reading", *, progress: bool) -> "xr.DataTree":
        """Read and fit; the warnings stand in the fit and are shown once it is written."""
        import warnings

        import assay
        from assay._util.errors import FitWarning

        with waiting(f"reading {source.name}", show=progress):
            ratings = reading.read(source, task, self.covariates())
        say_notes(ratings.accounting)
        with warnings.catch_warnings(), self._executor() as executor:
            warnings.simplefilter("ignore", FitWarning)
            tree = assay.fit(
                ratings, tune=self.tune, target_accept=self.target_accept, progress=progress,
                sampler=self.sampler, checkpoint=self.checkpoint,
                keep_interrupted=self.keep_interrupted, executor=executor, formula=self.formula,
                **self._arguments(),
            )  # fmt: skip
        tree.attrs["command"] = this_command()
        return tree

    def fit_dataset(
        self, folder: Path, task: str, reading: "Reading", output: Path, *, progress: bool
    ) -> "xr.DataTree":
        """Fit a folder of partitions into a store, with the workers of the cluster."""
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
                "--checkpoint and --keep-interrupted keep chains of NUTS, which is not available "
                "for a folder of partitions",
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
        """Whether Ctrl-C came before all draws that were asked for were there."""
        sizes = tree["posterior"].sizes
        asked = (self.chains, self.draws)
        return self.keep_interrupted and (sizes["chain"], sizes["draw"]) != asked

    def draws_left(self) -> str:
        """Say what is left of the draws of a fit whose file was not written."""
        if self.checkpoint is not None:
            return f"the draws are finished and in {self.checkpoint}: the same command takes them"
        keep = " (--checkpoint FOLDER keeps them)" if self.method == "nuts" else ""
        return f"the draws were finished, and are lost{keep}"

    def _executor(self) -> "AbstractContextManager[Executor | None]":
        """Connect to the Dask cluster that is to do the work, if one is named."""
        import assay

        return nullcontext() if self.dask is None else assay.dask_executor(self.dask)

    def _arguments(self) -> dict[str, Any]:
        """Return what fits of all sizes of data have in common."""
        return {
            "raters": self._families(), "prevalence": self.prevalence, "reference": self.reference,
            "gold_chosen": self.gold_chosen,
            "replicates": self.replicates, "priors": self._priors(), "method": self.method,
            "draws": self.draws, "chains": self.chains, "rng": self.seed,
        }  # fmt: skip

    def _families(self) -> str | dict[str, str] | None:
        """Return one recipe for all, or one for each rater group; None is the task's default."""
        if not self.raters:
            return None
        if len(self.raters) == 1 and "=" not in self.raters[0]:
            return self.raters[0]
        # A group's name may hold an equals sign, and that of a family does not.
        return pairs(self.raters, "--raters", str.rpartition)

    def _priors(self) -> list[Any]:
        """Return the priors of the file, and those of the command in their place."""
        # A prior may hold an equals sign, and its name does not.
        own = pairs(self.prior, "--prior", str.partition)
        return [own] if self.priors is None else [self.priors, own]
