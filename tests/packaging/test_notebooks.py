"""Every notebook runs from its first cell to its last, and is kept with its outputs."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import example_files
import pytest
from small_models import LANGUAGE_MODEL, missing

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))

SLOW = (
    "own_model",
    "attribution",
    "relevance_judges",
    "live_judge",
    "llm_judge",
    "five_summarizers",
    "abuse_raters",
)
"""They compile a model of one's own, ask one, or fit for half a minute and more."""
NEEDS = {"live_judge": (*LANGUAGE_MODEL, "bm25s", "openai")}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[dict[str, Any]]:
    """The cells that a kernel runs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture
def own_settings() -> Iterator[None]:
    """Keep what a notebook sets (options of pandas, levels of loggers, figures) within it."""
    import matplotlib as mpl
    import pandas as pd

    level = logging.getLogger("pymc").level
    kept = [("precision", 6), ("float_format", None), ("max_colwidth", 50)]
    options = [each for name, value in kept for each in (f"display.{name}", value)]
    with pd.option_context(*options), mpl.rc_context({"backend": "agg"}):
        yield
    logging.getLogger("pymc").setLevel(level)


@pytest.fixture
def public_examples(
    path: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give a notebook on public ratings the copies beside the project; skip it without them."""
    code = "\n".join("".join(cell["source"]) for cell in code_cells(path))
    if any(f'"{name}"' in code for name in example_files.public()):
        shared = request.getfixturevalue("shared_data")
        example_files.in_cache(shared, tmp_path, monkeypatch)
        example_files.stand_ins(shared, monkeypatch)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_the_notebook_runs(
    path: Path,
    own_settings: None,
    fits_once: None,
    public_examples: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Code cells run in order in one namespace, as a kernel would run them."""
    if absent := missing(NEEDS.get(path.stem, ())):
        pytest.skip(f"not installed: {', '.join(absent)} (tests/small_models.py says how)")
    namespace: dict[str, object] = {"__name__": "__main__"}
    code = ["".join(cell["source"]) for cell in code_cells(path)]
    assert code
    for number, source in enumerate(code, start=1):
        exec(compile(source, f"{path.name}, code cell {number}", "exec"), namespace)
    capsys.readouterr()


@each_notebook
def test_the_notebook_has_its_outputs_and_a_figure(path: Path) -> None:
    """Written by docs/run_notebooks.py."""
    cells = code_cells(path)
    assert all(cell["execution_count"] for cell in cells)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error"]
