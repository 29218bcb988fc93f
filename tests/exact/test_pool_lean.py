"""The raters' lean from their pool: against plain formulas, Bayes' rule and enumeration."""

import brute
import numpy as np
import pytest
from refusals import refusal
from scipy import optimize
from scipy.integrate import quad
from scipy.special import expit, log_expit
from small import draw_values, small_ratings, stacked, task_named

import assay
from assay._util.errors import ModelError
from assay.data.states import MISSING
from assay.fits.latent_states import sample_states
from assay.inference.lean_draws import _told_answers, draw_pool_lean
from assay.modelling.families.lean import BinaryLeans
from assay.modelling.families.pool_lean import (
    SPREADS,
    AnswerLeans,
    AnswerPoolLean,
    BinaryPoolLean,
)
from assay.modelling.prior_densities import prior_log_densities
from assay.modelling.priors import parse_prior
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

DRAWS = 40_000


def structure_of(name: str, raters: str = "hierarchical", **options: object) -> Structure:
    ratings = small_ratings(task_named(name), 2, missing=0.1, **options)
    return build_structure(ratings, make_spec(raters))


def shifted(structure: Structure, values: dict, lean: dict[str, float]) -> dict:
    """The parameters of raters who lean.

    A lean to yes is added where yes is true, and taken off where no is true. A lean to an answer of
    a longer label is added to that answer, or to the bias to it.
    """
    layout, bias = structure.parts[0].family.layout, values.get("bias_offset")
    mean = values.get("logit_mean", np.zeros(0)).copy()
    moved = {**values, "logit_mean": mean}
    cells = [
        (row, reported)
        for row, reported in layout.cells
        if bias is None or len(layout.task.labels[layout.labels[row]].classes) == 2
    ]
    for cell, (row, reported) in enumerate(cells):
        label = layout.task.labels[layout.labels[row]]
        if label.name in lean:
            mean[:, cell] += lean[label.name] * (1 if layout.true_classes[row] == 1 else -1)
        else:
            mean[:, cell] += lean.get(f"{label.name}: {label.classes[reported]}", 0.0)
    if bias is not None:
        answers = [
            (n, f"{la.name}: {k}")
            for n, la in enumerate(la for la in layout.task.labels if len(la.classes) > 2)
            for k in la.classes
        ]
        own = values["bias_sd"][structure.parts[0].family.raters.group]
        more = np.stack([lean.get(name, 0.0) / own[:, n] for n, name in answers], axis=1)
        moved["bias_offset"] = bias + more
    return moved


@pytest.mark.parametrize("clusters", [None, 4])
@pytest.mark.parametrize("raters", ["hierarchical + item_difficulty", "joint", "ability_bias"])
@pytest.mark.parametrize("name", ["retrieval", "gated"])
def test_labels_have_the_lean_and_the_likelihood_has_not(name, raters, clusters):
    structure = structure_of(name, raters, clusters=clusters)
    values, labels = draw_values(structure, 1), structure.ratings.task.labels
    names = [name for pool in structure.pools for name in pool.names]
    binary = [la.name for la in labels if len(la.classes) == 2]
    long = [f"{la.name}: {k}" for la in labels if len(la.classes) > 2 for k in la.classes]
    assert names == binary + long
    lean = np.random.default_rng(1).normal(size=(1, len(names)))
    found = sample_states(structure, stacked(values), np.random.default_rng(1), lean)
    moved = shifted(structure, values, dict(zip(names, lean[0], strict=True)))
    expected = brute.state_probabilities(structure, moved)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)
    by_cluster = brute.log_likelihoods(structure, values)
    np.testing.assert_allclose(found.log_likelihood[0], by_cluster, atol=1e-9)


def pool_of(leans: np.ndarray, abilities: np.ndarray, prior: str) -> tuple[BinaryPoolLean, dict]:
    """One label whose raters have these leans and abilities, in every draw."""
    count = len(leans)
    logits = np.stack([abilities - leans, abilities + leans], axis=1)  # of no and of yes
    pool = BinaryPoolLean(
        labels=np.array([0]),
        names=("label",),
        spread=parse_prior(prior),
        parts=[
            BinaryLeans(
                crowd=np.ones((1, count)) / count,
                sign=np.array([[-1.0, 1.0]]),
                group=np.zeros(count, np.int64),
                centre=np.full((1, 2), 1.8),
                sd=np.full((1, 2), 0.8),
            )
        ],
    )
    values = {
        "logit_mean": np.zeros((DRAWS, 1, 2)),
        "logit_sd": np.ones((DRAWS, 1, 2)),
        "logit_offset": np.broadcast_to(logits, (DRAWS, count, 2)),
    }
    return pool, values


