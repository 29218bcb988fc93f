from assay.io.encodings import odd_signs


def test_odd_signs_example() -> None:
    assert (odd_signs("MŸller, J„ger"), odd_signs("O’Brien, ¿Qué?")) == (2, 0)
