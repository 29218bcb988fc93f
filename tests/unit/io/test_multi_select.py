import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.data.task import Label
from assay.io import read_ratings
from assay.io.list_cells import joined_answers, task_line
from tests.refusals import refusal


def test_parts_must_be_answers_by_themselves() -> None:
    single = Label(name="label", classes=())
    assert joined_answers(["calm", "calm|sad", "sad"], single).options == ("calm", "sad")
    joined_answers(["agree, strongly", "disagree, strongly", "neutral"], single)


def test_each_option_is_a_label() -> None:
    assert task_line(["calm", "sad"]) == 'labels = [{name = "calm"}, {name = "sad"}]'


@pytest.mark.parametrize("exploded", [True, False])
def test_rows_are_options_for_the_reason_that_was_found(exploded: bool) -> None:
    chosen = [["calm", "sad", "calm"] if exploded else ["calm", "sad"], ["angry"]] * 12
    table = pd.DataFrame({"item": range(24), "rater": list("ab") * 12, "label": chosen})
    rows = table.explode("label", ignore_index=not exploded)
    with pytest.raises(RatingsError, check=refusal("multi-select-rows")) as caught:
        read_ratings(rows, replicate="row")
    assert ("never the same one twice" in str(caught.value)) != exploded
    assert ("come from one row" in str(caught.value)) == exploded
