from assay.io.files.encodings import odd_signs


def test_signs_of_a_wrong_encoding_are_counted() -> None:
    assert (odd_signs("MŸller, J„ger"), odd_signs("O’Brien, ¿Qué?")) == (2, 0)
