"""From rows to Ratings: decode answers, join rows, apply rules, set rows aside, assemble."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import all_apart, number_within
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import NOT_AUDITED, Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, state_space
from assay.data.task import Task
from assay.io.answers import question_codes
from assay.io.arguments import BY_ROW, Arguments, ColumnArg
from assay.io.cells import decode, has_numbers, numbers_within
from assay.io.columns import find_roles
from assay.io.formats import pragmata
from assay.io.identifiers import codes_of, joined_ids, other_items, require_apart
from assay.io.items import (
    Places,
    clusters_of,
    item_table,
    key_table,
    panel_table,
    rater_table,
    with_covariates,
)
from assay.io.larger_units import find_larger_units, with_kinds
from assay.io.layout import Layout, account_for
from assay.io.names import BESIDE, columns_of, names_truth
from assay.io.reading_log import NO_RATER, Ledger, find_silence
from assay.io.replicates import (
    Joined,
    join_rows,
    number_replicates,
    require_one_choice,
    require_own_key,
    settle_repeats,
)
from assay.io.scores import Marks, rating_audits, read_audits, read_scores
from assay.io.skip_logic import CLOSED, apply_gates, broken_rules, consistent, patterns_of
from assay.io.tables import Table
from assay.io.truth import TruthSource, known_truth
from assay.io.truth_rows import with_like_truth

RowExtras = tuple[Marks, Marks, Floats]
"""Audits of each answer, audits of the whole, and seconds, of every row."""


def read_extras(layout: Layout, question: Ints | None, task: Task) -> RowExtras:
    """Read audits and times of every row; unknown values become problems."""
    return (*read_audits(layout.audits, question, task, layout.ledger), _seconds(layout))


def _seconds(layout: Layout) -> Floats:
    ledger, frame = layout.ledger, layout.table.frame
    nothing = np.full(len(frame), np.nan)
    if "seconds" not in layout.roles:
        return nothing
    (column, *more), why = layout.roles["seconds"].columns, layout.roles["seconds"].evidence
    if more:
        ledger.problem(
            "seconds-columns",
            "`seconds=` must be one column",
            where=f"columns {column}, {', '.join(more)}",
            go_on={"seconds": column},
        )
    if not has_numbers(frame[column]) and why != "named by `seconds=`":
        ledger.note(
            f"column {column} holds no numbers of seconds, so it is not used", code="no-numbers"
        )
        return nothing
    return numbers_within(
        frame[column], (0, np.inf), ledger, what="time in seconds",
        allowed="numbers from 0",
        mend='turn them into seconds, or leave the column out: `seconds=""`',
        go_on={"seconds": ""},
    )  # fmt: skip


def rating_extras(
    rows: RowExtras, joined: Joined, kept: Bools, layout: Layout, task: Task
) -> tuple[NDArray[np.object_], Marks, Floats]:
    """Return session, audits and time of each kept rating (see ``Ratings``)."""
    first = joined.first_row[kept]
    cells, whole, seconds = rows[0][first], rows[1][first], rows[2][first]
    if layout.answers.question:
        used = np.flatnonzero(layout.ledger.kept & (joined.rating_of_row >= 0))
        rating = (np.cumsum(kept) - 1)[joined.rating_of_row[used]]
        cells = np.full(cells.shape, NOT_AUDITED, np.int8)
        row, label = np.nonzero(rows[0][used] != NOT_AUDITED)
        cells[rating[row], label] = rows[0][used[row], label]
        seconds = _seconds_of(rows[2][used], rating, len(first), layout)
        code = layout.sessions.code
        clash = used[code[used] != code[first[rating]]]
        if len(clash):
            layout.ledger.problem(
                "rating-sessions",
                f"{counted(len(clash), 'row', 'answer')} a label in another session than the "
                "rest of the rating",
                where=layout.table.where(
                    np.sort(clash), ", ".join(layout.roles["session"].columns)
                ),
                mend='number the ratings by session: `replicate=""` with `session="..."`',
                go_on={"replicate": "", "session": layout.roles["session"].columns[0]},
                numbers={"rows": len(clash)},
            )
    audit = rating_audits(cells, whole, joined.answers[kept], task, layout.ledger)
    known = layout.sessions.names
    session = layout.sessions.words[first] if known else np.zeros(0, object)
    return session, audit, seconds


def _seconds_of(seconds: Floats, rating: Ints, size: int, layout: Layout) -> Floats:
    """Return the time of each rating: the sum over rows, unless all rows repeat the same."""
    groups = pd.Series(seconds).groupby(rating)
    total: Floats = np.asarray(groups.sum(min_count=1).reindex(range(size)), np.float64)
    if not np.isfinite(total).any():
        return total
    rows, spread = groups.count(), groups.max() - groups.min()
    repeated = bool((rows > 1).any()) and bool((spread[rows > 1] == 0).all())
    how = "the time of the rating, which its rows repeat" if repeated else "added over its rows"
    layout.ledger.note(f"the seconds of a rating are {how}", code="seconds-joined")
    return np.asarray(groups.max().reindex(range(size)), np.float64) if repeated else total


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Codes of every row: item, rater, label (if it answers one), answers and scores."""

    item: Ints
    rater: Ints
    items: "pd.Index[str]"
    raters: "pd.Index[str]"
    question: Ints | None
    answers: Vectors
    scores: Floats


