from assay.cli.shell import with_code


def test_with_code_example() -> None:
    assert (
        with_code("error: no such rater", "unknown-rater") == "error: no such rater [unknown-rater]"
    )
