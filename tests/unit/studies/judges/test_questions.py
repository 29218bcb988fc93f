from assay.studies.judges.questions import confidence_name


def test_confidence_lines_are_named_after_their_label() -> None:
    assert (confidence_name("Guess"), confidence_name("helpful")) == (
        "Confidence",
        "helpful confidence",
    )