@pytest.mark.parametrize("prior", ["HalfNormal(1)", "HalfNormal(0.3)", "Exponential(2)"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_spread_of_the_pool_has_its_posterior(count: int, prior: str):
    rng = np.random.default_rng(count)
    leans, abilities = rng.normal(0, 0.7, count), rng.normal(1.8, 0.4, count)
    pool, values = pool_of(leans, abilities, prior)
    squares = ((leans - leans.mean()) ** 2).sum()
    number = float(parse_prior(prior).values[0])

    def density(w: float) -> float:
        log_prior = -number * w if prior.startswith("Exp") else -0.5 * (w / number) ** 2
        return float(np.exp(log_prior - (count - 1) * np.log(w) - squares / (2 * w * w)))

    first, second = (quad(lambda w, k=k: w**k * density(w), 1e-4, 8, limit=500)[0] for k in (0, 2))
    half = abilities.mean() / 2
    wanted = second / first / count * (half / np.tanh(half)) ** 2
    chance, unit = pool.spreads(values)
    found = (chance[0, 0] @ SPREADS**2) * unit[0, 0] ** 2
    assert found == pytest.approx(wanted, rel=0.01)
    np.testing.assert_allclose(pool.of_model(values)[:, 0], leans.mean(), atol=1e-12)


@pytest.mark.parametrize("ability", [0.5, 2.0, 3.5])
def test_the_answers_of_a_split_pool_are_no_evidence(ability: float):
    """Raters who lean by d say yes with odds exp(d) where their pool is split."""
    d = 0.02
    pool, values = pool_of(np.zeros(3), np.full(3, ability), "HalfNormal(1)")
    times = pool.spreads(values)[1][0, 0] * np.sqrt(3)

    def evidence(lean: float) -> float:
        """Log Bayes factor of yes for each answer, with the answers of a split pool."""
        yes = log_expit(ability + lean) - log_expit(-ability + lean)
        no = log_expit(-ability - lean) - log_expit(ability - lean)
        return float(expit(d) * yes + expit(-d) * no)

    crossing = optimize.brentq(evidence, 0, 1)
    assert times * d == pytest.approx(crossing, rel=1e-2)


def test_known_truth_weighs_the_lean_by_enumeration():
    structure = structure_of("retrieval", items=10, known=True)
    one = draw_values(structure, 3)
    values = {k: np.repeat(v, DRAWS, axis=0) for k, v in stacked(one).items()}
    truth = structure.ratings.truth
    told = (truth != MISSING).any(axis=0)
    assert told.any()
    label = int(np.flatnonzero(told)[0])
    name = structure.ratings.task.label_names[label]
    drawn = draw_pool_lean(structure, values, method="laplace", seed=1)[:, label]
    # The SDs that the draws had, and Bayes' rule at each lean, item by item.
    pool = structure.pools[0]
    place, rng = list(pool.labels).index(label), np.random.default_rng(2)
    chance, unit = (table[0, place] for table in pool.spreads(values))
    scales = rng.choice(SPREADS, size=DRAWS, p=chance / chance.sum()) * unit
    states = structure.prevalence.space.states
    agrees = ((truth[:, None] == MISSING) | (truth[:, None] == states)).all(axis=-1)
    known = (truth != MISSING).any(axis=1)

    def log_told(lean: float) -> float:
        moved = shifted(structure, one, {name: lean})
        chance = brute.state_probabilities(structure.without_gold(), moved)
        return float(np.log((chance * agrees).sum(axis=1)[known]).sum())

    leans = np.linspace(-10, 10, 121) * np.sqrt((scales**2).mean())
    logs = np.array([log_told(lean) for lean in leans])
    weight = np.exp(logs - logs.max())
    prior = rng.normal(size=DRAWS) * scales
    weights = np.interp(prior, leans, weight)
    for power in (1, 2):
        wanted = np.average(prior**power, weights=weights)
        spread = np.sqrt(np.average((prior**power - wanted) ** 2, weights=weights) / DRAWS)
        assert (drawn**power).mean() == pytest.approx(wanted, abs=8 * spread)
    plain = structure.without_gold()
    free = draw_pool_lean(plain, values, method="laplace", seed=1)[:, label]
    assert abs(drawn.mean()) > 12 * free.std() / np.sqrt(DRAWS)  # the truth told something


@pytest.mark.parametrize(
    ("task", "choices"),
    [
        ("relevance", {"raters": "ordinal"}),
        ("retrieval", {"raters": "dawid_skene"}),
        ("retrieval", {"raters": {"a": "hierarchical", "b": "dawid_skene", "c": "hierarchical"}}),
        ("retrieval", {"reference": "gold"}),
        ("retrieval", {"reference": "groups"}),
        ("retrieval", {"raters": dict.fromkeys("abc", "hierarchical"), "reference": "a"}),
    ],
    ids=["grades", "no logits", "a group without logits", "gold", "groups", "beside a reference"],
)
def test_who_has_no_lean(task: str, choices: dict):
    ratings = assay.simulate(task, n_items=20, groups={"a": 2, "b": 3, "c": 2}, rng=1)
    assert build_structure(ratings, make_spec(**choices)).pools == []


def answer_pool(logits: np.ndarray, prior: str = "HalfNormal(1)") -> tuple[AnswerPoolLean, dict]:
    """One label of raters with these logits (rater, true class, answer)."""
    classes = logits.shape[-1]
    table = np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))
    pool = AnswerPoolLean(
        labels=np.zeros(classes, np.int64),
        names=tuple(f"label: {k}" for k in range(classes)),
        spread=parse_prior(prior),
        rows=np.arange(classes),
        parts=[
            AnswerLeans(
                log_confusion=lambda values: np.broadcast_to(
                    table, (len(values["x"]), *table.shape)
                ),
                took=np.ones(len(logits), bool),
                move=lambda values, lean: {},
            )
        ],
    )
    return pool, {"x": np.zeros((3, 1))}


