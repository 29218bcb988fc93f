from assay.io.json_records import flattened, looks_like_json, records_of, without_lone_surrogates


def test_looks_like_json_example() -> None:
    assert [
        looks_like_json(text) for text in ('[{"a": 1}]', '{"a": 1}\n{"a": 2}', "[id],label")
    ] == [True, True, False]


def test_without_lone_surrogates_example() -> None:
    assert (
        without_lone_surrogates(r'"\ud83d\ude00 \ud83d \\ud83d"') == '"\\ud83d\\ude00 ? \\\\ud83d"'
    )


def test_records_of_example() -> None:
    assert records_of({"item": ["a", "b"], "label": [1, 0]}) == [
        {"item": "a", "label": 1},
        {"item": "b", "label": 0},
    ]
    assert records_of({"data": [{"item": "a"}], "version": 1}) == [{"item": "a"}]


def test_flattened_example() -> None:
    rows, of = flattened([{"id": 7, "ratings": [{"rater": "a", "says": {"label": "x"}}] * 2}])
    assert (rows[0], of) == ({"id": 7, "rater": "a", "label": "x"}, [0, 0])
