"""Commands that read a fit: metrics, compare, raters and labels."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay._util.progress import waiting
from assay.cli.claims import Claims, claims_frame, end_with_claims, read_claims
from assay.cli.options import (
    Baseline,
    Estimands,
    FitFile,
    Incomplete,
    Json,
    Level,
    MetricFiles,
    Metrics,
    Strict,
    Table,
    register,
    rope_of,
    say_left_out,
    say_unsuited,
)
from assay.cli.program import command
from assay.cli.shell import end_with, open_fit, say
from assay.cli.shell import show as show_parts
from assay.cli.tables import deliver

if TYPE_CHECKING:
    from assay.comparison import ClaimResult
    from assay.display.table import Table as ResultTable
    from assay.fits.view import FitView

SHOWN_LABELS = 20
SHOWN_KINDS = 12


@command("metrics fit.nc --estimand finite -o metrics.csv")
def metrics(
    fit_file: FitFile,
    estimand: Estimands = "both",
    by: Annotated[Literal["system", "none"], typer.Option(help="Apart, or pooled.")] = "system",
    incomplete: Incomplete = "predict",
    metric: Metrics = None,
    metric_file: MetricFiles = None,
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Report the metrics of the task with their intervals."""
    import pandas as pd

    import assay
    from assay.evaluation.panels import left_out_metrics
    from assay.reporting.reliance import mark_of_draws, with_mark
    from assay.validation.equal_difficulty import (
        EQUAL,
        difficulty_sentence,
        held_against_equal_difficulty,
    )

    own = register(metric_file)
    view = open_fit(fit_file)
    say_unsuited(own, view)
    every: tuple[Literal["finite", "population"], ...] = ("finite", "population")
    chosen = every if estimand == "both" else (estimand,)
    with waiting("computing metrics", show=True, unit="draws"):
        draws = {
            name: assay.metrics(
                view,
                estimand=name,
                by=None if by == "none" else by,
                incomplete=incomplete,
                metric=metric or None,
            )
            for name in chosen
        }
    summaries: dict[str, pd.DataFrame] = {
        name: assay.summarize(found, level=level) for name, found in draws.items()
    }

    ratings = view.ratings
    left_out = left_out_metrics(ratings, metric or None)

    def shown() -> "list[ResultTable | str]":
        from assay.display.notes import draws_worth, names_said, panels_said
        from assay.display.result_tables import metrics_table
        from assay.evaluation.titles import titles_with_names

        first = draws[chosen[0]]
        table = metrics_table(
            summaries, titles_with_names(first), weights=ratings.items["weight"].tolist(),
            panels=panels_said(first), draws=draws_worth(view),
        )  # fmt: skip
        return [table, *filter(None, [names_said(view)])]

    table = pd.concat(summaries.values(), ignore_index=True)
    with waiting("fitting without a difficulty", show=True):
        found = held_against_equal_difficulty(
            view, table, level=level, by=None if by == "none" else by, incomplete=incomplete,
            metric=metric or None,
        )  # fmt: skip
    if len(found):
        say(f"warning: {difficulty_sentence(found)} [{found['code'].iloc[0]}]")
    table = with_mark(table.assign(incomplete=incomplete), mark_of_draws(view))
    extra = {"left_out": left_out} | ({EQUAL: found} if len(found) else {})
    deliver("metrics", table, as_json, output, shown, extra=extra)
    if output is not None:
        say_left_out(left_out)
    end_with(view, strict=strict)


