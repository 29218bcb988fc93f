"""Commands of DIRAS for students: a light one, and training data for a language model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay._util.errors import FitError
from assay._util.progress import waiting
from assay.cli.diras_commands import diras
from assay.cli.options import Json, Quiet, Seed, Table
from assay.cli.program import command
from assay.cli.shell import open_fit, say
from assay.cli.tables import deliver

FITS = (".nc", ".zarr")
Pairs = Annotated[Path, typer.Argument(help="Judged pairs, as of 'assay diras sample'.")]
TeacherFile = Annotated[
    Path, typer.Option("--teacher", help="What 'assay diras rate' wrote, or a fit (.nc, .zarr).")
]
Definitions = Annotated[
    Path | None, typer.Option(help="What makes a document relevant: a definition for each query.")
]
Positive = Annotated[
    str | None,
    typer.Option(help="Class of a fit that counts as relevant, with those above it.",
                 metavar="CLASS"),
]  # fmt: skip
Label = Annotated[str | None, typer.Option(help="Label of a fit, if there are several.")]


def _teacher(path: Path) -> Any:
    return open_fit(path) if path.suffix in FITS else path


@command("diras train pairs.csv --teacher llm.csv --score all.csv -o student.csv", of=diras)
def train(
    items: Pairs,
    teacher: TeacherFile,
    score: Annotated[Path, typer.Option(help="Pairs to score, of these and other queries.")],
    output: Table = None,
    definitions: Definitions = None,
    numbers: Annotated[
        list[str] | None,
        typer.Option("--number", help="Column of numbers that describes a pair; repeat.",
                     metavar="COLUMN"),
    ] = None,
    embedding_model: Annotated[
        str | None, typer.Option(help="Also compare texts by embeddings of this model at --url.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Endpoint of --embedding-model.")] = None,
    key_variable: Annotated[
        str, typer.Option(help="Environment variable that holds the key of the endpoint.")
    ] = "OPENAI_API_KEY",
    label: Label = None,
    positive: Positive = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Train a light student of relevance on a teacher's judgements, and let it score pairs."""
    from assay import train_student
    from assay.display.terminal import frame_table
    from assay.studies.diras import embedding_endpoint
    from assay.studies.judges.endpoint import OPENAI_URL

    embed = None
    if embedding_model is not None:
        embed = embedding_endpoint(embedding_model, url=url or OPENAI_URL,
                                   key_variable=key_variable)  # fmt: skip
    with waiting("training the student", show=not quiet):
        student = train_student(
            items, _teacher(teacher), embed=embed, numbers=numbers or None, definitions=definitions,
            label=label, positive=positive,
        )  # fmt: skip
        table = student.scores(score, definitions=definitions)
    say(f"trained on {student.n_pairs} pairs of {student.n_queries} queries")

    best = table.sort_values("score", ascending=False)[["item", "relevance", "score"]]
    shown = frame_table("The most relevant pairs", best, is_cut=True)
    deliver("scores", table, as_json, output, lambda: [shown])


@command("diras tune pairs.csv --teacher llm.csv --model org/model -o folder", of=diras)
def tune(
    items: Pairs,
    teacher: TeacherFile,
    model: Annotated[str, typer.Option(help="Model to fine-tune, as its hub or folder calls it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write; a new one.")],
    prompt: Annotated[
        str | None,
        typer.Option(help="Prompt of 'assay diras rate' that the student will be asked with."),
    ] = None,
    definitions: Definitions = None,
    label: Label = None,
    positive: Positive = None,
    seed: Seed = 1,
) -> None:
    """Write training data and the QLoRA configuration of a language model as student."""
    from assay import training_chats
    from assay.studies.students import write_qlora

    if output.exists():
        raise FitError(
            f"{output} exists already; name another folder: `output='student'`", code="file-exists"
        )
    chosen = prompt or ("relevance" if definitions is None else "relevance_definition")
    chats = training_chats(
        items, _teacher(teacher), prompt=chosen, definitions=definitions, label=label,
        positive=positive,
    )  # fmt: skip
    words = write_qlora(chats, output, model=model, rng=seed)
    say(f"wrote {output}: {len(chats)} chats and qlora.yaml")
    say(f"next, on a machine with a graphics card and 'assay[qlora]': {words}")
