"""What docs/diras_procedure.md shows is what the commands say."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from endpoints import Reply, asked, chat, endpoint
from typer.testing import CliRunner

from assay.cli.program import app

PAGE = (Path(__file__).parents[2] / "docs" / "diras_procedure.md").read_text(encoding="utf-8")
FILES = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
RUNS = re.findall(r"<!-- run -->\n```console\n\$ assay (.*?)\n(.*?)```", PAGE, re.DOTALL)
URL = "http://localhost:8080/v1"


def answer(number: int, body: dict[str, Any]) -> Reply:
    """Answer as a model might; one answer names no class."""
    text = asked(body)
    if "emissions?" in text and "wind and solar" in text:
        return chat("[Reason]: It depends.\n[Guess]: maybe\n[Confidence]: 0.5")
    guess = "yes" if re.search("solar|Emissions|emissions fell", text) else "no"
    return chat(f"[Reason]: As it says.\n[Guess]: {guess}\n[Confidence]: 0.9")


def test_the_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert len(FILES) == 3
    assert len(RUNS) == 4
    for name, text in FILES:
        Path(name).write_text(text, encoding="utf-8")
    with endpoint(answer) as told:
        for command, shown in RUNS:
            done = CliRunner().invoke(app, shlex.split(command.replace(URL, told.url)))
            said = (done.stderr + done.stdout).replace(told.url, URL)
            assert done.exit_code == 0, said
            # Notes go to another stream than tables: the lines are held, not their order.
            lines = [line.rstrip() for line in said.splitlines() if line.strip()]
            assert sorted(lines) == sorted(line for line in shown.splitlines() if line.strip())
        assert len(told.bodies) == 8
