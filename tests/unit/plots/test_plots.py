"""Figures: they show what the tables say, leave pyplot alone, and take any name."""

import itertools
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay import plots
from assay._util.errors import ModelError
from assay.comparison import compare, compare_draws
from assay.display.frames import reliability_frame
from assay.evaluation import majority_metrics, variance_budget
from assay.fits.datatree import ratings_of
from assay.fits.simulate import simulate
from assay.plots.metrics import draw_metrics, metric_titles
from assay.plots.raters import (
    SHOWN_RATERS,
    draw_confusions,
    draw_raters,
    shown_confusions,
    shown_raters,
    weakest,
)
from assay.plots.style import Series, figure_of, forest, panel_grid, short
from assay.raters.agreements import agreement


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = simulate(
        "retrieval", n_items=80, n_raters=4, n_systems=2, n_clusters=20, ratings_per_item=2, rng=5
    )
    return assay.fit(ratings, method="map", draws=50, chains=2, starts=1, rng=1)


@pytest.mark.parametrize("name", plots.__all__)
def test_every_figure_has_an_example(name: str) -> None:
    assert f"{name}(" in getattr(plots, name).__doc__.split("Examples")[1]


def words(figure: Any) -> list[str]:
    """All texts of a figure."""
    import matplotlib.text

    figure = getattr(figure, "flat", [figure])[0].get_figure(root=True)
    figure.canvas.draw()
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def test_every_figure_of_a_fit_draws_without_pyplot(fit: xr.DataTree) -> None:
    before = "matplotlib.pyplot" in sys.modules
    for name in ("plot_metrics", "plot_raters", "plot_confusions", "plot_labels"):
        figure = getattr(plots, name)(fit, width=5.0)
        assert getattr(figure, "flat", [figure])[0].figure.get_figwidth() == 5.0
        assert any("rater_1" in w or "system_1" in w or "item_" in w for w in words(figure)), name
    assert ("matplotlib.pyplot" in sys.modules) == before


@pytest.mark.parametrize(("high", "area"), [(np.nextafter(0.4, 1), False), (0.41, True)])
def test_draws_that_differ_by_rounding_alone_are_a_point(high: float, area: bool) -> None:
    values = np.tile([0.4, 0.3], (1, 20, 1))
    values[0, 0, 0] = high
    sample = xr.DataArray(values, {"system": ["A", "B"]}, ("chain", "draw", "system"))
    sample.attrs.update(estimand="finite", reference="gold")
    found = compare_draws(sample.to_dataset(name="m"), {"m": "higher"})
    axes = plots.plot_comparison(found)
    assert any("Fill" in type(one).__name__ for one in axes.collections) == area


def test_a_forest_puts_lines_of_one_heading_together() -> None:
    index = pd.MultiIndex.from_tuples([("a", "x"), ("b", "x"), ("a", "y")])
    values = pd.DataFrame({"mean": [1.0, 2, 3], "lower": [0.0, 1, 2], "upper": [2.0, 3, 4]}, index)
    figure = forest([Series(name="one", values=values)], label="value")
    axes = figure.axes[0]
    names = {round(t): label.get_text() for t, label in zip(
        axes.get_yticks(), axes.get_yticklabels(), strict=True
    )}  # fmt: skip
    # Heading a, its two lines, heading b, its line.
    assert names == {1: "x", 2: "y", 4: "x"}


def test_a_forest_leaves_out_what_is_undefined() -> None:
    index = pd.MultiIndex.from_tuples([("", "x"), ("", "y")])
    nan = float("nan")
    values = pd.DataFrame({"mean": [1.0, nan], "lower": [0.0, nan], "upper": [2.0, nan]}, index)
    axes = forest([Series(name="one", values=values)], label="value").axes[0]
    assert [len(line.get_xdata()) for line in axes.get_lines()] == [1]


