"""The prior on discordance: no winner without clusters that say so, in closed form."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import assay
from assay.comparison.systems import compare_draws
from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.evaluation.discordance import DiscordantBlock, discordance, linked_systems
from assay.evaluation.draws import LabelDraws
from assay.evaluation.fitted import draws_dataset
from assay.evaluation.generic import generic_metric
from assay.evaluation.panels import PanelLayout
from assay.evaluation.population import expected_population, population_draws
from assay.evaluation.prevalence import prevalence_metrics
from assay.evaluation.registry import Metric, registered

DRAWS = 40_000
GENERATION = load_task("generation")
CODES = np.array([[0, 0, 0, 0, 0], [0, 0, 1, 0, 0]], np.int16)
HELPFUL = registered("helpfulness_rate")


def one_item_panels(clusters: dict[str, list[str]], stratum=None) -> PanelLayout:
    """Lay out one item for each system and cluster, systems one after the other."""
    names = sorted({name for own in clusters.values() for name in own})
    cluster = np.array([names.index(name) for own in clusters.values() for name in own])
    count = len(cluster)
    return PanelLayout(
        item=np.arange(count)[:, None],
        mask=np.ones((count, 1), bool),
        bounds=np.cumsum([0, *map(len, clusters.values())]),
        cluster=cluster,
        weight=np.ones(count),
        systems=tuple(clusters),
        clusters=tuple(names),
        stratum=np.zeros(len(names), np.int64) if stratum is None else np.asarray(stratum),
    )


def paired(values: dict[str, list[int]], stratum=None) -> tuple[PanelLayout, LabelDraws]:
    """Lay out systems on the same clusters, with their known labels."""
    names = [f"q{n:04d}" for n in range(len(next(iter(values.values()))))]
    layout = one_item_panels(dict.fromkeys(values, names), stratum)
    return layout, known(np.concatenate(list(values.values())))


def known(values) -> LabelDraws:
    states = np.broadcast_to(np.asarray(values, np.int16), (DRAWS, len(values)))
    return LabelDraws(states=states, codes=CODES)


def coins(layout: PanelLayout, chance: float = 0.3):
    """Give new clusters of independent labels."""

    def predicted(count: int):
        rng = np.random.default_rng(4)
        while True:
            states = (rng.random((count, int(layout.item.max()) + 1)) < chance).astype(np.int16)
            yield LabelDraws(states=states, codes=CODES)

    return predicted


def prior_of(layout, metric=HELPFUL, predicted=None, draws=DRAWS, task=GENERATION):
    predicted = coins(layout) if predicted is None else predicted
    return discordance([metric], task, layout, predicted, draws=draws, seed=1)


def population(layout: PanelLayout, y: LabelDraws, seed: int = 1) -> np.ndarray:
    """Draws (draw, system) of the helpfulness rate."""
    prior = prior_of(layout)
    return population_draws([HELPFUL], GENERATION, y, layout, [seed], prior)[0, 0]


def p_greater(values: np.ndarray) -> float:
    return float((values[:, 0] > values[:, 1]).mean())


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (0, 2), (4, 0), (5, 0), (3, 1), (7, 2)])
@pytest.mark.parametrize("n", [50, 200])
def test_one_minus_p_is_the_mid_p_of_mcnemar(n, a, b):
    """P(A > B) = P(Beta(a + 1, b + 1) > 1/2), however many clusters agree."""
    first, second = np.zeros(n, int), np.zeros(n, int)
    first[:a] = second[a : a + b] = 1
    first[-20:] = second[-20:] = 1
    values = population(*paired({"A": first, "B": second}))
    expected = beta.sf(0.5, a + 1, b + 1)
    error = np.sqrt(expected * (1 - expected) / DRAWS)
    assert p_greater(values) == pytest.approx(expected, abs=4.5 * error)


def test_a_rate_that_shows_no_event_is_not_known_to_be_zero():
    """Of a system alone: Beta(x + 1, n - x + 1)."""
    for events in (0, 1, 12):
        layout, y = paired({"A": [1] * events + [0] * (60 - events)})
        values = population(layout, y)[:, 0]
        for share in (0.025, 0.5, 0.975):
            below = float((values < beta.ppf(share, events + 1, 61 - events)).mean())
            assert below == pytest.approx(share, abs=4.5 * np.sqrt(share * (1 - share) / DRAWS))


def test_systems_without_a_common_cluster_are_independent():
    clusters = {"A": [f"a{n}" for n in range(50)], "B": [f"b{n}" for n in range(50)]}
    layout = one_item_panels(clusters)
    assert [block.tolist() for block in linked_systems(layout)] == [[0], [1]]
    values = population(layout, known([1, 1] + [0] * 98))
    assert abs(np.corrcoef(values.T)[0, 1]) < 4.5 / np.sqrt(DRAWS)
    rng = np.random.default_rng(1)
    expected = (rng.beta(3, 49, 10**6) > rng.beta(1, 51, 10**6)).mean()
    assert p_greater(values) == pytest.approx(expected, abs=0.01)
    assert p_greater(population(layout, known([0] * 100))) == pytest.approx(0.5, abs=0.012)


def test_systems_that_share_some_clusters_stand_together():
    clusters = {"A": ["q1", "q2"], "B": ["q2", "q3"], "C": ["q4"]}
    layout = one_item_panels(clusters)
    assert [block.tolist() for block in linked_systems(layout)] == [[0, 1], [2]]
    prior = prior_of(layout, draws=50)
    assert (prior.totals(1)[1] > 0).all()


@pytest.mark.parametrize("systems", [2, 3, 4, 7])
def test_each_pair_has_the_mass_of_one_cluster_in_each_direction(systems):
    names = [f"s{k}" for k in range(systems)]
    layout, _ = paired({name: [0] * 40 for name in names})
    (block,) = prior_of(layout, draws=2000).blocks
    slots = block.values.shape[-1]
    orders = [np.roll(np.arange(slots)[::step], k) for step in (1, -1) for k in range(slots)]
    for i, j in combinations(range(systems), 2):
        up = sum(
            block.shape[0] * (block.values[0, 0][:, o[i]] > block.values[0, 0][:, o[j]])
            for o in orders
        )
        down = sum(
            block.shape[0] * (block.values[0, 0][:, o[i]] < block.values[0, 0][:, o[j]])
            for o in orders
        )
        np.testing.assert_allclose(up, down)
        assert up.mean() == pytest.approx(1, abs=0.1)


def test_without_discordance_every_system_is_the_best_alike():
    layout, y = paired({name: [0] * 70 + [1] * 30 for name in "ABC"})
    values = population(layout, y)
    data = draws_dataset(
        [HELPFUL], values[None], ["population"], layout,
        {"chain": np.arange(4), "draw": np.arange(DRAWS // 4)},
    )  # fmt: skip
    found = compare_draws(data.assign_attrs(reference="x"), {HELPFUL.name: "higher"})
    np.testing.assert_allclose(found.systems["p_best"], 1 / 3, atol=0.012)
    assert found.pairs["p_greater"].between(0.47, 0.53).all()


def test_relabelling_the_systems_turns_the_difference():
    first = np.r_[np.ones(9, int), np.zeros(91, int)]
    second = np.r_[np.ones(2, int), np.zeros(98, int)]
    gaps = []
    for values in ({"A": first, "B": second}, {"A": second, "B": first}):
        drawn = population(*paired(values))
        gaps.append(np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.5, 0.975]))
    np.testing.assert_allclose(gaps[0], -gaps[1][::-1], atol=3e-3)


def test_the_mass_is_of_the_population_and_not_of_a_stratum():
    n = 60
    first = np.r_[1, 1, np.zeros(n - 2, int)]
    layouts = [paired({"A": first, "B": np.zeros(n, int)}, stratum=s)
               for s in (np.zeros(n, int), np.arange(n) % 3)]  # fmt: skip
    whole, strata = (prior_of(layout).totals(1) for layout, _ in layouts)
    np.testing.assert_allclose(whole, strata)


@pytest.mark.parametrize("ends", [(19, 21), (9, 11)])
def test_a_cluster_more_changes_little(ends):
    """Widths by 19 and 21 clusters differ as their number does."""
    widths = []
    for n in ends:
        values = np.random.default_rng(3).integers(0, 2, n)
        layout, y = paired({"A": values, "B": np.roll(values, 3)})
        drawn = population(layout, y)
        widths.append(np.std(drawn[:, 0]))
    assert 1 < widths[0] / widths[1] < 1.35


def test_gates_swap_numerator_and_denominator_together():
    task, rate = load_task("ais"), registered("attributable_rate")
    codes = np.array([[1, -2, -2], [0, 0, -2], [0, 1, 0], [0, 1, 1]], np.int16)
    layout, _ = paired({"A": [0] * 50, "B": [0] * 50})

    def predicted(count):
        rng = np.random.default_rng(2)
        while True:
            yield LabelDraws(states=rng.integers(4, size=(count, 100)), codes=codes)

    (block,) = prior_of(layout, rate, predicted, draws=400, task=task).blocks
    numerator, denominator = block.values[:, 0]
    assert (denominator == 1).all()  # both are asked
    assert (numerator.sum(axis=-1) == 1).all()  # and differ
    still = expected_population(
        [rate], task, LabelDraws(states=np.full((400, 100), 3), codes=codes), layout,
        prior_of(layout, rate, predicted, draws=400, task=task),
    )  # fmt: skip
    np.testing.assert_allclose(still, 51 / 52)


def test_a_metric_nobody_is_asked_about_stays_undefined():
    task, rate = load_task("ais"), registered("attributable_rate")
    codes = np.array([[1, -2, -2], [0, 1, 0], [0, 1, 1]], np.int16)
    layout, _ = paired({"A": [0] * 50, "B": [0] * 50})

    def predicted(count):
        rng = np.random.default_rng(2)
        while True:
            yield LabelDraws(states=rng.integers(3, size=(count, 100)), codes=codes)

    prior = prior_of(layout, rate, predicted, draws=40, task=task)
    y = LabelDraws(states=np.zeros((40, 100), np.int16), codes=codes)
    assert np.isnan(population_draws([rate], task, y, layout, [1], prior)).all()


def test_where_the_model_predicts_no_difference_the_ends_of_the_range_stand():
    layout, y = paired({"A": [0] * 50, "B": [0] * 50})
    prior = prior_of(layout, predicted=coins(layout, 0.0))
    values = population_draws([HELPFUL], GENERATION, y, layout, [1], prior)[0, 0]
    assert p_greater(values) == pytest.approx(0.5, abs=0.012)
    for limits in ((0.0, np.inf), (-1.0, 1.0)):
        other = replace(HELPFUL, limits=limits)
        assert (prior_of(layout, other, coins(layout, 0.0), draws=5).totals(1) == 0).all()


def test_a_metric_does_not_depend_on_the_others():
    layout, _ = paired({"A": [0] * 30, "B": [0] * 30})
    others = [registered("proper_action_rate"), HELPFUL]
    both = discordance(others, GENERATION, layout, coins(layout), draws=20, seed=1).totals(1)
    np.testing.assert_array_equal(both[:, [1]], prior_of(layout, draws=20).totals(1))


@pytest.fixture(scope="module")
def one_differs():
    """Fit 60 queries, of which one tells two systems apart, judged alike by three raters."""
    good = {"A": np.arange(60) < 30, "B": np.arange(60) < 29}
    rows = [
        (f"{s}{q}", f"q{q}", s, f"r{j}", "yes" if good[s][q] else "no")
        for s in "AB"
        for q in range(60)
        for j in range(3)
    ]
    table = pd.DataFrame(rows, columns=["item", "cluster", "system", "rater", "good"])
    task = Task(name="quality", labels=(Label(name="good"),))
    ratings = assay.read_ratings(table, task=task)
    return assay.fit(ratings, method="map", draws=500, chains=2, starts=1, rng=1)


def test_one_discordant_cluster_settles_nothing(one_differs):
    """P(A > B) was 0.99, and the claim supported."""
    name = "prevalence[good=yes]"
    line = assay.compare(one_differs, metric=name).pairs.iloc[0]
    assert 0.6 < line["p_greater"] < 0.9
    for claim in ("A > B", "B > A"):
        assert assay.check_claim(one_differs, f"{claim} on {name}").verdict == "undecided"


def test_the_components_still_add_up(one_differs):
    table = assay.variance_budget(one_differs, contrast=("A", "B"))
    gap = table["variance"] - table[["parameters", "labels", "clusters"]].sum(axis=1)
    assert (gap.abs() <= 4 * table["mcse"]).all()


def test_metrics_of_ones_own_take_part():
    """A metric of many values swaps clusters as they are, not all good against all bad."""
    mean = Metric(name="own", function=lambda y, mask: y[..., 0, 2] * 0.2 + 0.4, labels=None)
    layout, _ = paired({"A": [0] * 50, "B": [0] * 50})
    (block,) = prior_of(layout, mean, draws=30).blocks
    assert np.unique(block.values[0]).round(9).tolist() == [0.4, 0.6]


SHADE = Task(name="shades", labels=(Label(name="shade", classes=("a", "b", "c", "d")),))


def shares_of(codes: np.ndarray, systems: int) -> np.ndarray:
    """Draws (class, draw, system) of the shares of four classes; codes (system, cluster)."""
    names = [f"q{n:04d}" for n in range(codes.shape[1])]
    layout = one_item_panels({f"s{k}": names for k in range(systems)})
    states = np.broadcast_to(codes.ravel().astype(np.int16), (DRAWS, codes.size))
    table = np.arange(4, dtype=np.int16)[:, None]
    y = LabelDraws(states=states, codes=table)

    def predicted(count: int):
        rng = np.random.default_rng(4)
        while True:
            drawn = rng.integers(4, size=(count, codes.size)).astype(np.int16)
            yield LabelDraws(states=drawn, codes=table)

    chosen = prevalence_metrics(SHADE)
    prior = discordance(chosen, SHADE, layout, predicted, draws=DRAWS, seed=1)
    return population_draws(chosen, SHADE, y, layout, [1], prior)[0]


def test_weights_of_the_plain_cluster_are_gamma_draws_with_its_shape():
    """A gamma weight has its shape as mean and as variance; a share of 1/2 has no plain cluster."""
    shapes = np.array([0.0, 0.5, 2.0])
    values = np.zeros((2, 3, DRAWS, 2))
    plain = np.concatenate([values[:1], np.ones_like(values[:1])])
    block = DiscordantBlock(
        name="A", systems=np.arange(2), values=values, shape=np.ones((3, DRAWS)), plain=plain,
        plain_shape=shapes,
    )  # fmt: skip
    weights = block.totals(seed=1)[1, :, :, 0]
    assert (weights[0] == 0).all()
    np.testing.assert_allclose(weights.mean(axis=1), shapes, atol=5 * np.sqrt(2 / DRAWS))
    np.testing.assert_allclose(weights.var(axis=1), shapes, rtol=0.1)
    np.testing.assert_array_equal(block.totals(None)[1, :, :, 0], np.tile(shapes, (DRAWS, 1)).T)
    some = replace(block, plain_shape=np.zeros(3))
    assert not some.totals(seed=1).any()


def test_shares_of_four_classes_have_a_prior_that_sums_to_one():
    codes = np.repeat([0, 1, 2], [20, 15, 5])[None]
    found = shares_of(codes, 1)[..., 0]
    for share, events in zip(found, (20, 15, 5, 0), strict=True):
        exact = beta(events + 1, 40 - events + 3)
        assert share.mean() == pytest.approx(exact.mean(), abs=0.002)
        for level in (0.05, 0.5, 0.95):
            assert (share < exact.ppf(level)).mean() == pytest.approx(level, abs=0.01)
    assert found.mean(axis=1).sum() == pytest.approx(1, abs=0.002)


def test_every_name_of_a_class_share_has_the_same_prior():
    """Task files name shares; those had a prior share of a half each, and a sum of 1.04."""
    prevalence = {one.name: one for one in prevalence_metrics(SHADE)}
    names = [f"{kind}[shade={word}]" for kind in ("prevalence", "rate") for word in "abcd"]
    named = [generic_metric(name, SHADE) for name in names]
    layout = one_item_panels({"s": [f"q{n:04d}" for n in range(40)]})
    table = np.arange(4, dtype=np.int16)[:, None]
    states = np.broadcast_to(np.repeat([0, 1, 2], [20, 15, 5]), (40, 40)).astype(np.int16)

    def predicted(count: int):
        rng = np.random.default_rng(4)
        while True:
            drawn = rng.integers(4, size=(count, 40)).astype(np.int16)
            yield LabelDraws(states=drawn, codes=table)

    def shares(chosen):
        prior = discordance(chosen, SHADE, layout, predicted, draws=40, seed=1)
        y = LabelDraws(states=states, codes=table)
        return expected_population(chosen, SHADE, y, layout, prior)[:, 0, 0]

    expected = (np.array([20, 15, 5, 0]) + 1) / 44
    np.testing.assert_allclose(shares(named), np.tile(expected, 2))
    np.testing.assert_allclose(
        shares([*named[4:6], *prevalence.values()]), [*expected[:2], *expected]
    )


def test_the_other_classes_have_the_rest():
    codes = np.repeat([0, 1, 2], [20, 15, 5])[None]
    one = prevalence_metrics(SHADE)[2]
    rest = prevalence_metrics(SHADE, other=True)[2]
    names = [f"q{n:04d}" for n in range(40)]
    layout = one_item_panels({"s": names})
    table = np.arange(4, dtype=np.int16)[:, None]
    y = LabelDraws(states=np.broadcast_to(codes[0].astype(np.int16), (DRAWS, 40)), codes=table)

    def predicted(count: int):
        rng = np.random.default_rng(4)
        while True:
            drawn = rng.integers(4, size=(count, 40)).astype(np.int16)
            yield LabelDraws(states=drawn, codes=table)

    prior = discordance([one, rest], SHADE, layout, predicted, draws=DRAWS, seed=1)
    found = population_draws([one, rest], SHADE, y, layout, [1], prior)[0, ..., 0]
    assert found.mean(axis=1).sum() == pytest.approx(1, abs=0.002)


def test_classes_of_two_systems_keep_the_mid_p_and_sum_to_one():
    codes = np.repeat([0, 1], [20, 20])[None].repeat(2, axis=0)
    codes[0, :2], codes[1, :2] = 3, 0
    found = shares_of(codes, 2)
    assert found.mean(axis=1).sum(axis=0) == pytest.approx(1, abs=0.003)
    assert p_greater(found[3]) == pytest.approx(beta.sf(0.5, 3, 1), abs=0.01)


@pytest.mark.parametrize(("systems", "items"), [(2, 2), (2, 20), (4, 1), (4, 20)])
def test_shares_of_larger_clusters_sum_to_one(systems: int, items: int) -> None:
    """Twelve clusters; a class alone has the share that it has beside the others."""
    clusters, chance = 12, [0.05, 0.15, 0.3, 0.5]
    names = [f"q{n:04d}" for n in range(clusters)]
    layout = one_item_panels({f"s{k}": names for k in range(systems)})
    size = systems * clusters * items
    layout = replace(
        layout,
        item=np.arange(size).reshape(-1, items),
        mask=np.ones((systems * clusters, items), bool),
    )
    table = np.arange(4, dtype=np.int16)[:, None]
    codes = np.random.default_rng(5).choice(4, size, p=chance).astype(np.int16)
    draws = 2000
    y = LabelDraws(states=np.broadcast_to(codes, (draws, size)), codes=table)

    def predicted(count: int):
        rng = np.random.default_rng(4)
        while True:
            yield LabelDraws(states=rng.choice(4, (count, size), p=chance), codes=table)

    def shares(chosen: list[Metric]) -> np.ndarray:
        prior = discordance(chosen, SHADE, layout, predicted, draws=draws, seed=1)
        return population_draws(chosen, SHADE, y, layout, [1], prior)[0]

    every = shares(prevalence_metrics(SHADE))
    assert every.mean(axis=1).sum(axis=0) == pytest.approx(1, abs=0.012)
    np.testing.assert_allclose(shares(prevalence_metrics(SHADE)[1:2])[0], every[1])