@pytest.mark.parametrize("classes", [3, 5])
def test_leans_to_answers_are_the_biases_of_raters(classes: int):
    rng = np.random.default_rng(classes)
    ability, bias = rng.normal(2, 0.5, 6), rng.normal(0, 0.8, (6, classes))
    pool, values = answer_pool(ability[:, None, None] * np.eye(classes) + bias[:, None])
    leans = bias - bias.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(pool.of_model(values)[0], leans.mean(axis=0), atol=1e-12)
    d = 1e-4
    times = pool.spreads(values)[1][0, 0] * np.sqrt(2 * 6)
    right = np.exp(ability.mean() * np.eye(classes)[:2, :2])

    def evidence(shift: float) -> float:
        """Log Bayes factor of the first of two classes, with the answers of a split pool."""
        odds = right * np.exp([[shift / 2, -shift / 2]])
        log = np.log(odds / (odds.sum(axis=1, keepdims=True) + classes - 2))
        return float(expit(d) * (log[0, 0] - log[1, 0]) + expit(-d) * (log[0, 1] - log[1, 1]))

    assert times * d == pytest.approx(optimize.brentq(evidence, 0, 1), rel=1e-3)


@pytest.mark.parametrize("away", [0.0, 0.5, 5.0])
def test_normal_weights_give_each_draw_its_own_normal_posterior(away: float):
    """Also where draws differ in their total leans by much more than leans do."""
    rng = np.random.default_rng(1)
    sd, draws, size = np.array([0.2, 0.3, 0.25]), 4000, 3
    totals = rng.normal(size=(draws, size)) * sd * away
    cut = rng.normal(size=(size, size))
    known, centre = cut @ cut.T * 20, np.array([0.1, -0.2, 0.1])
    chance = np.zeros((draws, size, len(SPREADS)))
    chance[..., 60] = 1.0
    unit = np.broadcast_to(sd / SPREADS[60], (draws, size))

    def weigh(total: np.ndarray) -> float:
        return float(-0.5 * (total - centre) @ known @ (total - centre))

    drawn = _told_answers(chance, unit, totals, sd, weigh, rng)
    precision = np.diag(sd**-2) + known
    wanted = (centre - totals) @ known @ np.linalg.inv(precision)
    standard = (drawn - wanted) @ np.linalg.cholesky(precision)
    np.testing.assert_allclose(np.cov(standard.T), np.eye(size), atol=0.1)
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=0.08)
    free = _told_answers(chance, unit, totals, sd, lambda _: 0.0, rng)
    np.testing.assert_allclose(free.std(axis=0), sd, rtol=0.05)


