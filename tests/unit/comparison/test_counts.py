"""Comparisons of counts: Beta posteriors in closed form, and bad tables."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from scipy import stats

from assay._util.errors import RatingsError
from assay.comparison import compare_counts


def table(**columns):
    return pd.DataFrame({"system": ["A", "B"], "successes": [150, 180], "total": 200} | columns)


def test_posteriors_are_beta():
    systems = compare_counts(table(), draws=50_000, rng=3).systems.set_index("system")
    for name, x in (("A", 150), ("B", 180)):
        beta = stats.beta(1 + x, 1 + 200 - x)
        error = beta.std() / np.sqrt(50_000)
        assert systems.loc[name, "mean"] == pytest.approx(beta.mean(), abs=5 * error)
        assert systems.loc[name, "lower"] == pytest.approx(beta.ppf(0.025), abs=0.002)
        assert systems.loc[name, "upper"] == pytest.approx(beta.ppf(0.975), abs=0.002)
    assert set(systems["estimand"]) == {"population"}


def test_probability_of_being_greater_is_that_of_two_betas():
    """P(X > Y) for independent betas, by quadrature."""
    pairs = compare_counts(table(successes=[160, 170]), draws=50_000, rng=4).pairs
    a, b = stats.beta(161, 41), stats.beta(171, 31)
    grid = np.linspace(0, 1, 20_001)
    exact = np.trapezoid(a.pdf(grid) * b.cdf(grid), grid)
    assert pairs["p_greater"].iloc[0] == pytest.approx(exact, abs=5 * 0.5 / np.sqrt(50_000))


def test_metrics_have_their_own_directions():
    both = pd.concat([table(metric="good"), table(metric="bad", better="lower")])
    found = compare_counts(both).clearly_worse(0.99)
    best = found.set_index("metric")["best"].to_dict()
    assert best == {"good": "B", "bad": "A"}
    assert found.loc[found["clearly_worse"], "system"].tolist() == ["A", "B"]


def test_a_metric_may_have_no_direction_and_one_line_may_say_so():
    both = pd.concat([table(metric="share", better=["neither", None]), table(metric="good")])
    found = compare_counts(both)
    directions = found.systems.groupby("metric", sort=False)["better"].unique().map(list)
    assert directions.to_dict() == {"share": ["neither"], "good": ["higher"]}
    assert found.systems["p_best"].notna().tolist() == [False, False, True, True]


def test_same_seed_gives_the_same_numbers():
    first, second = (compare_counts(table(), rng=5).pairs for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize(
    ("bad", "said", "code"),
    [
        (table().drop(columns=["total"]), "no column 'total'", "counts-table"),
        (table(successes=[150, 201]), "successes=201, total=200", "counts-numbers"),
        (table(successes=[0.75, 0.9]), "percentage", "counts-numbers"),
        (table(successes=["many", 3]), "successes=many", "counts-numbers"),
        (table(total=0, successes=0), "total at least 1", "counts-numbers"),
        (table(system="A"), "2 lines for 'A'", "counts-table"),
        (table(metric=["x", "y"]), "0 lines for 'B'", "counts-table"),
        (table(better="up"), "allowed: higher, lower, neither", "counts-table"),
        (table(better=["lower", "higher"]), "better is lower and higher", "counts-table"),
    ],
)
def test_bad_tables_are_refused(bad, said, code):
    with pytest.raises(RatingsError, match=said, check=refusal(code)):
        compare_counts(bad)


def test_all_problems_are_told_at_once():
    with pytest.raises(RatingsError, check=refusal("counts-numbers")):
        compare_counts(table(successes=[201, -1], better="up"))
