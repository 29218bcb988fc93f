"""Rater sheets: a page for each rater, and a table of decisions on a threshold."""

from pathlib import Path

import numpy as np
import pandas as pd

from assay._util.files import require_place
from assay._util.intervals import require_level
from assay._util.text import (
    called,
    chance_cells,
    counted,
    does,
    fixed,
    intervals,
    lines_of,
    marked,
    notes_said,
    percent,
)
from assay._util.validation import path_given, require_flag, require_number
from assay.data.ratings import Ratings, ratings_by_rater
from assay.display.notes import KIND_WORDS
from assay.display.table import Table, table_of
from assay.evaluation import metrics
from assay.evaluation.titles import metric_titles
from assay.fits.view import Fit, FitView
from assay.raters.agreements import rater_agreement
from assay.raters.standing import ALL_LABELS, over_labels, rater_standing
from assay.reporting.fit import fit_findings
from assay.reporting.page import (
    Block,
    Callout,
    Page,
    Section,
    percent_cell,
    prose,
    to_html,
)
from assay.reporting.pseudonyms import with_pseudonyms
from assay.reporting.rater_feedback import costliest_errors
from assay.reporting.rater_names import with_shown_names
from assay.validation.stability import sensitivity_to_assumptions

THRESHOLD, SURE = 0.8, 0.95
BELOW, MEETS, OPEN = "below", "meets it", "undecided"
SHOWN_EFFECTS = 12


def rater_decisions(
    fit: Fit, *, threshold: float = THRESHOLD, sure: float = SURE, level: float = 0.95
) -> pd.DataFrame:
    """Decide which raters meet a threshold on the probability of a right answer.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` by ``nuts`` or ``laplace``.
    threshold : float
        The required probability of a right answer, as the mean over the labels.
    sure : float
        Probability from which a rater is decided to be below the threshold, or to meet it.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater, the least reliable first, with these columns:

        - ``rater``, ``threshold``, ``level``, ``reference``, ``doubt``
        - ``n``: number of ratings
        - ``agreement``: raw agreement with the other raters, mean over the labels
        - ``mean``, ``sd``, ``lower``, ``upper``: of the probability of a right answer
        - ``p_worse``: P(worse than the median rater)
        - ``p_below``: P(below the threshold)
        - ``decision``: ``"below"``, ``"meets it"`` or ``"undecided"``

        All are undecided if the labels are in
        doubt, or the fit is a mode alone.

    Raises
    ------
    ArgumentError
        If a threshold or a probability is out of range.
    FitError
        If the tree is no fit, or ``level`` is out of range.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=200, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, raters="pooled", method="laplace", draws=50, chains=1, rng=1)
    >>> rater_decisions(tree, threshold=0.01)["decision"].tolist()
    ['meets it', 'meets it', 'meets it']
    """
    view = FitView.of(fit)
    require_number(
        "sure", sure, lambda x: 0.5 < x < 1, allowed="a probability above 0.5, such as 0.95"
    )
    return _decided(
        view.ratings, rater_standing(view, threshold=threshold, level=level), threshold, sure
    )


def _decided(
    ratings: Ratings, standing: pd.DataFrame, threshold: float, sure: float
) -> pd.DataFrame:
    table, counts = over_labels(standing).drop(columns="label"), ratings_by_rater(ratings)
    raw = rater_agreement(ratings).groupby("rater", sort=False)["agreement"].mean()
    low, high = table["p_below"] <= 1 - sure, table["p_below"] >= sure
    told = table["doubt"] == ""
    decision = np.select([told & high, told & low], [BELOW, MEETS], OPEN)
    found = table.assign(
        n=[counts[name] for name in table["rater"]],
        agreement=table["rater"].map({str(name): share for name, share in raw.items()}),
        decision=decision,
        threshold=threshold,
    )
    front = ["rater", "n", "agreement", "mean", "sd", "lower", "upper", "p_worse", "p_below"]
    back = ["decision", "threshold", "level", "reference", "doubt"]
    return found[[*front, *back]].sort_values("mean", kind="stable", ignore_index=True)


