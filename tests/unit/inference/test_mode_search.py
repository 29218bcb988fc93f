import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import assay
from assay._util.errors import FitWarning
from assay.inference.curvature import curvature
from assay.inference.density import Density, make_density, unconstrain
from assay.inference.diagnostics import MODE_LIMIT
from assay.inference.label_switching import is_misnamed, start_from_relabelled
from assay.inference.laplace import (
    SLIGHT,
    laplace_draws,
    laplace_log_density,
    mode_root,
    mode_scale,
)
from assay.inference.mode_search import RIVAL, find_modes, seek_modes, starting_points
from assay.inference.modes import distance, labels_at, rater_accuracy_at_mode
from assay.inference.optimise import climb, equally_hard, hold, prior_centre, spreads_of
from assay.inference.precision import Dense
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


@pytest.fixture(scope="module")
def weak() -> assay.Ratings:
    """One binary label, moderate raters, few items: the mirror image is a mode of its own."""
    accuracy = np.array([0.85, 0.8, 0.9, 0.85])
    return assay.simulate(
        "single",
        raters="one_coin",
        prevalence="dirichlet",
        classes=("no", "yes"),
        n_items=40,
        n_raters=4,
        ratings_per_item=4,
        values={"accuracy": accuracy, "state_share": np.array([[0.5, 0.5]])},
        rng=2,
    )


def parts(ratings: assay.Ratings) -> tuple[Structure, Density]:
    structure = build_structure(ratings, make_spec("one_coin", "dirichlet"))
    return structure, make_density(structure)


def test_the_mirror_image_is_found_and_is_not_first(weak: assay.Ratings):
    structure, density = parts(weak)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=12)
    assert len(modes) >= 2
    assert not modes[0].mirrored
    assert any(m.mirrored for m in modes[1:])
    assert sum(m.weight for m in modes) == pytest.approx(1)
    assert [m.weight for m in modes] == sorted((m.weight for m in modes), reverse=True)
    assert sum(m.starts for m in modes) == 12
    for mode in modes:
        assert np.abs(density(mode.x)[1]).max() < 1e-3


