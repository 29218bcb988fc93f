"""The command line and the demo: each command reads, computes and writes before it displays. Heavy
imports are inside the commands, so that ``assay --help`` answers at once.

Exit status: 0 done, 1 no result (with --strict: a warning), 2 wrong usage, 3 a claim is
contradicted or undecided, 130 interrupted.
"""

from assay.cli import (
    ais_command,
    decision_commands,
    diras_commands,
    example_command,
    export_commands,
    fit_commands,
    judge_command,
    ratings_commands,
    report_commands,
    run_command,
    student_commands,
    task_commands,
)
from assay.cli.application import app
from assay.cli.program import main

__all__ = [
    "ais_command",
    "app",
    "decision_commands",
    "diras_commands",
    "example_command",
    "export_commands",
    "fit_commands",
    "judge_command",
    "main",
    "ratings_commands",
    "report_commands",
    "run_command",
    "student_commands",
    "task_commands",
]

IN_ORDER = (
    "demo", "example", "judge", "check", "agreement", "run", "fit", "metrics", "compare", "decide",
    "raters", "sheets", "labels", "export", "report", "methods", "ais",
)  # fmt: skip
"""Commands in the order of work, as ``assay --help`` lists them."""
app.registered_commands.sort(
    key=lambda one: IN_ORDER.index(one.name or getattr(one.callback, "__name__", ""))
)
