"""Copy the demo's reports, and take the README's pictures of them: make_screenshots.py FOLDER.

FOLDER holds what ``assay demo --keep FOLDER`` wrote; a Chromium has to be on the path.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

FIGURES = Path(__file__).parent / "figures"
REPORTS = Path(__file__).parent / "demo"
SIZE = (1280, 900)
COLOURS = 256
SHOTS = {
    "report_light": ("assay-demo-report.html", ("answer",), ()),
    "report_dark": ("assay-demo-report-SIMULATED.html", ("answer",), ("--force-dark-mode",)),
}
"""Picture, report, sections that it shows below the title, and further options of the browser."""


def main() -> None:
    """Copy each report, and write its picture."""
    chromium = shutil.which("chromium") or sys.exit("no chromium on the path")
    for name, (report, sections, options) in SHOTS.items():
        page = Path(sys.argv[1]) / report
        shutil.copyfile(page, REPORTS / report)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "page.html"
            copy.write_text(shortened(page.read_text(encoding="utf-8"), sections), encoding="utf-8")
            shot = shoot(chromium, copy, options)
            small = Image.open(shot).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            small.save(FIGURES / f"{name}.png", optimize=True)


def shortened(text: str, sections: tuple[str, ...]) -> str:
    """Hide the sections that a picture does not show."""
    keep = "".join(f":not([aria-labelledby={name}])" for name in sections)
    return text.replace("</style>", f"nav, footer, section{keep} {{ display: none }}</style>", 1)


def shoot(chromium: str, page: Path, options: tuple[str, ...]) -> Path:
    """Return a picture of the top of a page."""
    shot = page.with_suffix(".png")
    subprocess.run(
        [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options,
            f"--user-data-dir={page.parent / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}",
            f"--screenshot={shot}", page.as_uri(),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return shot


if __name__ == "__main__":
    main()
