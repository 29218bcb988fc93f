"""What check says of small data holds together: what depends on the prior, what can be learned."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks import Finding


def rated(times: dict[int, int], n_raters: int = 3, classes: str = "ab") -> list[Finding]:
    """Check so many items, by how many raters rate each; nearly all answers are right."""
    rng = np.random.default_rng(8)
    lines = []
    for item, count in enumerate(np.repeat(list(times), list(times.values()))):
        truth = item % len(classes)
        for rater in rng.permutation(n_raters)[:count]:
            said = truth if rng.random() < 0.9 else rng.integers(len(classes))
            lines.append((f"i{item}", f"rater {rater}", classes[said]))
    table = pd.DataFrame(lines, columns=["item", "rater", "label"])
    return list(assay.check(assay.read_ratings(table, task="single")).findings)


def about_reliability(found: list[Finding]) -> Finding:
    (finding,) = [
        f
        for f in found
        if f.code in ("learnable-reliability", "reliability-from-prior", "agreement-alone")
    ]
    return finding


def leaning(found: list[Finding]) -> str:
    return "\n".join(f.text for f in found if f.topic == "dependence on the prior")


@pytest.mark.parametrize("times", [{3: 10}, {2: 10}, {1: 30}, {1: 30, 3: 10}, {1: 30, 2: 1}])
@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_little_is_never_said_to_be_enough(times: dict[int, int], classes: str) -> None:
    found = rated(times, classes=classes)
    said = about_reliability(found)
    assert said.level == "warning"
    assert said.leans
    assert said.code == "reliability-from-prior"
    assert "no-prior-leaning" not in [f.code for f in found]


@pytest.mark.parametrize("once", [0, 5])
def test_items_with_one_rater_do_not_take_from_what_others_tell(once: int) -> None:
    said = about_reliability(rated({3: 60, 1: once}))
    assert said.level == "note"
    assert not said.leans
    assert said.code == "learnable-reliability"
    assert said.numbers == pytest.approx({"items": 60, "spread": 0.03873}, rel=1e-3)
    assert said.text.endswith("from shared items")


def test_how_well_a_reliability_can_be_known_is_its_sd() -> None:
    right = np.random.default_rng(9).random((20_000, 60)) < 0.9
    assert right.mean(axis=1).std() == pytest.approx(0.04, abs=0.005)


def test_many_items_of_few_of_each_class_are_little() -> None:
    found = rated({3: 100}, classes="abcdefgh")
    said = about_reliability(found)
    assert (said.code, said.numbers) == ("reliability-from-prior", {"items": 100})
    assert said.leans


def test_a_seldom_class_is_left_out_of_what_can_be_learned() -> None:
    found = rated({3: 120}, classes="a" * 9 + "b")
    assert "b on about" in leaning(found)
    assert about_reliability(found).text.endswith(
        ", except for the classes that depend on the prior"
    )
    assert about_reliability(rated({3: 120})).text.endswith("from shared items")


def test_of_a_crowd_the_mean_alone_is_learned() -> None:
    found = rated({3: 120}, n_raters=90)
    (few,) = (f for f in found if f.code == "few-shared-items")
    assert (few.numbers["of"], few.numbers["items"]) == (90, 10)
    said = about_reliability(found)
    assert said.code == "learnable-reliability"
    assert "mean reliability" in said.text


@pytest.mark.parametrize(("triples", "how"), [(0, "not"), (2, "hardly")])
def test_pairs_tell_which_way_raters_err_neither_here_nor_there(triples: int, how: str) -> None:
    found = rated({2: 98, 3: triples}, n_raters=5)
    (pairs,) = (f for f in found if f.code == "two-ratings-items")
    assert pairs.numbers == {"items": 98, "settled": triples, "wanted": 20 - triples}
    said = about_reliability(found)
    assert (said.code, said.numbers) == ("agreement-alone", {"items": 98 + triples})
    assert said.text.endswith(f"but {how} the direction of errors")


def test_more_items_than_there_are_are_asked_for_in_words() -> None:
    assert "for at least 20 such items (there are 10)" in leaning(rated({2: 10}))
    assert "for at least 20 such items (there is 1)" in leaning(rated({2: 1, 1: 9}))


@pytest.mark.parametrize(("column", "word"), [("system", "systems"), ("stratum", "strata")])
def test_pairs_of_two_populations_tell_as_far_as_these_differ(column: str, word: str) -> None:
    """Hui and Walter's design: what two raters an item leave open, the populations tell."""
    rows = [(n, r, "ab"[n % 2], "AB"[n % 3 == 0]) for n in range(80) for r in "xy"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", column])
    found = list(assay.check(assay.read_ratings(table, task="single")).findings)
    assert f"and on differences between {word}" in leaning(found)
    said = about_reliability(found).text
    assert said.endswith(f"; differences between {word} inform the direction of errors")