def test_a_fit_lists_the_mirror_image_and_warns_of_it_if_it_weighs_something(weak: assay.Ratings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = assay.fit(
            weak,
            raters="one_coin",
            prevalence="dirichlet",
            method="laplace",
            draws=200,
            chains=2,
            rng=1,
            starts=12,
        )
    said = [w.message for w in caught if issubclass(w.category, FitWarning)]
    image = [text for text in json.loads(fit.attrs["modes"]) if "mirror image" in text]
    assert len(image) == 1
    weight = float(image[0].partition("weight ")[2].partition(",")[0])
    assert any(w.code == "other-mode" for w in said) == (weight > MODE_LIMIT)
    assert float(fit["posterior"]["accuracy"].mean()) > 0.6
    likely = assay.label_probabilities(fit).sel({"class": "yes"}).values[:, 0] > 0.5
    assert (likely == (weak.simulated.truth[:, 0] == 1)).mean() > 0.8


def test_evidence_is_the_mass_around_a_mode(weak: assay.Ratings):
    """Importance sampling around the mode gives the evidence of Laplace's approximation."""
    structure, density = parts(weak)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    x = laplace_draws(mode, 4000, np.random.default_rng(2))
    logs = np.array([density(point)[0] for point in x]) - laplace_log_density(mode, x)
    mass = np.log(np.mean(np.exp(logs - logs.max()))) + logs.max()
    assert mode.evidence == pytest.approx(mass, abs=0.5)


def test_laplace_is_the_normal_with_the_curvature(weak: assay.Ratings):
    structure, density = parts(weak)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    precision = curvature(density, mode.x)
    assert isinstance(precision, Dense)
    covariance = precision.covariance()
    x = laplace_draws(mode, 20_000, np.random.default_rng(3))
    np.testing.assert_allclose(np.cov(x.T), covariance, atol=0.04 * np.abs(covariance).max())
    expected = stats.multivariate_normal(mode.x, covariance).logpdf(x[:5])
    np.testing.assert_allclose(laplace_log_density(mode, x[:5]), expected, rtol=1e-8)
    np.testing.assert_allclose(mode_scale(mode) ** 2, np.diag(covariance), rtol=1e-8)


def test_steps_of_one_rater_go_along_what_the_data_tell_of_them_together():
    ratings = assay.simulate("single", n_items=60, n_raters=5, ratings_per_item=3, rng=1)
    structure = build_structure(ratings, make_spec("hierarchical", "dirichlet"))
    density = make_density(structure)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    (covariance,) = mode.precision.covariances([np.arange(density.size)])
    np.testing.assert_allclose(mode.precision.solve(np.eye(density.size)), covariance, atol=1e-10)
    root, scale = mode_root(density, mode).toarray(), mode_scale(mode)
    names = [p.name for p in density.parameters]
    first = density.starts[names.index("logit_offset")]
    offsets = first + np.arange(5 * 9)
    rater = (offsets - first) // 9
    by_rater = rater[:, None] == rater
    found = root[np.ix_(offsets, offsets)]
    assert (found[~by_rater] == 0).all()
    expected = np.where(by_rater, covariance[np.ix_(offsets, offsets)], 0)
    size = np.outer(scale[offsets], scale[offsets])
    np.testing.assert_allclose((found @ found.T) / size, expected / size, atol=4 * SLIGHT)
    correlation = expected / np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(correlation - np.eye(45)).max() > 0.3
    np.testing.assert_allclose(np.diag(found @ found.T), scale[offsets] ** 2, rtol=0.05)


def test_a_covariance_without_a_root_leaves_the_scale(
    weak: assay.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    structure, density = parts(weak)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    flat = np.outer(mode_scale(mode), mode_scale(mode))
    flat[0, 1] = flat[1, 0] = 1.5 * flat[0, 1]
    monkeypatch.setattr(Dense, "covariance", lambda self: flat)
    np.testing.assert_array_equal(mode_root(density, mode).toarray(), np.diag(mode_scale(mode)))


def test_chains_can_move_in_all_directions_of_a_nearly_singular_covariance(
    weak: assay.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loadings at a saddle have correlations next to 1."""
    structure, density = parts(weak)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    scale = mode_scale(mode)
    near = np.outer(scale, scale) * (0.9999 + 0.0001 * np.eye(len(scale)))
    monkeypatch.setattr(Dense, "covariance", lambda self: near)
    root = mode_root(density, mode).toarray()
    assert (np.diag(root) >= SLIGHT * scale * (1 - 1e-12)).all()
    assert np.linalg.matrix_rank(root) == len(scale)


def test_the_first_start_has_raters_better_than_chance(weak: assay.Ratings):
    _, density = parts(weak)
    values = density.constrain(prior_centre(density))
    np.testing.assert_allclose(values["accuracy"], 0.6)
    np.testing.assert_allclose(values["state_share"], 0.5)


def test_known_truth_leaves_one_mode(weak: assay.Ratings):
    known = replace(weak, truth=weak.simulated.truth)
    modes = find_modes(*parts(known), np.random.default_rng(1), starts=6)
    assert len(modes) == 1
    assert modes[0].weight == pytest.approx(1)


@pytest.mark.parametrize("task", ["retrieval", "ais", "relevance"])
def test_a_saddle_is_no_mode(task: str):
    """The likelihood is even in the cluster loadings: at 0 it is flat, and often no peak."""
    ratings = assay.simulate(task, n_items=30, ratings_per_item=2, n_clusters=6, rng=2)
    structure = build_structure(ratings, make_spec())
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=2)
    assert all(mode.precision is not None for mode in modes)
    start = prior_centre(density)
    loading = next(n for n, p in enumerate(density.parameters) if p.name == "cluster_loading")
    start[density.starts[loading] : density.starts[loading + 1]] = 0
    points = starting_points(prior_centre(density), np.random.default_rng(1), 2)
    saddle = seek_modes(structure, density, [*points, start])
    assert all(mode.precision is not None for mode in saddle)
    assert saddle[0].height == pytest.approx(modes[0].height, abs=1e-4)


def test_both_signs_of_the_loadings_are_one_mode():
    ratings = assay.simulate("retrieval", n_items=30, ratings_per_item=2, n_clusters=6, rng=2)
    structure = build_structure(ratings, make_spec())
    density = make_density(structure)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    flipped = mode.x.copy()
    loading = next(n for n, p in enumerate(density.parameters) if p.name == "cluster_loading")
    flipped[density.starts[loading] : density.starts[loading + 1]] *= -1
    assert density(flipped)[0] == pytest.approx(mode.height, abs=1e-6)
    both = seek_modes(structure, density, [prior_centre(density), flipped])
    assert len(both) == 1
    assert both[0].starts == 3  # from these two, and from where no item is hard


@pytest.fixture(scope="module")
def three_classes() -> tuple[Structure, Density]:
    ratings = assay.simulate("single", classes=tuple("abc"), n_items=40, n_raters=6, rng=3)
    structure = build_structure(ratings, make_spec("hierarchical"))
    return structure, make_density(structure)


def test_a_held_climb_moves_all_but_the_spreads(three_classes: tuple[Structure, Density]):
    _, density = three_classes
    still = spreads_of(density)
    assert {density.names()[n].split("[")[0] for n in still} == {"logit_sd"}
    rng = np.random.default_rng(4)
    peak, height = hold(density, prior_centre(density) + rng.standard_normal(density.size))
    assert height == density(peak)[0]
    np.testing.assert_array_equal(peak[still], prior_centre(density)[still])
    gradient = density(peak)[1]
    assert np.abs(np.delete(gradient, still)).max() < 1e-3
    assert np.abs(gradient[still]).max() > 1e-3
    precision = curvature(density, peak, still)
    assert precision is not None
    assert precision.size == density.size - len(still)


def test_rivals_are_weighed_with_the_spreads_held(three_classes: tuple[Structure, Density]):
    """By the joint height of offsets and SDs, classes exchanged among raters could win."""
    structure, density = three_classes
    still = spreads_of(density)
    modes = find_modes(structure, density, np.random.default_rng(5), starts=6)
    assert len(modes) > 1
    for mode in modes:
        peak, _ = hold(density, mode.x)
        precision = curvature(density, peak, still)
        assert precision is not None
        width = 0.5 * (precision.log_determinant - precision.size * np.log(2 * np.pi))
        assert mode.evidence == pytest.approx(density(peak)[0] - width, abs=0.01)
    assert modes[0].spreads is not None
    assert modes[0].precision is not None
    assert all((mode.spreads is not None) == (mode.weight > RIVAL) for mode in modes[1:])


def test_models_without_spreads_hold_nothing(weak: assay.Ratings):
    assert len(spreads_of(parts(weak)[1])) == 0


@pytest.fixture(scope="module")
def pooled_confusions() -> tuple[Structure, Density, str]:
    """Three classes, one confusion for all raters, and its name."""
    ratings = assay.simulate("single", classes=("a", "b", "c"), n_items=60, n_raters=4, rng=2)
    structure = build_structure(ratings, make_spec("pooled", "dirichlet"))
    density = make_density(structure)
    (name,) = (p.name for p in density.parameters if np.prod(p.shape) == 9)
    return structure, density, name


CONFUSION = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.5, 0.4]])
ORDERS = ([0, 1, 2], [1, 0, 2], [1, 2, 0])


@pytest.mark.parametrize("order", ORDERS)
def test_a_relabelled_point_has_classes_with_each_others_names(
    pooled_confusions: tuple[Structure, Density, str], order: list[int]
):
    structure, density, name = pooled_confusions
    values = density.constrain(prior_centre(density))
    values[name] = CONFUSION[order].reshape(values[name].shape)
    told = rater_accuracy_at_mode(structure, density, unconstrain(density, values))
    assert told.misnamed is (order != [0, 1, 2])


@pytest.mark.parametrize("order", ORDERS[1:])
def test_names_put_right_lead_to_the_mode_that_was_relabelled(
    pooled_confusions: tuple[Structure, Density, str], order: list[int]
):
    structure, density, name = pooled_confusions
    mode = find_modes(structure, density, np.random.default_rng(1))[0]
    assert not mode.misnamed
    values = density.constrain(mode.x)
    confusion = values[name].reshape(3, 3)[order].reshape(values[name].shape)
    share = values["state_share"][..., order]
    relabelled = {**values, name: confusion, "state_share": share}
    data = start_from_relabelled(structure, {k: v[None] for k, v in relabelled.items()})
    assert data is not None
    told = replace(density, data=data)
    x, _ = climb(density, climb(told, prior_centre(told))[0])
    assert x == pytest.approx(mode.x, abs=0.01)


def test_modes_with_exchanged_names_bring_the_same_with_their_own(
    three_classes: tuple[Structure, Density],
):
    """From the relabelled mode alone, the search ends in the one whose names are right."""
    structure, density = three_classes
    best = find_modes(structure, density, np.random.default_rng(5), starts=6)[0]
    values = density.constrain(best.x)
    order = np.array([1, 0, 2])
    turned = (order[:, None] * 3 + np.arange(3)).ravel()
    for block in ("logit_mean", "logit_sd", "logit_offset"):
        values[block] = values[block][..., turned]
    start = unconstrain(density, values)
    assert rater_accuracy_at_mode(structure, density, start).misnamed
    found = seek_modes(structure, density, [start])
    assert not found[0].misnamed
    assert found[-1].misnamed
    assert distance(
        labels_at(structure, density, found[0].x[None]), labels_at(structure, density, best.x[None])
    ) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("gold", [0.0, 0.3])
def test_raters_may_all_be_wrong_where_truth_is_known(gold: float):
    """Without gold, a class is what raters call it; with gold, the mirror image is the truth."""
    share, wrong = np.array([[0.5, 0.5]]), np.full(5, 0.15)
    ratings = assay.simulate(
        "single", raters="one_coin", prevalence="dirichlet", classes=("no", "yes"), n_items=120,
        n_raters=5, ratings_per_item=3, gold=gold, rng=4,
        values={"accuracy": wrong, "state_share": share},
    )  # fmt: skip
    structure, density = parts(ratings)
    best = find_modes(structure, density, np.random.default_rng(1))[0]
    assert best.mirrored is (gold > 0)
    assert not best.misnamed


@pytest.mark.parametrize(
    ("layer", "accuracy", "misnamed"),
    [
        ("item_difficulty_continuous", 0.65, False),
        ("item_difficulty_continuous", 0.02, True),
        # Hard items are near guessing at most, and the easy ones say what a class is.
        ("item_difficulty", 0.65, False),
        ("item_difficulty", 0.2, True),
    ],
)
def test_a_class_is_misnamed_if_its_items_are_called_otherwise(layer, accuracy, misnamed):
    """Not if those are that are harder: what a class is, the easiest items say."""
    ratings = assay.simulate("single", classes=("no", "yes"), n_items=20, n_raters=3, rng=1)
    structure = build_structure(ratings, make_spec(f"one_coin + {layer}", "dirichlet"))
    values = {p.name: p.centre[None] for p in structure.parameters()}
    values["accuracy"] = np.full_like(values["accuracy"], accuracy)
    values["difficulty_rate"] = np.full_like(values["difficulty_rate"], 2.0)
    assert is_misnamed(structure, values) is misnamed


@pytest.mark.parametrize(
    ("few", "many", "misnamed"),
    [
        ("good", "good", False),
        ("spam", "good", False),
        ("good", "spam", False),
        ("spam", "spam", True),
    ],
)
def test_what_raters_call_a_class_is_what_most_raters_and_most_ratings_say(few, many, misnamed):
    """Neither a crowd's many spammers of few ratings nor one rater of most of them decide alone."""
    rows = [(item, f"r{n}", "abc"[item % 3]) for n in range(20) for item in (2 * n, 2 * n + 1)]
    rows += [(item, "most", "abc"[item % 3]) for item in range(400)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = assay.read_ratings(table, task="single")
    structure = build_structure(ratings, make_spec("dawid_skene", "dirichlet"))
    values = {p.name: p.centre[None] for p in structure.parameters()}
    (name,) = (n for n in values if n.startswith("confusion"))
    kinds = {"good": 0.7 * np.eye(3) + 0.1, "spam": np.tile([0.05, 0.05, 0.9], (3, 1))}
    by_rater = [kinds[many if rater == "most" else few] for rater in ratings.raters.index]
    values[name] = np.array(by_rater).reshape(values[name].shape)
    assert is_misnamed(structure, values) is misnamed


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c", "d")])
def test_a_rater_who_answers_the_other_way_round_may_be_the_one_who_is_right(
    classes: tuple[str, ...],
):
    """Of two raters who read the scale from its two ends, the ratings favour neither."""
    rng = np.random.default_rng(5)
    count = len(classes)
    truth = rng.integers(count, size=80)
    said = [np.where(rng.random(80) < 0.9, truth, rng.integers(count, size=80)) for _ in range(2)]
    table = pd.DataFrame({"item": np.tile(np.arange(80), 2), "rater": np.repeat(["x", "y"], 80)})
    table["label"] = np.array(classes)[np.concatenate([said[0], count - 1 - said[1]])]
    ratings = assay.read_ratings(table, task="single")
    structure = build_structure(ratings, make_spec("hierarchical", "loglinear"))
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1), starts=1)
    assert [mode.weight for mode in modes[:2]] == pytest.approx([0.5, 0.5], abs=0.2)
    labels = [labels_at(structure, density, mode.x[None]).argmax(axis=1) for mode in modes[:2]]
    assert (labels[0] == count - 1 - labels[1]).mean() > 0.8


@pytest.mark.parametrize("seed", [2, 3, 7])
@pytest.mark.parametrize("raters", ["hierarchical", "hierarchical + item_difficulty"])
def test_raters_who_contradict_each_other_are_not_taken_for_right_together(raters: str, seed: int):
    """Two answer one way, two the other way round, one always alike: their votes cancel.

    Climbs from where all are right on average end where everything is of one class, 10 nats below
    the two modes that take one pair for right.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random(150) < 0.5
    right = rng.random((150, 4)) < [0.8, 0.75, 0.2, 0.25]
    answers = np.column_stack([truth[:, None] == right, np.ones(150, bool)])
    lines = [(i, f"r{j}", "ny"[int(y)]) for i, row in enumerate(answers) for j, y in enumerate(row)]
    table = pd.DataFrame(lines, columns=["item", "rater", "answer"])
    structure = build_structure(assay.read_ratings(table, task="single"), make_spec(raters))
    density = make_density(structure)
    modes = find_modes(structure, density, np.random.default_rng(1))
    heavy = [mode for mode in modes if mode.weight > 0.1]
    assert len(heavy) == 2
    assert modes[0] is heavy[0]
    told = [labels_at(structure, density, mode.x[None])[:, 1] > 0.5 for mode in heavy]
    one, other = sorted((said == truth).mean() for said in told)
    assert one < 0.25
    assert other > 0.75


def graded(seed: int) -> assay.Ratings:
    """Four grades, most items of the mildest; on a third of them raters lean to milder ones."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, size=600, p=[0.75, 0.13, 0.02, 0.10])
    easy = np.array([
        [0.93, 0.05, 0.01, 0.01], [0.45, 0.42, 0.11, 0.02],
        [0.3, 0.3, 0.3, 0.1], [0.15, 0.04, 0.11, 0.7],
    ])  # fmt: skip
    hard = np.array([
        [0.6, 0.33, 0.05, 0.02], [0.6, 0.25, 0.13, 0.02],
        [0.3, 0.3, 0.2, 0.2], [0.3, 0.1, 0.25, 0.35],
    ])  # fmt: skip
    confusion = np.array([[rng.dirichlet(row * 5 + 0.05) for row in easy] for _ in range(40)])
    is_hard = rng.random(600) < 0.3
    rows = []
    for item, true in enumerate(truth):
        for rater in rng.choice(40, 8, replace=False):
            chance = confusion[rater, true]
            if is_hard[item]:
                chance = 0.2 * chance + 0.8 * hard[true]
            rows.append((item, f"r{rater}", "abcd"[rng.choice(4, p=chance / chance.sum())]))
    return assay.read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]), task="single")


def test_hard_items_are_no_class_where_the_mode_without_them_leads_higher(
    monkeypatch: pytest.MonkeyPatch,
):
    """From the centre of the prior the class of some hard items is sought before the classes are.

    That climb ends more than five nats lower. SDs stay as they are held: to settle them takes as
    long as forty such searches.
    """
    monkeypatch.setattr("assay.inference.mode_search.settled", lambda *given: given[2])
    structure = build_structure(graded(1), make_spec("hierarchical + item_difficulty"))
    density = make_density(structure)
    first = hold(density, prior_centre(density))
    start = equally_hard(density)
    assert start is not None
    further = hold(density, start)
    assert further[1] > first[1] + 5
    best, *others = find_modes(structure, density, np.random.default_rng(1), starts=1)
    assert max(mode.height for mode in (best, *others)) == pytest.approx(further[1], abs=1e-6)
    labels = [labels_at(structure, density, x[None]) for x in (best.x, further[0])]
    assert distance(*labels) < 0.05


def test_a_model_without_difficulty_has_no_start_without_it():
    assert equally_hard(parts(graded(1))[1]) is None
