from assay._util.files import escaped_cell


def test_escaped_cell_example() -> None:
    assert (escaped_cell("=1+1"), escaped_cell("-1"), escaped_cell("B - A")) == (
        "'=1+1",
        "-1",
        "B - A",
    )
