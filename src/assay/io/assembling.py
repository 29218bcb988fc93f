"""Assemble Ratings from kept rows, items, raters, panels and truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.text import counted
from assay._util.typing import Ints
from assay.data.ratings import Partial, Ratings, Resolve
from assay.data.states import MISSING
from assay.data.task import Task
from assay.io.columns import ColumnArg, ColumnFinder, find_roles
from assay.io.identifiers import joined_ids
from assay.io.item_kinds import with_kinds
from assay.io.items import (
    Places,
    clusters_of,
    item_table,
    panel_table,
    rater_table,
    with_covariates,
)
from assay.io.key_tables import key_table, require_apart
from assay.io.larger_units import find_larger_units
from assay.io.layout import Layout, account_for
from assay.io.reading_log import NO_RATER, Ledger, find_silence
from assay.io.replicates import BY_ROW, Joined, number_replicates
from assay.io.rows import RowExtras, Rows, rating_extras
from assay.io.tables import Table
from assay.io.truth import TruthSource, known_truth


def assemble(
    layout: Layout,
    task: Task,
    rows: Rows,
    joined: Joined,
    extras: RowExtras,
    *,
    side: Table | None,
    gold: TruthSource | None,
    group: object,
    asked: Mapping[str, ColumnArg],
    covariates: Sequence[str],
    partial: Partial,
    resolve: Resolve,
) -> Ratings:
    """Assemble Ratings from kept rows, items, raters, panels and truth."""
    ledger, roles = layout.ledger, layout.roles
    kept = ledger.kept[joined.first_row]
    row, answers, scores = joined.first_row[kept], joined.answers[kept], joined.scores[kept]
    abstained = (answers == MISSING).all(axis=1) & ~np.isfinite(scores).any(axis=1)
    if abstained.all() and not layout.table.part:
        _refuse_silence(ledger)
    item = rows.item
    rater, raters, rater_rows = _kept_raters(rows, row)
    own = Places(table=layout.table, roles=roles, item=item)
    places, items, item_cluster = _locate(side, task, layout, own, rows.items, asked)
    item_frame = item_table(items, item, item_cluster, roles, ledger)
    sources = [own] if side is None else [own, places]
    item_frame = with_covariates(item_frame, covariates, sources, ledger)
    rater_frame = rater_table(raters, rater_rows, roles, group, ledger)
    ranked = "rank" in task.columns
    panels = panel_table(places, items, item_frame["cluster"], ledger, ranked=ranked)
    truth = known_truth(gold, names=items, task=task, ledger=ledger)
    if not layout.table.part:
        silent = find_silence(item[row], rater, abstained, items=len(items), raters=raters)
        ledger.notes += silent.notes()
    replicate = number_replicates(item[row], rater, _rating_order(layout, row))
    if layout.told_apart == "session" and replicate.any():
        ledger.note(
            "ratings of an item by one rater in several sessions are read as replicates",
            code="sessions-replicate",
        )
    more = rating_extras(extras, joined, kept, layout, task)
    ledger.raise_problems()
    ratings = Ratings(
        task=task, answers=answers, item=item[row], rater=rater, replicate=replicate,
        scores=scores, session=more.session, sessions=layout.sessions.names, audit=more.audit,
        seconds=more.seconds, abstained=abstained, items=item_frame, raters=rater_frame,
        truth=truth, panels=panels, partial=partial, resolve=resolve,
        accounting=account_for(layout, gold, None if side is None else places, covariates),
        keys=key_table(item_frame.index, own, None if side is None else places),
    )  # fmt: skip
    return ratings if layout.table.part else _with_unused(ratings, layout, item)


def _with_unused(ratings: Ratings, layout: Layout, item: Ints) -> Ratings:
    """Note which unused columns group the clusters, and keep those of kinds of items."""
    roles, frame = ratings.accounting.roles, layout.table.frame
    unused = set(roles.loc[roles["role"] == "", "column"])
    columns = {name: frame[name] for name in frame.columns if name in unused}
    units = find_larger_units(ratings, columns, item)
    noted = replace(ratings, accounting=replace(ratings.accounting, larger_units=units))
    return with_kinds(noted, columns, item)


def _kept_raters(rows: Rows, row: Ints) -> tuple[Ints, "pd.Index[str]", Ints]:
    """Return the rater of each kept rating, the raters' names, and the rater of every row."""
    rater, found = pd.factorize(rows.rater[row])
    number = np.full(len(rows.raters) + 1, -1, np.int64)
    number[found] = np.arange(len(found))
    return rater.astype(np.int64, copy=False), rows.raters[found], number[rows.rater]


