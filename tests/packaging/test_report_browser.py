"""The report in a real browser: no word on the console, no request, no sideways scrolling."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay
from assay.fits.simulate import simulate
from assay.reporting import report

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr",
    # Nor does the browser itself reach any machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
BROWSER = "not an origin"
PROBE = (
    "<script>addEventListener('load', () => {{ document.title = "
    "document.documentElement.scrollWidth + ' ' + innerWidth; }});</script></head>"
)

FRONT = (
    "<script>addEventListener('load', () => { document.title = "
    "Math.ceil(document.querySelector('.front').getBoundingClientRect().bottom) + ' ' + "
    "Math.max(...[...document.querySelectorAll('.front .scroll, section:not(.front) > .scroll')]"
    ".slice(0, 2).map(e => e.scrollWidth - e.clientWidth)); });</script></head>"
)


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What a browser said of a page: its DOM, its console, and the addresses that it asked for."""

    dom: str
    console: list[str]
    asked: list[str]


@pytest.fixture(scope="module")
def chromium() -> str:
    for name in NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium here; install the package chromium to look at the report with it")


def visit(chromium: str, page: Path, *options: str) -> Visit:
    """Load a page with a new profile and let it settle."""
    folder = page.parent
    log = folder / f"{page.stem}-net.json"
    done = subprocess.run(
        [
            chromium, *QUIET, *options, f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}", "--virtual-time-budget=2000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return Visit(
        dom=done.stdout, console=re.findall(r"CONSOLE.*", done.stderr), asked=addresses(log)
    )


def addresses(log: Path) -> list[str]:
    """Addresses that the page asked for: those of the browser's own have no origin."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    asked = [event.get("params", {}) for event in events]
    mine = [p for p in asked if "url" in p and p.get("initiator", BROWSER) != BROWSER]
    return [p["url"] for p in mine if not p["url"].startswith(("file:", "data:"))]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ratings = simulate(
        "retrieval", n_items=80, n_raters=4, n_systems=2, n_clusters=20, ratings_per_item=2, rng=5
    )
    tree = assay.fit(ratings, method="map", draws=60, chains=2, starts=1, rng=1)
    path = tmp_path_factory.mktemp("browser") / "report.html"
    return report(tree, path, claims=["system_2 > system_1 on ndcg_at_k"], budget=False)


def test_it_loads_without_a_word_and_without_a_request(chromium: str, page: Path) -> None:
    seen = visit(chromium, page)
    assert seen.console == []
    assert seen.asked == []
    assert seen.dom.count("<section") == page.read_text(encoding="utf-8").count("<section")
    assert "</footer>" in seen.dom


def test_a_page_that_complains_and_asks_would_be_noticed(chromium: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><title>x</title><img src='http://127.0.0.1:9/a.png'>"
        "<script>console.error('complaint')</script>"
    )
    seen = visit(chromium, bad)
    assert any("complaint" in line for line in seen.console)
    assert any("127.0.0.1" in address for address in seen.asked)


@pytest.mark.parametrize("width", [500, 1280])
def test_the_page_never_scrolls_sideways(
    width: int, chromium: str, page: Path, tmp_path: Path
) -> None:
    # The page forbids scripts; the copy that measures it does not.
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv[^>]+>", "", text).replace("</head>", PROBE.format(), 1)
    copy = tmp_path / "copy.html"
    copy.write_text(text, encoding="utf-8")
    seen = visit(chromium, copy, f"--window-size={width},900")
    title = re.search(r"<title>(\d+) (\d+)</title>", seen.dom)
    assert title is not None
    assert int(title[1]) <= int(title[2])


@pytest.mark.parametrize(("width", "most"), [(500, 2000), (1280, 900)])
def test_page_one_is_a_screen_and_hides_no_column(
    width: int, most: int, chromium: str, page: Path, tmp_path: Path
) -> None:
    # A long name folds where its parts meet on a narrow screen, and never within a word.
    text, fold = page.read_text(encoding="utf-8"), "_<wbr>" * (width < 600)
    for number, name in ((1, f"mistral{fold}instructor"), (2, f"chatgpt{fold}turbo")):
        text = re.sub(rf"system_(<wbr>)?{number}", name, text)
    text = re.sub(r"<meta http-equiv[^>]+>", "", text).replace("</head>", FRONT, 1)
    copy = tmp_path / "copy.html"
    copy.write_text(text, encoding="utf-8")
    seen = visit(chromium, copy, f"--window-size={width},900")
    title = re.search(r"<title>(\d+) (-?\d+)</title>", seen.dom)
    assert title is not None
    assert int(title[1]) <= most
    assert int(title[2]) <= 0


def printed_pages(chromium: str, page: Path, folder: Path) -> int:
    """Print a page, and return the number of sheets."""
    pdf = folder / "report.pdf"
    subprocess.run(
        [
            chromium, *QUIET, f"--user-data-dir={folder / 'profile'}", "--no-pdf-header-footer",
            f"--print-to-pdf={pdf}", page.as_uri(),
        ],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def test_it_prints(chromium: str, page: Path, tmp_path: Path) -> None:
    assert 3 <= printed_pages(chromium, page, tmp_path) <= 40


def test_a_short_report_of_many_raters_and_systems_prints_on_four_pages(
    chromium: str, tmp_path: Path
) -> None:
    ratings = simulate(
        "retrieval", n_items=360, n_raters=12, n_systems=6, n_clusters=20, ratings_per_item=2, rng=1
    )
    tree = assay.fit(ratings, method="map", draws=60, chains=2, starts=1, rng=1)
    short = report(tree, tmp_path / "short.html", short=True, budget=False)
    assert printed_pages(chromium, short, tmp_path) <= 4
