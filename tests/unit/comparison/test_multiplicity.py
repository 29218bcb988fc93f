"""Contrasts that are counted once."""

import numpy as np
import pandas as pd

from assay.comparison.multiplicity import without_mirrors


def test_a_mirror_is_an_earlier_contrast_with_the_sign_turned() -> None:
    values = [0.1, 0.1, -0.1, 0.0, 0.0, np.nan, np.nan]
    lines = pd.DataFrame({"a": "A", "b": "B", "difference": values})
    assert list(without_mirrors(lines, "difference").index) == [0, 1, 3, 4, 5, 6]
    assert len(without_mirrors(lines.assign(b=list("BCDEFGH")), "difference")) == 7
