"""The decision rule for intervals and its wording; pairs, regions and the order of systems."""

import numpy as np
import pandas as pd

from assay.comparison.contrasts import contrast, pairs_of, rope_ends
from assay.comparison.decisions import chance, conclusion, sign, verdict_on, with_interval
from assay.comparison.groups import _of_the_mean
from assay.comparison.multiplicity import by_chance
from assay.comparison.orientation import leading_first, turned
from assay.evaluation.estimands import modelled


def test_an_interval_settles_a_region_and_a_sign():
    assert verdict_on(0.01, 0.07, (0.0, np.inf)) == "supported"
    assert verdict_on(0.01, 0.07, (0.03, np.inf)) == "undecided"
    assert verdict_on(0.01, 0.02, (0.03, np.inf)) == "contradicted"
    assert [sign(0.01, 0.2), sign(-0.1, 0.2), sign(-0.2, -0.1)] == [1, 0, -1]


def test_conclusions_name_the_higher_system_or_a_tie():
    ends = [(-0.3, -0.1), (-0.3, 0.1), (-0.3, 0.0), (0.0, 0.0)]
    assert [conclusion("A", "B", *e) for e in ends] == [
        "B is higher", "the sign is open", "B is at least as high", "they are equal",
    ]  # fmt: skip


def test_intervals_have_the_decimals_that_marks_need():
    assert with_interval(0.062, 0.035, 0.089, 0.95) == "0.062 (95% interval 0.035 to 0.089)"
    marked = with_interval(0.062, 0.0349, 0.089, 0.95, marks=[0.035])
    assert marked == "0.0620 (95% interval 0.0349 to 0.0890)"
    outside = with_interval(0.012, 0.02, 0.02, 0.95)
    assert outside == "0.02 to 0.02 (95% interval; mean 0.01)"


def test_chances_near_0_and_1_are_bounds():
    said = [chance(p) for p in (0.5, 0.987, 1.0, 0.0, float("nan"))]
    assert said == ["= 0.50", "= 0.987", "> 0.999", "< 0.001", "is undefined"]


def test_pairs_regions_and_names():
    assert pairs_of(["A", "B", "C"], baseline="B") == [("A", "B"), ("C", "B")]
    assert rope_ends(0.02) == (-0.02, 0.02)
    assert contrast("A", "A + reranker") == 'A - "A + reranker"'
    assert contrast('the "new" one', "A", 0.5) == "'the \"new\" one' - 0.5 * A"


def test_comparisons_that_are_clear_by_chance_are_counted():
    lines = pd.DataFrame({"a": "A", "b": list("BCDE"), "difference": 0.1, "level": 0.95})
    assert by_chance(lines).startswith(" Among 4 comparisons, up to 0.2 intervals (95%)")
    assert by_chance(lines[:1]) == ""


def test_the_better_system_leads_and_contrasts_follow_the_order():
    lines = pd.DataFrame(
        {"metric": "m", "system": ["A", "B"], "mean": [2, 1], "better": "lower", "doubt": ""}
    )
    assert leading_first(lines) == ["B", "A"]
    line = pd.DataFrame({"a": ["A"], "b": ["B"], "difference": [-0.2], "p_greater": [0.01]})
    line = line.assign(difference_lower=-0.3, difference_upper=-0.1)
    back = turned(line, ["B", "A"]).iloc[0]
    assert back["a"] == "B"
    assert [back[f"difference{end}"] for end in ("", "_lower", "_upper")] == [0.2, 0.1, 0.3]
    assert back["p_greater"] == 0.99


def test_the_order_of_systems_is_that_of_the_directed_metrics_without_doubt():
    means = {
        "plain": ("neither", "", [2, 1, 3]),
        "sure": ("lower", "", [1, 2, 3]),
        "doubted": ("higher", "drift", [1, 3, 2]),
        "again": ("higher", "", [1, 3, 2]),
    }
    lines = pd.DataFrame(
        [
            {"metric": name, "system": system, "mean": mean, "better": better, "doubt": doubt}
            for name, (better, doubt, of) in means.items()
            for system, mean in zip("ABC", of, strict=True)
        ]
    )

    def order(*names):
        return "".join(leading_first(lines[lines["metric"].isin(names)]))

    assert order("plain") == "CAB"
    assert order("plain", "sure") == order("sure", "doubted") == "ABC"
    assert order("plain", "doubted") == "BCA"
    assert order("sure", "again") == "BAC"  # places 1 and 3, 2 and 1, 3 and 2


def test_the_estimand_of_a_mean_of_groups_counts_the_modelled_ones():
    named = _of_the_mean(["population", modelled("9 clusters"), ""], "population")
    assert named == "population (model-based: in 1 of 2 groups)"