@pytest.mark.parametrize("prior", ["HalfNormal(1)", "Exponential(2)"])
def test_two_answers_differ_by_as_much_as_a_binary_label_leans(prior: str):
    """The same raters, once with two rows of a longer label, once with the logits of a binary one.

    The difference of the leans to both answers has the distribution of the binary label's lean.
    """
    rng = np.random.default_rng(1)
    leans, abilities = rng.normal(0, 0.7, 5), rng.normal(1.8, 0.4, 5)
    binary, values = pool_of(leans, abilities, prior)
    bias = np.stack([-leans, leans], axis=1) / 2
    answers, own = answer_pool(abilities[:, None, None] * np.eye(2) + bias[:, None], prior)
    (chance, unit), (same, other) = binary.spreads(values), answers.spreads(own)
    np.testing.assert_allclose(same, np.repeat(chance[:3], 2, axis=1), rtol=1e-9)
    np.testing.assert_allclose(np.sqrt((other**2).sum(axis=1)), unit[:3, 0], rtol=1e-12)


def test_spreads_of_raters_with_a_strong_bias_to_one_answer_are_larger():
    bias = np.zeros((6, 3))
    bias[:, 2] = [-3, 3, -3, 3, -3, 3]
    pool, values = answer_pool(2.0 * np.eye(3) + bias[:, None])
    chance = pool.spreads(values)[0][0]
    spreads = np.sqrt(chance @ SPREADS**2)
    assert spreads[2] > 1.5 * spreads[:2].max()


