from assay.studies.judges.ranking import window_places


def test_windows_overlap_and_reach_the_top() -> None:
    assert window_places(7, window=4, step=2) == [(3, 7), (1, 5), (0, 3)]
    assert window_places(1, window=2, step=1) == []
