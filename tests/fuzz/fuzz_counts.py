"""Run the fuzz suite for longer, and write its counts into docs/reliability.md.

python tests/fuzz/fuzz_counts.py --seconds 60 --seed 1
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
COLUMNS = ("accepted", "refused", "traceback", "act")
HEAD = """| read | inputs tried | accepted | refused in words | tracebacks | code run |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Try inputs of every kind, and replace the table of the page."""
    from fuzz_targets import TARGETS, fuzz

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each kind of input")
    parser.add_argument("--most", type=int, default=100_000, help="inputs of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows, total, failed = [], dict.fromkeys(COLUMNS, 0), False
    for name in TARGETS:
        tally = fuzz(name, asked.seed, most=asked.most, seconds=asked.seconds)
        numbers = [tally.counts[column] for column in COLUMNS]
        print(name, numbers, *tally.failures, sep="\n  ", flush=True)  # noqa: T201
        total = {c: total[c] + n for c, n in zip(COLUMNS, numbers, strict=True)}
        failed |= bool(tally.failures)
        rows.append(_row(name, numbers))
    rows.append(_row("all", list(total.values())))
    text = PAGE.read_text(encoding="utf-8")
    seed = f"Seed {asked.seed}, at most {asked.most:,} inputs and {asked.seconds:g} seconds each."
    table = f"<!-- counts -->\n{HEAD}{''.join(rows)}\n{seed}\n<!-- end of counts -->"
    text = re.sub(r"<!-- counts -->.*<!-- end of counts -->", lambda _: table, text, flags=re.S)
    PAGE.write_text(text, encoding="utf-8")
    sys.exit(failed)


def _row(name: str, numbers: list[int]) -> str:
    return f"| {name} | {' | '.join(f'{n:,}' for n in [sum(numbers), *numbers])} |\n"


if __name__ == "__main__":
    main()
