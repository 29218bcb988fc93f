"""The function ``report``: one self-contained HTML file, and the tables behind it."""

from collections.abc import Callable, Sequence, Sized
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from assay._util.errors import AssayError
from assay._util.files import able_to, require_place
from assay._util.intervals import require_level
from assay._util.validation import names_given, path_given, require_choice, require_flag
from assay.comparison.contrasts import pairs_of
from assay.display.table import table_of
from assay.fits.view import Fit
from assay.reporting.agreement import agreement_section
from assay.reporting.comparisons import approaches_section, comparison_section
from assay.reporting.data import asked_section, card_section, data_section
from assay.reporting.fit import convergence_section, gold_section, left_out_section
from assay.reporting.front import front_of
from assay.reporting.labels import labels_section
from assay.reporting.material import Material
from assay.reporting.metrics import budget_section, claims_section, metrics_section
from assay.reporting.misfits import misfit_section
from assay.reporting.page import Finding, Gap, Page, Section, prose, reworded, to_html
from assay.reporting.provenance import limits_section, provenance_section
from assay.reporting.pseudonyms import with_pseudonyms
from assay.reporting.rater_names import with_own_names
from assay.reporting.raters import (
    drift_section,
    rater_tables_section,
    raters_section,
    scores_section,
)
from assay.reporting.sensitivity import abstaining_section, stability_section, wrong_section


def gaps_of(material: Material) -> list[Gap]:
    """Return what the input of this fit cannot answer in any report."""
    ratings = material.ratings
    found = []
    if not ratings.has_truth.any():
        found.append(
            Gap(
                what="Calibration against known truth",
                why="no item has known truth",
                enable="known truth of some items, chosen at random (`truth=`)",
                code="no-known-truth",
            )
        )
    if ratings.raters["group"].nunique() < 2:
        found.append(
            Gap(
                what="Whether a group of raters errs together",
                why="all raters are one group",
                enable="a column with the group of each rater (`group=`)",
                code="one-rater-group",
            )
        )
    if (ratings.replicate == 0).all():
        found.append(
            Gap(
                what="Raters' consistency with themselves",
                why="no rater rated an item twice",
                enable="second ratings by the same raters (`replicate=`)",
                code="no-replicates",
            )
        )
    return found


def gaps_section(gaps: Sequence[Gap]) -> Section:
    """List the checks that could not run."""
    title = "Checks that could not run"
    if not gaps:
        return Section(key="gaps", title=title, blocks=(prose("All checks ran."),))
    lines = [{"what": g.what, "why": g.why, "enable": g.enable} for g in gaps]
    shown = {"what": "Check", "why": "Why not", "enable": "Input that enables it"}
    table = table_of(
        "gaps", "Missing checks, and the input that enables each", pd.DataFrame(lines), shown,
        is_prose=True,
    )  # fmt: skip
    return Section(key="gaps", title=title, blocks=(table,))


TableFormat = Literal["csv", "tsv", "json", "jsonl", "parquet", "md", "tex", "xlsx"]


