"""read_ratings: from a file or table to Ratings, step by step."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import TaskError
from assay._util.grouping import Codes
from assay._util.text import counted
from assay._util.validation import require_choice
from assay.data.default_metrics import with_default_metrics
from assay.data.ratings import PARTIAL, RESOLVE, Partial, Ratings, Resolve
from assay.data.states import MISSING
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.answers import (
    LabelsArg,
    apply_words,
    check_words,
    find_answers,
    note_idle_words,
    require_answers,
    words_said,
)
from assay.io.columns import ColumnArg, ColumnFinder, PerLabel, find_roles, named_columns
from assay.io.identifiers import codes_of, joined_ids
from assay.io.items import (
    Places,
    clusters_of,
    item_table,
    panel_table,
    rater_table,
    with_covariates,
)
from assay.io.layout import Layout, account_for, fill_classes, find_layout, find_tables
from assay.io.list_cells import explode_ratings, require_plain, single_elements
from assay.io.missing_words import note_missing_words, with_words, words_for_nothing
from assay.io.multi_select import require_one_answer
from assay.io.near_names import note_nameless, note_near_names
from assay.io.one_label import one_label_task
from assay.io.reading_log import Ledger, find_silence
from assay.io.replicates import BY_ROW, Joined, number_replicates
from assay.io.rows import (
    RowExtras,
    Rows,
    apply_export,
    decode_rows,
    join_ratings,
    rating_extras,
    read_extras,
)
from assay.io.scores import find_scores
from assay.io.skip_logic import fill_settled
from assay.io.tables import Table
from assay.io.truth import TruthArg, TruthSource, find_audits, find_truth, known_truth
from assay.io.truth_words import match_truth


def assemble(
    layout: Layout,
    task: Task,
    rows: Rows,
    joined: Joined,
    extras: RowExtras,
    *,
    side: Table | None,
    gold: "TruthSource | None",
    group: object,
    asked: Mapping[str, ColumnArg],
    covariates: Sequence[str],
    partial: Partial,
    resolve: Resolve,
) -> Ratings:
    """Put the kept ratings, their items, raters, panels and truth together."""
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
        ledger.note("a rater's ratings of one item in several sessions are replicates, in order")
    more = rating_extras(extras, joined, kept, layout, task)
    ledger.raise_problems()
    return Ratings(
        task=task, answers=answers, item=item[row], rater=rater, replicate=replicate,
        scores=scores, session=more.session, sessions=layout.sessions.names, audit=more.audit,
        seconds=more.seconds, abstained=abstained, items=item_frame, raters=rater_frame,
        truth=truth, panels=panels, partial=partial, resolve=resolve,
        accounting=account_for(layout, gold, None if side is None else places, covariates),
    )  # fmt: skip


def _kept_raters(rows: Rows, row: Codes) -> tuple[Codes, "pd.Index[str]", Codes]:
    """Return the rater of each kept rating, the raters' names, and the rater of every row."""
    rater, found = pd.factorize(rows.rater[row])
    number = np.full(len(rows.raters) + 1, -1, np.int64)
    number[found] = np.arange(len(found))
    return rater.astype(np.int64, copy=False), rows.raters[found], number[rows.rater]


def _rating_order(layout: Layout, row: Codes) -> NDArray[Any]:
    return np.arange(len(row)) if layout.by_row else layout.order[row]


