"""Skeletons: few items with every distinct pattern of the whole data set. A worker that reads it
before its partition numbers rows, contexts and known truth like the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.typing import Floats, Ints
from assay.data.overlap import LAYER_ITEMS, first_meetings
from assay.data.ratings import NOT_AUDITED, Ratings
from assay.inference.data_counts import DataCounts, count_data
from assay.inference.density import make_density
from assay.inference.optimise import prior_centre
from assay.inference.pieces import Piece, make_frame, make_piece, take_clusters
from assay.inference.subsets import join_ratings, take_items, with_raters
from assay.likelihood.collapse import Pattern
from assay.modelling.layers.reference import telling_items
from assay.modelling.prevalence.design import MIN_CLUSTERS, count_places, telling_panels
from assay.modelling.spec import GOLD, Spec
from assay.modelling.structure import Structure, build_structure

Keys = NDArray[np.uint64]
Shown = tuple[Ints, Keys]
"""Items, and a key of a pattern of each of them."""


def make_skeleton(ratings: Ratings, spec: Spec) -> Ratings:
    """Return the first item with each distinct rating, context, known truth, rater and session."""
    shown = [*_answers(ratings, spec), _contexts(ratings), _truth(ratings), *_extras(ratings)]
    item = np.concatenate([items for items, _ in shown])
    key = np.concatenate([keys for _, keys in shown])
    order = np.argsort(item, kind="stable")
    first = ~pd.Series(key[order]).duplicated().to_numpy()
    taken = [
        item[order][first],
        _in_clusters(ratings),
        _in_panels(ratings),
        *_evidence(ratings, spec),
    ]
    return take_items(ratings, np.unique(np.concatenate(taken)))


def hashes(*columns: Any) -> Keys:
    """Return a number for each row of some columns, which depends on its values alone."""
    frame = pd.DataFrame(dict(enumerate(columns)))
    return np.asarray(pd.util.hash_pandas_object(frame, index=False), np.uint64)


def _sums(owner: Ints, keys: Keys, count: int) -> Keys:
    """Sum the keys of each owner, independent of their order."""
    found = np.zeros(count, np.uint64)
    np.add.at(found, owner, keys)
    return found


def _answers(ratings: Ratings, spec: Spec) -> Iterator[Shown]:
    """Yield the answers of each rater to each item, over all its ratings."""
    rater = ratings.raters.index.to_numpy(object)[ratings.rater]
    keys = hashes(rater, ratings.session, *ratings.answers.T)
    if "system_bias" in str(spec.raters):
        keys = hashes(keys, _places(ratings, "system")[ratings.item])
    pair, owner = np.unique(ratings.item * len(ratings.raters) + ratings.rater, return_inverse=True)
    yield pair // max(len(ratings.raters), 1), _sums(owner, keys, len(pair))


def _places(ratings: Ratings, column: str) -> Keys:
    """Return a number for each item's set of systems or ranks."""
    keys = hashes(ratings.panels[column].to_numpy())
    return _sums(ratings.panels["item"].to_numpy(np.int64), keys, len(ratings.items))


def _contexts(ratings: Ratings) -> Shown:
    stratum = ratings.items["stratum"].to_numpy(object)
    keys = hashes(_places(ratings, "system"), _places(ratings, "rank"), stratum)
    return np.arange(len(keys)), keys


def _truth(ratings: Ratings) -> Shown:
    """Return gold and audits of each item."""
    rating, label = np.nonzero(ratings.audit != NOT_AUDITED)
    found = hashes(label, ratings.audit[rating, label], ratings.answers[rating, label])
    audits = _sums(ratings.item[rating], found, len(ratings.items))
    keys = hashes(audits, *ratings.truth.T)
    return np.arange(len(keys)), keys


def _extras(ratings: Ratings) -> Iterator[Shown]:
    """Yield a rating with a score, and one with a time, if there are any."""
    for number, known in enumerate((np.isfinite(ratings.scores).any(axis=1), ratings.seconds >= 0)):
        items = ratings.item[np.flatnonzero(known)[:1]]
        yield items, np.full(len(items), number, np.uint64)


def _in_clusters(ratings: Ratings) -> Ints:
    """Return two items of each of the first clusters with two, for effects of clusters."""
    codes, _ = pd.factorize(ratings.items["cluster"])
    items = pd.Series(np.arange(len(codes)))
    chosen = np.flatnonzero(np.bincount(codes) >= 2)[:MIN_CLUSTERS]
    here = items[np.isin(codes, chosen)]
    return here.groupby(codes[here]).head(2).to_numpy(np.int64)


def _in_panels(ratings: Ratings) -> Ints:
    """Return two items of each panel of the first clusters with two, for effects of panels."""
    codes, _ = pd.factorize(ratings.items["cluster"])
    panel, clusters = telling_panels(ratings, codes.astype(np.int64))
    here = pd.Series(np.flatnonzero(np.isin(codes, clusters[:MIN_CLUSTERS])))
    return here.groupby(panel[here]).head(2).to_numpy(np.int64)


