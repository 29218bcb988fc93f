import pandas as pd

from assay.io.statuses import says_submission


def test_says_submission_example() -> None:
    assert says_submission(pd.Series(["accept", "ignore", ""], dtype="str"))
