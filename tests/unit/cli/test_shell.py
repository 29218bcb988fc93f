from assay.cli.shell import with_code


def test_a_code_ends_the_text() -> None:
    assert (
        with_code("error: no such rater", "unknown-rater") == "error: no such rater [unknown-rater]"
    )
