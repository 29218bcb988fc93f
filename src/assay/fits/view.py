"""A view of a fit: its ratings, model and draws, each read from the tree once."""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.typing import Floats
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.data.task_files import task_from_json
from assay.fits.datatree import covariates_of, group, ratings_of, require_fit
from assay.modelling.prevalence import Covariates
from assay.modelling.spec import Spec
from assay.modelling.structure import Structure, build_structure


@dataclass(frozen=True, eq=False)
class FitView:
    """A fit, and what all steps after it read from it, each on first use.

    It is read like its ``tree``, whose arrays nobody may change meanwhile. ``results`` are those
    that several steps need, by name.
    """

    tree: xr.DataTree
    results: dict[Hashable, NDArray[Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, fit: "Fit") -> "FitView":
        """Return the view of a tree, or the view itself; refuse what is not a fit."""
        if isinstance(fit, FitView):
            return fit
        require_fit(fit)
        return cls(fit)

    @property
    def attrs(self) -> dict[Any, Any]:
        """The attributes of the tree."""
        return self.tree.attrs

    def __getitem__(self, name: str) -> xr.Dataset:
        """Return one group, without inherited variables."""
        return group(self.tree, name)

    @cached_property
    def task(self) -> Task:
        """The task of the ratings."""
        return task_from_json(self.attrs["task"])

    @cached_property
    def spec(self) -> Spec:
        """The specification of the model."""
        return Spec(**json.loads(self.attrs["spec"]))

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings."""
        return ratings_of(self.tree)

    @cached_property
    def covariates(self) -> Covariates | None:
        """The design matrix of the formula; None for a model without a formula."""
        return covariates_of(self.tree, self.spec.formula)

    @cached_property
    def structure(self) -> Structure:
        """The structure of the model; a fit that lacks parameters of it is refused."""
        there = self["posterior"].data_vars
        structure = build_structure(
            self.ratings,
            self.spec,
            self.covariates,
            # Fits of earlier versions lack these.
            by_panel="system_correlation" in there,
            hard_by_system="hard_share_system_sd" in there,
            earlier=int(self.attrs.get("schema_version", 1)) < 3,
        )
        used = [p.name for p in structure.parameters() if 0 not in p.shape]
        missing = [name for name in used if name not in there]
        if missing:
            raise FitError(
                f"the posterior of this fit lacks {', '.join(missing)}, which its model has in "
                "this version of assay: another version made it, or the values were removed. Fit "
                "the ratings again",
                code="other-version",
            )
        return structure

    @cached_property
    def draws(self) -> dict[str, Floats]:
        """Parameters by name with chains and draws merged, (draw, ...)."""
        found = {}
        for name, variable in self["posterior"].data_vars.items():
            values = np.asarray(variable.values)
            found[str(name)] = values.reshape(-1, *values.shape[2:])
        return found

    @property
    def pool_lean(self) -> Floats | None:
        """How far the raters lean from their pool, (draw, lean); None if unused."""
        labels = self["labels"]
        if "pool_lean" not in labels:
            return None
        lean = labels["pool_lean"].transpose("chain", "draw", "lean").to_numpy()
        return np.asarray(lean.reshape(-1, lean.shape[-1]))

    @property
    def draws_of_labels(self) -> Mapping[str, Floats]:
        """Parameters with which the labels were drawn: :attr:`draws` and the raters' lean."""
        return self.structure.with_pool_lean(self.draws, self.pool_lean)

    @property
    def states(self) -> NDArray[np.int16]:
        """States of the items with chains merged, (draw, item)."""
        states = self["labels"]["state"].transpose("chain", "draw", "item").to_numpy()
        return states.reshape(-1, states.shape[-1])

    @property
    def codes(self) -> NDArray[np.int16]:
        """Class codes of each state, (state, label)."""
        return self["constant_data"]["states"].to_numpy().astype(np.int16)

    def once(self, name: Hashable, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return a copy of the result of that name, which is computed the first time."""
        if name not in self.results:
            self.results[name] = compute()
        return self.results[name].copy()

    def by_chain(
        self, values: NDArray[Any], name: str, coords: Mapping[str, Any], **attrs: str
    ) -> xr.DataArray:
        """Return numbers (draw, ...) by chain and draw; ``coords`` are those of other axes."""
        posterior = self["posterior"]
        draws = {dim: posterior[dim].values for dim in ("chain", "draw")}
        return xr.DataArray(
            values.reshape(*map(len, draws.values()), *values.shape[1:]),
            dims=(*draws, *coords),
            coords=draws | dict(coords),
            name=name,
            attrs={**attrs, "reference": self.attrs["reference"]},
        )


Fit = xr.DataTree | FitView
"""A fit as its tree, or as a view that is handed on."""
