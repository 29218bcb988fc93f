"""The wording of one message of each family; all other tests go by codes and numbers."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import AssayError, RatingsError
from assay.codes import FAMILIES
from assay.data.task import Label, Task
from assay.inference.convergence import nuts_warnings
from assay.reporting.comparisons import NO_PEOPLE
from assay.studies.judges.budget import prices_given

ONCE = [(n, "ab"[n % 2], "xy"[n % 3 == 0]) for n in range(40)]


def table(rows: list[tuple[int, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def test_each_family_has_one_wording_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    words = set(re.findall(r'[\["]([a-z]+(?:-[a-z]+)*)[\]"]', text))
    told = {family.title: len(words & set(family.codes)) for family in FAMILIES}
    assert told == dict.fromkeys(told, 1)


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


def test_a_note_on_what_was_read() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["Joy", "JOY", "x"]})
    (note,) = assay.read_ratings(table, task="single").accounting.notes
    assert note == (
        "classes of label that differ only in upper and lower case are merged, JOY as Joy; a task "
        "file that lists the classes keeps them apart"
    )
    assert (note.code, note.level, note.numbers) == ("cases-merged", "note", {"classes": 1})


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
    assert NO_PEOPLE.to_dict() == {
        "code": "people-not-named",
        "level": "note",
        "numbers": {},
        "what": "Human ratings alone, beside the model",
        "why": "the human raters were not named",
        "enable": "the names of the human raters or rater groups (`human=`)",
    }


def test_a_refusal_of_a_study() -> None:
    with pytest.raises(AssayError) as caught:
        prices_given(None, max_cost=2.0)
    assert str(caught.value) == (
        "`max_cost=` needs the prices of a million tokens sent and answered: `prices=`"
    )
    assert (caught.value.code, caught.value.numbers) == ("budget-prices", {})


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
