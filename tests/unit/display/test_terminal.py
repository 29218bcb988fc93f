"""Tables and words: what a reader of a terminal sees."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from rich.console import Console

import assay
from assay._util import text as words
from assay._util.errors import Note, notes_json
from assay._util.text import gap
from assay.checks import check
from assay.comparison import compare_draws
from assay.comparison.groups import MEAN_OF_GROUPS
from assay.display import frames, rater_tables, result_tables
from assay.display import notes as fit_words
from assay.display import terminal as render
from assay.display.table import make_table, table_of
from assay.evaluation.estimands import modelled
from assay.fits.simulate import simulate
from assay.inference.diagnostics import mode_warnings
from assay.inference.modes import Mode


def text_of(*parts: Any, width: int = 80, terminal: bool = False) -> str:
    stream = StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system=None)
    for part in parts:
        console.print(part)
    return stream.getvalue()


@pytest.fixture(scope="module")
def retrieval() -> xr.DataTree:
    ratings = simulate("retrieval", n_items=100, n_raters=4, n_systems=2, n_clusters=25, rng=3)
    return assay.fit(ratings, method="map", draws=50, chains=2, starts=1)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.581, 0.462, 0.699), "0.58 (0.46 to 0.70)"),
        ((0.0152, 0.0111, 0.0193), "0.0152 (0.0111 to 0.0193)"),
        ((0.5, 0.5, 0.5), "0.50 (0.50 to 0.50)"),
        ((12.3, 4.2, 20.1), "12.30 (4.20 to 20.10)"),
        ((np.nan, 0.1, 0.2), "undefined"),
        ((0.393, np.nan, np.nan), "0.39 (no interval)"),
        ((-0.001, np.nan, np.nan), "0.00 (no interval)"),
        ((-0.001, -0.25, 0.26), "0.00 (-0.25 to 0.26)"),
    ],
)
def test_interval_has_the_digits_that_its_width_deserves(
    numbers: tuple[float, float, float], text: str
) -> None:
    assert words.interval(*numbers) == text


def test_control_characters_and_markup_are_shown_and_not_obeyed() -> None:
    table = make_table("t", ["name"], [["[red]a[/red]"], ["b\x1b[31m\n"]])
    assert "[red]a[/red]" in text_of(table)
    assert "b?[31m?" in text_of(table)
    assert "\x1b" not in text_of(table)


def test_tables_are_plain_ascii_and_fit_80_columns(retrieval: xr.DataTree) -> None:
    finite = assay.summarize(assay.metrics(retrieval, estimand="finite"))
    population = assay.summarize(assay.metrics(retrieval, estimand="population"))
    reliability = frames.reliability_frame(retrieval)
    task = assay.load_task("retrieval")
    shown = text_of(
        result_tables.metrics_table({"finite": finite, "population": population}),
        *rater_tables.binary_tables(reliability, task),
    )
    assert shown.isascii()
    assert max(map(len, shown.splitlines())) <= 80
    # No cell was wrapped: a line of each system stands under each of the six metrics.
    assert sum(line.startswith("  system_") for line in shown.splitlines()) == 12
    assert shown.count(" to ") == 2 * 12 + 2 * 4 * 3


def test_tables_name_estimand_reference_and_kind(retrieval: xr.DataTree) -> None:
    finite = assay.summarize(assay.metrics(retrieval, estimand="finite"))
    reference = retrieval.attrs["reference"]
    metrics = text_of(result_tables.metrics_table({"finite": finite}), width=200)
    assert f"Estimand finite: these items. Reference: {reference}." in metrics
    uneven = text_of(result_tables.metrics_table({"finite": finite}, weights=[1.0, 0.5]), width=200)
    assert "Estimand finite: these items, all alike." in uneven
    assert "all alike" not in text_of(
        result_tables.metrics_table({"finite": finite}, weights=[2.0, 2.0])
    )
    panels = " 3 items have no rating."
    assert f"raters.{panels}" in text_of(
        result_tables.metrics_table({"finite": finite}, panels=panels), width=200
    )
    raw = frames.reliability_frame(retrieval, "raw")
    raters = text_of(*rater_tables.binary_tables(raw, assay.load_task("retrieval")), width=200)
    assert "Kind raw: before the interface blocks contradictions." in raters
    labels = frames.labels_frame(retrieval)
    shown = text_of(result_tables.labels_table(labels, 300, export=labels), width=200)
    assert f"Estimand: these items. Reference: {reference}." in shown


def test_a_metric_of_another_estimand_is_marked() -> None:
    line = {
        "metric": "hit", "system": "", "estimand": "population (model-based: 5 clusters)",
        "mean": 0.5, "lower": 0.4, "upper": 0.6, "level": 0.9, "undefined": 0.25,
        "reference": "gold", "doubt": "",
    }  # fmt: skip
    shown = text_of(result_tables.metrics_table({"population": pd.DataFrame([line])}))
    assert "0.50 (0.40 to 0.60)*,**" in shown
    assert "\n* population (model-based: 5 clusters)" in shown
    assert "\n** undefined in 25.0% of the draws, which are left out" in shown
    assert "90% interval" in shown


def test_labels_frame_agrees_with_the_probabilities(retrieval: xr.DataTree) -> None:
    frame = frames.labels_frame(retrieval)
    table = assay.label_probabilities(retrieval)
    assert len(frame) == table.sizes["item"] * table.sizes["label"]
    line = frame.iloc[7]
    there = table.sel(item=line["item"], label=line["label"])
    assert line["probability"] == there.max().item()
    assert line["class"] == there["class"].values[there.values.argmax()]
    assert line["p[yes]"] == there.sel({"class": "yes"}).item()
    assert set(frame["estimand"]) == {"finite"}


def test_least_certain_comes_first(retrieval: xr.DataTree) -> None:
    frame = frames.labels_frame(retrieval)
    least = frames.least_certain(frame, 5)
    assert least["probability"].is_monotonic_increasing
    assert least["probability"].iloc[-1] == frame["probability"].nsmallest(5).iloc[-1]


def test_check_shows_each_finding_and_cuts_long_tables() -> None:
    report = check(simulate("single", n_items=60, n_raters=15, rng=1))
    shown = " ".join(text_of(*render.check_parts(report), width=300).split())
    for finding in report.findings:
        assert str(finding) in shown
    assert "3 more lines: see --json" in shown


def test_convergence_says_what_the_method_leaves_out(retrieval: xr.DataTree) -> None:
    told, *warned = fit_words.convergence_words(retrieval)
    assert told.startswith("Posterior mode only")
    assert warned == assay.inference.diagnostics.fit_warnings(retrieval)


def mode(*, accuracy: float, weight: float, misnamed: bool = False, visited: float = 0.0) -> Mode:
    return Mode(
        x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=accuracy, chance=0.5,
        weight=weight, misnamed=misnamed, visited=visited,
    )  # fmt: skip


def test_a_heavy_mode_whose_labels_a_few_draws_alone_have_is_told() -> None:
    chosen = mode(accuracy=0.8, weight=0.55, visited=0.999)
    (note,) = mode_warnings([chosen, mode(accuracy=0.8, weight=0.45, visited=0.001)])
    assert (note.code, note.level) == ("other-mode", "warning")
    assert note.numbers == {"weight": 0.45, "visited": 0.001}
    assert mode_warnings([chosen, mode(accuracy=0.8, weight=0.45, visited=0.2)]) == []


@pytest.mark.parametrize(
    ("first", "visited", "count"), [(False, 0.9, 1), (False, 0.1, 0), (True, 0.9, 0)]
)
def test_draws_at_a_mode_with_other_names_are_a_reason_for_doubt(
    first: bool, visited: float, count: int
) -> None:
    chosen = mode(accuracy=0.8, weight=1e-9, misnamed=first, visited=1 - visited)
    other = mode(accuracy=0.6, weight=1.0, misnamed=True, visited=visited)
    notes = mode_warnings([chosen, other])
    tree = xr.DataTree()
    tree.attrs["warnings"] = notes_json(notes)
    assert len(fit_words.doubts(tree)) == len(notes) == count
    assert all((n.code, n.numbers["visited"]) == ("left-mode", 0.9) for n in notes)


@pytest.mark.parametrize(
    ("other", "count"),
    [(mode(accuracy=0.2, weight=1e-9), 0), (mode(accuracy=0.2, weight=0.3), 1)],
)
def test_a_negligible_mode_is_not_worth_a_word(other: Mode, count: int) -> None:
    notes = mode_warnings([mode(accuracy=0.8, weight=0.9), other])
    tree = xr.DataTree()
    tree.attrs["warnings"] = notes_json(notes)
    assert len(fit_words.doubts(tree)) == len(notes) == count
    assert all((n.code, n.numbers["weight"]) == ("other-mode", other.weight) for n in notes)


def test_what_is_said_aside_is_no_reason_for_doubt_whatever_its_words() -> None:
    tree = xr.DataTree()
    notes = [
        Note("Chains differ, and its weight is negligible."),
        Note("Chain 3 was made again.", level="note"),
    ]
    tree.attrs["warnings"] = notes_json(notes)
    assert fit_words.doubts(tree) == notes[:1]


def test_a_best_system_is_shown_where_metrics_have_a_direction() -> None:
    draws = np.random.default_rng(1).random((1, 50, 3))
    data = xr.Dataset(
        {name: (("chain", "draw", "system"), draws, {"estimand": "finite"}) for name in ("m", "n")},
        {"system": list("ABC")},
        {"reference": "consensus of all raters"},
    )
    pairs, ranks = result_tables.comparison_tables(
        compare_draws(data, {"m": "neither", "n": "higher"})
    )
    assert "\nm\n" in text_of(pairs)
    assert "n (better is higher)" in text_of(ranks)
    assert "m (better" not in text_of(ranks)
    assert "without a better direction have no best system" in text_of(ranks, width=200)
    assert (
        len(result_tables.comparison_tables(compare_draws(data, dict.fromkeys("mn", "neither"))))
        == 1
    )


def test_systems_are_compared_on_metrics_by_their_titles() -> None:
    draws = np.random.default_rng(1).random((1, 50, 3))
    titles = {"mrr[ok]": "MRR of ok", "own": "", "a": "Same", "b": "Same"}
    data = xr.Dataset(
        {
            name: (("chain", "draw", "system"), draws, {"estimand": "finite", "title": title})
            for name, title in titles.items()
        },
        {"system": list("ABC")},
        {"reference": "consensus of all raters"},
    )
    pairs, ranks = result_tables.comparison_tables(
        compare_draws(data, dict.fromkeys(titles, "higher"))
    )
    shown = text_of(pairs, width=200).splitlines()
    for line in ("MRR of ok (mrr[ok])", "own", "a", "b"):
        assert line in [one.strip() for one in shown]
    assert "MRR of ok (better is higher)" in text_of(ranks, width=200)


def test_caption_says_which_metric_has_another_estimand() -> None:
    draws = np.random.default_rng(1).random((1, 50, 2))
    estimands = {"m": "population", "n": "population (model-based: 9 clusters)"}
    variables = {
        name: (("chain", "draw", "system"), draws, {"estimand": said})
        for name, said in estimands.items()
    }
    data = xr.Dataset(variables, {"system": list("AB")}, {"reference": "gold"})
    shown = text_of(
        *result_tables.comparison_tables(compare_draws(data, dict.fromkeys("mn", "higher")))
    )
    wanted = "Estimand population of m; population (model-based: 9 clusters) of n. Reference"
    assert wanted in " ".join(shown.split())
    data["n"].attrs["estimand"] = "population"
    found = compare_draws(data, dict.fromkeys("mn", "higher"))
    assert "Estimand population. Reference" in text_of(*result_tables.comparison_tables(found))


def test_what_is_undefined_is_called_so() -> None:
    draws = np.full((1, 4, 3), np.nan)
    data = xr.Dataset(
        {"m": (("chain", "draw", "system"), draws, {"estimand": "finite"})},
        {"system": list("ABC")},
        {"reference": ""},
    )
    shown = text_of(*result_tables.comparison_tables(compare_draws(data, {"m": "higher"})))
    assert "nan" not in shown
    assert shown.count("undefined") == 12  # each cell


def test_a_comparison_says_which_draws_and_which_items_it_has_not_seen() -> None:
    draws = np.random.default_rng(1).random((1, 8, 3))
    draws[0, :6, 2] = np.nan
    data = xr.Dataset(
        {"m": (("chain", "draw", "system"), draws, {"estimand": "finite"})},
        {"system": list("ABC")},
        {"reference": "gold", "n_items_unrated": 2},
    )
    found = compare_draws(data, {"m": "higher"})
    panels = " 2 items have no rating: the model predicts their labels."
    shown = text_of(*result_tables.comparison_tables(found), width=200)
    assert f"Reference: gold.{panels} Among 3 comparisons" in shown
    assert "\n* undefined in 75.0% of the draws" in shown
    assert shown.count(")*") == 2  # both contrasts with C, and not that of A and B


def groups_shown(estimands: list[str], undefined: list[float]) -> str:
    """Two strata and their mean; a stratum without an estimand lacks a system."""
    lines = pd.DataFrame(
        {"metric": "m", "group": ["de", "en", MEAN_OF_GROUPS], "a": "A", "b": "B",
         "estimand": estimands, "clusters": 9, "undefined": undefined, "level": 0.95,
         "reference": "gold", "doubt": ""}
    )  # fmt: skip
    for name in ("difference", "pooled"):
        lines[[name, f"{name}_lower", f"{name}_upper"]] = 0.1, -0.2, 0.4
        lines.loc[lines["estimand"] == "", name] = np.nan
    return " ".join(text_of(result_tables.groups_table(lines.assign(pooled_p_greater=0.7))).split())


def test_a_stratum_that_lacks_a_system_does_not_name_the_estimand_of_all() -> None:
    shown = groups_shown(["", "finite", "finite"], [1.0, 0.0, 0.0])
    assert "Estimand finite. Reference: gold." in shown
    assert "de 9 undefined" in shown
    assert "of the draws" not in shown
    shown = groups_shown(["", "finite", "finite"], [1.0, 0.25, 0.25])
    assert "* undefined in 25.0% of the draws" in shown


def test_long_names_of_metrics_and_systems_do_not_fold_intervals_within_strata() -> None:
    lines = pd.DataFrame(
        {"metric": "misleading_context_rate_at_k", "group": ["cornish", "de", MEAN_OF_GROUPS],
         "a": "a system with a long name\x1b", "b": "another", "estimand": "population",
         "clusters": 12, "undefined": 0.0, "level": 0.95, "reference": "gold", "doubt": ""}
    )  # fmt: skip
    for name in ("difference", "pooled"):
        lines[[name, f"{name}_lower", f"{name}_upper"]] = -0.1, -0.2, 0.4
    shown = text_of(result_tables.groups_table(lines.assign(pooled_p_greater=0.7))).splitlines()
    row = "cornish 12 -0.10 (-0.20 to 0.40) -0.10 (-0.20 to 0.40) 0.70"
    assert row in [" ".join(line.split()) for line in shown]
    assert 'misleading_context_rate_at_k: "a system with a long name' in "\n".join(shown)
    assert "\x1b" not in "".join(shown)
    assert "(mean) 12 -0.10 (-0.20 to 0.40) 0.70" in [" ".join(line.split()) for line in shown]


def test_strata_of_which_the_model_alone_tells_are_said_to_differ_alike() -> None:
    whole = "population"
    assert "the same difference between systems" not in groups_shown([whole] * 3, [0.0] * 3)
    few = modelled("9 clusters")
    shown = groups_shown([whole, few, modelled("in 1 of 2 groups")], [0.0] * 3)
    assert "Estimand population." in shown
    assert "same difference between systems in all strata" in shown


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.001, 0.4), "0.200 (0.001 to 0.400)"),
        ((-0.0004, 0.4), "0.2000 (-0.0004 to 0.4000)"),
        ((0.0, 0.4), "0.20 (0.00 to 0.40)"),
        ((-0.4, -0.003), "-0.400 to -0.003 (mean 0.200)"),
        ((np.nan, np.nan), "0.20 (no interval)"),
    ],
)
def test_a_difference_shows_whether_its_interval_holds_0(
    ends: tuple[float, float], said: str
) -> None:
    assert gap(0.2, *ends) == said


def test_many_shares_of_undefined_draws_have_one_mark() -> None:
    shares = result_tables._undefined([0.0, 0.25, 0.5, 1.0])
    assert shares[0] == shares[3] == ""
    assert shares[1].startswith("undefined in 25.0% of the draws")
    many = result_tables._undefined([0.1, 0.2, 0.3, 0.872])
    assert set(many) == {"undefined in 10.0% to 87.2% of the draws, which are left out"}


def test_a_table_narrows_names_before_numbers() -> None:
    rows = [["a head"], ["a rather long name of a system", "0.10 (0.02 to 0.30)", "0.5"]]
    table = make_table("t", ["System", "Value", "P"], rows, marks={"a doubt": "*"})
    shown = text_of(table, width=36).splitlines()
    assert "0.10 (0.02 to 0.30)  0.5" in shown[4]
    assert max(map(len, shown)) <= 36
    assert shown[3] == "a head"
    assert shown[-1] == "* a doubt"


def test_one_table_is_markdown_latex_html_and_numbers(tmp_path: Path) -> None:
    rows = [["head"], ["<a_b>", "-0.5"]]
    frame = pd.DataFrame({"x": [0.125]})
    table = replace(
        make_table("Cap", ["N", "V"], rows, note="Said.", marks={"d": "*"}), frame=frame
    )
    for suffix, part in ((".md", "| \\<a_b> | -0.5 |\n\nSaid.\n\n* d"),
                         (".tex", "% Said.\n% * d\n"), (".csv", "0.125")):  # fmt: skip
        table.write(tmp_path / f"t{suffix}")
        assert part in (tmp_path / f"t{suffix}").read_text(encoding="utf-8")
    html = table.to_html()
    assert '<td class="number">−0.5</td>' in html
    assert "&lt;a_b&gt;" in html
    assert "Said. * d." in html
    assert "1 more line." in table.to_html(1)


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    frame = pd.DataFrame({"n": list("abc"), "p": [0.5, 1.0, np.nan], "tiny": [100.2, 0.004, 2.0]})
    cells = [row.cells for row in table_of("", "", frame, {c: c for c in frame}).rows]
    assert [line[1] for line in cells] == ["0.50", "1.00", "undefined"]
    assert [line[2] for line in cells] == ["100.200", "0.004", "2.000"]