def decode_rows(layout: Layout, task: Task) -> Rows:
    """Turn names and answers into codes; unknown values become problems."""
    ledger, frame, found = layout.ledger, layout.table.frame, layout.answers
    item, items = codes_of(layout.item_names)
    rater, raters = codes_of(layout.rater_names)
    question = None
    answers = np.full((len(frame), len(task.labels)), MISSING, np.int16)
    if found.question:
        question = question_codes(layout.table, task, found.question, ledger)
        for n, label in enumerate(task.labels):
            own = question == n
            if found.value and label.classes and own.any():
                only = frame[found.value].where(own, "")
                answers[own, n] = decode(only, label, ledger)[own]
    else:
        for n, label in enumerate(task.labels):
            if label.name in found.by_label and label.classes:
                answers[:, n] = decode(frame[found.by_label[label.name]], label, ledger)
        held = (*found.by_label, *layout.scores.score, *layout.scores.confidence)
        absent = [name for name in task.label_names if name not in held]
        if absent and found.by_label:
            named = {name: column for name in absent if (column := layout.table.finder.get(name))}
            pairs = ", ".join(f"{name!r}: {column!r}" for name, column in named.items())
            more = f"; `labels=` leaves out {{{pairs}}}, which has its name" if pairs else ""
            text = f"no column holds {', '.join(absent)}: all answers to it are missing{more}"
            ledger.note(text, code="labels-without-column", labels=len(absent))
    return Rows(
        item=item, rater=rater, items=items, raters=raters, question=question, answers=answers,
        scores=read_scores(layout.scores, answers, question, task, ledger),
    )  # fmt: skip


def apply_export(layout: Layout, task: Task, response: Mapping[str, str]) -> tuple[Task, Bools]:
    """Apply the rules of the protocol tool's export; return the discarded rows."""
    ledger = layout.ledger
    if not pragmata.is_export(list(layout.table.frame.columns)):
        return task, layout.withdrawn
    warned = pragmata.export_responses(task, response)
    for rule in warned:
        ledger.note(
            f"the protocol tool only warns on rule {rule}, so its response is set to warn",
            code="rule-only-warns",
        )
    discarded = pragmata.discarded_rows(ledger)
    pragmata.note_traps(ledger, layout.roles)
    return task.with_responses(warned), discarded


