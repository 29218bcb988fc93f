from assay.io.formats.annotation_answers import one_or_several


def test_json_lists_are_several_options() -> None:
    assert (one_or_several('["calm", "sad"]'), one_or_several("calm")) == (("calm", "sad"), "calm")
