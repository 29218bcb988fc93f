"""The wording of one message of each family; all other tests go by codes and numbers."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import AssayError, RatingsError
from assay.data.task import Label, Task
from assay.inference.convergence import nuts_warnings
from assay.reporting.comparisons import NO_SYSTEMS

ONCE = [(n, "ab"[n % 2], "xy"[n % 3 == 0]) for n in range(40)]


def table(rows: list[tuple[int, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def test_a_problem_of_reading() -> None:
    with pytest.raises(RatingsError) as caught:
        assay.read_ratings(table(ONCE), task="single", group={"a": "people"})
    assert str(caught.value) == (
        "1 problem in the ratings (a DataFrame):\n"
        "  - `group=` names no group for 1 rater: b; add them to it [group-incomplete]\n"
        "Go on with `group={'a': 'people', 'b': 'others'}`"
    )
    (problem,) = caught.value.problems
    assert (problem.level, problem.numbers) == ("problem", {"raters": 1})


def test_a_finding_of_check() -> None:
    ratings = assay.read_ratings(table([*ONCE, (1, "a", "x")]), task="single")
    (found,) = (f for f in assay.check(ratings).findings if f.code == "single-rating-items")
    assert str(found) == (
        "[warning] 39 of 40 rated items (98%) have a single rating. Rater reliability is estimated "
        "from only 1 item, which limits the precision of rates and metrics over all items. Collect "
        "a second rating of more items"
    )


def test_a_warning_of_a_fit() -> None:
    good = pd.DataFrame({"parameter": ["a"], "r_hat": 1.0, "ess_bulk": 900.0, "ess_tail": 900.0})
    good["r_hat_limit"] = 1.01
    flags = {"diverging": np.arange(400) < 3}
    (note,) = nuts_warnings(good, flags, draws=400, target_accept=0.95)
    assert str(assay.FitWarning.of(note)) == (
        "3 of 400 transitions diverged, so the sampler may have missed a part of the posterior. "
        "Take smaller steps (`target_accept=0.98`), or use tighter priors. [divergences]"
    )


def test_a_gap_of_a_report() -> None:
    assert NO_SYSTEMS.to_dict() == {
        "code": "too-few-systems",
        "level": "note",
        "numbers": {},
        "what": "Comparison of systems",
        "why": "the ratings name fewer than two systems",
        "enable": "a column that names the system (`system=`), or a table of panels (`panels=`)",
    }


def test_a_refusal() -> None:
    kind = Label(name="kind", classes=("x", "y", "z"))
    ratings = assay.simulate(Task(name="kinds", labels=(kind,)), n_items=20, n_raters=3, rng=1)
    with pytest.raises(AssayError) as caught:
        assay.fit(ratings, raters="ordinal", method="map", draws=2, chains=1)
    assert str(caught.value) == (
        "ordinal needs ordered classes, but label kind has 3 classes without order. Write "
        "`ordered = true` under the label in the task file, or use `raters='hierarchical'`"
    )
    assert (caught.value.code, caught.value.numbers) == ("family-unfit", {"classes": 3})
