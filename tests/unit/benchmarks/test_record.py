"""The record of what the package computes: equal to itself, and different where a number is."""

import numpy as np
import pytest

from benchmarks import record

CASES = (
    "single one_coin map", "grounding pooled dirichlet em", "retrieval drift laplace",
    "generation halo laplace", "retrieval copies laplace",
)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_record_equals_itself(name: str):
    first, again = record.record(name), record.record(name)
    assert len(first) > 50
    assert not [k for k in first if "refused" in k]
    assert record.differences(first, again) == []


def test_differences_are_named():
    before = {"a fit: x": "1", "a fit: y": "2", "a fit: gone": "3"}
    after = {"a fit: x": "1", "a fit: y": "5", "a fit: new": "3"}
    told = ["gone: a fit: gone", "new: a fit: new", "differs: a fit: y"]
    assert record.differences(before, after) == told


def test_a_hash_sees_the_last_bit_the_shape_and_the_type():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    others = [np.nextafter(x, 9), x.reshape(2, 2), x.astype(np.float32), x[::-1]]
    assert len({record.hash_of(y) for y in [x, *others]}) == 5
    assert record.hash_of(x) == record.hash_of(x.copy())


def test_findings_are_held_by_code_level_topic_and_numbers_not_by_words():
    ratings = record.ratings_of("single", {"raters": "one_coin"})
    held = record.hashes_of_check(record.assay.check(ratings))
    code, level, *_ = held["finding 0"].split()
    assert (code, level) == ("rows-used", "ok")
    assert not any(len(v.split()) > 60 for v in held.values())
