from assay.io.arguments import Arguments


def test_the_callers_arguments_take_precedence_over_the_format() -> None:
    assert Arguments(item="text").with_known({"item": "id", "rater": "who"}).roles["rater"] == "who"
