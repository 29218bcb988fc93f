from assay.io.annotation_answers import one_or_several


def test_one_or_several_example() -> None:
    assert (one_or_several('["calm", "sad"]'), one_or_several("calm")) == (("calm", "sad"), "calm")