def join_ratings(layout: Layout, task: Task, rows: Rows, discarded: Bools) -> Joined:
    """Join rows to ratings, settle repeats, and set aside impossible ratings."""
    ledger = layout.ledger
    if "item" in layout.roles:
        ledger.set_aside(rows.item < 0, "no item", "the item's columns are empty")
    ledger.set_aside(rows.rater < 0, NO_RATER, "the rater's column is empty")
    answers, scores = rows.answers.copy(), rows.scores.copy()
    lost = (answers[discarded] != MISSING).any() or np.isfinite(scores[discarded]).any()
    if lost and not layout.status:
        ledger.note("answers in discarded ratings were left out", code="discarded-answers")
    answers[discarded], scores[discarded] = MISSING, np.nan
    question = [] if rows.question is None else [rows.question]
    by_row = layout.by_row
    order = number_within(rows.item, rows.rater, *question) if by_row else layout.order
    keys = [rows.item, rows.rater, order]
    apart = [] if by_row else [pd.factorize(layout.order)[0]]
    repeated = not all_apart(rows.item, rows.rater, *question, at=ledger.kept)
    if repeated and require_own_key(layout, [*keys[:2], *apart, *question], answers, scores):
        ledger.raise_problems()
    if repeated and require_one_choice(layout, task, [*keys[:2], *question], answers, scores):
        ledger.raise_problems()
    each = np.arange(len(answers))
    joined = Joined(answers=answers, scores=scores, first_row=each, rating_of_row=each)
    if rows.question is None:
        joined = _judge(layout, task, joined)
    used = [  # columns in which exact repeats must agree
        *columns_of(layout.roles, *layout.roles), *layout.answers.columns,
        *layout.scores.columns, *layout.audits.columns,
        *(c for c in ("response_status", "discard_reason") if c in layout.table.frame),
    ]  # fmt: skip
    settle_repeats(
        ledger, keys=[*keys, *question], answers=answers, scores=scores,
        used=list(dict.fromkeys(used)), told_apart=layout.told_apart,
        rater=columns_of(layout.roles, "rater"), taken_for_item=lambda: _item_words(layout),
    )  # fmt: skip
    if rows.question is not None:
        cells = answers[np.arange(len(answers)), np.maximum(rows.question, 0)]
        joined = join_rows(ledger, keys=keys, question=rows.question, cells=cells, scores=scores)
        joined = _judge(layout, task, joined)
    return joined


LOST = 0.05
"""Largest share of other answers that may be missing for open answers to be by design."""


def fill_settled(joined: Joined, task: Task, ledger: Ledger) -> Joined:
    """Fill empty answers that have only one possible class, where the form left them out.

    The likelihood is unchanged, but votes and agreement count them. A label is filled if most of
    its implied answers are empty and hardly any others are: answers lost at random stay lost.
    """
    if not state_space(task).blocked.any():
        return joined
    given = (joined.answers != MISSING) | np.isfinite(joined.scores)
    kept = ledger.kept[joined.first_row] & (joined.answers != MISSING).any(axis=1)
    answers = joined.answers.copy()
    for column, label in enumerate(task.labels):
        settled = settled_by_others(task, joined.answers, column)
        decided, asked = kept & (settled != MISSING), kept & (settled == MISSING)
        empty = decided & ~given[:, column]
        left_out = 2 * empty.sum() > decided.sum() and asked.any()
        if left_out and (~given[asked, column]).sum() <= LOST * asked.sum():
            answers[empty, column] = settled[empty]
            for code in np.unique(settled[empty]):
                count = int((empty & (settled == code)).sum())
                ledger.note(
                    f"{counted(count, 'empty answer', 'are')} read as {label.classes[code]} for "
                    f"{label.name}, because the interface blocks all other classes beside the "
                    "rater's other answers",
                    code="answers-implied",
                    answers=count,
                )
    return replace(joined, answers=answers)


def settled_by_others(task: Task, answers: Vectors, column: int) -> NDArray[np.int16]:
    """Return the only class that blocked rules leave beside a rater's other answers, (rating,).

    ``MISSING`` if several or none are left, or if gates alone imply it.
    """
    others = answers.copy()
    others[:, column] = MISSING
    patterns, inverse = patterns_of(others)
    space = state_space(task)
    found = np.full(len(patterns), MISSING, np.int16)
    for start, agree in consistent(space.paths, patterns):
        settled = _only(space.paths[:, column], agree & ~space.blocked)
        by_gates = _only(space.paths[:, column], agree) == settled
        found[start : start + len(agree)] = np.where(by_gates | (settled < 0), MISSING, settled)
    return np.asarray(found[inverse], np.int16)