@pytest.mark.slow
def test_known_truth_weighs_leans_to_answers_by_enumeration():
    """The quadratic is an approximation."""
    ratings = small_ratings(task_named("relevance"), 3, items=8, known=True, missing=0.1)
    structure = build_structure(ratings, make_spec("ability_bias"))
    one = draw_values(structure, 4)
    values = {k: np.repeat(v, DRAWS, axis=0) for k, v in stacked(one).items()}
    drawn = draw_pool_lean(structure, values, method="laplace", seed=1)
    pool, truth = structure.pools[0], ratings.truth[:, 0]
    chance, unit = pool.spreads({k: v[:1] for k, v in values.items()})
    rng = np.random.default_rng(2)
    tries = 3000
    spread = np.stack([rng.choice(SPREADS, tries, p=c / c.sum()) for c in chance[0]], axis=1)
    prior = rng.normal(size=spread.shape) * spread * unit
    known = truth != MISSING

    def log_told(lean: np.ndarray) -> float:
        moved = shifted(structure, one, dict(zip(pool.names, lean, strict=True)))
        chance = brute.state_probabilities(structure.without_gold(), moved)
        return float(np.log(chance[known, truth[known]]).sum())

    logs = np.array([log_told(lean) for lean in prior])
    weights = np.exp(logs - logs.max())
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert 400 < effective < 0.8 * tries  # the truth tells something, but not all
    apart = prior[:, [0, 0, 1]] - prior[:, [1, 2, 2]]
    found = drawn[:, [0, 0, 1]] - drawn[:, [1, 2, 2]]
    mean = np.average(apart, axis=0, weights=weights)
    sd = np.sqrt(np.average((apart - mean) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=0.15 * sd.max())
    np.testing.assert_allclose(found.std(axis=0), sd, rtol=0.15)


def test_the_pool_of_a_reference_group_is_that_of_its_raters():
    ratings = assay.simulate("retrieval", n_items=40, groups={"a": 2, "b": 3}, rng=1)
    structure = build_structure(ratings, make_spec(reference="b"))
    assert not structure.joint_priors
    ((leans,),) = (pool.parts for pool in structure.pools)
    took = leans.crowd.any(axis=0)
    assert took.tolist() == (ratings.raters["group"] == "b").tolist()
    # Half of the difference of the two logits, averaged over the three raters.
    np.testing.assert_allclose(np.abs(leans.share[:, took]).sum(axis=(1, 2)), 1)


def test_methods_with_fixed_parameters_have_no_lean():
    structure = structure_of("retrieval")
    values = stacked(draw_values(structure, 1))
    for method in ("em", "map"):
        assert draw_pool_lean(structure, values, method=method, seed=1) is None


def by_recipe(structure: Structure, whole: Structure, values: dict) -> dict:
    """The parameters of a model of all raters, for one with a recipe for each group."""
    group = whole.ratings.raters["group"].to_numpy(object)
    found = {}
    for parameter in structure.parameters():
        owner, _, name = parameter.name.rpartition(".")
        value, axis = values[name], parameter.dims[0].rpartition(".")[2] if owner else ""
        rows = {"group": sorted(set(group)), "rater": group}.get(axis)
        found[parameter.name] = value if rows is None else value[np.array(rows) == owner]
    return found


@pytest.mark.parametrize("task", ["retrieval", "gated", "relevance"])
@pytest.mark.parametrize("recipe", ["hierarchical + item_difficulty", "ability_bias"])
def test_the_same_recipe_for_each_group_is_one_recipe_for_all(task: str, recipe: str):
    """Priors, likelihood, leans of the pool, and labels given a lean are equal."""
    ratings = small_ratings(task_named(task), 2, raters=5, missing=0.1)
    whole = build_structure(ratings, make_spec(recipe))
    groups = sorted(set(ratings.raters["group"]))
    assert len(groups) > 1
    apart = build_structure(ratings, make_spec(dict.fromkeys(groups, recipe)))
    values = draw_values(whole, 1)
    own = by_recipe(apart, whole, values)
    assert {name: v.shape for name, v in own.items()} == {
        p.name: p.shape for p in apart.parameters()
    }
    log_priors = [
        sum(
            one.sum()
            for name, one in prior_log_densities(s, v).items()
            if "unasked_" not in name  # each recipe has its own
        )
        for s, v in ((apart, own), (whole, values))
    ]
    assert log_priors[0] == pytest.approx(log_priors[1], rel=1e-12)
    assert apart.log_likelihood(own) == pytest.approx(whole.log_likelihood(values), rel=1e-12)
    several, single = stacked(own), stacked(values)
    for mine, one in zip(apart.pools, whole.pools, strict=True):
        assert mine.names == one.names
        for found, wanted in zip(mine.spreads(several), one.spreads(single), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mine.of_model(several), one.of_model(single), atol=1e-12)
    lean = np.random.default_rng(1).normal(size=(1, sum(len(p.labels) for p in whole.pools)))
    labels = [
        sample_states(s, v, np.random.default_rng(1), lean).probabilities
        for s, v in ((apart, several), (whole, single))
    ]
    np.testing.assert_allclose(*labels, atol=1e-9)


def test_the_prior_of_the_mean_lean_holds_over_the_recipes():
    """Drawn without data, the mean lean has its prior, and each part its own SDs."""
    ratings = small_ratings(task_named("retrieval"), 2, raters=5)
    recipes = {"human": "hierarchical", "model": "ability_bias"}
    structure = build_structure(ratings, make_spec(recipes, priors={"lean": "Normal(0.5, 0.2)"}))
    rng = np.random.default_rng(1)
    drawn = [stacked(structure.draw(rng)) for _ in range(2000)]
    leans = np.concatenate([structure.pools[0].of_model(values) for values in drawn])
    np.testing.assert_allclose(leans.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(leans.std(axis=0), 0.2, rtol=0.06)


@pytest.mark.parametrize("judge", ["scored", "hierarchical + system_bias"])
def test_a_judge_with_scores_or_a_bias_by_system_is_no_part_of_the_crowd(judge: str):
    """The mean lean of the others has the prior. No lean from the pool moves the judge."""
    sizes = {"groups": {"llm": 2, "person": 3}, "n_systems": 2}
    ratings = assay.simulate("retrieval", n_items=20, rng=1, **sizes)
    structure = build_structure(ratings, make_spec({"llm": judge, "person": "hierarchical"}))
    (prior,) = structure.joint_priors
    crowds = {leans.prefix: leans.crowd.sum() for leans in prior.parts}
    labels = len(ratings.task.labels)
    assert {k: v for k, v in crowds.items() if v} == {"person.": pytest.approx(labels)}
    assert structure.pools == []


def test_a_bias_by_system_of_all_raters_leaves_all_in_the_crowd():
    sizes = {"groups": {"llm": 2, "person": 3}, "n_systems": 2}
    ratings = assay.simulate("retrieval", n_items=20, rng=1, **sizes)
    recipe = dict.fromkeys(["llm", "person"], "hierarchical + system_bias")
    (pool,) = build_structure(ratings, make_spec(recipe)).pools
    assert [len(leans.group) for leans in pool.parts] == [2, 3]
    assert all(leans.crowd.all() for leans in pool.parts)


def test_the_prior_of_the_lean_belongs_to_no_single_group():
    ratings = assay.simulate("retrieval", n_items=20, groups={"a": 2, "b": 3}, rng=1)
    own = make_spec(dict.fromkeys("ab", "hierarchical"), priors={"a.lean": "Normal(1, 0.3)"})
    with pytest.raises(ModelError, match="all raters together", check=refusal("prior-unknown")):
        build_structure(ratings, own)
