"""Data sets in partitions: folders of Parquet files, each with whole clusters."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.text import counted, some
from assay._util.validation import cut
from assay.data.ratings import Accounting, Ratings
from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.distributed.partitions import read_on_workers
from assay.distributed.skeleton import hashes
from assay.inference.executors import Executor
from assay.io import read_ratings
from assay.io.reading_log import Silence, find_silence
from assay.io.tables import reader_note

BUCKET = 10_000_000
"""Names compared together."""
NOTHING = "no rating in any of the files has an answer, so a fit has nothing to learn from"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Counts of a partition: ``sizes`` by dim that grows with the data (``cluster`` counts distinct
    ones), and whether ratings have ``sessions``.
    """

    sizes: Mapping[str, int]
    sessions: bool
    silence: Silence
    accounting: Accounting


def describe(ratings: Ratings) -> Facts:
    """On a worker: count what a partition has."""
    sizes = {
        "rating": len(ratings.answers),
        "item": len(ratings.items),
        "place": len(ratings.panels),
        "cluster": int(ratings.items["cluster"].nunique()),
    }
    silence = find_silence(
        ratings.item, ratings.rater, ratings.abstained,
        items=len(ratings.items), raters=ratings.raters.index,
    )  # fmt: skip
    return Facts(
        sizes=sizes, sessions=bool(ratings.sessions), silence=silence,
        accounting=ratings.accounting,
    )  # fmt: skip


def not_silent(ratings: Ratings, names: Collection[str]) -> set[str]:
    """On a worker: return those of some raters who gave an answer."""
    spoke = np.unique(ratings.rater[~ratings.abstained])
    return set(names) & set(ratings.raters.index[spoke])


def silence_of(executor: Executor, parts: Sequence[Any], facts: Sequence[Facts]) -> Silence:
    """Add up what partitions lack; raise FitError if no rating has an answer.

    A rater without answers in one partition may have some in another.
    """
    each = [fact.silence for fact in facts]
    names = list(dict.fromkeys(name for found in each for name in found.raters))
    spoke: set[str] = set()
    if names:
        spoke = spoke.union(*executor.gather(executor.map(not_silent, parts, [names] * len(parts))))
    found = Silence(
        ratings=sum(one.ratings for one in each),
        abstentions=sum(one.abstentions for one in each),
        items=sum(one.items for one in each),
        unanswered=sum(one.unanswered for one in each),
        raters=tuple(name for name in names if name not in spoke),
    )
    if found.abstentions == found.ratings:
        raise FitError(NOTHING, code="no-answer-given")
    return found


def words_seen(ratings: Ratings) -> dict[str, tuple[list[str], list[str]]]:
    """On a worker: return the classes of each label in the answers, and those in the truth."""

    def named(label: Label, codes: NDArray[np.int16]) -> list[str]:
        return [label.classes[k] for k in np.unique(codes[codes >= 0])]

    return {
        label.name: (named(label, answers), named(label, truth))
        for label, answers, truth in zip(
            ratings.task.labels, ratings.answers.T, ratings.truth.T, strict=True
        )
    }


def complete_task(
    executor: Executor, paths: Sequence[Path], task: Task, reading: Mapping[str, Any]
) -> Task:
    """Return the task with classes from the answers in all partitions, where it has none.

    FitError is raised if no rating has an answer, or a label's truth has no class of the answers.
    """
    if all(label.classes for label in task.labels):
        return task
    parts = read_on_workers(executor, paths, task, reading)
    seen = executor.gather(executor.map(words_seen, parts))
    words = {}
    for label in task.labels:
        answers, truth = (
            sorted({word for found in seen for word in found[label.name][k]}) for k in range(2)
        )
        if answers and truth and not set(answers) & set(truth):
            raise FitError(_foreign(label.name, answers, truth), code="truth-vocabulary")
        words[label.name] = sorted({*answers, *truth})
    if not any(words.values()):
        raise FitError(NOTHING, code="no-answer-given")
    table = pd.DataFrame({name: pd.Series(found, dtype="str") for name, found in words.items()})
    table = table.fillna("").assign(item=[str(n) for n in range(len(table))], rater="any")
    return read_ratings(table, task=task, item="item", rater="rater").task


def _foreign(label: str, answers: Sequence[str], truth: Sequence[str]) -> str:
    """Say that truth and answers have no word in common."""
    said, known = (", ".join(cut(word, 40) for word in few[:5]) for few in (answers, truth))
    words = {label: dict.fromkeys(truth[:5], "...")}
    example = json.dumps({"classes": words}, ensure_ascii=False)
    return (
        f"the truth of {label} says {known}, but no answer in any partition does: answers say "
        f"{said}. Say what the words of the truth mean: `reading={example}`"
    )


