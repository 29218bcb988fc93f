from assay._util.files import escaped_cell


def test_formulas_get_an_apostrophe() -> None:
    assert (escaped_cell("=1+1"), escaped_cell("-1"), escaped_cell("B - A")) == (
        "'=1+1",
        "-1",
        "B - A",
    )
