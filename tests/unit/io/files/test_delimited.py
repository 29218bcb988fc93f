import pandas as pd

from assay.io.files.delimited import lacks_header, with_tabs


def test_columns_separated_by_spaces_are_found() -> None:
    assert with_tabs("item rater label\n1 a  x\n") == "item\trater\tlabel\n1\ta\tx"
    assert (with_tabs("item,rater\n1,a\n"), with_tabs("a short note\non what was done\n")) == (
        None,
        None,
    )


def test_a_row_is_no_header() -> None:
    cells = [["t1", "bob", "no"], ["t2", "ann", "yes"], ["t2", "bob", "no"]]
    assert lacks_header(pd.DataFrame(cells, columns=["t1", "ann", "yes"]))
    assert not lacks_header(pd.DataFrame(cells, columns=["item", "ann", "yes"]))