def _rating_order(layout: Layout, row: Ints) -> NDArray[Any]:
    return np.arange(len(row)) if layout.by_row else layout.order[row]


def _refuse_silence(ledger: Ledger) -> None:
    reasons = pd.unique(ledger.aside(*[pd.Series([""] * len(ledger.kept))] * 2)["reason"])
    because = f"; rows were set aside: {', '.join(reasons)}" if len(reasons) else ""
    ledger.problem(
        "no-answer-given",
        f"no rating has an answer{because}",
        mend="check the columns of the labels and the values in them"
        if list(reasons) != [NO_RATER]
        else 'if the raters have no names, give `rater="row"`; else name their column',
        go_on={"rater": BY_ROW} if list(reasons) == [NO_RATER] else {},
    )
    ledger.raise_problems()


def _locate(
    side: "Table | None",
    task: Task,
    layout: Layout,
    own: Places,
    items: "pd.Index[str]",
    asked: Mapping[str, ColumnArg],
) -> tuple[Places, "pd.Index[str]", NDArray[Any]]:
    """Return the places of items in lists, all items, and the cluster of each item.

    Places come from the side table if there is one. Clusters that it lacks come from the ratings.
    """
    ledger = layout.ledger
    if side is None:
        places, cluster = own, clusters_of(own, items, ledger)
    else:
        places, items = _places_of(side, task, layout, items, asked, ledger)
        cluster = clusters_of(places, items, ledger)
        if "cluster" in layout.roles:
            cluster = np.where(cluster == "", clusters_of(own, items, ledger), cluster)
    alone = int((cluster == "").sum())
    if alone and ("cluster" in places.roles or "cluster" in layout.roles):
        ledger.note(
            f"{counted(alone, 'item', 'have')} no cluster, so each is its own cluster",
            code="own-clusters",
            items=alone,
        )
    return places, items, cluster


def _places_of(
    side: Table,
    task: Task,
    layout: Layout,
    items: "pd.Index[str]",
    asked: Mapping[str, ColumnArg],
    ledger: Ledger,
) -> tuple[Places, "pd.Index[str]"]:
    """Return places and items of a side table; items of the ratings come first."""
    finder = ColumnFinder(list(side.frame.columns))
    keys = finder.all_of(layout.item_columns)
    keys = keys if len(keys) == len(layout.item_columns) else [str(finder.get("item"))]
    named = {
        role: names
        for role, names in asked.items()
        if names and finder.all_of([names] if isinstance(names, str) else names)
    }
    roles = find_roles(
        finder, side.frame, task=task, asked={**named, "item": keys}, defaults={}, taken=(),
        ledger=ledger,
    )  # fmt: skip
    for role, found in roles.items():
        own = [(layout.table, layout.item_columns)] if role == "item" and len(keys) > 1 else []
        require_apart(role, ledger, *own, (side, found.columns))
    names = joined_ids(side.frame, keys)
    listed = pd.Index(pd.unique(names[names != ""]), dtype="str")
    unlisted = int((~items.isin(listed)).sum())
    if unlisted == len(items):
        ledger.problem(
            "panels-unmatched",
            "no item of the ratings is in the table of panels",
            where=f"{side.source}, e.g. {listed[0]!r}" if len(listed) else side.source,
            mend="use the same names of items in both",
            go_on={"panels": None},
        )
    elif unlisted:
        ledger.note(
            f"{counted(unlisted, 'rated item', 'are')} in no panel of {side.source}",
            code="items-without-panel",
            items=unlisted,
        )
    everything = items.append(listed[~listed.isin(items)])
    codes = everything.get_indexer(pd.Index(names)).astype(np.int64)
    return Places(table=side, roles=roles, item=codes), everything
