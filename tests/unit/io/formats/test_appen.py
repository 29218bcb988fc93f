"""Full reports of Appen, with test questions as known truth."""

import pytest

from assay._util.errors import RatingsError
from tests.fixtures.formats.make.study import rich
from tests.refusals import refusal
from tests.studies import notes_of, read


def test_appen_gold_is_truth_unless_it_allows_several_classes() -> None:
    ratings = read("appen_rich.csv")
    _, gold = rich()
    column = ratings.task.label_names.index("sentiment")
    known = {
        int(name) - 700000: int(code)
        for name, code in zip(ratings.items.index, ratings.truth[:, column], strict=True)
        if code >= 0
    }
    classes = ratings.task.labels[column].classes
    single = {int(i[1:]): classes.index(g.sentiment) for i, g in gold.items()
              if g.sentiment != "neg"}  # fmt: skip
    assert known == single
    assert "gold-of-several" in notes_of(ratings)
    assert (ratings.truth[:, ratings.task.label_names.index("news")] >= 0).sum() == len(gold)


def test_the_aggregated_report_is_refused() -> None:
    with pytest.raises(RatingsError, check=refusal("aggregated-report")):
        read("appen_aggregated.csv")
