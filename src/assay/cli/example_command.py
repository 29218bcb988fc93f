"""The command that lists example ratings and writes one as a table."""

from pathlib import Path
from typing import Annotated

import typer

from assay._util.files import require_place
from assay.cli.program import command
from assay.cli.shell import say, tell


@command("example protocol_study -o protocol_study.csv")
def example(
    name: Annotated[
        str | None, typer.Argument(help="Name of the example.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV file to write.", metavar="FILE.csv"),
    ] = None,
) -> None:
    """Write example ratings as a table; without a name, list the examples."""
    from assay import load_example

    if name is None:
        for one, line in load_example().iterrows():
            tell(f"{one}: {line['shows']} ({line['source']}; licence: {line['licence']})")
        return
    path = output or Path(f"{name}.csv")
    require_place(path, example=f"{name}.csv")
    load_example(name, table=True).to_csv(path, index=False)
    say(f"wrote {path}")
