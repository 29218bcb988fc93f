import pandas as pd

from assay.io.arrow_files import with_class_names


def test_with_class_names_example() -> None:
    frame = pd.DataFrame({"tone": [1, 0, -1], "n": [1, 2, 3]})
    assert (
        repr(with_class_names(frame, {"tone": {"names": ["bad", "good"]}})["tone"].tolist())
        == "['good', 'bad', nan]"
    )
