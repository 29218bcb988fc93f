"""read_ratings: from any input to Ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from assay._util.validation import require_choice, require_flag, require_text
from assay.data.default_metrics import with_default_metrics
from assay.data.ratings import PARTIAL, RESOLVE, Partial, Ratings, Resolve
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.answers import LabelsArg
from assay.io.arguments import Arguments, GroupArg, WordsArg
from assay.io.columns import ColumnArg, PerLabel
from assay.io.files.file_paths import FILE
from assay.io.files.joined_files import joined
from assay.io.files.opening import open_source
from assay.io.files.sources import Source
from assay.io.formats import Export, is_claimed, read_unless_named
from assay.io.list_cells import named_singly, single_elements
from assay.io.option_tables import (
    OPTIONS,
    gather_options,
    with_marks,
    with_named_options,
    with_options,
)
from assay.io.replicates import BY_ROW
from assay.io.reshaping import raters_apart, require_one_label, reshape
from assay.io.table_reading import read_rows
from assay.io.tables import without_import_rows
from assay.io.task_choice import FALLBACK, choose_task, of_questions
from assay.io.truth import TruthArg
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
        - any of these in a gzip or ZIP archive, or ``"-"`` for standard input
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
        Columns; several make a key of several parts, joined by ``/``; ``""`` means none.
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
        columns that hold answers. ``"{rater}_{label}"`` reads columns that have a rater and a
        question in their names.
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
        system=system, panel=panel, group=group, truth=truth, weight=weight, stratum=stratum,
        covariates=covariates, replicate=replicate, session=session, sessions=sessions,
        audit=audit, seconds=seconds, panels=panels, response=response, partial=partial,
        resolve=resolve,
        wide=wide, wide_items=wide_items, counts=counts, ordered=ordered, set_aside=set_aside,
    )  # fmt: skip
    named = None if task is None else load_task(task).with_responses(given.responses)
    opened = open_source(source, sheet=sheet, encoding=encoding, lenient=set_aside)
    if opened.kind == "folder" and not is_claimed(opened, format):
        as_raters = given.rater == FILE
        opened = joined(opened, "" if named is None else named.name, as_raters=as_raters)
        if as_raters and FILE not in opened.columns:
            given = replace(given, rater=None)
    found = read_unless_named(opened, named, format, given.named_columns)
    export = found or _plain(opened, named)
    export, given = raters_apart(*counted_rows(export, given))
    given = given.with_known(export.options)
    export = with_marks(export, given) if found is None else export
    base, chosen = choose_task(named, export, given)
    export = replace(export, table=of_questions(export.table, base))
    if export.task is not None and named is None:
        given = given.of_labels(base.label_names, export.options)
    if given.replicate == OPTIONS and found is None:
        given = replace(given, replicate=None)
        export = gather_options(export, base, given)
    reshaped = bool(given.shapes)
    one = base if len(base.labels) == 1 else load_task(FALLBACK)
    shaped = reshape(export, one, given) if reshaped else export
    split = _split(shaped, base, given, named) if found is None else None
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


def _plain(opened: Source, named: Task | None) -> Export:
    """Return the plain table; lists of one element are that element."""
    table = opened.plain_table("" if named is None else named.name)
    return Export(table=named_singly(single_elements(without_import_rows(table))))


def _split(export: Export, task: Task, given: Arguments, named: Task | None) -> Export | None:
    """Make a label of each option where cells hold several of them."""
    if named is not None:
        return with_named_options(export, task, given)
    return with_options(export, task, given.with_known(export.options))
