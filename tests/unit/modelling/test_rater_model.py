"""Parts: who is modelled how, whose prior is whose, and which ratings count as one."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.modelling.prior_names import owner_of
from assay.modelling.rater_model import CategoricalRaterModel, ScorePart
from assay.modelling.replicates import collect_repeats
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

CHANCES = np.array([0.5, 0.3, 0.2])


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return assay.simulate(
        "relevance",
        n_items=20,
        groups={"human": 2, "model": 3},
        ratings_per_item=4,
        replicates=2,
        rng=4,
    )


def structure_of(ratings: Ratings, *args: object, **options: object) -> Structure:
    return build_structure(ratings, make_spec(*args, **options))


def alone(answers: list[int], consistency: float) -> float:
    """P(these ratings of an item by one rater), each answer having the chance of ``CHANCES``."""
    row = np.array(answers)
    here = np.zeros(len(row), np.int64)
    found = collect_repeats(row, here, here, here, here, together=True)
    table = found.table(np.log(CHANCES)[:, None], np.array([consistency]), np)
    return float(np.exp(table[found.row[found.row >= 0][0], 0]))


# -- repeated ratings ----------------------------------------------------------------


@pytest.mark.parametrize("consistency", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_chances_of_all_ratings_of_an_item_add_up_to_one(count: int, consistency: float):
    # The three answers are always there, so that a row of the table is an answer.
    total = 0.0
    for answers in product(range(3), repeat=count):
        row = np.array([*answers, 0, 1, 2])
        item = np.array([0] * count + [1, 2, 3])
        nobody = np.zeros(len(row), np.int64)
        found = collect_repeats(row, nobody, item, nobody, nobody, together=True)
        table = found.table(np.log(CHANCES)[:, None], np.array([consistency]), np)
        first = found.row[:count]
        total += float(np.exp(table[first[first >= 0][0], 0]))
    assert total == pytest.approx(1, abs=1e-12)


def test_the_order_of_repeated_ratings_does_not_matter():
    found = {alone(list(order), 0.4) for order in permutations([0, 0, 1, 2])}
    assert max(found) == pytest.approx(min(found), rel=1e-12)


def test_the_urn_by_hand():
    expected = 0.5 * (0.6 * 0.5 + 0.4) * (0.6 * 0.3) / (1.4)
    assert alone([0, 0, 1], 0.4) == pytest.approx(expected, rel=1e-12)
    assert alone([0, 1, 2], 0.0) == pytest.approx(0.03, rel=1e-12)


def test_only_ratings_of_one_voice_item_and_kind_are_one():
    row = np.array([0, 0, 1, 0, 1, -1])
    voice = np.array([0, 0, 0, 1, 0, 0])
    item = np.array([0, 0, 0, 0, 1, 0])
    kind = np.array([0, 0, 1, 0, 0, 0])
    found = collect_repeats(row, voice, item, kind, voice, together=True)
    assert (found.row >= 0).tolist() == [True, False, True, True, True, False]
    assert len(found.urns) == 1
    assert found.count == len(set(found.row[found.row >= 0].tolist())) == 3
    apart = collect_repeats(row, voice, item, kind, voice, together=False)
    np.testing.assert_array_equal(apart.row, row)


@pytest.mark.parametrize("raters", ["hierarchical", "pooled"])
def test_only_one_persons_ratings_are_joined(ratings: Ratings, raters: str):
    """Raters who share a confusion do not share an opinion."""
    (part,) = structure_of(ratings, raters).parts
    pairs = len(set(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True)))
    assert (part.repeats.row >= 0).sum() == pairs
    assert all(len(urn) == 2 for urn in part.repeats.urns)


def test_without_repeated_ratings_there_is_no_consistency():
    once = assay.simulate("single", n_items=10, rng=1)
    names = [p.name for p in structure_of(once, "pooled").parameters()]
    assert "consistency_mean" not in names


# -- groups --------------------------------------------------------------------------


def test_one_recipe_makes_one_part_and_a_mapping_one_for_each_group(ratings: Ratings):
    (part,) = structure_of(ratings).parts
    assert part.name == part.prefix == ""
    human, model = structure_of(ratings, {"model": "scored", "human": "one_coin"}).parts
    assert (human.prefix, model.prefix) == ("human.", "model.")
    assert isinstance(human, CategoricalRaterModel)
    assert isinstance(model, ScorePart)
    assert human.raters.names == ("rater_1", "rater_2")
    assert model.members.tolist() == [2, 3, 4]
    group = ratings.raters["group"].to_numpy()[ratings.rater]
    np.testing.assert_array_equal(human.unit >= 0, group == "human")
    np.testing.assert_array_equal(model.unit >= 0, group == "model")


def test_parameters_and_dims_of_a_part_have_its_name(ratings: Ratings):
    structure = structure_of(ratings, {"model": "one_coin", "human": "one_coin"})
    found = {p.name: p for p in structure.parameters()}
    assert {"human.accuracy", "model.accuracy", "human.consistency_mean"} <= set(found)
    assert found["model.accuracy"].dims == ("model.rater",)
    assert found["model.accuracy"].shape == (3,)
    values = {k: p.prior for k, p in found.items()}
    assert set(structure.parts[0].own(values)) == {
        "accuracy",
        "consistency_mean",
        "consistency_sd",
        "consistency_offset",
    }


# -- priors --------------------------------------------------------------------------


def prior_of(structure: Structure, name: str) -> tuple[float, ...]:
    return next(p.prior.values for p in structure.parameters() if p.name == name)


def test_a_prior_by_name_is_for_all_parts_and_one_with_an_owner_for_one(ratings: Ratings):
    structure = structure_of(
        ratings,
        {"model": "one_coin", "human": "one_coin"},
        priors={"accuracy": "Beta(7, 3)", "human.accuracy": "Beta(20, 2)"},
    )
    np.testing.assert_array_equal(np.unique(prior_of(structure, "human.accuracy")[0]), [20])
    np.testing.assert_array_equal(np.unique(prior_of(structure, "model.accuracy")[0]), [7])


def test_a_rater_or_group_can_have_a_prior_of_its_own(ratings: Ratings):
    by_rater = structure_of(ratings, "one_coin", priors={"rater_2.accuracy": "Beta(20, 2)"})
    counts = np.broadcast_to(prior_of(by_rater, "accuracy")[0], 5)
    assert counts[1] == 20
    assert (np.delete(counts, 1) != 20).all()
    priors = {"human.mean_correct": "Normal(5, 0.1)"}
    means = prior_of(structure_of(ratings, priors=priors), "logit_mean")[0]
    assert (means[0] == 5).sum() == 3  # the right answer of each of three classes
    assert (means[1] != 5).all()


@pytest.mark.parametrize(
    ("raters", "prior", "words", "code"),
    [
        ("one_coin", "sd", "is not used", "prior-unknown"),
        ("one_coin", "human.sd", "is not used", "prior-unknown"),
        (
            "one_coin",
            "nobody.accuracy",
            "no rater group .nobody.",
            "unknown-rater",
        ),
        ("one_coin", "misperceived", "is not used", "prior-unknown"),
        ("hierarchical", "human.sdd", "is not used", "prior-unknown"),
        (
            "hierarchical",
            "human.consistency_sd",
            "cannot have a prior 'consistency_sd'",
            "prior-unknown",
        ),
    ],
)
def test_priors_that_nothing_reads_are_refused(
    ratings: Ratings, raters: str, prior: str, words: str, code: str
):
    with pytest.raises(ModelError, match=words, check=refusal(code)):
        structure_of(ratings, raters, priors={prior: "Beta(1, 1)"})


def test_names_with_dots_belong_to_the_longest_owner():
    assert owner_of("gpt-4.1.accuracy", ("gpt-4", "gpt-4.1")) == "gpt-4.1"
    assert owner_of("accuracy", ("gpt-4",)) is None


# -- known truth ---------------------------------------------------------------------


def test_audits_that_contradict_each_other_name_the_item(ratings: Ratings):
    same = np.flatnonzero(ratings.item == 3)[:2]
    answers = ratings.answers.copy()
    answers[same] = 1
    audit = np.full(answers.shape, -1, np.int8)
    audit[same[0]], audit[same[1]] = 1, 0
    said = r"audits of 1 item contradict each other or .*: item_4\. .* Correct or clear"
    with pytest.raises(ModelError, match=said, check=refusal("audit-contradiction")):
        structure_of(replace(ratings, answers=answers, audit=audit))


def test_an_audit_that_found_a_rating_right_is_as_good_as_gold(ratings: Ratings):
    audit = np.full(ratings.answers.shape, -1, np.int8)
    audit[0] = 1
    truth = ratings.truth.copy()
    truth[ratings.item[0]] = ratings.answers[0]
    checked, gold = (
        structure_of(replace(ratings, **known)) for known in ({"audit": audit}, {"truth": truth})
    )
    rng = np.random.default_rng(2)
    values = gold.draw(rng)
    assert checked.log_likelihood(values) == gold.log_likelihood(values)
