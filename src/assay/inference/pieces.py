"""Pieces: some clusters of the data. A *frame* is the model without data, the same for all pieces;
a piece is a frame with the pattern of its items.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay._util.typing import Floats, Ints
from assay.inference.curvature import bend_row, neighbourhoods
from assay.inference.density import Density
from assay.inference.subsets import take_items
from assay.likelihood.collapse import Cases, Pattern, take_panels
from assay.likelihood.partition import runs, take_bundles
from assay.modelling.structure import Structure

NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Some clusters of the data under one model; ``structure`` has their pattern, no ratings."""

    structure: Structure
    density: Density

    @cached_property
    def prior(self) -> Density:
        """The density without data."""
        return without_clusters(self.density)

    def likelihood(self, x: Floats) -> tuple[float, Floats]:
        """Return the piece's log-likelihood and gradient at unconstrained values."""
        value, gradient = self.density(x)
        prior, by_prior = self.prior(x)
        return value - prior, gradient - by_prior

    def curvature(self, x: Floats) -> Floats:
        """Return the negative Hessian of the log-likelihood by differences, (value, value).

        Each row uses only the data that its unknown affects.
        """
        found = np.empty((len(x), len(x)))
        for unknowns, density in neighbourhoods(self.density, x, np.arange(len(x))):
            local = replace(self, density=density)
            for n in unknowns:
                found[n] = bend_row(local.gradient, x, n)
        return found

    def gradient(self, x: Floats) -> Floats:
        """Return the gradient of the log-likelihood."""
        return self.likelihood(x)[1]


def without_clusters(density: Density) -> Density:
    """Return a density without data: the prior."""
    return replace(density, data=take_bundles(density.data, NONE)[0], threads=1)


def make_frame(structure: Structure, density: Density) -> Piece:
    """Return the model without its data, to be sent to every worker."""
    design = structure.prevalence.design
    bare = replace(
        design,
        item_context=NONE,
        cluster=None if design.cluster is None else NONE,
        panel=None if design.panel is None else NONE,
    )
    prevalence = replace(structure.prevalence, design=bare)
    pattern, _ = take_clusters(structure.pattern, NONE)
    return Piece(
        structure=replace(
            structure,
            ratings=take_items(structure.ratings, NONE),
            prevalence=prevalence,
            perception=replace(structure.perception, prevalence=prevalence),
            parts=tuple(_without_ratings(part) for part in structure.parts),
            pattern=pattern,
        ),
        density=replace(density, data=pattern.data, threads=1),
    )


def _without_ratings(part: Any) -> Any:
    """Return a part without its arrays by rating, which tables do not need."""
    copying = replace(part.copying, row=NONE, source=NONE, copied_by=NONE)
    bare = {"unit": NONE, "repeats": replace(part.repeats, row=NONE), "copying": copying}
    if hasattr(part, "responses"):
        bare["responses"] = replace(part.responses, row=NONE)
    return replace(part, **bare)


def make_piece(frame: Piece, pattern: Pattern) -> Piece:
    """Return a frame with a pattern."""
    return Piece(
        structure=replace(frame.structure, pattern=pattern),
        density=replace(frame.density, data=pattern.data),
    )


def put_in_coordinates(piece: Piece, density: Density) -> Piece:
    """Return a piece in the coordinates of a density of the same model."""
    return replace(piece, density=replace(density, data=piece.density.data))


def take_clusters(pattern: Pattern, clusters: Ints) -> tuple[Pattern, Ints]:
    """Return the pattern of some clusters, and the positions of their items.

    Without a cluster effect, clusters are items.
    """
    first, order = pattern.cluster_items
    taken, cases = clusters, pattern.cases
    if cases is not None:  # each case is a cluster of the pattern
        taken, case_start = runs(cases.start, clusters)
    bundles, cluster_bundle = np.unique(pattern.cluster_bundle[taken], return_inverse=True)
    data, cells = take_bundles(pattern.data, bundles if cases is None else clusters)
    weight = np.bincount(cluster_bundle, minlength=len(bundles)).astype(float)
    at, start = runs(first, taken)
    items, members = np.unique(order[at], return_inverse=True)
    place = np.zeros(len(pattern.data.cell_context), np.int64)
    place[cells] = np.arange(len(cells))
    item_cell = place[pattern.item_cell[items]]
    if cases is not None:
        own, item = np.unique(cases.item[items], return_inverse=True)
        case = np.searchsorted(np.sort(taken), cases.case[items])
        cases = Cases(case_start, cases.kind[taken], item.astype(np.int64), case)
        items = own
    found = Pattern(
        data=data._replace(bundle_weight=weight),
        item_cell=item_cell,
        cluster_bundle=cluster_bundle.astype(np.int64),
        cluster_items=(start, members.astype(np.int64)),
        panels=take_panels(pattern, taken),
        cases=cases,
    )
    return found, items