@command('compare fit.nc --metric ndcg_at_k --claim "B > A by 0.03 on ndcg_at_k"')
def compare(
    fit_file: FitFile,
    by: Annotated[
        Literal["system", "stratum"],
        typer.Option(
            help="Compare systems over all items, or within each stratum (language, ...)."
        ),
    ] = "system",
    metric: Metrics = None,
    metric_file: MetricFiles = None,
    claim: Claims = None,
    estimand: Annotated[
        Literal["population", "finite"],
        typer.Option(help="Inference on clusters like these, or on these items only."),
    ] = "population",
    rope: Annotated[
        str | None,
        typer.Option(help="Differences that do not matter: 0.02, or LOW,HIGH.", metavar="NUMBER"),
    ] = None,
    baseline: Baseline = None,
    incomplete: Incomplete = "predict",
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Compare systems, and check claims. Exit status 3: a claim is contradicted or undecided."""
    import assay
    from assay.comparison import check_claim, compare_groups
    from assay.comparison import compare as compare_systems
    from assay.display.notes import draws_worth
    from assay.display.result_tables import comparison_tables, groups_table
    from assay.evaluation.panels import left_out_metrics
    from assay.evaluation.titles import metric_titles
    from assay.reporting.reliance import mark_of_draws, with_mark

    own = register(metric_file)
    limits, claims = rope_of(rope), read_claims(claim)
    if by == "stratum" and rope is not None:
        raise typer.BadParameter("needs --by system", param_hint="--rope")
    view = open_fit(fit_file)
    say_unsuited(own, view)
    said = {"incomplete": incomplete}  # in every table: it changes the estimand
    with waiting("comparing", show=True, unit="draws"):
        results = [
            check_claim(view, text, estimand=estimand, level=level, incomplete=incomplete)
            for text in claims
        ]
        checked = claims_frame(results).assign(**said)
        left_out = left_out_metrics(view.ratings, metric or None)
        # Claims about single systems need no second system.
        alone = bool(results) and len(view.ratings.systems) < 2
        asked: dict[str, Any] = {
            "metric": metric or None, "estimand": estimand, "level": level, "baseline": baseline,
            **said,
        }  # fmt: skip
        if by == "stratum" and not alone:
            groups = with_mark(compare_groups(view, **asked), mark_of_draws(view)).assign(**said)
            titles = metric_titles(assay.metrics(view, metric=metric or None))
            deliver(
                "groups", groups, as_json, output,
                lambda: [groups_table(groups, titles, draws=draws_worth(view))],
                extra={"claims": checked, "left_out": left_out},
            )  # fmt: skip
            say_left_out(left_out)
            _end_with(view, results, as_json, strict)
            return
        found = None if alone else compare_systems(view, by="system", rope=limits, **asked)
    if found is None:
        deliver("claims", checked, as_json, output, list)
        _end_with(view, results, as_json, strict)
        return

    mark = mark_of_draws(view)
    pairs, systems = (with_mark(part, mark).assign(**said) for part in (found.pairs, found.systems))
    extra = {"systems": systems, "claims": checked, "left_out": left_out}
    deliver(
        "pairs", pairs, as_json, output,
        lambda: comparison_tables(found, draws_worth(view)), extra=extra,
    )  # fmt: skip
    if output is not None:
        say_left_out(left_out)
    _end_with(view, results, as_json, strict)


def _end_with(view: "FitView", results: "list[ClaimResult]", as_json: bool, strict: bool) -> None:
    if not as_json:
        show_parts(*(result.sentence for result in results))
    end_with_claims(view, results, strict=strict)


@command("raters fit.nc --kind raw")
def raters(
    fit_file: FitFile,
    kind: Annotated[
        Literal["recorded", "raw"],
        typer.Option(help="Reliability of the recorded answers, or before the interface blocks."),
    ] = "recorded",
    by_class: Annotated[
        bool,
        typer.Option(
            "--by-class", help="A line for each true class of labels with three classes or more."
        ),
    ] = False,
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Report the reliability of each rater, lowest first; -o and --json have all confusions."""
    from assay.display.frames import (
        accuracy_frame,
        reliability_frame,
        session_frames,
        worth_frame,
    )
    from assay.display.notes import draws_worth, names_said, scores_said
    from assay.display.rater_tables import (
        class_tables,
        consistency_said,
        copies_said,
        drift_table,
        kinds_said,
        misperceived_said,
        rater_tables,
        worth_tables,
    )
    from assay.inference.settings import MODES_ALONE
    from assay.raters.consistency import copied_shares, rater_consistency
    from assay.raters.dependence import group_misperception
    from assay.raters.spammers import rater_spammers

    view = open_fit(fit_file)
    frame, accuracy = reliability_frame(view, kind, level), accuracy_frame(view, kind, level)
    kinds, worth = rater_spammers(view, level=level), worth_frame(view, level)
    consistency = rater_consistency(view, level=level)
    copied = copied_shares(view, level=level)
    about: dict[str, Any] = {"level": level, "reference": view.attrs["reference"]}
    misperceived, by_session = group_misperception(view, level=level), session_frames(view, level)

    def shown() -> "list[ResultTable | str]":
        ratings, draws = view.ratings, draws_worth(view)
        tables = (
            class_tables(frame, ratings.task, draws)
            if by_class
            else rater_tables(frame, accuracy, ratings.task, draws)
        )
        if by_session:
            drift = by_session["drift"]
            tables.append(drift_table(drift, ratings.sessions, **about, export=drift))
        mode_alone = view.attrs["method"] in MODES_ALONE
        said = misperceived_said(misperceived)
        said += kinds_said(kinds, SHOWN_KINDS, mode_alone=mode_alone)
        said += copies_said(copied)
        said += [consistency_said(consistency), scores_said(ratings), names_said(view)]
        if not by_class and any(len(label.classes) > 2 for label in ratings.task.labels):
            say("each true class: --by-class; whole confusions: -o raters.csv")
        return [*tables, *worth_tables(worth), *filter(None, said)]

    of_raters = {
        "behaviour": kinds,
        "misperceived": misperceived,
        "consistency": consistency,
        "copied": copied,
    }
    extra = {name: table.assign(**about) for name, table in of_raters.items()}
    extra |= {"accuracy": accuracy, "worth": worth} | by_session
    deliver("raters", frame, as_json, output, shown, extra=extra)
    end_with(view, strict=strict)


@command("labels fit.nc --uncertain 50 -o to_rate_again.csv")
def labels(
    fit_file: FitFile,
    as_json: Json = False,
    output: Table = None,
    uncertain: Annotated[
        int | None, typer.Option(min=1, help="Only the N least certain items.", metavar="N")
    ] = None,
    strict: Strict = False,
) -> None:
    """Report the probability of each class of each label of each item."""
    from assay.display.frames import labels_frame, least_certain
    from assay.display.notes import names_said
    from assay.display.result_tables import labels_table

    view = open_fit(fit_file)
    frame = labels_frame(view)
    chosen = frame if uncertain is None else least_certain(frame, uncertain)

    def shown() -> "list[ResultTable | str]":
        least = least_certain(chosen, uncertain or SHOWN_LABELS)
        if output is None and len(least) < len(chosen):
            say("all of them: -o labels.csv")
        table = labels_table(least, len(frame), export=chosen)
        return [table, *filter(None, [names_said(view)])]

    deliver("labels", chosen, as_json, output, shown)
    end_with(view, strict=strict)
