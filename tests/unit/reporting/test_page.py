"""Cells, names and sentences as a page writes them."""

import re
import warnings
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from report_pages import mode_of, simulated

from assay._util.html import coded, command_html, foldable, with_minus
from assay.comparison.decisions import chance_said
from assay.display.result_tables import by_metric
from assay.display.table import cell_text
from assay.modelling.priors import Prior
from assay.plots import plot_metrics
from assay.reporting.answers import shortest
from assay.reporting.data import prior_words
from assay.reporting.page import to_svg


def test_cells_are_rounded_named_and_printable():
    cells = [cell_text(cell) for cell in (0.12345, float("nan"), "a\x1b", True)]
    assert cells == ["0.123", "undefined", "a?", "yes"]


def test_the_name_of_an_option_stays_on_one_line() -> None:
    several = str(command_html("assay task init\n# If so:\nassay run a.csv"))
    # Each command is a block of its own, and so is what it assumes.
    assert [*re.findall(r'<b class="(\w+)">', several)] == ["line", "choice", "line"]
    found = str(command_html("assay run a-b.csv --target-accept 0.95 -o 'x & y'"))
    assert "a-b.csv <span>--target-accept</span> 0.95 <span>-o</span>" in found
    assert "&amp;" in found


def test_names_break_after_signs_and_are_escaped():
    assert str(foldable("prevalence[tone=a<b]")) == "prevalence[<wbr>tone=<wbr>a&lt;b]"
    # Two names stand as wide as their longest part, and an address folds before its host.
    assert str(foldable("system_2 − system_1")) == "system_2 − system_1"
    assert str(foldable("LegacyTree")) == "Legacy<wbr>Tree"
    assert str(foldable("b.kaya@uni-x.de")) == "b.kaya<wbr>@uni-x.de"
    assert str(foldable("nDCG@10")) == "nDCG@10"


@pytest.mark.parametrize("rule", [".pair thead wbr { display: inline; }", "break-word"])
def test_names_fold_where_their_parts_meet_at_any_width(rule):
    css = (files("assay.reporting") / "report.css").read_text(encoding="utf-8")
    assert rule in css


def test_marked_code_is_shown_as_code():
    shown = str(coded("fit with `raters='mace'`, or < `"))
    assert shown == "fit with <code>raters=&#39;mace&#39;</code>, or &lt; `"


def test_numbers_and_differences_have_a_minus_sign():
    assert with_minus("A - B is -0.2 (-0.3 to 0.1), gpt-4") == "A − B is −0.2 (−0.3 to 0.1), gpt-4"


def test_lines_without_systems_are_metrics():
    lines = pd.DataFrame({"metric": ["flag_rate"], "system": [""], "told": ["0.2"]})
    expected = {"metric": "Metric", "told": "Posterior"}
    assert by_metric(lines, {"told": "Posterior"}) == (expected, "")


def test_sentences_of_page_one():
    assert [chance_said(p) for p in (0.5, 1.0)] == ["= 0.50", "> 0.99"]
    assert shortest("word " * 26, "A short one.") == "A short one."


def test_priors_with_several_numbers_show_their_range():
    prior = Prior(name="Normal", values=(np.array([0.0, 2.0]), np.array([1.0, 1.0])))
    assert prior_words(prior) == "Normal(mu=0 to 2, sigma=1)"


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_letters_that_the_font_of_the_drawing_lacks_stay_letters() -> None:
    figure = plot_metrics(mode_of(simulated())).figure
    figure.axes[0].set_xlabel("日本")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "日本" in to_svg(figure, name="x", words="words")