def rater_sheets(
    fit: Fit,
    path: str | Path,
    *,
    threshold: float = THRESHOLD,
    sure: float = SURE,
    refit: bool = True,
    pseudonyms: str | Path | None = None,
    level: float = 0.95,
    progress: bool = False,
) -> Path:
    """Write a sheet for each rater, and the table of decisions, as one HTML file.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    path : str or path
        The file to write; an existing one is replaced.
    threshold, sure : float
        As for :func:`assay.rater_decisions`.
    refit : bool
        Fit again without each rater, and show the change of the metrics. Takes as long as a small
        fit for each rater.
    pseudonyms : str or path, optional
        Key file, if raters are to have pseudonyms: a CSV file with the columns ``pseudonym`` and
        ``rater``; it is made, or completed, if names are missing.
    level : float
        Probability of the intervals.
    progress : bool
        Whether to show the progress of refits on standard error.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    ArgumentError
        If a threshold or a probability is out of range, or the key file is invalid.
    FitError
        If the tree is no fit, or the path cannot be written.

    Notes
    -----
    The effect of a rater on the metrics is that of a refit without their ratings: see
    :func:`assay.sensitivity_to_assumptions`.

    Examples
    --------
    >>> import assay
    >>> from tempfile import TemporaryDirectory
    >>> ratings = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> with TemporaryDirectory() as folder:
    ...     rater_sheets(tree, Path(folder) / "sheets.html", refit=False).name
    'sheets.html'
    """
    view = FitView.of(fit)
    require_level(level)
    target = path_given("path", path)
    require_place(target, example="sheets.html")
    if pseudonyms is not None:
        view = with_pseudonyms(view, path_given("pseudonyms", pseudonyms))
    page = sheets_page(
        view, threshold=threshold, sure=sure, refit=require_flag("refit", refit), level=level,
        progress=require_flag("progress", progress),
    )  # fmt: skip
    to_html(page, target)
    return target


def sheets_page(
    fit: Fit, *, threshold: float, sure: float, refit: bool, level: float, progress: bool
) -> Page:
    """Return the sheets as a page; arguments as of :func:`rater_sheets`."""
    view, _ = with_shown_names(fit)
    ratings = view.ratings
    decisions = rater_decisions(view, threshold=threshold, sure=sure, level=level)
    standing = rater_standing(view, threshold=threshold, level=level)
    agrees = rater_agreement(ratings, level=level)
    errors = costliest_errors(view, ratings)
    effects = _effects(view, level, progress) if refit else None
    sheets = [
        Section(
            key=f"rater-{n + 1}",
            title=called(line["rater"]),
            blocks=(
                _lead(line, ratings, threshold),
                _labels_table(n, line["rater"], standing, agrees, threshold),
                _errors_table(n, errors[errors["rater"] == line["rater"]]),
                *_effects_table(n, line["rater"], effects),
            ),
            is_appendix=False,
            is_sheet=True,
        )
        for n, line in enumerate(lines_of(decisions))
    ]
    first = Section(
        key="decisions", title="Raters and the threshold",
        blocks=(
            *_cautions(view),
            _decisions_lead(decisions, threshold, sure),
            _decisions_table(decisions),
        ),
        is_appendix=False,
    )  # fmt: skip
    return Page(
        title=f"Rater sheets: which raters are right in at least {threshold:.0%}?", findings=(),
        sections=(first, *sheets),
    )  # fmt: skip


def _cautions(view: FitView) -> tuple[Block, ...]:
    """Warn above the decisions of a fit that is not to be trusted."""
    return tuple(
        Callout(word="Before you use this", text=found.text, level="doubt")
        for found in fit_findings(view)[:1]
    )


def _decisions_lead(decisions: pd.DataFrame, threshold: float, sure: float) -> Block:
    below, met, left = ((decisions["decision"] == word).sum() for word in (BELOW, MEETS, OPEN))
    return prose(
        f"Threshold: {threshold:.0%} right answers. "
        f"{counted(len(decisions), 'rater')}: {below} {does(below, 'are')} below, {met} "
        f"{does(met, 'meet')} it, and {left} {does(left, 'are')} undecided.",
        f"A decision requires a probability of at least {sure:g}. Otherwise the rater is "
        f"undecided. Truth: {decisions['reference'].iloc[0]}.",
    )


def _decisions_table(decisions: pd.DataFrame) -> Table:
    notes: dict[str, str] = {}
    words = decisions.assign(
        told=marked(decisions, notes),
        raw=list(map(percent_cell, decisions["agreement"])),
        worse=chance_cells(decisions["p_worse"]),
        below=chance_cells(decisions["p_below"]),
    )
    shown = {"rater": "Rater", "n": "Ratings", "raw": "Agreement", "told": "Right",
             "worse": "P(worse than median)", "below": "P(below)",
             "decision": "Decision"}  # fmt: skip
    level = percent(decisions["level"].iloc[0])
    return table_of(
        "decisions", f"Raters, the least reliable first ({level} interval)", words, shown,
        note=f"Agreement: with the other raters, without a model.{notes_said(notes)}",
        export=decisions,
    )  # fmt: skip