def _refuse_silence(ledger: Ledger) -> None:
    reasons = pd.unique(ledger.aside(*[pd.Series([""] * len(ledger.kept))] * 2)["reason"])
    because = f"; rows were set aside: {', '.join(reasons)}" if len(reasons) else ""
    ledger.problem(
        "no-answer-given",
        f"no rating has an answer{because}",
        mend="check the columns of the labels and the values in them",
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
    """Return where items stand, all items, and the cluster of each.

    Places come from a table of their own if there is one, else from the ratings (``own``), as do
    the clusters that the other table lacks.
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
        ledger.note(f"{counted(alone, 'item', 'have')} no cluster: each is its own cluster")
    return places, items, cluster


def _places_of(
    side: Table,
    task: Task,
    layout: Layout,
    items: "pd.Index[str]",
    asked: Mapping[str, ColumnArg],
    ledger: Ledger,
) -> tuple[Places, "pd.Index[str]"]:
    """Take the places of items from a table of their own; its items join those of the ratings."""
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
    names = joined_ids(side.frame, keys)
    listed = pd.Index(pd.unique(names[names != ""]), dtype="str")
    unlisted = int((~items.isin(listed)).sum())
    if unlisted == len(items):
        ledger.problem(
            "panels-unmatched",
            "no item of the ratings is in the table of panels",
            where=f"{side.source}, e.g. {listed[0]!r}" if len(listed) else side.source,
            mend="it must name items as the ratings do",
        )
    elif unlisted:
        ledger.note(f"{counted(unlisted, 'rated item', 'stand')} in no panel of {side.source}")
    everything = items.append(listed[~listed.isin(items)])
    codes = everything.get_indexer(pd.Index(names)).astype(np.int64)
    return Places(table=side, roles=roles, item=codes), everything


GroupArg = ColumnArg | Mapping[str, str]
WordsArg = Mapping[str, Mapping[str, str]] | None


def read_ratings(
    source: str | Path | pd.DataFrame,
    *,
    task: str | Path | Task | None = None,
    item: ColumnArg = None,
    rater: ColumnArg = None,
    labels: LabelsArg = None,
    label: str | None = None,
    value: str | None = None,
    classes: WordsArg = None,
    score: PerLabel = None,
    confidence: PerLabel = None,
    score_range: Sequence[float] = (0, 1),
    cluster: ColumnArg = None,
    rank: ColumnArg = None,
    system: ColumnArg = None,
    panel: ColumnArg = None,
    group: GroupArg = None,
    truth: TruthArg = None,
    weight: ColumnArg = None,
    stratum: ColumnArg = None,
    covariates: ColumnArg = None,
    replicate: ColumnArg = None,
    session: ColumnArg = None,
    sessions: Sequence[str] | None = None,
    audit: PerLabel = None,
    seconds: ColumnArg = None,
    panels: str | Path | pd.DataFrame | None = None,
    response: Mapping[str, str] | None = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
) -> Ratings:
    """Read ratings from a file, a folder or a table.

    Columns are found by argument, else by the task's ``columns``, else by a name that is
    recognised; ``ratings.accounting`` says which, and what became of every row.

    Parameters
    ----------
    source : str, path or DataFrame
        CSV or TSV (UTF-8, also ``.gz``; separated by comma, semicolon or tab), Parquet, a folder
        that holds ``<task>.csv`` (an export of the protocol tool), or a table; one of another
        library (Polars, Arrow) is taken by its method ``to_pandas``.
    task : str, path or Task, optional
        A shipped task's name, a TOML file, or a task; else one label, called as its column is,
        with the classes of the data.
    item, rater, cluster, rank, system, panel, weight, stratum : str or list of str, optional
        Columns; several make a key of several parts, joined by ``/``; ``""`` means none.
    labels : dict, list or str, optional
        The column of each label: a dict from label to column, a list in the order of the labels,
        or one column for a task of one label.
    label, value : str, optional
        If each row answers one label: the columns of the label's name and of the answer. For a
        task of one label, either of them is the column of the answer.
    classes : dict of str to dict, optional
        What words in the file stand for, by label: ``{"relevance": {"partially yes":
        "partially"}}``; a word for ``""`` is no answer. It holds for the truth too.
    score, confidence : str or dict of str to str, optional
        The column of the scores, or of the confidence that the rater has in the answer given:
        one for the label of a task of one label (or where each row answers one label), else a
        dict from label to column; ``""`` means none. Else ``<label>_score``,
        ``<label>_confidence`` and, for one label, ``score`` and ``confidence`` are recognised.
    score_range : (float, float)
        The scores or confidences that stand for 0 and for 1, e.g. ``(0, 100)`` for per cent.
    group : str, list of str or dict, optional
        The column of the rater's group, or a dict from rater to group.
    truth : DataFrame, path, str or dict, optional
        Known truth: a table keyed by the item's columns, or the column (a dict from label to
        column) of the ratings that holds it. It may be partial.
    covariates : str or list of str, optional
        Columns that say something of the item, for the formula of a model: numbers or words. Each
        item has one value; of items that only the table of panels lists, it stands there.
    replicate : str or list of str, optional
        What tells a rater's ratings of one item apart; ``"row"`` numbers them in file order.
    session : str or list of str, optional
        The column of the session, snapshot or period. Unless ``replicate`` is given, it also
        tells a rater's ratings of one item apart.
    sessions : sequence of str, optional
        The sessions in order of time. Else they are ordered by number, by date (ISO, or
        day.month.year), as an ordered categorical has them, by the one number in their names, or
        as they first appear; a note says which.
    audit : str or dict of str to str, optional
        The column that says whether an answer was checked and found right or wrong, empty if it
        was not checked: a dict from label to column, or one column for the whole rating.
    seconds : str, optional
        The column of the time that the rating took, in seconds.
    panels : DataFrame or path, optional
        A table that is joined by the columns it shares (e.g. a panel's system), or, if it has the
        item's columns, that lists each place of an item in a panel, unrated items too.
    response : mapping of str to str, optional
        What the interface did with answers that break a rule: ``{rule: "block" | "warn" | "off"}``.
    partial : {"lost", "draft"}
        How partly answered ratings came about: answers lost after they were submitted, or drafts
        and forms that ask one question at a time. A lost answer that can only have been one, since
        the interface blocks the rest beside the rater's other answers, is that one where a form
        left such questions out; a note says so.
    resolve : {"retry", "repair"}
        How a rater resolves a blocked answer.

    Returns
    -------
    Ratings

    Raises
    ------
    RatingsError
        With every problem of the input, at once.
    ModelError
        If ``partial`` or ``resolve`` is none of those above.
    TaskError, UnknownNameError
        If the task, or a rule named in ``response``, does not exist.

    Notes
    -----
    Scores are in [0, 1] and grow with the class: of a binary label, the rater's probability of
    the upper class. A confidence c in a guess becomes a score: for a binary label c if the guess
    is the upper class, else 1 - c; for an ordered label of K classes and guess g = 0, ..., K - 1

    .. math:: (g + p) / K,

    with p = c for the top class, 1 - c for the lowest, 1/2 for one between. Where a rater gives
    both, the answers hold the guess and the scores hold the score: the rater family decides which
    it uses. A rating that has scores only has no answers, and is no abstention.

    One audit column for ratings of several answers: "right" says so of every answer; "wrong" says
    only that some answer is wrong, which is kept as such (``Ratings.audit``) and noted.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x", "y", "x"]})
    >>> read_ratings(table, task="single")
    <assay.Ratings of task single: 3 ratings, 2 items, 2 raters>
    """
    require_choice("partial", partial, PARTIAL)
    require_choice("resolve", resolve, RESOLVE)
    base = load_task(task or "single").with_responses(_responses(response))
    asked: dict[str, ColumnArg] = {
        "item": item, "rater": rater, "cluster": cluster, "panel": panel, "rank": rank,
        "system": system, "weight": weight, "stratum": stratum,
        "group": None if isinstance(group, Mapping) else group,
        "replicate": None if replicate == BY_ROW else replicate,
        "session": session, "seconds": seconds,
    }  # fmt: skip
    table, side = find_tables(source, base, panels, item)
    if task is None:
        own = ColumnFinder([str(c) for c in table.frame.columns])
        beside = named_columns(own, score, confidence, audit, truth, covariates, *asked.values())
        base = one_label_task(table, labels, value or label, beside)
    table = explode_ratings(single_elements(table), rater)
    ledger = Ledger(table)
    finder = ColumnFinder(list(table.frame.columns))
    named = named_columns(finder, score, confidence, audit)
    taken = named_columns(finder, audit, truth, *asked.values(), *base.columns.values())
    found = find_answers(
        table, base, labels=labels, label=label, value=value, ledger=ledger, scored=named
    )
    scores = find_scores(
        table, base, found, score=score, confidence=confidence, score_range=score_range,
        taken=taken, ledger=ledger,
    )  # fmt: skip
    audits = find_audits(table, base, found, audit, [*taken, *scores.columns], ledger)
    require_answers(found, scores.columns, base, ledger, taken=taken)
    given = check_words(classes, base, ledger)
    silent = words_for_nothing(table, found, base, given)
    note_missing_words(table, found, base, given, silent, ledger)
    words = with_words(given, silent)
    said = words_said(table, found, given)
    table = ledger.table = apply_words(table, found, words)
    layout = find_layout(
        table, base, asked, found, scores, audits, ledger,
        sessions=sessions, by_row=replicate == BY_ROW,
    )  # fmt: skip
    _require_single(layout, base, ledger)
    gold = find_truth(
        truth, table=table, item=layout.item_names, item_columns=layout.item_columns,
        task=base, labels=found.by_label if labels is None else labels, words=words, ledger=ledger,
    )  # fmt: skip
    note_idle_words(given, [said, {} if gold is None else gold.said], ledger)
    gold = match_truth(gold, layout, base, given, ledger)
    found_in_data = [label.name for label in base.labels if not label.classes]
    base = fill_classes(base, layout, gold, ledger)
    base, discarded = apply_export(layout, base, response or {})
    rows = decode_rows(layout, base)
    _note_near_names(layout, rows, base, found_in_data, ledger)
    extras = read_extras(layout, rows.question, base)
    ledger.raise_problems()
    joined = join_ratings(layout, base, rows, discarded)
    if partial == "lost" and not table.part:
        joined = fill_settled(joined, base, ledger)
    ledger.raise_problems()
    ratings = assemble(
        layout, base, rows, joined, extras, side=side, gold=gold, group=group, asked=asked,
        covariates=[covariates] if isinstance(covariates, str) else list(covariates or ()),
        partial=partial, resolve=resolve,
    )  # fmt: skip
    return ratings if table.part else with_default_metrics(ratings)


def _note_near_names(
    layout: Layout, rows: Rows, task: Task, found_in_data: Sequence[str], ledger: Ledger
) -> None:
    """Note names that nearly match, of all that is told apart by its name.

    Classes are among them for the labels ``found_in_data``.
    """
    for role, names, codes in (
        ("item", rows.items, rows.item), ("rater", rows.raters, rows.rater),
    ):  # fmt: skip
        note_near_names(role, names, codes, ledger)
        note_nameless(role, names, codes, ledger)
    for role in ("system", "cluster", "group"):
        if role in layout.roles and layout.roles[role].columns != layout.item_columns:
            codes, names = codes_of(joined_ids(layout.table.frame, layout.roles[role].columns))
            note_near_names(role, names, codes, ledger)
    for n, label in enumerate(task.labels):
        if label.name in found_in_data:
            names = pd.Index(label.classes, dtype="str")
            note_near_names("class", names, rows.answers[:, n], ledger)


def _require_single(layout: Layout, task: Task, ledger: Ledger) -> None:
    """Refuse cells that hold several values: what else is said of such a table would mislead."""
    found = layout.answers
    columns = dict(found.by_label)
    if found.value and len(task.labels) == 1:
        columns[task.label_names[0]] = found.value
    labels = {label.name: label for label in task.labels}
    read = [*found.columns, *(c for role in layout.roles.values() for c in role.columns)]
    answers = [*found.by_label.values(), *([found.value] if found.value else [])]
    if require_one_answer(columns, labels, layout.roles, ledger) or require_plain(
        read, answers, ledger
    ):
        ledger.raise_problems()


def _responses(response: object) -> Mapping[str, str]:
    if response is None:
        return {}
    if not isinstance(response, Mapping):
        raise TaskError(
            f'`response=` must be a dict like {{rule: "warn"}}, not {response!r}',
            code="argument-type",
        )
    return response
