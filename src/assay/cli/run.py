"""The demo: both studies in turn, shown as they are ready, and a report of each."""

import json
from collections.abc import Sequence
from pathlib import Path

import xarray as xr
from rich.console import Console
from rich.text import Text

from assay._util.errors import FitError
from assay._util.files import require_place
from assay.cli.demo_tables import demo_data, show_real, show_simulated
from assay.cli.studies import EFFORTS, QUICK, real_study, simulated_study
from assay.fits.storage import save

FILES = {"real": "demo_anesthesia.nc", "simulated": "demo_SIMULATED.nc"}
REPORTS = {"real": "assay-demo-report.html", "simulated": "assay-demo-report-SIMULATED.html"}
NOTICES = {
    "real": "",
    "simulated": "SIMULATED: these ratings were drawn from a model. They show what a comparison of "
    "two systems looks like, and say nothing of any real one.",
}
TITLES = {
    "real": "Fitness for anaesthesia, judged by five anaesthetists",
    "simulated": "SIMULATED: two retrieval systems, judged by six raters",
}
CLAIMS = {"real": (), "simulated": ("system_2 > system_1 on ndcg_at_k",)}


def run_demo(
    console: Console,
    *,
    seed: int = 1,
    quick: bool = False,
    keep: Path | None = None,
    report: bool = True,
    progress: bool = True,
    as_json: bool = False,
) -> None:
    """Run both parts of the demo and show them as they are ready.

    Parameters
    ----------
    console : rich.console.Console
    seed : int
    quick : bool
        Few draws: a first look, with the warnings that such draws deserve.
    keep : path, optional
        A folder where the two fits are saved, and the reports if they are asked for.
    report : bool
        Whether to write a report of each part; into the current folder unless ``keep`` is given.
    progress : bool
        Whether to show progress bars on standard error.
    as_json : bool
        Print one JSON object in place of tables.
    """
    if keep is not None:
        _make_folder(keep)
    if report:
        for name in REPORTS.values():
            require_place((keep or Path()) / name, example=name)
    efforts = dict.fromkeys(EFFORTS, QUICK) if quick else EFFORTS
    real = real_study(efforts["real"], seed=seed, progress=progress)
    _keep(real.fit, keep, FILES["real"])
    if not as_json:
        show_real(console, real)
    simulated = simulated_study(efforts["simulated"], seed=seed, progress=progress)
    _keep(simulated.fit, keep, FILES["simulated"])
    if as_json:
        console.file.write(json.dumps(demo_data(real, simulated)) + "\n")
    else:
        show_simulated(console, simulated)
    written = []
    if report:
        trees = {"real": real.fit, "simulated": simulated.fit}
        written = [_report(name, tree, keep or Path(), seed) for name, tree in trees.items()]
    if not as_json:
        console.print(Text(_next_steps(keep, written)))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FitError(
            f"cannot make the folder {folder}: {error.strerror or error}", code="file-not-written"
        ) from None


def _keep(tree: xr.DataTree, folder: Path | None, name: str) -> None:
    if folder is not None:
        save(tree, folder / name)


def _report(name: str, tree: xr.DataTree, folder: Path, seed: int) -> Path:
    """Write the report of one part, without what would take longer than the demo has."""
    from assay.reporting import report

    return report(
        tree,
        folder / REPORTS[name],
        claims=CLAIMS[name],
        budget=False,
        title=TITLES[name],
        notice=NOTICES[name],
        command=f"assay demo --seed {seed}",
    )


def _next_steps(keep: Path | None, reports: Sequence[Path]) -> str:
    lines = [
        "Next, with ratings of your own (columns item, rater and one per label):",
        "  assay check ratings.csv --task retrieval",
        "  assay fit ratings.csv --task retrieval -o fit.nc",
        "  assay metrics fit.nc    assay raters fit.nc    assay labels fit.nc",
        "  assay compare fit.nc    assay report fit.nc -o report.html",
    ]
    if keep is None:
        lines.append("assay demo --keep FOLDER saves the two fits of this demo.")
    else:
        lines.append(f"The fits of this demo: {', '.join(FILES.values())} in {keep}.")
    if reports:
        lines += ["Its reports, to be opened in a browser:", *(f"  {path}" for path in reports)]
    return "\n".join(lines)
