"""The command of a study of attribution: its tables, from ratings or from a fit."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.files import FIT_SUFFIXES, write_table
from assay.cli.arguments import in_options
from assay.cli.options import Json, Level, Seed, Sources, Strict
from assay.cli.program import command
from assay.cli.reading_options import Reading
from assay.cli.shell import end_with, open_fit, say, say_notes, tell
from assay.cli.tables import records_of

if TYPE_CHECKING:
    from assay.studies.ais import AisStudy

TABLES = ("systems", "agreement", "unanimity", "audits", "times")


@command("ais ratings.csv --system model -o tables")
def ais(
    sources: Sources,
    reading: Reading,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the tables, as CSV files.")
    ] = None,
    level: Level = 0.95,
    seed: Seed = 1,
    as_json: Json = False,
    strict: Strict = False,
) -> None:
    """Tabulate a study of attribution (task ais), from ratings or a fit."""
    from assay import ais_study

    is_fit = len(sources) == 1 and sources[0].suffix in FIT_SUFFIXES
    tree = open_fit(sources[0]) if is_fit else None
    if tree is None:
        ratings = reading.read(sources, "ais")
        say_notes(ratings.accounting)
        study = ais_study(ratings, level=level, rng=seed)
    else:
        study = ais_study(tree, level=level, rng=seed)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            if len(getattr(study, name)):
                write_table(getattr(study, name), output / f"{name}.csv")
    if as_json:
        tables = (f'"{name}": {records_of(getattr(study, name))}' for name in TABLES)
        typer.echo(f"{{{', '.join(tables)}}}")
    else:
        _tell(study)
    end_with(tree, strict=strict)


def _tell(study: "AisStudy") -> None:
    from dataclasses import replace

    tell(str(replace(study, notes=())))
    for note in study.notes:
        say(f"note: {in_options(note)}")
