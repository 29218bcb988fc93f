import pandas as pd

from assay.io.statuses import says_submission


def test_accepted_and_ignored_are_statuses() -> None:
    assert says_submission(pd.Series(["accept", "ignore", ""], dtype="str"))