def test_metrics_are_those_of_the_summary(fit: xr.DataTree) -> None:
    table = assay.summarize(assay.metrics(fit, estimand="finite"))
    axes = plots.plot_metrics(fit)
    drawn = axes.get_lines()[0].get_xdata()
    assert sorted(drawn) == pytest.approx(sorted(table["mean"]))


def test_the_weakest_raters_are_shown(fit: xr.DataTree) -> None:
    frame = reliability_frame(fit)
    right = frame[frame["true_class"] == frame["reported_class"]]
    means = right.groupby("rater")["mean"].mean()
    assert weakest(right, 1) == [means.idxmin()]
    assert len(weakest(right, SHOWN_RATERS)) == 4


@pytest.mark.parametrize(
    ("classes", "lines", "maps"), [(2, 24, 12), (3, 24, 12), (6, 12, 6), (40, 4, 4)]
)
def test_fewer_raters_are_shown_where_there_are_many_classes(
    classes: int, lines: int, maps: int
) -> None:
    names = [f"c{n}" for n in range(classes)]
    cells = itertools.product([f"r{n:02d}" for n in range(30)], ["label"], names, names)
    frame = pd.DataFrame(cells, columns=["rater", "label", "true_class", "reported_class"])
    frame = frame.assign(mean=0.5, lower=0.4, upper=0.6, level=0.95, kind="recorded", doubt="")
    right = frame[frame["true_class"] == frame["reported_class"]]
    assert (shown_raters(right), shown_confusions(frame)) == (lines, maps)
    task = assay.load_task("single").with_classes({"label": tuple(names)})
    figure = draw_raters(frame, task)
    ticks = figure.axes[0].get_yticklabels()
    assert len({tick.get_text() for tick in ticks}) == lines
    assert f"the {lines} weakest of 30 raters" in " ".join(words(figure))


def test_a_figure_of_some_raters_says_so_and_one_of_those_asked_for_does_not(
    fit: xr.DataTree,
) -> None:
    frame = reliability_frame(fit)
    assert not [w for w in words(draw_confusions(frame)) if "weakest" in w]
    assert not [w for w in words(draw_confusions(frame, raters=["rater_1"])) if "weakest" in w]
    many = pd.concat([frame.assign(rater=frame["rater"] + f" {n}") for n in range(5)])
    assert any("the 12 weakest of 20 raters" in w for w in words(draw_confusions(many)))


def test_shares_of_the_budget_fill_their_bars(fit: xr.DataTree) -> None:
    budget = variance_budget(fit, metric="ndcg_at_k")
    bars = plots.plot_budget(budget).patches
    assert len(bars) == 3 * len(budget)
    assert sum(bar.get_width() for bar in bars) == pytest.approx(len(budget))


def test_a_comparison_shows_each_pair(fit: xr.DataTree) -> None:
    found = compare(fit, metric=["ndcg_at_k", "sufficiency_rate_at_k"])
    said = " ".join(words(plots.plot_comparison(found)))
    titles = {name: one.attrs["title"] for name, one in assay.metrics(fit).items()}
    assert f"{titles['ndcg_at_k']}\nsystem_1 − system_2" in said
    assert titles["sufficiency_rate_at_k"][:12] in said
    assert "_at_k" not in said


def test_metrics_can_be_chosen(fit: xr.DataTree) -> None:
    said = words(plots.plot_metrics(fit, metric="ndcg_at_k"))
    titles = {name: one.attrs["title"] for name, one in assay.metrics(fit).items()}
    assert titles["ndcg_at_k"] in said
    assert titles["sufficiency_rate_at_k"] not in said