def _lead(line: dict[str, object], ratings: Ratings, threshold: float) -> Block:
    name = str(line["rater"])
    mine = np.flatnonzero(ratings.raters.index.astype(str) == name)[0]
    rows = ratings.rater == mine
    items = len(np.unique(ratings.item[rows]))
    said = [
        f"Decision: {line['decision']} (threshold {threshold:.0%}). "
        f"{counted(int(rows.sum()), 'rating')} of {counted(items, 'item')}."
    ]
    if ratings.abstained[rows].any():
        said.append(f"{counted(int(ratings.abstained[rows].sum()), 'abstention')}.")
    seconds = ratings.seconds
    if np.isfinite(seconds[rows]).any():
        rest = seconds[~rows]
        others = f" (others {np.nanmedian(rest):.0f} s)" if np.isfinite(rest).any() else ""
        said.append(f"Median time: {np.nanmedian(seconds[rows]):.0f} s{others}.")
    return prose(" ".join(said))


def _labels_table(
    n: int, rater: str, standing: pd.DataFrame, agrees: pd.DataFrame, threshold: float
) -> Table:
    mine = standing[(standing["rater"] == rater) & (standing["label"] != ALL_LABELS)]
    raw = agrees[agrees["rater"].astype(str) == rater].drop_duplicates("label").set_index("label")
    notes: dict[str, str] = {}
    words = mine.assign(
        raw=[_agreement_cell(raw, label) for label in mine["label"]],
        told=marked(mine, notes),
        worse=chance_cells(mine["p_worse"]),
        below=chance_cells(mine["p_below"]),
    )
    shown = {"label": "Label", "raw": "Agreement with the others", "told": "Right",
             "worse": "P(worse than median)", "below": f"P(below {threshold:g})"}  # fmt: skip
    level = percent(mine["level"].iloc[0])
    return table_of(
        f"labels-{n + 1}", f"Reliability of {rater} ({level} interval)", words, shown,
        note=f"Right: chance of a right answer, {KIND_WORDS['recorded']}.{notes_said(notes)}",
        export=mine,
    )  # fmt: skip


def _agreement_cell(raw: pd.DataFrame, label: str) -> str:
    if label not in raw.index or np.isnan(raw["agreement"][label]):
        return "none"
    line = raw.loc[[label]].rename(
        columns={"agreement": "mean", "agreement_lower": "lower", "agreement_upper": "upper"}
    )
    return intervals(line)[0]


def _errors_table(n: int, errors: pd.DataFrame) -> Block:
    if errors.empty:
        return prose("No kind of error has an expected count of 0.5 or more.")
    words = errors.assign(
        what=errors["reported_class"] + " where " + errors["true_class"] + " is true",
        rate=[f"{x:.0%}" for x in errors["rate"]],
        others=list(map(percent_cell, errors["others"])),
        wrong=[fixed(x, 1) for x in errors["wrong"]],
    )
    shown = {"what": "Answer", "label": "Label", "rate": "Share", "others": "Others",
             "wrong": "Wrong answers", "items": "Look at"}  # fmt: skip
    name = errors["rater"].iloc[0]
    return table_of(f"errors-{n + 1}", f"Costliest errors of {name}", words, shown, export=errors)


def _effects(view: FitView, level: float, progress: bool) -> pd.DataFrame:
    """Return the metrics as fitted, and without each rater."""
    found = sensitivity_to_assumptions(
        view, of="systems", raters=True, priors=False, rules=False, kernel=False, dependence=False,
        level=level, progress=progress,
    )  # fmt: skip
    return found.assign(title=found["metric"].map(metric_titles(metrics(view))))


def _effects_table(n: int, rater: str, effects: pd.DataFrame | None) -> list[Block]:
    """Show how the metrics change without a rater; nothing without refits."""
    if effects is None:
        return []
    without = effects[effects["variant"] == f"without {rater}"]
    if without.empty or without["mean"].isna().all():
        why = "" if without.empty else f" {without['changes'].iloc[0]}."
        return [prose(f"The effect of leaving out this rater is not available.{why}")]
    keys = ["metric", "system"]
    before = effects[effects["kind"] == "none"]
    both = before.merge(without, on=keys, suffixes=("", "_without"))
    both = both.assign(move=both["mean_without"] - both["mean"])
    shown = both.reindex(both["move"].abs().sort_values(ascending=False).index)
    shown = shown.head(SHOWN_EFFECTS)
    words = shown.assign(
        what=[", ".join(filter(None, names)) for names in shown[["title", "system"]].to_numpy()],
        fitted=intervals(shown),
        after=intervals(shown, ("mean_without", "lower_without", "upper_without")),
        moved=[fixed(x, 2) for x in shown["move"]],
    )  # fmt: skip
    heads = {"what": "Metric", "fitted": "As fitted", "after": "Without", "moved": "Change"}
    return [
        table_of(
            f"effects-{n + 1}", f"Metrics without {rater}", words, heads,
            note=f"Refit with {without['basis'].iloc[0]}. Small changes may be Monte Carlo error.",
            export=both,
        )
    ]  # fmt: skip