def export_tables(page: Page, folder: Path, table_format: TableFormat = "csv") -> list[Path]:
    """Write every table of a page to a folder, in a file named by its key.

    Markdown and LaTeX hold a table as the page shows it, unless that leaves out lines.
    """
    tables = page.shown_tables.values()
    with able_to(f"write tables in {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        return [table.write(folder / f"{table.key}.{table_format}") for table in tables]


SectionMaker = Callable[[Material], Section | Gap | None]
"""Makes a section; None if the fit has nothing for it."""
SECTIONS: dict[str, SectionMaker] = {
    "Claims": claims_section,
    "Raters": raters_section,
    "Labels": labels_section,
    "Comparisons": comparison_section,
    "Metrics": metrics_section,
    "Other approaches": approaches_section,
    "All raters": rater_tables_section,
    "Reliability by session": drift_section,
    "What the scores mean": scores_section,
    "What was asked": asked_section,
    "The data": data_section,
    "Convergence": convergence_section,
    "Agreement": agreement_section,
    "Model checks": misfit_section,
    "Leave-one-out": left_out_section,
    "Gold left out": gold_section,
    "If the consensus is wrong": wrong_section,
    "If abstaining is not by chance": abstaining_section,
    "Variance budget": budget_section,
    "Stability": stability_section,
}
SHORT = (
    "Claims", "Raters", "Labels", "Comparisons", "The data", "Convergence", "Agreement",
    "Model checks",
)  # fmt: skip
"""Sections of a short report, including those whose warnings page one shows."""
SHOWN_FINDINGS = 3


def report(
    fit: Fit,
    path: str | Path,
    *,
    claims: str | Sequence[str] = (),
    human: Sequence[str] | str = (),
    stability: bool = False,
    budget: bool = True,
    baseline: str | None = None,
    short: bool = False,
    pseudonyms: str | Path | None = None,
    level: float = 0.95,
    title: str | None = None,
    notice: str = "",
    command: str | None = None,
    tables: str | Path | None = None,
    table_format: TableFormat = "csv",
    progress: bool = False,
) -> Path:
    """Write what a fit means as one HTML file that opens offline.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` or :func:`assay.load`.
    path : str or path
        The file to write; an existing one is replaced, and unchanged if anything fails.
    claims : str or sequence of str
        Claims to be checked, such as ``"B > A by 0.03 on ndcg_at_k"``.
    human : str or sequence of str
        Human raters, or groups of them: the results of their ratings alone are also shown.
    stability : bool
        Refit without each rater, with other priors, rules and kernels. Takes minutes.
    budget : bool
        Split the variance of the metrics, and predict the effect of more data. Takes seconds.
    baseline : str, optional
        Compare each system only with this one; by default, compare all pairs.
    short : bool
        Leave out the appendix: at most four printed pages.
    pseudonyms : str or path, optional
        Key file: each rater is called by a pseudonym, as in :func:`assay.rater_sheets`.
    level : float
        Probability of all intervals, above 0.5 and below 1.
    title : str, optional
        Title of the page; its question if not given.
    notice : str
        A sentence above everything, e.g. that the data are simulated.
    command : str, optional
        The command that makes this report, to be printed in it.
    tables : str or path, optional
        A folder for the tables behind the report, a file each.
    table_format : {"csv", "tsv", "json", "jsonl", "parquet", "md", "tex", "xlsx"}
        Format of those files.
    progress : bool
        Whether to show the progress of refits on standard error.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    FitError
        If the tree is no fit, a level is out of range, or the path cannot be written.
    ModelError, UnknownNameError
        If a claim cannot be read, names an unknown system or metric, or an argument has another
        value.

    Notes
    -----
    A section that the input does not allow is listed under *checks that could not run*, with the
    input that would enable it. Page one warns of the finding with the largest effect on the
    conclusion. Findings are ranked by this effect:

    - an untrustworthy fit
    - contradicted or undecided claims
    - conclusions that depend on an assumption, or that a majority vote would reverse
    - clear differences
    - raters who err more than others

    Examples
    --------
    >>> import assay
    >>> from tempfile import TemporaryDirectory
    >>> ratings = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> with TemporaryDirectory() as folder:
    ...     report(fit, Path(folder) / "report.html", budget=False).name
    'report.html'
    """
    target = path_given("path", path)
    require_choice("table_format", table_format, get_args(TableFormat))
    if pseudonyms is not None:
        fit = with_pseudonyms(fit, path_given("pseudonyms", pseudonyms))
    material = Material(
        fit=fit,
        level=level,
        claims=_several("claims", claims, "claim"),
        human=_several("human", human, "rater or rater group"),
        stability=require_flag("stability", stability),
        budget=require_flag("budget", budget),
        command=command,
        progress=require_flag("progress", progress),
        baseline=baseline,
        short=require_flag("short", short),
    )
    page = write_page(material, target, title=title, notice=notice)
    if tables is not None:
        export_tables(page, path_given("tables", tables), table_format)
    return target


def _several(name: str, given: Sequence[str] | str, what: str) -> tuple[str, ...]:
    """Return the values of an argument that may be empty."""
    return (
        ()
        if isinstance(given, Sized) and not len(given)
        else tuple(names_given(name, given, what=what))
    )


def write_page(
    material: Material,
    path: Path,
    *,
    title: str | None = None,
    notice: str = "",
    say: Callable[[str], str] = str,
) -> Page:
    """Write a report of some material, and return its page; ``say`` rewords sentences."""
    require_level(material.level, above=0.5)
    require_place(path, example="report.html")
    page = reworded(make_page(material, title=title, notice=notice), say)
    to_html(page, path)
    return page


def make_page(material: Material, *, title: str | None = None, notice: str = "") -> Page:
    """Put the sections of a report together."""
    # Arguments of the user come first: their errors are raised, not turned into gaps.
    pairs_of(material.ratings.systems, material.baseline)
    _ = material.verdicts, material.human and material.sides
    chosen = SHORT if material.short else SECTIONS.keys()
    made = [_made(name, SECTIONS[name], material) for name in SECTIONS if name in chosen]
    sections = [one for one in made if isinstance(one, Section)]
    gaps = [one for one in made if isinstance(one, Gap)]
    gaps += [gap for section in sections for gap in section.gaps]
    gaps += gaps_of(material)
    findings = _ranked([f for section in sections for f in section.findings])
    front = front_of(material, findings)
    if material.short:
        sections = [one for one in sections if not one.is_appendix]
    else:
        sections += [
            limits_section(material), gaps_section(gaps), card_section(material),
            provenance_section(material),
        ]  # fmt: skip
    page = Page(
        title=title or front.question,
        findings=findings[:SHOWN_FINDINGS],
        sections=tuple(sections),
        front=front,
        gaps=tuple(gaps),
        notice=notice,
    )
    return with_own_names(page, material.rater_names)


def _made(name: str, maker: SectionMaker, material: Material) -> Section | Gap | None:
    """Make a section; if this input does not allow it, return a gap."""
    try:
        return maker(material)
    except AssayError as error:
        return Gap(
            what=name,
            why=str(error),
            enable="what the message says",
            code=error.code,
            numbers=error.numbers,
        )


def _ranked(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, those first that affect the conclusion most."""
    return tuple(sorted(findings, key=lambda f: -f.weight))