def test_a_comparison_on_one_metric_names_it_once(fit: xr.DataTree) -> None:
    axes = plots.plot_comparison(compare(fit, metric="ndcg_at_k"))
    title = assay.metrics(fit)["ndcg_at_k"].attrs["title"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["system_1 − system_2"]
    assert axes.get_xlabel().startswith(f"{title}, difference")


def test_figures_call_metrics_by_their_titles_unless_two_are_the_same(fit: xr.DataTree) -> None:
    draws = assay.metrics(fit)
    said = [*words(plots.plot_metrics(fit)), *words(plots.plot_budget(fit))]
    assert not [word for word in said if "_at_k" in word or "mean_reciprocal" in word]
    assert any(draws["ndcg_at_k"].attrs["title"] in word for word in said)
    one, other = draws["ndcg_at_k"], draws["mean_reciprocal_rank_at_k"]
    same = xr.Dataset({"p": one.assign_attrs(title="x"), "q": other.assign_attrs(title="x")})
    assert metric_titles(same) == {"p": "p", "q": "q"}


def test_agreement_shows_what_the_model_expects(fit: xr.DataTree) -> None:
    found = agreement(ratings_of(fit), fit=fit, draws=50)
    said = words(plots.plot_agreement(found))
    assert {"observed", "expected by the model", "gwet_ac1"} <= set(said)


@pytest.mark.parametrize(
    "name", ["$x^2$", "a_very_" + "long_" * 20 + "name", "<b>&", "名前", "\x1b["]
)
def test_any_name_can_be_drawn(name: str) -> None:
    index = pd.MultiIndex.from_tuples([(name, name)])
    values = pd.DataFrame({"mean": [1.0], "lower": [0.0], "upper": [2.0]}, index)
    figure = forest([Series(name="one", values=values)], label="value")
    assert short(name) in [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert "\x1b" not in short(name)


@pytest.mark.parametrize("count", [2, 4, 8, 20])
def test_numbers_of_heat_maps_stay_apart_at_the_width_of_a_report(count: int) -> None:
    classes = [f"class {n}" for n in range(count)]
    lines = itertools.product(["a", "b", "c"], ["label"], classes, classes)
    columns = ["rater", "label", "true_class", "reported_class"]
    frame = pd.DataFrame(lines, columns=columns).assign(mean=0.96, doubt="")
    figure = draw_confusions(frame, width=4.6)
    figure.canvas.draw()
    for axes in (a for a in figure.axes if a.get_visible()):
        ends = [text.get_window_extent() for text in axes.texts[:count]]
        assert len(ends) == count
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(ends))


def test_drift_is_drawn_by_label_with_the_raters_that_move_most() -> None:
    ratings = simulate(
        "retrieval", raters="hierarchical + drift", sessions=3, n_items=40, n_raters=6, rng=1
    )
    few = assay.fit(
        ratings, raters="hierarchical + drift", method="map", draws=2, chains=1, starts=1, rng=1
    )
    panels = list(plots.plot_drift(few))
    assert [axes.get_title() for axes in panels] == list(ratings.task.label_names)
    table = assay.rater_drift(few)
    most = table.groupby("rater")["change"].agg(lambda change: change.abs().max()).idxmax()
    drawn = [line.get_label() for line in panels[0].lines]
    assert len(drawn) == 4
    assert most in drawn


def test_what_scores_mean_is_drawn_for_all_but_the_lowest_class() -> None:
    ratings = simulate("relevance", raters="scored", n_items=60, n_raters=3, rng=1)
    few = assay.fit(ratings, raters="scored", method="map", draws=2, chains=1, starts=1, rng=1)
    found = plots.plot_calibration(few)
    lines = [line.get_label() for axes in np.ravel(found) for line in axes.lines]
    assert set(lines) == set(ratings.task.labels[0].classes[1:])


@pytest.mark.parametrize(("number", "across", "down"), [(1, 1, 1), (2, 2, 1), (5, 2, 3)])
def test_panels_stand_in_rows_of_two_with_one_name_a_row(
    number: int, across: int, down: int
) -> None:
    figure, panels = panel_grid(number, 6.0, ratio=0.5, extra=0.3, label="chance")
    assert figure.get_size_inches().tolist() == [6.0, 3.0 * 0.5 * down + 0.3]
    assert len(figure.axes) == across * down
    assert [axes for axes in figure.axes if axes.get_visible()] == panels
    assert [axes.get_ylabel() == "chance" for axes in panels] == [
        n % across == 0 for n in range(number)
    ]
    panels[0].set_ylim(0, 7)
    assert {axes.get_ylim() for axes in panels} == {(0, 7)}


@pytest.mark.parametrize("name", ["plot_metrics", "plot_raters", "plot_labels", "plot_comparison"])
def test_names_of_axes_fit_beside_long_names(fit: xr.DataTree, name: str) -> None:
    """Matplotlib's layout leaves no room for a name that is wider than its axes."""
    axes = getattr(plots, name)(fit, width=4.6)
    figure = axes.figure
    axes.set_yticks(axes.get_yticks(), ["a" * 26] * len(axes.get_yticks()))
    figure.draw_without_rendering()
    extent = axes.xaxis.label.get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.x1


def test_an_estimate_without_an_interval_is_drawn_as_a_point() -> None:
    index = pd.MultiIndex.from_tuples([("", "a"), ("", "b"), ("", "c")])
    values = pd.DataFrame(
        {"mean": [0.4, 0.6, float("nan")], "lower": [float("nan"), 0.5, 0], "upper": 0.7}, index
    )
    axes = forest([Series(name="s", values=values)], label="x").axes[0]
    axes.figure.canvas.draw()
    assert list(axes.lines[0].get_xdata()) == [0.4, 0.6]


def test_agreement_says_what_it_takes_where_a_fit_is_given(fit: xr.DataTree) -> None:
    with pytest.raises(ModelError, match="not DataTree", check=refusal("argument-type")):
        agreement(fit)
    with pytest.raises(ModelError, match="not DataTree", check=refusal("argument-type")):
        plots.plot_agreement(fit)


def test_a_population_that_the_model_alone_tells_of_is_said_to_be_so(fit: xr.DataTree) -> None:
    summary = assay.summarize(assay.metrics(fit))
    vote = majority_metrics(ratings_of(fit))

    def legend(estimand: str) -> list[str]:
        figure = draw_metrics({"population": summary.assign(estimand=estimand)}, vote)
        return [text.get_text() for text in figure.legends[0].get_texts()]

    assert legend("population")[0] == "population: clusters like these"
    own = legend("population (model-based: 9 clusters)")[0]
    assert own == "population: clusters like these, as the model has them"


SINGLE = ("plot_metrics", "plot_raters", "plot_labels", "plot_comparison", "plot_budget")


@pytest.mark.parametrize("name", SINGLE)
def test_a_plot_draws_on_axes_that_are_given_and_returns_them(fit: xr.DataTree, name: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert getattr(plots, name)(fit, ax=right) is right
    assert right.get_children() != []
    assert right.get_xlabel() != ""
    assert left.get_xlabel() == ""
    assert figure.axes == [left, right]
    with pytest.raises(ModelError, check=refusal("axes-argument")):
        getattr(plots, name)(fit, ax="right")


def test_panels_take_as_many_axes_as_they_have(fit: xr.DataTree) -> None:
    from matplotlib.figure import Figure

    grid = Figure().subplots(1, 3)
    found = plots.plot_confusions(fit, raters="rater_1", ax=grid)
    assert found is grid
    assert all("rater_1" in axes.get_title() for axes in grid)
    with pytest.raises(ModelError, match="3 matplotlib Axes", check=refusal("axes-argument")):
        plots.plot_confusions(fit, raters="rater_1", ax=grid[:2])


def test_a_notebook_shows_what_a_plot_returns(fit: xr.DataTree) -> None:
    for found in (plots.plot_raters(fit), plots.plot_confusions(fit, raters="rater_1")):
        assert found._repr_png_().startswith(b"\x89PNG")


def test_bars_are_told_apart_in_grey(fit: xr.DataTree) -> None:
    for axes in (plots.plot_budget(fit), plots.plot_labels(fit)):
        hatches = {bar.get_hatch() or "" for bar in axes.patches}
        assert len(hatches) > 1


def looks(line: Any) -> tuple[object, ...]:
    """Return what distinguishes a line in grey: its marker, whether it is hollow, its dashes."""
    hollow = line.get_markerfacecolor() != line.get_color()
    return line.get_marker(), hollow, str(line._dash_pattern)


def test_series_are_told_apart_in_grey(fit: xr.DataTree) -> None:
    observed, expected = plots.plot_agreement(agreement(ratings_of(fit), fit=fit)).lines[:2]
    assert looks(observed)[1] != looks(expected)[1]
    values = pd.DataFrame({"mean": 0.5, "lower": 0.4, "upper": 0.6}, index=[("a", "b")])
    many = [Series(name=str(n), values=values) for n in range(8)]
    drawn = [line for line in forest(many, label="x").axes[0].lines if line.get_marker() != "None"]
    assert len({looks(line)[:2] for line in drawn}) == 8


def long_names(ratings: Any) -> Any:
    names = [f"annotator of the second vendor, number {n}" for n in range(len(ratings.raters))]
    return replace(ratings, raters=ratings.raters.set_index(pd.Index(names, name="rater")))


def inside(figure: Any) -> bool:
    """Return whether a figure holds all that is drawn on it."""
    figure.canvas.draw()
    box = figure.get_tightbbox().padded(-0.01)
    return bool((box.min >= 0).all() and (box.max <= figure.get_size_inches()).all())


@pytest.mark.parametrize("count", [2, 8, 25])
def test_walks_are_told_apart_in_grey_below_any_names(count: int) -> None:
    ratings = simulate("single", raters="dawid_skene + drift", classes=["no", "yes"], sessions=3,
                       n_items=40, n_raters=count, ratings_per_item=2, rng=1)  # fmt: skip
    few = assay.fit(long_names(ratings), raters="dawid_skene + drift", method="map", draws=4,
                    chains=1, starts=1, rng=1)  # fmt: skip
    axes = plots.plot_drift(few)
    assert len({looks(line)[2] for line in axes.lines}) == len(axes.lines) == min(count, 4)
    bands = {str(band.get_linestyle()) for band in axes.collections}
    assert len(bands) == min(count, 4)
    assert inside(axes.figure)
    said = f"the 4 of {count} raters that change most"
    assert (said in words(axes)) == (count > 4)


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
@pytest.mark.parametrize("count", [2, 8])
def test_curves_are_told_apart_in_grey_below_any_names(count: int) -> None:
    ratings = simulate(
        "relevance", raters="scored", n_items=60, n_raters=count, ratings_per_item=2, rng=1
    )
    few = assay.fit(long_names(ratings), raters="scored", method="map", draws=4, chains=1,
                    starts=1, rng=1)  # fmt: skip
    panels = plots.plot_calibration(few)
    for axes in panels:
        assert len({looks(line)[2] for line in axes.lines}) == 2
        assert axes.get_legend() is None
    figure = figure_of(panels[0])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["partially", "yes"]
    assert inside(figure)
    assert ("the first 6 of 8 panels" in words(figure)) == (count == 8)


@pytest.mark.parametrize("width", [4.0, 5.2, 9.0])
def test_the_label_of_a_comparison_is_within_its_figure(width: float) -> None:
    draws = np.random.default_rng(1).uniform(0.2, 0.4, (1, 50, 2))
    sample = xr.DataArray(draws, {"system": ["A", "B"]}, ("chain", "draw", "system"))
    sample.attrs.update(estimand="finite", reference="gold")
    name = "Share of abusive answers to it = 1"
    found = compare_draws(sample.to_dataset(name=name), {name: "higher"})
    axes = plots.plot_comparison(found, width=width)
    figure = figure_of(axes)
    figure.canvas.draw()
    label = axes.xaxis.label.get_window_extent()
    assert label.x0 >= 0
    assert label.x1 <= figure.bbox.width
    assert ("\n" in axes.get_xlabel()) == (width < 9)
