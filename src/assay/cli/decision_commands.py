"""Commands for decisions: which system to launch, and which rater meets a threshold."""

from pathlib import Path
from typing import Annotated

import typer

from assay._util.files import require_place
from assay._util.progress import waiting
from assay.cli.arguments import in_options
from assay.cli.options import Estimands, FitFile, Json, Level, Quiet, Strict, Table
from assay.cli.program import command
from assay.cli.shell import end_with, open_fit, say, show
from assay.cli.tables import deliver

Pseudonyms = Annotated[
    Path | None,
    typer.Option(
        help="Key file (.csv) of pseudonyms, which replace the raters' names. Made if missing.",
        metavar="KEY.csv",
    ),
]


@command("decide fit.nc --baseline A --gain ndcg_at_k --guard misleading_context_rate_at_k=0.01")
def decide(
    fit_file: FitFile,
    baseline: Annotated[str, typer.Option(help="The system in use today.", metavar="SYSTEM")],
    gain: Annotated[
        list[str],
        typer.Option(
            help="Metric to improve; repeat for several, with weights.", metavar="METRIC[=WEIGHT]"
        ),
    ],
    guardrails: Annotated[
        list[str] | None,
        typer.Option(
            "--guard",
            help="Metric that may become worse by this margin at most; repeat.",
            metavar="METRIC=MARGIN",
        ),
    ] = None,
    sure: Annotated[float, typer.Option(help="Least probability for a launch.")] = 0.9,
    estimand: Estimands = "population",
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Choose a system to launch, by gain, expected loss and joint guardrails."""
    import assay
    from assay.display.decision_table import decision_table
    from assay.display.notes import draws_worth

    if estimand == "both":
        raise typer.BadParameter("a decision needs one estimand", param_hint="--estimand")
    weights = {name: amount for text in gain for name, amount in [_amount(text, "--gain")]}
    margins = {
        name: amount
        for text in guardrails or ()
        for name, amount in [_amount(text, "--guard", None)]
    }
    view = open_fit(fit_file)
    with waiting("computing metrics", show=True, unit="draws"):
        found = assay.decide(
            view, gain=weights, baseline=baseline, guardrails=margins, sure=sure,
            estimand=estimand, level=level,
        )  # fmt: skip
    table = found.table.assign(chosen=found.table["system"] == found.chosen)
    deliver(
        "decision", table, as_json, output,
        lambda: [found.verdict, decision_table(found, draws_worth(view))],
    )  # fmt: skip
    end_with(view, strict=strict)


def _amount(text: str, option: str, usual: float | None = 1.0) -> tuple[str, float]:
    """Split METRIC=NUMBER; the metric may contain an equals sign within brackets."""
    name, equals, number = text.rpartition("=")
    if (not equals or text.endswith("]")) and usual is not None:
        return text, usual
    try:
        return name, float(number)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not METRIC=NUMBER", param_hint=option) from None


@command("sheets fit.nc -o sheets.html --threshold 0.8 --pseudonyms key.csv")
def sheets(
    fit_file: FitFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    threshold: Annotated[float, typer.Option(help="Required probability of a right answer.")] = 0.8,
    sure: Annotated[
        float, typer.Option(help="Least probability to say that a rater meets or misses it.")
    ] = 0.95,
    refit: Annotated[
        bool, typer.Option(help="Refit without each rater, and show the effect on the metrics.")
    ] = True,
    pseudonyms: Pseudonyms = None,
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Write a page for each rater, and a table of raters above the threshold."""
    import assay
    from assay.cli.tables import records_of
    from assay.reporting.page import reworded, to_html
    from assay.reporting.rater_names import shown_names
    from assay.reporting.rater_sheets import sheets_page

    require_place(output, example="sheets.html")
    view = open_fit(fit_file)
    if pseudonyms is not None:
        from assay.reporting.pseudonyms import with_pseudonyms

        view = with_pseudonyms(view, pseudonyms)
    table = assay.rater_decisions(view, threshold=threshold, sure=sure, level=level)
    page = sheets_page(
        view, threshold=threshold, sure=sure, refit=refit, level=level, progress=not quiet
    )
    to_html(reworded(page, in_options), output)
    say(f"wrote {output}")
    if as_json:
        typer.echo(f'{{"raters": {records_of(table)}}}')
    else:
        shown = shown_names(view.ratings)
        for word in ("below", "undecided", "meets it"):
            names = table.loc[table["decision"] == word, "rater"]
            if len(names):
                show(f"{word}: {', '.join(shown.get(name, name) for name in names)}")
    end_with(view, strict=strict)
