"""Findings about ratings, and the report of a check."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Literal

import pandas as pd

from assay._util.errors import Numbers, plain_numbers
from assay._util.html import notebook_html
from assay._util.text import counted

Level = Literal["ok", "note", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("ok", "note", "warning", "problem")
Proposal = Literal["reference", "order", "system_bias"]
"""What a finding can propose for a fit: a reference, a family for orders, a bias by system."""
TABLE_LINES = 12


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding: its severity, topic and text.

    code : kind of finding, such as ``single-rating-items``; :mod:`assay.codes` explains it
    numbers : the numbers of the text, by name
    leans : whether it says that results depend on the prior
    proposes : ``"reference"``, ``"order"`` or ``"system_bias"``; a fit with it resolves the finding
    """

    level: Level
    topic: str
    text: str
    code: str = ""
    numbers: Numbers = field(default_factory=dict, hash=False)
    leans: bool = False
    proposes: Proposal | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", plain_numbers(self.numbers))

    def __str__(self) -> str:
        return f"[{self.level}] {self.text}"


def finding_on(
    topic: str,
    level: Level,
    text: str,
    *,
    code: str,
    numbers: Numbers | None = None,
    leans: bool = False,
    proposes: Proposal | None = None,
) -> Finding:
    """Make a finding about a topic."""
    return Finding(
        level=level, topic=topic, text=text, code=code, numbers=numbers or {},
        leans=leans, proposes=proposes,
    )  # fmt: skip


def findings_on(topic: str) -> "partial[Finding]":
    """Return a function that makes findings about a topic from level, text and code."""
    return partial(finding_on, topic)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Findings and tables of one part of the check."""

    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Check:
    """The result of a check; ``print`` it for the report.

    findings : in the order of the report
    tables : the numbers behind the findings, by name
    summary : one line about the ratings
    """

    findings: tuple[Finding, ...]
    tables: dict[str, pd.DataFrame]
    summary: str = ""

    def at_least(self, level: Level) -> tuple[Finding, ...]:
        """Return the findings of a level or worse."""
        worse = LEVELS[LEVELS.index(level) :]
        return tuple(f for f in self.findings if f.level in worse)

    def to_frame(self) -> pd.DataFrame:
        """Return a line per finding: ``code``, ``level``, ``topic``, ``numbers``, ``text``."""
        columns = ["code", "level", "topic", "numbers", "text"]
        return pd.DataFrame([asdict(f) for f in self.findings], columns=columns)

    def __repr__(self) -> str:
        """Return the number of findings of each level, on one line."""
        counts = [(level, sum(f.level == level for f in self.findings)) for level in LEVELS]
        said = [f"{n} ok" if level == "ok" else counted(n, level) for level, n in counts]
        return f"<assay.Check: {', '.join(said)}; print it, or see .findings>"

    def _repr_html_(self) -> str:
        """Show the findings, the worst first."""
        worst = sorted(self.findings, key=lambda f: -LEVELS.index(f.level))
        lines = [{"level": f.level, "topic": f.topic, "finding": f.text} for f in worst]
        summary = self.summary or repr(self)[1:-1]
        return notebook_html(summary, {"Findings": pd.DataFrame(lines)}, lines=len(lines))

    def __str__(self) -> str:
        lines = [self.summary] if self.summary else []
        for topic in dict.fromkeys(f.topic for f in self.findings):
            lines += ["", topic]
            lines += [f"  {f}" for f in self.findings if f.topic == topic]
        for name, table in self.tables.items():
            if len(table):
                lines += ["", f"table: {name}", _indented(table)]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the findings and tables as JSON."""
        return json.dumps(
            {
                "summary": self.summary,
                "findings": [asdict(f) for f in self.findings],
                "tables": {
                    name: json.loads(table.to_json(orient="records"))
                    for name, table in self.tables.items()
                },
            }
        )


def _indented(table: pd.DataFrame) -> str:
    text = table.head(TABLE_LINES).to_string(index=False, float_format=lambda x: f"{x:.3g}")
    more = f"\n  ... {len(table) - TABLE_LINES} more lines" if len(table) > TABLE_LINES else ""
    return "\n".join(f"  {line}" for line in text.splitlines()) + more
