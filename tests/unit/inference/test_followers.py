"""Score tests of raters who join others who agree."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks.departures.search import Departure, search
from assay.fits.view import FitView
from assay.inference.data_doubts import departures_of
from assay.inference.density import make_density, unconstrain
from assay.inference.followers import find_followers, find_following, score_tests
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode
from assay.inference.precision import dense
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

SHORT = {"draws": 100, "chains": 1, "progress": False}
USUAL = "hierarchical + item_difficulty"


def table(
    follows: float, *, right: tuple[float, ...], count: int = 60, seed: int = 1
) -> pd.DataFrame:
    """Return ratings of queries of five items; raters are right in shares ``right``.

    In a share ``follows`` of the items on which all others agree, the last rater repeats them.
    """
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(count), 5)
    truth = rng.random(len(query)) < 1 / (1 + np.exp(-rng.normal(size=count)))[query]
    correct = rng.random((len(query), len(right))) < right
    said = np.where(correct, truth[:, None], ~truth[:, None])
    agree = (said[:, :-1] == said[:, :1]).all(axis=1) & (rng.random(len(query)) < follows)
    said[:, -1] = np.where(agree, said[:, 0], said[:, -1])
    said[0] = np.arange(len(right)) % 2  # no rater's other raters agree on the first item
    item, rater = np.indices(said.shape).reshape(2, -1)
    return pd.DataFrame(
        {"item": item, "rater": [f"r{j + 1}" for j in rater], "query": query[item],
         "label": np.where(said.ravel(), "yes", "no")}
    )  # fmt: skip


def model(rows: pd.DataFrame, raters: str = USUAL) -> Structure:
    ratings = assay.read_ratings(rows, task="single", cluster="query")
    return build_structure(ratings, make_spec(raters))


def found(rows: pd.DataFrame) -> list[Departure]:
    """Return what the test finds at the mode of the usual model."""
    structure = model(rows)
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=1)
    return find_followers(structure, density, modes[0])


@pytest.mark.parametrize("raters", [USUAL, "dawid_skene"])
def test_scores_have_the_chance_of_an_answer_given_all_others(raters: str) -> None:
    """The chance is the likelihood of all ratings over that without the rating."""
    rows = table(0.5, right=(0.7, 0.8, 0.8, 0.9), count=3)
    structure = model(rows, raters)
    density, rng = make_density(structure), np.random.default_rng(3)
    values = {p.name: p.draw(rng) for p in structure.parameters()}
    mode = Mode(
        x=unconstrain(density, values), height=0.0, precision=None, evidence=0.0, accuracy=0.8,
        chance=0.5,
    )  # fmt: skip
    following = find_following(structure)
    # A precision so large that the unknowns explain nothing.
    score, _ = score_tests(structure, density, mode, dense(1e12 * np.eye(density.size)), following)
    whole = structure.log_likelihood(values)
    for n in range(len(following.raters)):
        own = following.test == n
        less = [
            model(rows.drop(index=at), raters).log_likelihood(values) for at in following.at[own]
        ]
        terms = following.same[own] / np.exp(whole - np.array(less)) - 1
        assert score[n] == pytest.approx(terms.sum(), rel=1e-6)


def test_a_rater_who_joins_others_is_named() -> None:
    departure = found(table(0.9, right=(0.8, 0.8, 0.75, 0.85, 0.7)))[0]
    assert departure.who == ("r5",)
    assert departure.pairs == ()
    assert departure.p < 0.001


@pytest.mark.parametrize("right", [(0.97, 0.97, 0.65, 0.97), (0.6, 0.7, 0.8, 0.9, 0.95)])
def test_independent_raters_are_not_named(right: tuple[float, ...]) -> None:
    """The prior pulls very good raters back; the test allows for it."""
    assert all(not found(table(0.0, right=right, seed=n)) for n in range(4))


def test_a_fit_warns_and_its_departure_names_the_rater() -> None:
    rows = table(0.6, right=(0.8, 0.75, 0.85, 0.7), seed=2)
    ratings = assay.read_ratings(rows, task="single", cluster="query")
    assert "dependent-raters" not in {one.code for one in search(ratings).found}
    with pytest.warns(assay.FitWarning) as told:
        fit = assay.fit(ratings, method="laplace", **SHORT)
    text = next(str(w.message) for w in told if w.message.code == "dependent-raters")
    assert "Where other raters of an item agree, r4 agrees with them" in text
    assert departures_of(FitView.of(fit))["dependent-raters"].who == ("r4",)


def test_rules_that_exclude_answers_do_no_harm() -> None:
    ratings = assay.simulate("retrieval", n_items=60, n_raters=4, ratings_per_item=3, rng=1)
    structure = build_structure(ratings, make_spec(USUAL))
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=1)
    assert find_followers(structure, density, modes[0]) == []