def task_of(task: str | Path | Task, reading: Mapping[str, Any]) -> Task:
    """Load the task; raise FitError for arguments that need all data at once."""
    if reading.get("panels") is not None:
        raise FitError(
            "`panels=` lists the places of all items, but a partition holds some of them. Write "
            "system, rank and cluster as columns of the partitions",
            code="partitions-unsupported",
        )
    return load_task(task) if not isinstance(task, Task) else task


def check_sessions(facts: Sequence[Facts], reading: Mapping[str, Any]) -> None:
    """Raise FitError for sessions without a given order, which no partition can know."""
    if any(fact.sessions for fact in facts) and not reading.get("sessions"):
        raise FitError(
            "the ratings have sessions, but a partition may lack some of them. Name them in order "
            "of time: `sessions=[...]`",
            code="partition-sessions",
        )


def names_in(ratings: Ratings, bucket: int, buckets: int) -> NDArray[np.uint64]:
    """On a worker: return numbers of the distinct clusters and items in one bucket."""
    found = np.concatenate([keys for _, _, keys in _names(ratings)])
    return np.asarray(found[found % np.uint64(buckets) == bucket])


def name_of(ratings: Ratings, number: np.uint64) -> str:
    """On a worker: return the cluster or item with a number."""
    return next(
        f"{kind} {name}" for kind, names, keys in _names(ratings) for name in names[keys == number]
    )


def _names(ratings: Ratings) -> Iterator[tuple[str, NDArray[Any], NDArray[np.uint64]]]:
    """Yield the distinct clusters, then items, with numbers; clusters and items share none."""
    for kind, names in (
        ("cluster", ratings.items["cluster"].unique()),
        ("item", ratings.items.index),
    ):
        found = np.asarray(names, object)
        yield kind, found, hashes(found, np.full(len(found), kind, object))


def require_whole_clusters(
    executor: Executor, parts: Sequence[Any], paths: Sequence[Path], facts: Sequence[Facts]
) -> None:
    """Raise FitError if two partitions share a cluster or an item."""
    names = sum(fact.sizes["cluster"] + fact.sizes["item"] for fact in facts)
    buckets = 1 + names // BUCKET
    for bucket in range(buckets):
        count = len(parts)
        found = executor.gather(executor.map(names_in, parts, [bucket] * count, [buckets] * count))
        keys = np.concatenate(found)
        owner = np.repeat(np.arange(count), [len(part) for part in found])
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(np.diff(keys[order]) == 0)
        if len(twice):
            key, pair = keys[order[twice[0]]], owner[order[twice[0] : twice[0] + 2]]
            (name,) = executor.gather(executor.map(name_of, [parts[pair[0]]], [key]))
            raise FitError(
                f"{name} is in {paths[pair[0]].name} and in {paths[pair[1]].name}, but partitions "
                "must hold whole clusters. Write the data set again, sorted or partitioned by "
                "cluster",
                code="split-clusters",
            )


def account_for(
    facts: Sequence[Facts], paths: Sequence[Path], empty: Sequence[Path], silence: Silence
) -> Accounting:
    """Add up the accounts of the rows of all partitions; ``empty`` files have no rows."""
    each = [fact.accounting for fact in facts]
    aside = [
        found.set_aside.assign(detail=path.name + ": " + found.set_aside["detail"].astype(str))
        for found, path in zip(each, paths, strict=True)
        if len(found.set_aside)
    ]
    mute = [
        path
        for path, fact in zip(paths, facts, strict=True)
        if fact.silence.abstentions == fact.silence.ratings
    ]
    lacking = [
        reader_note(
            f"{counted(len(files), 'file', 'have')} no {what}: "
            f"{some([path.name for path in files])}",
            code="files-without-answer",
            files=len(files),
        )
        for files, what in ((empty, "rows"), (mute, "answer"))
        if files
    ]
    notes = [*lacking, *(note for found in each for note in found.notes), *silence.notes()]
    return replace(
        each[0],
        rows_read=sum(found.rows_read for found in each),
        rows_used=sum(found.rows_used for found in each),
        set_aside=pd.concat([each[0].set_aside.head(0), *aside], ignore_index=True),
        notes=tuple(dict.fromkeys(notes)),
        source=str(paths[0].parent),
        sha256=",".join(found.sha256 for found in each),
    )