def _only(codes: NDArray[np.int16], agree: Bools) -> NDArray[np.int16]:
    """Return the code that all agreeing paths share, by pattern; else ``MISSING``."""
    low = np.where(agree, codes, np.iinfo(np.int16).max).min(axis=1)
    high = np.where(agree, codes, np.iinfo(np.int16).min).max(axis=1)
    return np.asarray(np.where(low == high, low, MISSING), np.int16)


def _item_words(layout: Layout) -> str:
    """Say which columns are the item, why, and which others could be."""
    if "item" not in layout.roles:
        return ""
    role, frame = layout.roles["item"], layout.table.frame
    said = f"; the item was taken from {', '.join(role.columns)}: {role.evidence}"
    used = {r: layout.roles[r].columns for r in layout.roles}
    beside = [*columns_of(layout.roles, *BESIDE), *filter(None, [layout.answers.question])]
    wider = [[*used[r], *role.columns] for r in ("system", "cluster", "panel", "rank") if r in used]
    no_part = {*role.columns, *role.alternatives, *beside, *(c for key in wider for c in key)}
    no_part |= {*layout.answers.columns, *layout.scores.columns}
    rest = [str(c) for c in frame.columns if c not in no_part]
    keys = [*([c] for c in role.alternatives), *wider]
    others = other_items(keys, rest, frame.drop_duplicates(), beside)
    names = [f"`item={(key[0] if len(key) == 1 else key)!r}`" for key in others]
    more = f"; with {' or '.join(names)}, no rater repeats an item" if names else ""
    return said + more


def _judge(layout: Layout, task: Task, joined: Joined) -> Joined:
    """Apply gates and blocked rules; set aside rows of ratings that they forbid."""
    ledger, of_row = layout.ledger, joined.rating_of_row
    if not len(joined.answers):  # no row answers a label of the task
        return joined
    gated = apply_gates(task, joined.answers)
    names = np.array([*task.label_names, ""], object)
    closed = (gated.contradicts >= 0)[of_row] & (of_row >= 0)
    if closed.any():
        ledger.set_aside(closed, CLOSED, names[gated.contradicts][of_row])
    unasked = zip(task.label_names, gated.unasked_no, strict=True)
    counts = ", ".join(f"{name} {count}" for name, count in unasked if count)
    if counts:
        ledger.note(
            f"answers 'no' behind a closed gate count as not asked: {counts}", code="closed-no"
        )
    reasons, vector = broken_rules(task, gated.answers)
    for reason in sorted(set(reasons) - {""}):
        broken = np.array([why == reason for why in reasons])[vector]
        ledger.set_aside(broken[of_row] & (of_row >= 0), reason)
    scores, closed_scores = joined.scores, gated.answers == NOT_ASKED
    closed_scores &= np.isfinite(scores)
    if total := int(closed_scores.sum()):
        ledger.note(
            f"{counted(total, 'score', 'are')} left out, because the rater's own answers close the "
            "question",
            code="closed-scores",
            scores=total,
        )
        scores = np.where(closed_scores, np.nan, scores)
    return replace(joined, answers=gated.answers, scores=scores)