def _evidence(ratings: Ratings, spec: Spec) -> Iterator[Ints]:
    """Yield the items that a reference needs, up to the required number."""
    if spec.reference is None:
        return
    for reference in (GOLD, spec.reference):
        yield np.flatnonzero(telling_items(ratings, reference))[:LAYER_ITEMS]
    yield np.array(list(first_meetings(ratings).values()), np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbering:
    """What all partitions share: the ``skeleton`` of the whole data set, the ``frame`` (model
    without data), and whether ``clusters`` and ``panels`` could have effects.
    """

    skeleton: Ratings
    frame: Piece
    clusters: bool
    panels: bool


def number(skeleton: Ratings, spec: Spec) -> tuple[Structure, Numbering]:
    """Build the model on the skeleton; its tables are those of the whole data set."""
    structure = build_structure(skeleton, spec)
    names = pd.Index([f"\0{n}" for n in range(len(skeleton.items))], name="item")
    items = skeleton.items.assign(cluster="\0" + skeleton.items["cluster"].astype(str))
    return structure, Numbering(
        skeleton=replace(skeleton, items=items.set_index(names)),
        frame=make_frame(structure, make_density(structure)),
        clusters=structure.prevalence.design.cluster is not None,
        panels=structure.prevalence.design.panel is not None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbered:
    """A partition with the common numbers.

    ratings : with raters in the common order
    places : number of places in ranked lists (system, context)
    counts : for the warnings of the fit
    """

    piece: Piece
    ratings: Ratings
    places: Floats
    counts: DataCounts


def number_partition(ratings: Ratings, numbering: Numbering) -> Numbered:
    """Give a partition the common numbers; raise FitError if it changed since the first reading."""
    structure, pattern = _with_skeleton(ratings, numbering)
    own = with_raters(ratings, structure.ratings.raters)
    return Numbered(
        piece=make_piece(numbering.frame, pattern),
        ratings=own,
        places=_places_from(structure, len(numbering.skeleton.items)),
        counts=count_data(own, structure.parts, structure.ratings.systems),
    )


def model_sample(ratings: Ratings, numbering: Numbering) -> Structure:
    """Return the model of a sample with its ratings, from which modes get their names.

    Pieces have none, since workers do not need them.
    """
    structure, pattern = _with_skeleton(ratings, numbering)
    first = len(numbering.skeleton.item)
    frame = numbering.frame.structure
    return replace(
        frame,
        ratings=with_raters(ratings, structure.ratings.raters),
        pattern=pattern,
        parts=tuple(
            replace(bare, unit=part.unit[first:])
            for bare, part in zip(frame.parts, structure.parts, strict=True)
        ),
    )


def _with_skeleton(ratings: Ratings, numbering: Numbering) -> tuple[Structure, Pattern]:
    """Return the model of the skeleton and then the ratings, and the pattern of the latter."""
    skeleton, frame = numbering.skeleton, numbering.frame
    both = join_ratings([skeleton, ratings])
    if not numbering.clusters:
        # The skeleton's clusters are also in the partition and must not count twice.
        both = replace(both, items=both.items.assign(cluster=both.items.index))
    structure = build_structure(
        both,
        frame.structure.spec,
        by_panel=numbering.panels,
        nodes=frame.structure.difficulty.nodes,
    )
    _require_same(structure, frame)
    own = _own_clusters(structure.pattern, len(skeleton.items))
    return structure, take_clusters(structure.pattern, own)[0]


def take_sample(numbered: Numbered, share: float, seed: Sequence[int]) -> Ratings:
    """On a worker: draw about this share of the clusters, at least one."""
    codes, names = pd.factorize(numbered.ratings.items["cluster"])
    count = max(1, round(share * len(names)))
    chosen = np.random.default_rng(list(seed)).choice(len(names), count, replace=False)
    return take_items(numbered.ratings, np.flatnonzero(np.isin(codes, chosen)))


def _own_clusters(pattern: Pattern, first: int) -> Ints:
    start, items = pattern.members
    return np.flatnonzero(items[start[:-1]] >= first)


def _require_same(structure: Structure, frame: Piece) -> None:
    centre = frame.density.constrain(prior_centre(frame.density))
    try:
        pairs = zip(structure.tables(centre, np), frame.structure.tables(centre, np), strict=True)
        same = all(np.array_equal(a, b) for a, b in pairs)
    except (KeyError, ValueError, IndexError):
        same = False
    if not same:
        raise FitError(
            "a partition has changed during the fit: it has new ratings, raters or contexts. Keep "
            "the files as they are during a fit",
            code="partition-changed",
        )


def _places_from(structure: Structure, first: int) -> Floats:
    """Count the places of the items from ``first`` on, by system and context."""
    design, panels = structure.prevalence.design, structure.ratings.panels
    own = panels[panels["item"] >= first]
    return count_places(own, design.systems, design.item_context, design.contexts)
