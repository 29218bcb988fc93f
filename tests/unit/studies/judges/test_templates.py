from assay.studies.judges.templates import filled, slots_of


def test_slots_are_named_once_and_doubled_braces_are_text() -> None:
    assert slots_of("Query: {query} {{as JSON}} {document} {query}") == ("query", "document")


def test_braces_in_values_stay_as_they_are() -> None:
    assert filled("{query} {{x}}", {"query": "{document}?"}) == "{document}? {x}"
