"""Commands of DIRAS: sample pairs, draft definitions, let models rate, estimate recall."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay._util.errors import FitError
from assay._util.files import require_place, write_table
from assay._util.progress import waiting
from assay.cli.application import app
from assay.cli.judge_command import Judging, run_model
from assay.cli.judge_options import Model, Sending, say_notes_of, say_plan, show_plan
from assay.cli.options import FitFile, Json, Level, Quiet, Seed, Strict, Table
from assay.cli.program import command
from assay.cli.shell import end_with, open_fit, say, show
from assay.cli.tables import deliver, require_table

diras = typer.Typer(
    no_args_is_help=True, help="Sample pairs of query and document, and let models rate them."
)
app.add_typer(diras, name="diras")


def _column(what: str) -> Any:
    return typer.Option(
        help=f"{what}, if its name is not recognised.", metavar="COLUMN", rich_help_panel="Columns"
    )


@command("diras sample documents.jsonl queries.csv -o pairs.csv", of=diras)
def sample(
    documents: Annotated[Path, typer.Argument(help="Documents: CSV, JSON lines, Parquet, ...")],
    queries: Annotated[Path, typer.Argument(help="Queries, likewise.")],
    output: Table = None,
    per_query: Annotated[int, typer.Option(min=2, help="Pairs drawn for each query.")] = 60,
    top: Annotated[
        int,
        typer.Option(
            min=1, help="Documents at the top of a ranking; half of the pairs are from there."
        ),
    ] = 60,
    embedding_model: Annotated[
        str | None,
        typer.Option(help="Rank by embeddings of this model at --url. Default: BM25."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Endpoint of --embedding-model.")] = None,
    key_variable: Annotated[
        str, typer.Option(help="Environment variable with the key of the endpoint.")
    ] = "OPENAI_API_KEY",
    query_stratum: Annotated[
        str | None,
        typer.Option(help="Column of the strata in the file of queries.", metavar="COLUMN"),
    ] = None,
    queries_per_stratum: Annotated[
        int | None, typer.Option(min=1, help="Queries drawn in each stratum. Default: all.")
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(help="File for the top of all rankings, which 'assay diras rank' needs."),
    ] = None,
    document_id: Annotated[str | None, _column("Id of a document")] = None,
    document_text: Annotated[str | None, _column("Text of a document")] = None,
    query_id: Annotated[str | None, _column("Id of a query")] = None,
    query_text: Annotated[str | None, _column("Text of a query")] = None,
    seed: Seed = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw pairs to rate: half from the top of a ranking, half from all other documents."""
    from assay import sample_pairs
    from assay.display.terminal import frame_table
    from assay.studies.diras import embedding_endpoint, rank_documents
    from assay.studies.judges.endpoint import OPENAI_URL

    retriever: Any = "bm25"
    if embedding_model is not None:
        retriever = _remembered(
            embedding_endpoint(embedding_model, url=url or OPENAI_URL, key_variable=key_variable)
        )
    given: dict[str, Any] = {
        "retriever": retriever, "top": top, "query_stratum": query_stratum, "rng": seed,
        "document_id": document_id, "document_text": document_text, "query_id": query_id,
        "query_text": query_text,
    }  # fmt: skip
    with waiting("ranking documents", show=not quiet):
        pairs = sample_pairs(
            documents, queries,
            per_query=per_query, queries_per_stratum=queries_per_stratum, **given,
        )  # fmt: skip
        if pool is not None:
            require_table(pool, example="ratings.csv")
            write_table(rank_documents(documents, queries, **given), pool)

    table = frame_table("Pairs to rate", strata_of(pairs))
    deliver("pairs", pairs, as_json, output, list)
    if not as_json:
        show(table)


def _remembered(embed: Any) -> Any:
    """Return an embedding function that asks for the same texts only once."""
    known: dict[tuple[str, ...], Any] = {}

    def remembered(texts: list[str]) -> Any:
        key = tuple(texts)
        if key not in known:
            known[key] = embed(texts)
        return known[key]

    return remembered


