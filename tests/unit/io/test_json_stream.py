from assay.io.json_stream import stream_records


def test_objects_are_numbered() -> None:
    assert list(stream_records('[{"a": 1}, {"a": 2}]', "a.json")) == [(1, {"a": 1}), (2, {"a": 2})]
