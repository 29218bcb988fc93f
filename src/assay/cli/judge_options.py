"""Options of the commands that ask language models, and their messages."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay._util.errors import Note
from assay.cli.options import pairs
from assay.cli.shell import say, tell, warn

if TYPE_CHECKING:
    from assay.studies.judges.plan import Plan

Model = Annotated[str, typer.Option(help="Name of the model at the endpoint.")]


def _sending(what: str, **more: Any) -> Any:
    return typer.Option(help=what, rich_help_panel="Sending", **more)


@dataclass(frozen=True, kw_only=True)
class Sending:
    """Options: endpoint, log, and limits of number, speed and cost."""

    log: Annotated[
        Path | None,
        _sending("Log of requests and answers, .jsonl. Default: FILE.answers.jsonl here. "
                 "The same command continues from it."),
    ] = None  # fmt: skip
    url: Annotated[str | None, _sending("Address of the endpoint, without /chat/completions.")] = (
        None
    )
    key_variable: Annotated[
        str, _sending("Environment variable with the key, which is stored nowhere.")
    ] = "OPENAI_API_KEY"
    timeout: Annotated[float, _sending("Seconds to wait for an answer.")] = 60.0
    concurrency: Annotated[int, _sending("Requests at a time.", min=1)] = 4
    retries: Annotated[int, _sending("Number of retries of a failed request.", min=0)] = 5
    requests_per_minute: Annotated[float | None, _sending("At most.")] = None
    max_cost: Annotated[
        float | None, _sending("Largest cost of all requests of the log; needs --prices.")
    ] = None
    prices: Annotated[
        tuple[float, float] | None,
        _sending(
            "Prices of a million tokens sent, and of a million received.", metavar="SENT ANSWERED"
        ),
    ] = None
    temperature: Annotated[float, _sending("Of the model.")] = 0.0
    seed: Annotated[int, _sending("Of the model.", min=0)] = 1
    max_tokens: Annotated[
        int | None,
        _sending("Largest number of tokens of an answer. Default: what it needs.", min=1),
    ] = None
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            help="Further field of a request, as JSON; null removes a field. Repeat.",
            metavar="NAME=JSON",
            rich_help_panel="Sending",
        ),
    ] = None
    dry_run: Annotated[bool, _sending("Send nothing; show the requests and their number.")] = False

    def arguments(self, source: Path, *, progress: bool) -> dict[str, Any]:
        """Return the arguments of ``ask_model``."""
        from assay.studies.judges.endpoint import OPENAI_URL

        names = (
            "key_variable", "timeout", "concurrency", "retries", "requests_per_minute", "max_cost",
            "prices", "temperature", "seed", "max_tokens", "dry_run",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in names}
        stem = source.name.partition(".")[0] or "items"
        return given | {
            "log": self.log or Path(f"{stem}.answers.jsonl"),
            "url": self.url or OPENAI_URL,
            "options": _json_of(self.options),
            "progress": progress,
        }


def _json_of(texts: list[str] | None) -> dict[str, Any]:
    """Parse NAME=JSON; a value that is no JSON is text."""
    found: dict[str, Any] = {}
    for name, text in pairs(texts, "--option", str.partition).items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def show_plan(plan: "Plan") -> None:
    """Print the plan, with the first request in full."""
    for line in plan.lines():
        tell(line)
    if plan.first is not None:
        tell(f"\nThe first request:\n\n{plan.first_text()}")


def say_plan(plan: "Plan") -> None:
    """Print the plan on standard error."""
    for line in plan.lines():
        say(line)


def say_notes_of(notes: Iterable[Note]) -> None:
    """Print notes as warnings."""
    for note in notes:
        warn(note)
