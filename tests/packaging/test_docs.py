"""The documentation builds without a warning and covers every public name."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import assay
from assay.data.task_files import catalogue_names

ROOT = Path(__file__).parents[2]


def test_reference_covers_every_public_name() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)$", text, re.MULTILINE)
    assert sorted(documented) == sorted(assay.__all__)


def test_reference_has_the_class_of_every_result() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\.\. autoclass:: (?:\w+\.)*(\w+)$", text, re.MULTILINE))
    functions = filter(inspect.isfunction, (getattr(assay, name) for name in assay.__all__))
    returned = [inspect.signature(function).return_annotation for function in functions]
    kinds = [kind for one in returned for kind in (get_args(one) or (one,))]
    ours = {kind.__name__ for kind in kinds if str(kind).startswith("<class 'assay.")}
    assert {"Agreement", "Comparison", "LabelDoubt"} <= ours
    assert ours <= documented


def test_every_card_of_raters_is_a_page_of_the_site() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^families/(\w+)$", text, re.MULTILINE)) == catalogue_names("raters")
    guide = (ROOT / "docs" / "raters.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\| \[`(\w+)`\]\(\.\./models/raters/\1\.md\)", guide, re.MULTILINE)
    assert sorted(linked) == catalogue_names("raters")
    assert (ROOT / "docs" / "families").is_symlink()


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
    card = (tmp_path / "html" / "families" / "item_difficulty_continuous.html").read_text("utf-8")
    assert '<div class="math notranslate nohighlight">' in card
    assert card.count("_images/item_difficulty_continuous_") >= 2
    assert 'href="../model.html#by-degrees"' in card
    guide = (tmp_path / "html" / "raters.html").read_text(encoding="utf-8")
    assert 'href="families/scored.html"' in guide


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
