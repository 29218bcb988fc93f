from assay.io.arguments import Arguments


def test_with_known_example() -> None:
    assert Arguments(item="text").with_known({"item": "id", "rater": "who"}).roles["rater"] == "who"
