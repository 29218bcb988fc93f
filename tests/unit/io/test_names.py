from assay.io.names import bare, squash


def test_bare_example() -> None:
    assert bare("Input.message_id") == bare("message_id")


def test_squash_example() -> None:
    assert squash("Annotator ID") == squash("annotator_id")