def strata_of(pairs: Any) -> Any:
    """Count the pairs of each stratum, with their mean inclusion probability."""
    by = pairs.groupby("stratum", sort=False)
    table = by.agg(
        queries=("query_id", "nunique"), pairs=("item", "size"),
        probability=("inclusion_probability", "mean"),
    )  # fmt: skip
    return table.round({"probability": 4}).reset_index()


@command("diras define queries.csv --model gpt-4o -o definitions.csv", of=diras)
def define(
    queries: Annotated[Path, typer.Argument(help="Queries: CSV, JSON lines, Parquet, ...")],
    model: Model,
    sending: Sending,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .csv, .tsv, .parquet or .json.")
    ] = Path("definitions.csv"),
    prompt: Annotated[
        str, typer.Option(help="Name of a prompt that asks for a text, or a .toml file.")
    ] = "definition_draft",
    quiet: Quiet = False,
) -> None:
    """Let a model draft a definition of relevance for each query, for people to edit."""
    from assay.studies.diras import draft_definitions

    if output.exists() and not sending.dry_run:
        # Users may have edited it.
        raise FitError(
            f"{output} exists already. Name another file: `output='definitions.csv'`",
            code="file-exists",
        )
    require_place(output, example="definitions.csv")
    given = sending.arguments(queries, progress=not quiet) | {"model": model, "prompt": prompt}
    _, plan, _ = draft_definitions(queries, **(given | {"dry_run": True}))
    if sending.dry_run:
        show_plan(plan)
        return
    say_plan(plan)
    table, _, notes = draft_definitions(queries, **given)
    say_notes_of(notes)
    deliver("definitions", table, False, output, list)
    say("next: edit the column definition; the column draft keeps the text of the model")


@command("diras rate pairs.csv --model gpt-4o --dry-run", of=diras)
def rate(
    items: Annotated[
        Path, typer.Argument(help="Pairs of 'assay diras sample', or a table of the same form.")
    ],
    model: Model,
    judging: Judging,
    sending: Sending,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Let a language model judge the relevance of documents, with its confidence."""
    run_model(items, "relevance", model, judging, sending, as_json, quiet, strict)


@command("diras rank fit.nc a.trec b.trec --pairs pairs.csv --pool pool.csv", of=diras)
def rank(
    fit: FitFile,
    runs: Annotated[list[Path], typer.Argument(help="TREC run files, one for each system.")],
    pairs: Annotated[Path, typer.Option(help="The sample of 'assay diras sample'.")],
    pool: Annotated[Path, typer.Option(help="The --pool of the sample: the top of all rankings.")],
    k: Annotated[
        int, typer.Option("--k", min=1, help="Number of documents of a list that count.")
    ] = 10,
    label: Annotated[str | None, typer.Option(help="Label, if there are several.")] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Lowest class that counts as relevant.", metavar="CLASS"),
    ] = None,
    estimand: Annotated[
        Literal["population", "finite"],
        typer.Option(help="Inference on queries like these, or on these queries only."),
    ] = "population",
    level: Level = 0.95,
    seed: Seed = 1,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Estimate recall, nDCG and MAP of ranked lists over all documents, from the judged sample."""
    from assay import recall_of_runs
    from assay.display.terminal import frame_table

    view = open_fit(fit)
    found = recall_of_runs(
        view, runs, pairs, pool,
        k=k, label=label, positive=positive, estimand=estimand, level=level, rng=seed,
    )  # fmt: skip

    about = f"{found.table['n_queries'].iloc[0]} queries, estimand {estimand}"
    lists = found.table.drop(columns=["n_queries", "estimand"])
    tables = [frame_table(f"Ranked lists ({about})", lists)]
    tables += [frame_table("Differences", found.better)] if len(found.better) else []
    deliver("runs", found.table, as_json, output, lambda: tables, extra={"better": found.better})
    end_with(view, strict=strict)
