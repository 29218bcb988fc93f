"""One study in many files gives one set of ratings: cases at ../shared/cases, if they are here."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io import read_ratings

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases"
pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the cases at ../shared/cases are not here"
)
RATERS = ["ann", "bob", "cy"]
FILES: dict[str, dict[str, Any]] = {
    "x.tsv": {},
    "x.json": {},
    "x.jsonl": {},
    "x.parquet": {},
    "x.feather": {},
    "rater_long.csv": {},
    "wide.csv": {"wide": RATERS},
}


def said(ratings: Ratings) -> pd.DataFrame:
    """Return the answer of each rater to each item."""
    answers = np.array(ratings.task.labels[0].classes)[ratings.answers[:, 0]]
    items, raters = ratings.items.index[ratings.item], ratings.raters.index[ratings.rater]
    return pd.crosstab(items, raters, answers, aggfunc="first")


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    """Return the study as crowd-kit has it."""
    return said(read_ratings(CASES / "formats" / "crowdkit.csv"))


@pytest.mark.parametrize("name", FILES)
def test_a_study_is_the_same_from_every_file(name: str, reference: pd.DataFrame) -> None:
    found = said(read_ratings(CASES / "formats" / name, **FILES[name]))
    pd.testing.assert_frame_equal(found, reference, check_names=False)


@pytest.mark.parametrize("name", ["rater_wide.csv", "rater_grouped.csv"])
def test_tables_without_items_have_the_same_patterns(name: str, reference: pd.DataFrame) -> None:
    found = said(read_ratings(CASES / "formats" / name, wide=RATERS))
    assert found.value_counts().to_dict() == reference.value_counts().to_dict()


def test_a_form_is_read_in_both_ways_that_its_refusal_offers() -> None:
    path = CASES / "reading" / "07-respondent-rows" / "input.csv"
    with pytest.raises(RatingsError) as caught:
        read_ratings(path)
    assert caught.value.go_on == {"wide_items": "*"}
    ratings = read_ratings(path, wide_items="*")
    assert (len(ratings.items), len(ratings.raters)) == (20, 5)
    turned = read_ratings(path, wide="*")
    assert (len(turned.items), len(turned.raters)) == (5, 20)


def test_counts_give_the_agreement_that_fleiss_has() -> None:
    from assay.raters.agreements import agreement

    path = CASES / "reading" / "08-count-table" / "input.csv"
    table = agreement(read_ratings(path, counts=["a", "b", "c"])).table.set_index("statistic")
    assert round(float(table.loc["fleiss_kappa", "value"]), 3) == 0.346
