from assay.studies.judges.templates import filled, slots_of


def test_slots_of_example() -> None:
    assert slots_of("Query: {query} {{as JSON}} {document} {query}") == ("query", "document")


def test_filled_example() -> None:
    assert filled("{query} {{x}}", {"query": "{document}?"}) == "{document}? {x}"
