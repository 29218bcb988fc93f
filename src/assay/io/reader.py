"""read_ratings: from any input to Ratings, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from assay._util.errors import TaskError, as_code
from assay._util.validation import require_choice, require_flag, require_text
from assay.data.default_metrics import with_default_metrics
from assay.data.directions import direction_problem
from assay.data.ratings import PARTIAL, RESOLVE, RETRIEVER_SCORE, Partial, Ratings, Resolve
from assay.data.states import state_space
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.answer_words import (
    apply_words,
    check_words,
    note_idle_words,
    with_words,
    words_for_nothing,
    words_said,
    words_with_points,
    words_written,
)
from assay.io.answers import AnswerColumns, find_answers
from assay.io.arguments import (
    BY_ROW,
    Arguments,
    ColumnArg,
    GroupArg,
    LabelsArg,
    PerLabel,
    TruthArg,
    WordsArg,
    names_in,
    require_apart,
)
from assay.io.blocks import filled_down
from assay.io.class_orders import with_scales
from assay.io.files.file_paths import FILE
from assay.io.files.opening import joined, open_source
from assay.io.formats import Export, is_claimed, read_unless_named
from assay.io.identifiers import codes_of, joined_ids, note_nameless, note_near_names
from assay.io.layout import Layout, fill_classes, find_layout, find_tables, without_nameless
from assay.io.list_cells import (
    explode_ratings,
    named_by_lists,
    named_singly,
    require_one_answer,
    require_plain,
    single_elements,
    without_nested,
    without_uneven_lists,
)
from assay.io.missing_answers import require_answers
from assay.io.names import KNOWN, columns_of, named_columns, squash
from assay.io.nested_cells import unnested
from assay.io.option_tables import (
    OPTIONS,
    gather_options,
    with_marks,
    with_named_options,
    with_options,
)
from assay.io.patterned_tables import columns_apart
from assay.io.rater_slots import require_no_slots, slots_apart
from assay.io.reading_log import Ledger
from assay.io.reshaping import require_one_label, reshape
from assay.io.rows import (
    Rows,
    apply_export,
    assemble,
    decode_rows,
    fill_settled,
    join_ratings,
    read_extras,
)
from assay.io.scores import find_audits, find_scores, scores_of_raters
from assay.io.sides import with_one_order
from assay.io.summary_rows import without_summaries
from assay.io.tables import Table, without_import_rows
from assay.io.task_choice import FALLBACK, choose_task, labels_within_reach, of_questions
from assay.io.truth import find_truth, match_truth
from assay.io.truth_rows import rows_of_truth
from assay.io.unnamed_raters import counted_rows


def read_ratings(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    *,
    task: str | Path | Task | None = None,
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
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
    truth_rater: str | None = None,
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
    wide: ColumnArg = None,
    wide_items: ColumnArg = None,
    counts: ColumnArg = None,
    ordered: bool | None = None,
    set_aside: bool = False,
) -> Ratings:
    """Read ratings from a file, a folder or a table.

    Columns are found by argument, else by the task's ``columns``, else by a recognised name.
    ``ratings.accounting`` names them, and counts all rows.

    Parameters
    ----------
    source : str, path, DataFrame or list of paths
        A table, in one of these forms:

        - delimited text (CSV, TSV, also with semicolons or bars) in any encoding
        - Parquet, Feather, a sheet of Excel, or JSON (one value, or one a line)
        - any of these in a gzip, bzip2, xz or ZIP archive, or ``"-"`` for standard input
        - the export of an annotation tool or of judges: a file, a folder, an archive or a list of
          files
        - a DataFrame, also of a library whose tables have a method ``to_pandas`` (Polars, Arrow,
          Hugging Face datasets)
    task : str, path or Task, optional
        A shipped task's name, a TOML file, a label config of Label Studio (``.xml``), or a task.
        Else it is the one that the export writes out, or whose labels are columns, or ``single``;
        a note says which.
    format : str, optional
        The format of the source, if several claim it; ``"table"`` for a table of none of them.
    sheet : str, optional
        The sheet of a spreadsheet that has several. ``"*"`` reads all as one table, if they have
        the same columns; its column ``sheet`` has their names.
    encoding : str, optional
        The encoding of a text. Else it is UTF-8, or the one that fits; a note says which.
    item, rater, cluster, rank, system, panel, weight, stratum : str or list of str, optional
        Columns; several make a key of several parts, joined by ``/``; ``""`` means none. Where a
        row has several raters, beside their answers, ``rater="rater{slot}"`` and
        ``labels="label{slot}"`` read the columns rater1, label1, rater2 and so on.
    labels : dict, list or str, optional
        The column of each label: a dict from label to column, or a list in the order of the
        labels. For a task of one label, the name of the column.
    label, value : str, optional
        If each row answers one label: the columns of the label's name and of the answer. For a
        task of one label, either of them is the column of the answer.
    classes : dict of str to dict, optional
        What words in the file stand for, by label: ``{"relevance": {"partially yes":
        "partially"}}``; a word for ``""`` is no answer. It holds for the truth too.
    score, confidence : str or dict of str to str, optional
        The column of the scores, or of the rater's confidence in the answer given. One column for
        a task of one label, or if each row answers one label. Otherwise a dict from label to
        column; ``""`` means none. If not given, ``<label>_score``, ``<label>_confidence`` and, for
        one label, ``score`` and ``confidence`` are recognised.
    score_range : (float, float)
        The scores or confidences that stand for 0 and for 1, e.g. ``(0, 100)`` for per cent.
    group : str, list of str or dict, optional
        The column of the rater's group, or a dict from rater to group.
    truth : DataFrame, path, str or dict, optional
        Known truth: a table keyed by the item's columns, or the column (a dict from label to
        column) of the ratings that holds it. It may be partial.
    truth_rater : str, optional
        The rater whose rows are known truth, and no ratings: gold answers, or an adjudicator.
    covariates : str or list of str, optional
        Columns that say something of the item, for the formula of a model: numbers or words. Each
        item has one value; of items that only the table of panels lists, it stands there.
    replicate : str or list of str, optional
        The column that numbers a rater's ratings of one item. ``"row"`` numbers them in file
        order. ``"options"`` means that such rows are the options that the rater chose.
    session : str or list of str, optional
        The column of the session, snapshot or period. Unless ``replicate`` is given, it also
        tells a rater's ratings of one item apart.
    sessions : sequence of str, optional
        The sessions in order of time. If not given, they are ordered by number, by date (ISO, or
        day.month.year), or as in an ordered categorical. If none applies, they are ordered by the
        one number in their names, or as they first appear. A note reports the order.
    audit : str or dict of str to str, optional
        The column of audits, with right or wrong, and empty if an answer was not checked. A dict
        from label to column, or one column for the whole rating.
    seconds : str, optional
        The column of the time that the rating took, in seconds.
    panels : DataFrame or path, optional
        A table that is joined by the columns it shares (e.g. a panel's system). If it has the
        item's columns, it lists each place of an item in a panel, with unrated items.
    response : mapping of str to str, optional
        What the interface did with answers that break a rule: ``{rule: "block" | "warn" | "off"}``.
    partial : {"lost", "draft"}
        How partly answered ratings came about: answers lost after they were submitted, or drafts
        and forms that ask one question at a time. Some forms leave out a question if the interface
        blocks all classes but one. Such an answer is read as this class, with a note.
    resolve : {"retry", "repair"}
        How a rater resolves a blocked answer.
    wide : str or list of str, optional
        The columns that are raters, of a table with a row for each item; of grouped answers, a
        row for each pattern with its number. A name may hold ``*``, and ``"*"`` stands for all
        columns that hold answers. A pattern such as ``"{rater}_{label}"`` or
        ``"{system}.{label}.{rater}_score"`` reads columns whose names have these parts; with
        ``{item}`` in it, each row is a rater.
    wide_items : str or list of str, optional
        The columns that are items, of a table with a row for each rater, such as a form's.
    counts : str or list of str, optional
        The columns that are classes and hold numbers of votes; or the one column with the number
        of votes that each row stands for. The raters have no names.
    ordered : bool, optional
        Whether classes are ordered that the data define and that are numbers. If not given and
        ``task`` is neither, numbers such as the grades 1, 1.5, ..., 5 are read as ordered, and
        codes are not; a note says which.
    set_aside : bool
        Whether to set aside and count rows that cannot be read, instead of refusing the file. Such
        rows have a wrong number of fields, or words that are not a class or a label.

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
    Scores are in [0, 1] and grow with the class. For a binary label, a score is the rater's
    probability of the upper class. A confidence c in a guess becomes a score. For a binary label,
    this is c if the guess is the upper class, else 1 - c. For an ordered label of K classes and
    guess g = 0, ..., K - 1, it is

    .. math:: (g + p) / K,

    with p = c for the top class, 1 - c for the lowest, 1/2 for one between. If a rater gives both,
    the answers hold the guess and the scores hold the score. The rater family decides which it
    uses. A rating with scores alone has no answers, but is not an abstention.

    One audit column can serve ratings of several answers. "right" then means that every answer is
    right, "wrong" that some answer is wrong. The latter is kept in ``Ratings.audit``, with a note.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x", "y", "x"]})
    >>> read_ratings(table, task="single")
    <assay.Ratings of task single: 3 ratings, 2 items, 2 raters>
    """
    require_choice("partial", partial, PARTIAL)
    require_choice("resolve", resolve, RESOLVE)
    require_flag("set_aside", set_aside)
    if ordered is not None:
        require_flag("ordered", ordered)
    for name, text in (("format", format), ("sheet", sheet), ("encoding", encoding)):
        require_text(name, text)
    given = Arguments(
        item=item, rater=rater, labels=labels, label=label, value=value, classes=classes,
        score=score, confidence=confidence, score_range=score_range, cluster=cluster, rank=rank,
        system=system, panel=panel, group=group, truth=truth,
        truth_rater=truth_rater, weight=weight, stratum=stratum,
        covariates=covariates, replicate=replicate, session=session, sessions=sessions,
        audit=audit, seconds=seconds, panels=panels, response=response, partial=partial,
        resolve=resolve,
        wide=wide, wide_items=wide_items, counts=counts, ordered=ordered, set_aside=set_aside,
    )  # fmt: skip
    named = None if task is None else load_task(task).with_responses(given.responses)
    opened = open_source(source, sheet=sheet, encoding=encoding, lenient=set_aside)
    if opened.kind == "folder" and not is_claimed(opened, format):
        as_raters = given.rater == FILE
        keys = (given.system, given.item, given.cluster, None if as_raters else given.rater)
        opened = joined(
            opened,
            "" if named is None else named.name,
            as_raters=as_raters,
            named=any(FILE in names_in(key) for key in keys),
        )
        if as_raters and any(squash(str(c)) in KNOWN["rater"] for c in opened.columns):
            given = replace(given, rater=None)  # the names of the files are in that column
    found = read_unless_named(opened, named, format, given.named_columns)
    export = found
    if export is None:  # a plain table, where lists of one element are that element
        plain = opened.plain_table("" if named is None else named.name)
        plain = filled_down(without_summaries(without_import_rows(plain)))
        plain = single_elements(unnested(plain, lenient=set_aside))
        export = Export(table=named_singly(with_one_order(plain)))
    export, given = slots_apart(*columns_apart(*counted_rows(export, given)))
    if found is None:
        require_no_slots(export.table, given)
    require_apart(given, export.table.finder, export.table.source)
    given = given.with_known(export.options)
    export = with_marks(export, given) if found is None else export
    base, chosen = choose_task(named, export, given)
    export = replace(export, table=of_questions(export.table, base, given))
    if export.task is not None and named is None:
        given = given.of_labels(base.label_names, export.options)
    if given.replicate == OPTIONS and found is None:
        given = replace(given, replicate=None)
        export = gather_options(export, base, given)
    reshaped = bool(given.shapes)
    one = base if len(base.labels) == 1 else load_task(FALLBACK)
    shaped = reshape(export, one, given) if reshaped else export
    split = None  # with a label for each option, where cells hold several of them
    if found is None and named is not None:
        split = with_named_options(shaped, base, given)
    elif found is None:
        split = with_options(shaped, base, given.with_known(shaped.options))
    if split is not None:
        shaped, given = split, replace(given, labels=None, value=None, label=None)
        base, chosen = (base, ()) if named else choose_task(None, split, given)
    else:
        require_one_label(base, given)
    if not reshaped:
        shaped = reshape(shaped, base, given)
    if "rater" in shaped.roles and given.rater == BY_ROW:
        given = replace(given, rater=None)
    table = replace(shaped.table, notes=(*chosen, *shaped.table.notes, *shaped.notes))
    unnamed = named is None
    ratings = read_rows(table, base, given.with_known(shaped.options), shaped, guess_order=unnamed)
    return ratings if table.part else with_default_metrics(ratings, named=not unnamed)


DECISIVE = ("too-many-classes", "too-many-states")
"""Problems beside which others would mislead."""


def read_rows(
    table: Table, task: Task, given: Arguments, export: Export, *, guess_order: bool
) -> Ratings:
    """Read a table with a row for each rating or answer; raise all problems at once.

    ``guess_order`` says whether numbers may be read as a scale although nobody says so.
    """
    if given.replicate is None and task.columns.get("replicate") == (BY_ROW,):
        given = replace(given, replicate=BY_ROW)
    asked = given.roles
    base = task.with_responses(given.responses)
    table, side = find_tables(table, base, given.panels, given.item)
    table = single_elements(table)
    if given.set_aside:
        table = without_uneven_lists(table, given.rater)
    table = explode_ratings(table, given.rater)
    table = named_by_lists(table, asked)
    ledger = Ledger(table, lenient=given.set_aside)
    finder = table.finder
    named = named_columns(finder, given.score, given.confidence, given.audit)
    taken = named_columns(finder, given.audit, given.truth, *asked.values(), *base.columns.values())
    found = find_answers(table, base, given, ledger, named)
    scores = find_scores(table, base, found, given, taken, ledger)
    audits = find_audits(table, base, found, given.audit, [*taken, *scores.columns], ledger)
    own = {role: columns for role in asked if (columns := named_columns(finder, asked[role]))}
    roles = own | dict(export.roles)
    require_answers(found, scores.alone, base, ledger, taken=taken, roles=roles, named=list(own))
    said_words = check_words(given.classes, base, ledger)
    silent = words_for_nothing(table, found, base, said_words, ledger)
    words = with_words(said_words, silent, words_with_points(table, found, base, ledger))
    said = words_said(table, found, said_words)
    table = ledger.table = apply_words(table, found, words)
    layout = find_layout(table, base, given, found, scores, audits, ledger, export)
    layout = without_nameless(_single(layout, base, ledger), base)
    own_scores = scores_of_raters(scores, found, layout.item_names, layout.rater_names, ledger)
    layout = replace(layout, scores=own_scores)
    gold = rows_of_truth(
        given, table=layout.table, answers=found, item=layout.item_names,
        rater=layout.rater_names, task=base, ledger=ledger,
    ) or find_truth(
        given.truth, table=table, item=layout.item_names, item_columns=layout.item_columns,
        task=base, labels=found.by_label if given.labels is None else given.labels, words=words,
        ledger=ledger,
    )  # fmt: skip
    note_idle_words(said_words, [said, {} if gold is None else gold.said], ledger)
    gold = match_truth(gold, layout.table, found, layout.item_names, base, said_words, ledger)
    found_in_data = [label.name for label in base.labels if not label.classes]
    base = fill_classes(base, layout, gold, ledger)
    _require_states(base, found, ledger)
    if any(problem.code in DECISIVE for problem in ledger.problems):
        ledger.raise_problems()
    base, discarded = apply_export(layout, base, given.responses)
    rows = decode_rows(layout, base)
    _note_near_names(layout, rows, base, found_in_data, ledger)
    written = words_written(layout.table, found, found_in_data)
    base = with_scales(
        base, found_in_data, written, rows.item, rows.answers.astype(np.int64), ledger,
        asked=given.ordered, guess=guess_order,
    )  # fmt: skip
    for wrong in filter(None, map(direction_problem, base.labels)):
        ledger.problem("label-direction", wrong[0], mend=wrong[1])
    extras = read_extras(layout, rows.question, base)
    ledger.raise_problems()
    joined = join_ratings(layout, base, rows, discarded)
    if given.partial == "lost" and not table.part:
        joined = fill_settled(joined, base, ledger)
    ledger.raise_problems()
    covariates = _covariates(given, layout)
    return assemble(layout, base, rows, joined, extras, given, covariates, side=side, gold=gold)


def _covariates(given: Arguments, layout: Layout) -> list[str]:
    """Return the named covariates, and the retriever's score where each item has one."""
    named, frame = names_in(given.covariates), layout.table.frame
    if RETRIEVER_SCORE in named or RETRIEVER_SCORE not in frame:
        return named
    score = pd.to_numeric(frame[RETRIEVER_SCORE], errors="coerce")
    once = score.groupby(layout.item_names.to_numpy()).nunique().eq(1).all()
    return [*named, RETRIEVER_SCORE] if score.notna().all() and once else named


def _note_near_names(
    layout: Layout, rows: Rows, task: Task, found_in_data: Sequence[str], ledger: Ledger
) -> None:
    """Note nearly matching names of items, raters and the like, and of open classes."""
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


def _single(layout: Layout, task: Task, ledger: Ledger) -> Layout:
    """Refuse cells with several values, before other problems that would mislead.

    Where rows that cannot be read are set aside, so are those of lists and dicts.
    """
    found = layout.answers
    answers = [*found.by_label.values(), *filter(None, [found.value])]
    if ledger.lenient:
        table = replace(layout.table, frame=without_nested(layout.table.frame, answers, ledger))
        ledger.table = table
        layout = replace(layout, table=table)
    columns = {**found.by_label, **found.of_each(task)}
    labels = {label.name: label for label in task.labels}
    read = [*found.columns, *columns_of(layout.roles, *layout.roles)]
    if require_one_answer(columns, labels, layout.roles, ledger) or require_plain(
        read, answers, ledger
    ):
        ledger.raise_problems()
    return layout


def _require_states(task: Task, answers: AnswerColumns, ledger: Ledger) -> None:
    """Add a problem if a task has too many states; it ends with the labels that fit.

    Other faults of the task, such as rules that contradict each other, are raised as they are.
    """
    if ledger.problems or ledger.table.part:
        return
    try:
        state_space(task)
    except TaskError as error:
        if error.code != "too-many-states":
            raise
        found = [label for label in task.labels if label.name in answers.by_label]
        columns = {one.name: answers.by_label[one.name] for one in labels_within_reach(found)}
        labels = columns if len(columns) > 1 else next(iter(columns.values()), None)
        ledger.problem(
            "too-many-states",
            f"the {len(task.labels)} labels have more than {task.max_states:,} combinations of "
            "classes, too many to be modelled together",
            mend="read fewer labels"
            + (f": {as_code({'labels': labels})} are those of the fewest classes" * bool(columns))
            + "; or raise max_states in a task file",
            numbers={"most": task.max_states},
            go_on={"task": None, "label": None, "value": None, "labels": labels} if columns else {},
        )
