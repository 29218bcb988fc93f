"""The documentation builds without a warning and covers every public name."""

import re
import subprocess
import sys
from pathlib import Path

import assay

ROOT = Path(__file__).parents[2]


def test_reference_covers_every_public_name() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)$", text, re.MULTILINE)
    assert sorted(documented) == sorted(assay.__all__)


def test_pages_name_functions_that_there_are() -> None:
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        named = set(re.findall(r"\bassay\.([a-z]\w*)\(", page.read_text(encoding="utf-8")))
        assert named <= set(assay.__all__), page.name


def test_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    # The doctrees go below the output folder, so that nothing is written into docs/.
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), "html"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Ratings" in (tmp_path / "html" / "reference.html").read_text(encoding="utf-8")


def test_what_the_readme_links_to_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    local = [target for target in targets if not target.startswith("http")]
    assert "docs/demo/assay-demo-report.html" in local
    assert [target for target in local if not (ROOT / target).is_file()] == []


def test_the_reports_of_the_demo_are_of_this_version_and_run_nothing() -> None:
    """Made by docs/make_screenshots.py, from what assay demo wrote."""
    reports = sorted((ROOT / "docs" / "demo").glob("*.html"))
    assert len(reports) == 2
    for path in reports:
        text = path.read_text(encoding="utf-8")
        assert f"Made by assay {assay.__version__}." in text
        assert "<script" not in text
