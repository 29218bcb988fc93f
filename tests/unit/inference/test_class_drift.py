"""A class whose items mostly get the answer of another is named; the others are not."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.inference.class_drift import DriftedClass, label_sums, reference_drifts
from assay.inference.diagnostics import name_warnings
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def structure_of(classes: tuple[str, ...]) -> Structure:
    ratings = assay.simulate("single", classes=classes, n_items=20, n_raters=3, rng=1)
    return build_structure(ratings, make_spec("pooled", "dirichlet"))


def test_a_class_called_by_the_name_of_another_is_named() -> None:
    structure = structure_of(("no", "partially", "yes"))
    drawn = {p.name: p.shape for p in structure.parameters()}
    (name,) = (n for n in drawn if n.startswith("confusion"))
    table = np.array([[0.9, 0.05, 0.05], [0.1, 0.7, 0.2], [0.05, 0.6, 0.35]])
    values = {n: np.full((10, *shape), 1 / 3) for n, shape in drawn.items()}
    values[name][:] = table.reshape(drawn[name])
    (said,) = name_warnings(structure, values)
    assert said.code == "class-name-doubt"
    assert said.numbers == pytest.approx({"own": 0.35, "other": 0.6})
    assert said.index("'yes'") < said.index("'partially'")
    # In three of ten draws the answer of its own is the most frequent one: not sure enough.
    values[name][:3] = np.array([[0.9, 0.05, 0.05], [0.1, 0.7, 0.2], [0.05, 0.3, 0.65]]).reshape(
        drawn[name]
    )
    assert name_warnings(structure, values) == []


@pytest.mark.parametrize("sensitivity", [0.2, 0.9])
def test_two_classes_are_left_alone(sensitivity: float) -> None:
    structure = structure_of(("no", "yes"))
    values = {p.name: np.full((10, *p.shape), 0.5) for p in structure.parameters()}
    (name,) = (n for n in values if n.startswith("confusion"))
    shape = values[name].shape[1:]
    table = np.array([[0.9, 0.1], [1 - sensitivity, sensitivity]])
    values[name][:] = table.reshape(shape)
    assert name_warnings(structure, values) == []


def with_reference(reference: str | None) -> tuple[Structure, np.ndarray]:
    """Thirty items that three people rate, and all of them alike; and two models, at random."""
    rng = np.random.default_rng(1)
    truth = np.arange(30) % 2
    table = pd.DataFrame(
        {
            "item": np.tile(np.arange(30), 5),
            "rater": np.repeat(["a", "b", "c", "x", "y"], 30),
            "kind": np.repeat(["person"] * 3 + ["llm"] * 2, 30),
            "label": np.concatenate([np.tile(truth, 3), rng.integers(2, size=60)]),
        }
    )
    ratings = assay.read_ratings(table, task="single", group="kind")
    raters = {"person": "hierarchical", "llm": "hierarchical"}
    return build_structure(ratings, make_spec(raters, "dirichlet", reference)), truth


def drifts(structure: Structure, probabilities: np.ndarray) -> list[DriftedClass]:
    return list(reference_drifts(structure, label_sums(structure, probabilities)))


def test_a_reference_whose_consensus_is_not_the_fit_s_is_told() -> None:
    structure, truth = with_reference("person")
    share = np.where(truth == 1, 0.9, 0.1)
    probabilities = np.stack([1 - share, share], axis=1)
    assert drifts(structure, probabilities) == []
    probabilities[truth == 1] = [0.8, 0.2]
    ((_, _, said),) = drifts(structure, probabilities)
    assert (said.code, said.numbers["items"]) == ("class-drift", 15)
    assert said.numbers["share"] == pytest.approx(0.2)


def test_a_class_that_a_reference_calls_otherwise_is_told() -> None:
    structure, truth = with_reference("person")
    share = np.where(truth == 1, 0.0, 0.95)
    found = drifts(structure, np.stack([1 - share, share], axis=1))
    said = [note for _, _, note in found]
    assert [note.code for note in said] == ["class-drift"] * 2
    assert said[0].numbers == pytest.approx({"other": 0.95, "own": 0.05}, abs=0.005)
    assert said[1].numbers == pytest.approx({"other": 1, "own": 0}, abs=0.005)


def test_without_a_reference_raters_may_be_wrong_together() -> None:
    structure, truth = with_reference(None)
    share = np.where(truth == 1, 0.2, 0.8)
    assert drifts(structure, np.stack([1 - share, share], axis=1)) == []


def test_a_rater_who_answers_an_item_again_is_no_consensus() -> None:
    """Item 0: two raters of the group. Item 1: one of them, twice. Item 2: one, of two minds."""
    said = [
        (0, "a", "yes"), (0, "b", "yes"), (1, "a", "yes"), (1, "a", "yes"), (2, "a", "yes"),
        (2, "a", "no"), *((item, "x", "no") for item in range(3)),
    ]  # fmt: skip
    table = pd.DataFrame(said, columns=["item", "rater", "label"])
    table["kind"] = np.where(table["rater"] == "x", "llm", "person")
    table["replicate"] = table.groupby(["item", "rater"]).cumcount()
    ratings = assay.read_ratings(table, task="single", group="kind")
    raters = {"person": "hierarchical", "llm": "hierarchical"}
    structure = build_structure(ratings, make_spec(raters, "dirichlet", "person"))
    (found,) = label_sums(structure, np.tile([0.0, 1.0], (3, 1)))
    assert found.consensus.tolist() == [[0, 0], [1, 1]]
    assert found.reference_answers[1] == pytest.approx([0.5, 3.5])
    assert found.said == pytest.approx([1 / 3 + 1 / 2 + 3 / 4, 2 / 3 + 1 / 2 + 1 / 4])