def assemble(
    layout: Layout,
    task: Task,
    rows: Rows,
    joined: Joined,
    extras: RowExtras,
    given: Arguments,
    covariates: Sequence[str],
    *,
    side: Table | None,
    gold: TruthSource | None,
) -> Ratings:
    """Assemble Ratings from kept rows, items, raters, panels and truth."""
    ledger, roles = layout.ledger, layout.roles
    kept = ledger.kept[joined.first_row]
    row, answers, scores = joined.first_row[kept], joined.answers[kept], joined.scores[kept]
    abstained = (answers == MISSING).all(axis=1) & ~np.isfinite(scores).any(axis=1)
    if abstained.all() and not layout.table.part:
        _refuse_silence(ledger)
    item = rows.item
    # The rater of each kept rating, the raters' names, and the rater of every row.
    codes, found = pd.factorize(rows.rater[row])
    rater, raters = codes.astype(np.int64, copy=False), rows.raters[found]
    rater_rows = np.full(len(rows.raters) + 1, -1, np.int64)
    rater_rows[found] = np.arange(len(found))
    rater_rows = rater_rows[rows.rater]
    own = Places(table=layout.table, roles=roles, item=item)
    places, items, item_cluster = _locate(side, task, layout, own, rows.items, given.roles)
    item_frame = item_table(items, item, item_cluster, roles, ledger)
    sources = [own] if side is None else [own, places]
    item_frame = with_covariates(item_frame, covariates, sources, ledger)
    rater_frame = rater_table(raters, rater_rows, roles, given.group, ledger)
    ranked = "rank" in task.columns
    panels = panel_table(places, items, item_frame["cluster"], ledger, ranked=ranked)
    truth = known_truth(gold, names=items, task=task, ledger=ledger)
    if not layout.table.part:
        silent = find_silence(item[row], rater, abstained, items=len(items), raters=raters)
        ledger.notes += silent.notes()
    order = np.arange(len(row)) if layout.by_row else layout.order[row]
    replicate = number_replicates(item[row], rater, order)
    if layout.told_apart == "session" and replicate.any():
        ledger.note(
            "ratings of an item by one rater in several sessions are read as replicates",
            code="sessions-replicate",
        )
    session, audit, seconds = rating_extras(extras, joined, kept, layout, task)
    ledger.raise_problems()
    beside = None if side is None else places
    ratings = Ratings(
        task=task, answers=answers, item=item[row], rater=rater, replicate=replicate,
        scores=scores, session=session, sessions=layout.sessions.names, audit=audit,
        seconds=seconds, abstained=abstained, items=item_frame, raters=rater_frame, truth=truth,
        panels=panels, partial=given.partial, resolve=given.resolve,
        accounting=account_for(layout, gold, beside, covariates),
        keys=key_table(item_frame.index, own, beside),
    )  # fmt: skip
    if layout.table.part:
        return ratings
    # Note which unused columns group the clusters, and keep those of kinds of items.
    described, frame = ratings.accounting.roles, layout.table.frame
    unused = set(described.loc[described["role"] == "", "column"])
    columns = {name: frame[name] for name in frame.columns if name in unused}
    may_group = {c: cells for c, cells in columns.items() if c and not names_truth(c)}
    units = find_larger_units(ratings, may_group, item)
    noted = replace(ratings, accounting=replace(ratings.accounting, larger_units=units))
    return with_like_truth(with_kinds(noted, columns, item), columns, item, row)


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
    """Return the places of items in lists, all items, and the cluster of each. Places come from the
    side table, if any, with its items last; clusters that it lacks from the ratings.
    """
    ledger, places = layout.ledger, own
    if side is not None:
        keys = side.finder.all_of(layout.item_columns)
        keys = keys if len(keys) == len(layout.item_columns) else [str(side.finder.get("item"))]
        named = {r: names for r, names in asked.items() if names and side.finder.all_of(names)}
        roles = find_roles(side, task, {**named, "item": keys}, ledger)
        for role, found in roles.items():
            ours = [(layout.table, layout.item_columns)] if role == "item" and len(keys) > 1 else []
            require_apart(role, ledger, *ours, (side, found.columns))
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
        items = items.append(listed[~listed.isin(items)])
        codes = items.get_indexer(pd.Index(names)).astype(np.int64)
        places = Places(table=side, roles=roles, item=codes)
    cluster = clusters_of(places, items, ledger)
    if side is not None and "cluster" in layout.roles:
        cluster = np.where(cluster == "", clusters_of(own, items, ledger), cluster)
    alone = int((cluster == "").sum())
    if alone and ("cluster" in places.roles or "cluster" in layout.roles):
        ledger.note(
            f"{counted(alone, 'item', 'have')} no cluster, so each is its own cluster",
            code="own-clusters",
            items=alone,
        )
    return places, items, cluster
