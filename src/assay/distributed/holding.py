"""A data set on workers: read by partition, checked, and numbered consistently."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from assay._util.errors import FitError, ModelError
from assay._util.progress import waiting
from assay.data.default_metrics import with_default_metrics
from assay.data.ratings import Accounting, Ratings
from assay.data.task import Task
from assay.distributed import dataset
from assay.distributed.alike import require_alike
from assay.distributed.partitions import read_on_workers, split_empty
from assay.distributed.skeleton import Numbering, make_skeleton, number, number_partition
from assay.inference.executors import Executor
from assay.inference.subsets import join_ratings
from assay.modelling.layers.reference import check_reference
from assay.modelling.spec import Spec, raters_for, recipes
from assay.modelling.structure import Structure

FAN = 16
"""Skeletons that one task joins."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """A data set on workers: ``numbered`` partitions, as parts of the executor, and the
    ``structure`` of the skeleton, with the whole data set's shares of systems.
    """

    executor: Executor
    numbered: tuple[Any, ...]
    structure: Structure
    numbering: Numbering
    facts: tuple[dataset.Facts, ...]
    accounting: Accounting


def hold_dataset(
    executor: Executor,
    paths: Sequence[Path],
    task: str | Path | Task,
    reading: dict[str, Any],
    spec: Spec,
    *,
    named: bool = True,
    show: bool,
) -> Held:
    """Read the partitions on workers, check that they are consistent, and number them. ``named``:
    the user gave a recipe; the default depends on classes in the data.
    """
    parts, facts, accounting = read_alike(executor, paths, task, reading, show=show)
    with waiting("finding what the data show", show=show):
        skeleton = join_skeletons(executor, parts, spec)
    groups = tuple(skeleton.raters["group"].astype(str).unique())
    recipe = raters_for(skeleton.task, spec.raters if named else None, groups)
    spec = replace(spec, raters=recipe)
    if any(recipe.family == "scored" for recipe in recipes(spec, groups).values()):
        raise ModelError(
            "`raters='scored'` bins the scores of a rater by all of them, but a partition has only "
            "some. Fit the answers, or read all data on one machine",
            code="partitions-unsupported",
        )
    check_reference(skeleton, spec.reference)
    structure, numbering = number(skeleton, spec)
    given = executor.send(numbering)
    numbered = executor.map(number_partition, parts, [given] * len(parts))
    with waiting("numbering", show=show, total=len(parts), unit="files"):
        places = sum(executor.gather(executor.map(attrgetter("places"), numbered)))
    design = replace(
        structure.prevalence.design, system_share=places / places.sum(axis=1, keepdims=True)
    )
    return Held(
        executor=executor,
        numbered=tuple(numbered),
        structure=replace(
            structure,
            prevalence=replace(structure.prevalence, design=design),
            ratings=with_default_metrics(structure.ratings),
        ),
        numbering=numbering,
        facts=tuple(facts),
        accounting=accounting,
    )


def read_alike(
    executor: Executor,
    paths: Sequence[Path],
    task: str | Path | Task,
    reading: dict[str, Any],
    *,
    show: bool,
) -> tuple[list[Any], list[dataset.Facts], Accounting]:
    """Read the partitions on workers, and check that they are consistent."""
    base = dataset.task_of(task, reading)
    with waiting("looking at the files", show=show, total=len(paths), unit="files"):
        paths, empty = split_empty(executor, paths)
    with waiting("finding the classes", show=show, total=len(paths), unit="files"):
        full = dataset.complete_task(executor, paths, base, reading)
    parts = read_on_workers(executor, paths, full, reading)
    with waiting("reading", show=show, total=len(paths), unit="files"):
        facts = executor.gather(executor.map(dataset.describe, parts))
    require_alike([fact.accounting for fact in facts], paths)
    dataset.check_sessions(facts, reading)
    with waiting("looking for split clusters", show=show):
        dataset.require_whole_clusters(executor, parts, paths, facts)
    silence = dataset.silence_of(executor, parts, facts)
    return parts, facts, dataset.account_for(facts, paths, empty, silence)


def join_skeletons(executor: Executor, parts: Sequence[Any], spec: Spec) -> Ratings:
    """Return the skeleton of the whole data set, joined from those of the partitions."""
    found = executor.map(make_skeleton, parts, [spec] * len(parts))
    while len(found) > 1:
        fans = [found[n : n + FAN] for n in range(0, len(found), FAN)]
        found = executor.map(_join, fans, [spec] * len(fans))
    skeleton: Ratings = executor.gather(found)[0]
    return skeleton


def _join(skeletons: Sequence[Ratings], spec: Spec) -> Ratings:
    """On a worker: join skeletons into one."""
    try:
        return make_skeleton(join_ratings(skeletons), spec)
    except ValueError as error:
        raise FitError(str(error), code=getattr(error, "code", "partition-changed")) from None
