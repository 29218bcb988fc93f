"""Every notebook runs from its first cell to its last."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Code cells run in order in one namespace, as a kernel would run them."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, object] = {"__name__": "__main__"}
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    for number, source in enumerate(code, start=1):
        exec(compile(source, f"{path.name}, code cell {number}", "exec"), namespace)
    capsys.readouterr()
