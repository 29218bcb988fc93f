"""Score tests of raters who repeat others."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks.departures.search import Departure, search
from assay.fits.view import FitView
from assay.inference.data_doubts import departures_of
from assay.inference.density import make_density, unconstrain
from assay.inference.dependent_raters import find_dependent_raters, find_repeats, score_tests
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode
from assay.inference.precision import dense
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

SHORT = {"draws": 100, "chains": 1, "progress": False}


def queries(
    copied: float, *, raters: int = 3, count: int = 60, follows: float = 0.0, seed: int = 1
) -> assay.Ratings:
    """Return ratings of queries of four items.

    The last rater repeats the first in a share ``copied``, and others who agree in ``follows``.
    """
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(count), 4)
    size = len(query)
    truth = rng.random(size) < 1 / (1 + np.exp(-2 * rng.normal(size=count)))[query]
    right = np.linspace(0.75, 0.85, raters)
    said = np.where(rng.random((size, raters)) < right, truth[:, None], ~truth[:, None])
    said[:, -1] = np.where(rng.random(size) < copied, said[:, 0], said[:, -1])
    agree = (said[:, :-1] == said[:, :1]).all(axis=1) & (rng.random(size) < follows)
    said[:, -1] = np.where(agree, said[:, 0], said[:, -1])
    item, rater = np.indices(said.shape).reshape(2, -1)
    table = pd.DataFrame(
        {"item": item, "rater": [f"r{j + 1}" for j in rater], "query": query[item],
         "label": np.where(said.ravel(), "yes", "no")}
    )  # fmt: skip
    return assay.read_ratings(table, task="single", cluster="query")


def found(ratings: assay.Ratings) -> list[Departure]:
    """Return what the test finds at the mode of the usual model."""
    structure = build_structure(ratings, make_spec("hierarchical + item_difficulty"))
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=1)
    return find_dependent_raters(structure, density, modes[0])


@pytest.mark.parametrize("raters", ["hierarchical + item_difficulty", "dawid_skene"])
def test_the_score_is_the_slope_of_the_likelihood_with_copies(raters: str) -> None:
    """The likelihood with ``copies=`` has code of its own: rows of answers equal to the source."""
    ratings = queries(0.3, raters=4, count=10)
    plain = build_structure(ratings, make_spec(raters))
    density, rng = make_density(plain), np.random.default_rng(3)
    values = {p.name: p.draw(rng) for p in plain.parameters()}
    mode = Mode(
        x=unconstrain(density, values), height=0.0, precision=None, evidence=0.0, accuracy=0.8,
        chance=0.5,
    )  # fmt: skip
    repeats = find_repeats(plain)
    total, _ = score_tests(plain, density, mode, dense(np.eye(density.size)), repeats)
    pairs = [n for n, who in enumerate(repeats.who) if len(who) == 2]
    assert len(pairs) == 12
    for n in pairs:
        copier, source = repeats.who[n]
        copying = build_structure(ratings, make_spec(raters, copies={copier: source}))
        ends = [
            copying.log_likelihood(values | {"copied": np.array([share])}) for share in (0, 1e-7)
        ]
        assert (ends[1] - ends[0]) / 1e-7 == pytest.approx(total[n], rel=1e-3, abs=1e-3)


def test_of_three_raters_the_pair_is_named() -> None:
    """The other items of a query tell who repeats whom: three raters fit any agreement."""
    departure = found(queries(0.8))[0]
    assert set(departure.who) == {"r1", "r3"}
    assert departure.p < 0.001


def test_a_rater_who_joins_others_is_named() -> None:
    departure = found(queries(0.0, raters=5, follows=0.9))[0]
    assert departure.who == ("r5",)
    assert departure.pairs == ()


@pytest.mark.parametrize("raters", [3, 5])
def test_independent_raters_are_not_named(raters: int) -> None:
    assert all(not found(queries(0.0, raters=raters, seed=n)) for n in range(4))


def test_a_fit_warns_and_its_results_are_marked() -> None:
    """The data check does not find the pair, so only the fit can say it."""
    ratings = queries(0.6, seed=2)
    assert "dependent-raters" not in {one.code for one in search(ratings).found}
    with pytest.warns(assay.FitWarning, match="err independently"):
        fit = assay.fit(ratings, method="laplace", **SHORT)
    departure = departures_of(FitView.of(fit))["dependent-raters"]
    assert set(departure.who) == {"r1", "r3"}
    with pytest.warns(assay.FitWarning) as told:
        assay.fit(
            ratings, method="laplace", draws=100, chains=1, copies={"r3": "r1"}, progress=False
        )
    assert all(warning.message.code != "dependent-raters" for warning in told)


def test_answers_of_slots_and_of_rules_that_exclude_states_are_no_fault() -> None:
    """Unnamed raters are not tested; an answer that a state excludes does not break the test."""
    ratings = assay.simulate("retrieval", n_items=60, n_raters=4, ratings_per_item=3, rng=1)
    assert found(ratings) == []
