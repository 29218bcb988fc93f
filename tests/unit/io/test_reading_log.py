import numpy as np
import pandas as pd

from assay.io.reading_log import find_silence


def test_unanswered_items_and_silent_raters_are_noted() -> None:
    item, rater, abstained = np.array([0, 0]), np.array([0, 1]), np.array([False, True])
    assert find_silence(item, rater, abstained, items=2, raters=pd.Index(["a", "b"])).notes()[
        1:
    ] == ["1 of 2 items has no answer; it keeps its place", "1 rater only abstained: b"]
