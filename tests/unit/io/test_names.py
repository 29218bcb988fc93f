from assay.io.names import bare, squash


def test_prefixes_of_flattened_exports_are_dropped() -> None:
    assert bare("Input.message_id") == bare("message_id")


def test_case_and_separators_do_not_matter() -> None:
    assert squash("Annotator ID") == squash("annotator_id")
