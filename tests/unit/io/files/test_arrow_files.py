import pandas as pd

from assay.io.files.arrow_files import with_class_names


def test_codes_become_class_names() -> None:
    frame = pd.DataFrame({"tone": [1, 0, -1], "n": [1, 2, 3]})
    assert (
        repr(with_class_names(frame, {"tone": {"names": ["bad", "good"]}})["tone"].tolist())
        == "['good', 'bad', nan]"
    )
