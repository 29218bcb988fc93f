from assay.studies.judges.questions import confidence_name


def test_confidence_name_example() -> None:
    assert (confidence_name("Guess"), confidence_name("helpful")) == (
        "Confidence",
        "helpful confidence",
    )
