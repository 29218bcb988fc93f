"""Families against loops over answer vectors, and the priors of single groups and raters."""

import itertools
import math

import numpy as np
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, state_space
from assay.data.task import Label, Task
from assay.modelling.confusion import Tilt
from assay.modelling.families import default_priors
from assay.modelling.interface_rules import build_menu
from assay.modelling.priors import write_prior
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def built(task: str, raters: str, *, priors: dict | None = None, **sizes: object) -> Structure:
    ratings = assay.simulate(
        task,
        raters=raters,
        n_items=12,
        groups={"expert": 2, "crowd": 3},
        ratings_per_item=3,
        rng=5,
        **sizes,
    )
    return build_structure(ratings, make_spec(raters, priors=priors))


def drawn(structure: Structure, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {p.name: p.draw(rng) for p in structure.parameters()}


def row_chances(structure: Structure, values: dict[str, np.ndarray]) -> np.ndarray:
    """P(rating | state) as the model has it: (rating, state)."""
    table = np.exp(np.asarray(structure.tables(values, np).response))[0]
    row = structure.parts[0].repeats.row
    return np.where(row[:, None] < 0, 1.0, table[row])


def admitted(structure: Structure) -> list[tuple[int, ...]]:
    """Answer vectors that the gates let through and no rule blocks."""
    task, found = structure.ratings.task, []
    for vector in itertools.product(*[(NOT_ASKED, *range(len(la.classes))) for la in task.labels]):
        codes = {n: np.array([c]) for n, c in zip(task.label_names, vector, strict=True)}
        gates = all(
            (code != NOT_ASKED) == (not la.asked_if or bool(task.expression(la.asked_if)(codes)[0]))
            for la, code in zip(task.labels, vector, strict=True)
        )
        rules = all(
            r.response != "block" or bool(task.expression(r.expression)(codes)[0])
            for r in task.rules
        )
        if gates and rules:
            found.append(vector)
    return found


def by_loops(structure: Structure, weight) -> np.ndarray:
    """P(rating | state) from the weight of each answer vector, normalised over the admitted ones.

    ``weight(rater, state, answers)`` gives a list with a weight for each kind of rating, and
    ``weight.shares(rater)`` their shares.
    """
    ratings, menu = structure.ratings, admitted(structure)
    states = state_space(ratings.task).states.tolist()
    found = np.zeros((len(ratings.answers), len(states)))
    for n, answers in enumerate(ratings.answers.tolist()):
        fits = [v for v in menu if all(a in (MISSING, b) for a, b in zip(answers, v, strict=True))]
        for s, state in enumerate(states):
            for share, kind in weight(int(ratings.rater[n]), state):
                total = math.fsum(kind(v) for v in menu)
                found[n, s] += share * math.fsum(kind(v) for v in fits) / total
    return found


@pytest.mark.parametrize("task", ["retrieval", "ais", "relevance", "single"])
def test_mace_is_a_mixture_of_whole_ratings(task: str):
    structure = built(task, "mace", missing=0.2)
    values = drawn(structure)
    names = structure.ratings.task.label_names

    def weight(rater: int, state: list[int]):
        phi = values["spamming"][rater]
        strategies = [values[f"strategy_{name}"][rater] for name in names]
        yield 1 - phi, lambda v: float(list(v) == state)
        yield (
            phi,
            lambda v: math.prod(
                x[code] for x, code in zip(strategies, v, strict=True) if code >= 0
            ),
        )

    np.testing.assert_allclose(
        row_chances(structure, values), by_loops(structure, weight), rtol=1e-9, atol=1e-12
    )


def test_mace_tilts_the_chance_of_an_honest_rating():
    structure = built("retrieval", "mace")
    family, values = structure.parts[0].family, drawn(structure)
    added = np.zeros((5, family.layout.asked_rows))
    added[:, 0] = 3.0
    tilts = (None, Tilt(added=added))
    plain, tilted = (family.components(values, np.arange(5), tilt, np) for tilt in tilts)
    odds = [np.subtract(kinds[0][0], kinds[1][0]) for kinds in (plain, tilted)]
    np.testing.assert_allclose(odds[1] - odds[0], 3.0 / family.layout.asked_rows)
    marginal = np.exp(family.log_confusion(values, np))
    np.testing.assert_allclose(marginal.sum(axis=-1), 1)
    parts = [np.exp(w)[:, None, None] * np.exp(t[:, : family.layout.asked_rows]) for w, t in plain]
    np.testing.assert_allclose(marginal, sum(parts), rtol=1e-12)
    reliability = structure.parts[0].reliability({k: v[None] for k, v in values.items()})[0]
    np.testing.assert_allclose(reliability[:, 0, 0], marginal[:, 0], rtol=1e-12)


def ordinal_chance(values: dict, g: int, j: int, label: int, first: int, classes: int, true: int):
    """P(class | true class) of one rater on one label, from the cumulative probabilities."""
    gaps = np.exp(values["spacing"][g])[first : first + classes - 1]
    places = np.concatenate([[0.0], np.cumsum(gaps)])
    halfway = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    places = places - np.mean(halfway)
    slope = 1 + values["slope_sd"][g] * values["slope_offset"][j, label]
    shift = (
        values["shift_mean"][g, label] + values["shift_sd"][g] * values["shift_offset"][j, label]
    )
    thresholds = [0.0]
    for k in range(classes - 2):
        wider = values["width_mean"][g, k] + values["width_sd"][g] * values["width_offset"][j, k]
        thresholds.append(thresholds[-1] + (gaps[k] + gaps[k + 1]) / 2 * math.exp(wider))
    thresholds = np.array(thresholds) - np.mean(thresholds) + shift
    below = [1 / (1 + math.exp(slope * places[true] - c)) for c in thresholds]
    lapse = values["lapse"][g] if classes > 2 else 0.0
    return (1 - lapse) * np.diff([0.0, *below, 1.0]) + lapse / classes


@pytest.mark.parametrize("task", ["relevance", "generation"])
def test_ordinal_has_cumulative_logits(task: str):
    structure = built(task, "ordinal")
    for seed in range(3):
        values = drawn(structure, seed)
        family = structure.parts[0].family
        table = np.exp(family.log_confusion(values, np))
        row = first = 0
        for n, classes in enumerate(family.layout.classes):
            for true in range(classes):
                for j, g in enumerate(family.raters.group):
                    expected = ordinal_chance(values, g, j, n, first, classes, true)
                    np.testing.assert_allclose(
                        table[j, row, :classes], expected, rtol=1e-9, atol=1e-15
                    )
                row += 1
            first += classes - 1


def test_ordinal_refuses_classes_without_order():
    with pytest.raises(ModelError, check=refusal("family-unfit", classes=3)):
        built("single", "ordinal")
    assert built("single", "ordinal", classes=("bad", "good")).parameters()


def joint_factor(task, values: dict, g: int, state: list[int], vector: tuple[int, ...]) -> float:
    """Exponential of the association of answers, pair by pair."""
    pairs = list(itertools.combinations(range(len(task.labels)), 2))
    total = 0.0
    for n, (a, b) in enumerate(pairs):
        if vector[a] < 0 or vector[b] < 0:
            continue
        halo = values["halo_sd"][g] * values["halo_offset"][g, n]
        total += halo * (vector[a] - 0.5) * (vector[b] - 0.5)
        if state[a] < 0 or state[b] < 0:
            continue
        alike = (vector[a] != state[a]) == (vector[b] != state[b])
        slip = values["slip_sd"][g] * values["slip_offset"][g, n]
        total += slip / 4 if alike else -slip / 4
    return math.exp(total)


@pytest.mark.parametrize("task", ["retrieval", "ais"])
def test_joint_weighs_answer_vectors(task: str):
    structure = built(task, "joint", missing=0.1)
    values = drawn(structure)
    family, chosen = structure.parts[0].family, structure.ratings.task
    confusion = np.exp(family.log_confusion(values, np))

    def weight(rater: int, state: list[int]):
        def kind(vector: tuple[int, ...]) -> float:
            chance = joint_factor(chosen, values, family.raters.group[rater], state, vector)
            for n, (true, said) in enumerate(zip(state, vector, strict=True)):
                if said >= 0 and true >= 0:
                    chance *= confusion[rater, 2 * n + true, said]
                elif said >= 0:
                    chance *= values[f"unasked_{chosen.label_names[n]}"][said]
            return chance

        yield 1.0, kind

    np.testing.assert_allclose(
        row_chances(structure, values), by_loops(structure, weight), rtol=1e-9
    )


def test_joint_has_the_log_odds_ratios_that_it_says():
    structure = built("generation", "joint")
    values = drawn(structure)
    part = structure.parts[0]
    space = state_space(structure.ratings.task)
    menu = build_menu(part.family.layout, space, np.ones(5, bool))
    chance = part.menu_chances({k: v[None] for k, v in values.items()}, menu, None)[0]
    g = part.family.raters.group[4]
    halo = values["halo_sd"][g] * values["halo_offset"][g, 0]
    slip = values["slip_sd"][g] * values["slip_offset"][g, 0]
    rest = (0, 1, 0)
    cell = {
        pair: menu.options.tolist().index([*pair, *rest])
        for pair in itertools.product((0, 1), repeat=2)
    }
    for a, b in itertools.product((0, 1), repeat=2):
        state = space.states.tolist().index([a, b, 1, 1, 0])
        p = {pair: chance[4, state, n] for pair, n in cell.items()}
        ratio = math.log(p[1, 1] * p[0, 0] / (p[0, 1] * p[1, 0]))
        assert ratio == pytest.approx(halo + (slip if a == b else -slip), abs=1e-9)


def test_joint_with_unordered_classes_and_refused_for_one_label():
    task = Task(
        name="two",
        labels=(Label(name="topic", classes=("a", "b", "c")), Label(name="helpful")),
    )
    ratings = assay.simulate(task, raters="joint", n_items=5, n_raters=2, ratings_per_item=2, rng=1)
    halo = ratings.simulated.values["halo_offset"]
    assert halo.shape == (1, 3)
    names = {p.name: p for p in build_structure(ratings, make_spec("joint")).parameters()}
    assert names["halo_offset"].coords["halo_pair"][0] == "topic=a:helpful"
    with pytest.raises(ModelError, match="task relevance has", check=refusal("family-unfit")):
        built("relevance", "joint")


@pytest.mark.parametrize(
    ("task", "raters"), [("ais", "mace"), ("relevance", "ordinal"), ("retrieval", "joint")]
)
def test_symbols_give_the_same_numbers(task: str, raters: str):
    import pytensor.tensor as pt
    from pytensor.compile.mode import Mode

    structure = built(task, raters)
    family, values = structure.parts[0].family, drawn(structure)
    units = np.arange(5)
    menu = build_menu(
        family.layout,
        state_space(structure.ratings.task),
        np.ones(len(structure.ratings.task.labels), bool),
    )
    symbols = {k: pt.as_tensor_variable(v) for k, v in values.items()}
    rng, size = np.random.default_rng(1), (5, family.layout.asked_rows)
    tilt = Tilt(added=rng.standard_normal(size), guessing=rng.exponential(size=size))

    def outputs(values: dict, tilt: Tilt, xp: object) -> list:
        found = [x for kind in family.components(values, units, tilt, xp) for x in kind]
        found += [family.residual(values, units, tilt, menu, xp)] if raters == "joint" else []
        return [x for x in found if x is not None]

    mode = Mode(linker="py", optimizer=None)
    symbolic = outputs(symbols, Tilt(*(pt.as_tensor_variable(x) for x in tilt)), pt)
    for symbol, number in zip(symbolic, outputs(values, tilt, np), strict=True):
        np.testing.assert_allclose(symbol.eval(mode=mode), number, rtol=1e-12, atol=1e-12)


# -- priors of single groups and raters --------------------------------------------------------


def prior_numbers(structure: Structure, name: str) -> list[np.ndarray]:
    parameter = next(p for p in structure.parameters() if p.name == name)
    return [np.broadcast_to(v, parameter.shape) for v in parameter.prior.values]


def test_a_group_has_a_prior_of_its_own():
    priors = {"expert.mean_binary": "Normal(3, 0.3)", "crowd.sd": "HalfNormal(2)"}
    structure = built("retrieval", "hierarchical", priors=priors)
    assert structure.parts[0].raters.groups == ("crowd", "expert")
    known = make_spec("hierarchical", priors=priors, reference="gold")
    # Where nothing else says what is true, it is the prior of the mean of the two rows of a label.
    for found, wider in ((structure, np.sqrt(2)), (build_structure(structure.ratings, known), 1)):
        mean, sd = prior_numbers(found, "logit_mean")
        np.testing.assert_array_equal(mean.T, [[1.8, 3]] * 6)
        np.testing.assert_allclose(sd.T, [[0.8 * wider, 0.3 * wider]] * 6, rtol=1e-12)
        np.testing.assert_array_equal(prior_numbers(found, "logit_sd")[0].T, [[2, 1]] * 6)


def test_longer_labels_have_parameters_of_their_own():
    """Offsets of logits are those of binary rows; answers to longer labels have leans of raters."""
    two = Task(name="two", labels=(Label(name="a"), Label(name="b", classes=tuple("xyz"))))
    ratings = assay.simulate(two, n_items=6, groups={"expert": 2, "crowd": 3}, rng=1)
    priors = {"expert.class_sd": "HalfNormal(3)", "sd": "HalfNormal(2)"}
    structure = build_structure(ratings, make_spec("ability_bias", priors=priors))
    shapes = {p.name: p.shape for p in structure.parts[0].parameters()}
    assert shapes["logit_sd"] == (2, 2)
    assert shapes["confusion_mean"] == (2, 9)
    assert shapes["class_offset"] == shapes["bias_offset"] == (5, 3)
    assert set(prior_numbers(structure, "logit_sd")[0].ravel()) == {2}
    np.testing.assert_array_equal(prior_numbers(structure, "class_sd")[0], [[0.5], [3]])
    with pytest.raises(ModelError, check=refusal("prior-kinds-mixed")):
        assay.fit(ratings, raters="ability_bias", priors={"expert.sd": "Exponential(1)"})


@pytest.mark.parametrize(
    ("raters", "prior", "parameter"),
    [
        ("one_coin", "accuracy", "accuracy"),
        ("class_conditional", "accuracy", "accuracy"),
        ("mace", "spamming", "spamming"),
    ],
)
def test_a_rater_has_a_prior_of_its_own_before_its_group(raters: str, prior: str, parameter: str):
    priors = {
        f"rater_2.{prior}": "Beta(90, 10)",
        f"expert.{prior}": "Beta(20, 5)",
        prior: "Beta(3, 2)",
    }
    alpha, beta = prior_numbers(built("retrieval", raters, priors=priors), parameter)
    np.testing.assert_array_equal(alpha.reshape(5, -1)[:, 0], [20, 90, 3, 3, 3])
    np.testing.assert_array_equal(beta.reshape(5, -1)[:, 0], [5, 10, 2, 2, 2])


def test_a_rater_group_with_a_recipe_of_its_own_has_priors_of_its_own():
    ratings = assay.simulate(
        "retrieval", n_items=6, groups={"expert": 2, "crowd": 3}, ratings_per_item=3, rng=1
    )
    raters = {"expert": "one_coin", "crowd": "dawid_skene"}
    priors = {
        "expert.accuracy": "Beta(20, 5)",
        "rater_1.accuracy": "Beta(9, 1)",
        "rater_5.confusion": "Confusion(0.9, 50)",
    }
    structure = build_structure(ratings, make_spec(raters, priors=priors))
    np.testing.assert_array_equal(prior_numbers(structure, "expert.accuracy")[0], [9, 20])
    counts = prior_numbers(structure, "crowd.confusion_2")[0]
    np.testing.assert_allclose(counts[:, 0], [[4.8, 3.2], [4.8, 3.2], [45, 5]])


def test_counts_by_rater_by_label_and_for_all():
    counts = np.arange(1.0, 46).reshape(5, 3, 3)
    structure = built("single", "dawid_skene", priors={"confusion": write_prior(counts)})
    np.testing.assert_array_equal(prior_numbers(structure, "confusion_3")[0], counts)
    priors = {"rater_4.confusion": "Counts([[8, 2], [1, 9]])", "confusion": "Confusion(0.6, 8)"}
    found = prior_numbers(built("retrieval", "dawid_skene", priors=priors), "confusion_2")[0]
    np.testing.assert_array_equal(found[3], np.tile([[8.0, 2], [1, 9]], (3, 1)))
    np.testing.assert_allclose(found[0, :2], [[4.8, 3.2], [3.2, 4.8]])
    by_label = {"flagged": [[8, 2], [1, 9]], "interpretable": [[3, 3], [3, 4]]}
    by_label["attributable"] = counts[:, :2, :2].tolist()
    found = prior_numbers(
        built("ais", "dawid_skene", priors={"confusion": write_prior(by_label)}), "confusion_2"
    )[0]
    np.testing.assert_array_equal(found[2, 2:4], [[3, 3], [3, 4]])
    np.testing.assert_array_equal(found[:, 4:], counts[:, :2, :2])
    pooled = built("single", "pooled", priors={"confusion": write_prior(counts[0])})
    np.testing.assert_array_equal(prior_numbers(pooled, "confusion_3")[0], counts[0])


def test_opinions_stand_for_the_priors_of_accuracies():
    words = "about 85 % accurate, 90 % between 70 and 95"
    alpha, beta = prior_numbers(
        built("single", "one_coin", priors={"rater_1.accuracy": words}), "accuracy"
    )
    assert alpha[0] / (alpha[0] + beta[0]) == pytest.approx(0.85)
    assert (alpha[1], beta[1]) == (4.8, 3.2)
    counts = prior_numbers(
        built("retrieval", "pooled", priors={"confusion": words}), "confusion_2"
    )[0]
    np.testing.assert_allclose(counts[0], [alpha[0], beta[0]])
    mean = prior_numbers(
        built("retrieval", "hierarchical", priors={"mean_binary": words}), "logit_mean"
    )[0]
    assert mean[0, 0] == pytest.approx(1.87, abs=0.01)


@pytest.mark.parametrize("name", ["hierarchical", "joint"])
@pytest.mark.parametrize(("classes", "at_most"), [(3, 0.01), (5, 0.015), (10, 0.025)])
def test_an_average_rater_mostly_calls_a_class_by_its_name(name: str, classes: int, at_most: float):
    """Nothing else tells one class from another."""
    rng, priors = np.random.default_rng(1), default_priors(name)
    right = rng.normal(*priors["mean_correct"].values, 100_000)
    others = rng.normal(*priors["mean_other"].values, (classes - 1, 100_000))
    assert (right < others.max(axis=0)).mean() < at_most


@pytest.mark.parametrize(
    ("raters", "priors", "words"),
    [
        ("hierarchical", {"rater_1.mean_binary": "Normal(3, 1)"}, "unknown-group"),
        (
            "hierarchical",
            {"expert.sd": "Exponential(2)"},
            "prior-kinds-mixed",
        ),
        ("hierarchical", {"sd": "about 85 %, 90 % between 70 and 95"}, "prior-kind"),
        ("dawid_skene", {"confusion": "Counts([[1, 2, 3], [1, 2, 3], [1, 2, 3]])"}, "prior-counts"),
        (
            "pooled",
            {"confusion": str([[[8, 2], [1, 9]]] * 5).join(("Counts(", ")"))},
            "prior-counts",
        ),
        (
            "dawid_skene",
            {"confusion": "Counts({'topically_relevant': [[8, 2], [1, 9]]})"},
            "prior-counts",
        ),
        ("pooled", {"expert.confusion": "Confusion(0.9, 9)"}, "prior-unknown"),
    ],
)
def test_priors_that_cannot_be_are_refused(raters: str, priors: dict, words: str):
    with pytest.raises(ModelError, check=refusal(words)):
        built("retrieval", raters, priors=priors).parameters()
