"""A specification is a value: names are checked, recipes are written one way."""

import json
import warnings

import pytest
from refusals import refusal

import assay
from assay._util.errors import FitWarning, ModelError, UnknownNameError
from assay.data.task import Label, Task
from assay.modelling.spec import CONSENSUS, Recipe, make_spec, parse_recipe, raters_for, recipes


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("pooled", "pooled"),
        ("item_difficulty", "hierarchical + item_difficulty"),
        ("drift+dawid_skene", "dawid_skene + drift"),
        (" mace  +  drift + item_difficulty ", "mace + drift + item_difficulty"),
    ],
)
def test_a_recipe_is_a_family_and_its_layers(text: str, written: str):
    assert str(parse_recipe(text)) == written
    assert make_spec(text).raters == written
    assert parse_recipe(written) == parse_recipe(text)


def test_the_default_recipe_is_the_default_family_with_hard_items():
    assert Recipe() == parse_recipe("hierarchical")
    assert parse_recipe(make_spec().raters) == Recipe(layers=("item_difficulty",))


MORE = Label(name="tone", classes=("low", "mid", "high"))


@pytest.mark.parametrize(
    ("labels", "default"),
    [
        ((Label(name="a"), Label(name="b")), "hierarchical + item_difficulty"),
        ((MORE,), "ability_bias + item_difficulty"),
        ((Label(name="a"), MORE), "ability_bias + item_difficulty"),
    ],
)
def test_the_default_goes_by_the_classes_of_the_labels(labels: tuple[Label, ...], default: str):
    task = Task(name="moods", labels=labels)
    assert raters_for(task, None) == default
    assert raters_for(task, "pooled") == "pooled"
    ratings = assay.simulate(task, n_items=20, n_raters=3, ratings_per_item=3, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=2, chains=1, starts=1, progress=False)
    assert json.loads(fit.attrs["spec"])["raters"] == default


@pytest.mark.parametrize(
    ("raters", "error", "words"),
    [
        ("pooled + mace", ModelError, "recipe-families"),
        ("pooled + drift + drift", ModelError, "recipe-repeats"),
        ("hierarchical + dirft", UnknownNameError, "unknown-catalogue-name"),
        ("", UnknownNameError, "unknown-catalogue-name"),
        (3, ModelError, "recipe-syntax"),
        ({"human": "pooled + mace"}, ModelError, "recipe-families"),
        ({"human": None}, ModelError, "recipe-syntax"),
    ],
)
def test_recipes_that_cannot_be_are_refused_in_words(
    raters: object, error: type[Exception], words: str
):
    with pytest.raises(error, check=refusal(words)):
        make_spec(raters)


@pytest.mark.parametrize(
    ("options", "error", "words", "code"),
    [
        (
            {"prevalence": "dirichlett"},
            UnknownNameError,
            "did you mean dirichlet",
            "unknown-catalogue-name",
        ),
        ({"replicates": "apart"}, ModelError, "valid: together, independent", "argument-choice"),
    ],
)
def test_other_names_are_checked_too(options: dict, error: type[Exception], words: str, code: str):
    with pytest.raises(error, match=words, check=refusal(code)):
        make_spec(**options)


def test_each_group_of_the_data_has_one_recipe():
    spec = make_spec({"expert": "pooled", "crowd": "drift"})
    found = recipes(spec, ("crowd", "expert"))
    assert list(found) == ["crowd", "expert"]
    assert found["crowd"].layers == ("drift",)
    assert recipes(make_spec("mace"), ("a", "b")) == dict.fromkeys("ab", parse_recipe("mace"))


@pytest.mark.parametrize(
    ("groups", "words", "code"),
    [
        (
            ("experts",),
            r"names a group 'expert' that no rater is in; did you mean experts",
            "unknown-group",
        ),
        (
            ("crowd", "expert"),
            r"rater groups crowd.* `raters={'expert': 'pooled', 'crowd",
            "groups-without-recipe",
        ),
    ],
)
def test_groups_that_do_not_fit_the_data_are_said_in_words(
    groups: tuple[str, ...], words: str, code: str
):
    with pytest.raises(ModelError, match=words, check=refusal(code)):
        recipes(make_spec({"expert": "pooled"}), groups)


@pytest.mark.parametrize(
    ("reference", "words"),
    [(None, CONSENSUS), ("gold", "gold"), ("expert", "consensus of expert")],
)
def test_whose_truth_is_meant_is_said_in_words(reference: str | None, words: str):
    assert make_spec(reference=reference).truth == words
