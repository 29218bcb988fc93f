"""Simulator = likelihood, item by item: the truth and all ratings of an item, against enumeration.

Every pattern that an item can show is written down as an item of a second data set, whose
likelihoods the brute force knows; simulated items are counted against them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import brute
import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from small import draw_values, task_named

from assay.data.ratings import Ratings
from assay.data.states import state_space
from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.fits.simulate import simulate_answers
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

ITEMS = 8_000
PARTS = 4
BINARY = load_task("single").with_classes({"label": ("no", "yes")})
SESSIONS = ("before", "after")
GROUPS = ("model", "human", "model")


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every item has these ratings: (rater, session) of each; and these parameters stand out."""

    task: Task
    slots: tuple[tuple[int, int], ...]
    spec: Mapping[str, object]
    values: Mapping[str, ArrayLike] = field(default_factory=dict)
    wrong: Mapping[str, ArrayLike] = field(default_factory=dict)
    systems: int = 1

    def scored(self, slot: int) -> bool:
        """Whether the rater of a slot gives scores."""
        raters = self.spec.get("raters", "hierarchical")
        group = GROUPS[self.slots[slot][0]]
        return (raters if isinstance(raters, str) else raters[group]).startswith("scored")

    def ratings(
        self, answers: np.ndarray, scores: np.ndarray, truth: np.ndarray, system: np.ndarray
    ) -> Ratings:
        """Ratings of items: ``answers`` and ``scores`` are (item, slot, label)."""
        items, slots = answers.shape[:2]
        names = [f"i{i}" for i in range(items)]
        system = np.array([f"s{k}" if self.systems > 1 else "" for k in system], object)
        panels = {"panel": names, "system": system, "cluster": names, "rank": 1}
        rater, session = np.array(self.slots).T
        return Ratings(
            task=self.task,
            answers=answers.reshape(items * slots, -1).astype(np.int16),
            scores=scores.reshape(items * slots, -1),
            item=np.repeat(np.arange(items), slots),
            rater=np.tile(rater, items),
            replicate=np.tile(np.arange(slots), items),
            abstained=np.zeros(items * slots, bool),
            session=np.array(SESSIONS, object)[np.tile(session, items)],
            sessions=SESSIONS,
            items=pd.DataFrame(
                {"cluster": names, "stratum": "", "weight": 1.0}, index=pd.Index(names, name="item")
            ),
            raters=pd.DataFrame({"group": GROUPS}, index=pd.Index(["a", "b", "c"], name="rater")),
            truth=truth,
            panels=pd.DataFrame(panels | {"item": np.arange(items)}),
        )

    def blank(self) -> Structure:
        """The structure of items whose ratings have placeholders for answers."""
        space = state_space(self.task)
        answers = np.tile(space.paths[~space.blocked][0], (ITEMS, len(self.slots), 1))
        truth = np.full((ITEMS, answers.shape[-1]), -1, np.int16)
        system = np.arange(ITEMS) % self.systems
        empty = np.full(answers.shape, np.nan)
        return build_structure(self.ratings(answers, empty, truth, system), make_spec(**self.spec))

    def patterns(self) -> np.ndarray:
        """Every (system, truth, what each slot says), a line each."""
        space = state_space(self.task)
        shown = [tuple(p) for p in space.paths[~space.blocked].tolist()]
        bins = list(product(*(range(len(la.classes) * PARTS) for la in self.task.labels)))
        said = [bins if self.scored(n) else shown for n in range(len(self.slots))]
        every = product(range(self.systems), space.states.tolist(), product(*said))
        return np.array([[k, *state, *np.ravel(what)] for k, state, what in every])

    def structure(self, patterns: np.ndarray) -> Structure:
        """The structure in which each pattern is an item whose truth is known."""
        labels, slots = len(self.task.labels), len(self.slots)
        said = patterns[:, 1 + labels :].reshape(-1, slots, labels)
        classes = np.array([len(la.classes) for la in self.task.labels])
        scored = np.array([self.scored(n) for n in range(slots)])[None, :, None]
        scores = np.where(scored, (said + 0.5) / (classes * PARTS), np.nan)
        answers = np.where(scored, said // PARTS, said)
        truth = patterns[:, 1 : 1 + labels].astype(np.int16)
        ratings = self.ratings(answers, scores, truth, patterns[:, 0])
        return build_structure(ratings, make_spec(**self.spec))

    def seen(self, ratings: Ratings) -> np.ndarray:
        """The pattern of each simulated item."""
        slots = len(self.slots)
        classes = np.array([len(la.classes) for la in self.task.labels])
        scored = np.tile([self.scored(n) for n in range(slots)], ITEMS)[:, None]
        bins = (np.nan_to_num(ratings.scores) * classes * PARTS).astype(int)
        said = np.where(scored, bins, ratings.answers).reshape(ITEMS, -1)
        system = np.arange(ITEMS)[:, None] % self.systems
        return np.concatenate([system, ratings.simulated.truth, said], axis=1)


def filled(
    structure: Structure, given: Mapping[str, ArrayLike], seed: int
) -> dict[str, np.ndarray]:
    """Parameters from their priors, with some of them set."""
    values = draw_values(structure, seed)
    assert set(given) <= set(values)
    return values | {name: np.full_like(values[name], value) for name, value in given.items()}


def p_value(seen: np.ndarray, patterns: np.ndarray, chance: np.ndarray) -> float:
    """Chi-squared of the counts of patterns; those expected less than five times are merged."""
    place = {tuple(row): n for n, row in enumerate(patterns.tolist())}
    counts = np.bincount([place[tuple(row)] for row in seen.tolist()], minlength=len(patterns))
    expected = chance * len(seen)
    rare = expected < 5
    observed = np.append(counts[~rare], counts[rare].sum())
    hoped = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chisquare(observed[hoped > 0], hoped[hoped > 0]).pvalue)


RELEVANCE = task_named("relevance")
ONCE = ((0, 0), (1, 0), (2, 0))
STUDIES = {
    "replicates": Study(
        task=RELEVANCE,
        slots=((1, 0), (1, 0), (1, 0)),
        spec={},
        values={"consistency_mean": 0.0, "consistency_sd": 0.0},
        wrong={"consistency_mean": -0.4055, "consistency_sd": 0.0},
    ),
    "copied answers": Study(
        task=task_named("retrieval"),
        slots=((0, 0), (1, 0)),
        spec={"copies": {"b": "a"}},
        values={"copied": 0.4},
        wrong={"copied": 0.2},
    ),
    "copies of copies, in another group": Study(
        task=BINARY,
        slots=((2, 0), (1, 0), (0, 0)),
        spec={"raters": "pooled + item_difficulty", "copies": {"b": "c", "a": "b"}},
        values={"copied": 0.5},
        wrong={"copied": 0.3},
    ),
    "copies of copies, with a recipe for each group": Study(
        task=BINARY,
        slots=((2, 0), (1, 0), (0, 0)),
        spec={
            "raters": {"model": "pooled", "human": "dawid_skene"},
            "copies": {"b": "a", "a": "c"},
        },
        values={"model.copied": 0.6, "human.copied": 0.6},
        wrong={"model.copied": 0.4, "human.copied": 0.4},
    ),
    "replicates of raters who share a confusion": Study(
        task=BINARY,
        slots=((0, 0), (2, 0), (2, 0), (2, 0), (0, 0)),
        spec={"raters": "pooled"},
        values={"consistency_mean": 0.4055, "consistency_sd": 0.0},
        wrong={"consistency_mean": 0.0, "consistency_sd": 0.0},
    ),
    "perception, gold": Study(
        task=task_named("retrieval"),
        slots=((0, 0), (2, 0)),
        spec={"reference": "gold"},
        values={"misperceived": 0.3},
        wrong={"misperceived": 0.2},
    ),
    "perception, a group": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"reference": "human", "raters": "dawid_skene"},
        values={"misperceived": 0.4, "appearance_tilt": 1.5},
        wrong={"appearance_by_state": 0.0},
        systems=2,
    ),
    "easy and hard": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"raters": "hierarchical + item_difficulty"},
        values={"hard_share": 0.4, "difficulty_rate": 2.5},
        wrong={"hard_share": 0.3},
    ),
    "easy and hard, by system": Study(
        task=task_named("retrieval"),
        slots=ONCE,
        spec={"raters": "hierarchical + item_difficulty"},
        values={
            "hard_share": 0.3,
            "hard_share_system_sd": 1.5,
            "hard_share_system_offset": [[1.0, -1.0, 0.5, 0.0], [-1.0, 1.0, 0.0, 0.5]],
            "difficulty_rate": 2.5,
        },
        wrong={"hard_share_system_sd": 0.0},
        systems=2,
    ),
    "by system, three classes": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"raters": "hierarchical + item_difficulty"},
        values={
            "hard_share": 0.3,
            "hard_share_system_sd": 1.5,
            "hard_share_system_offset": [1.0, -1.0],
            "difficulty_rate": 2.5,
        },
        wrong={"hard_share_system_sd": 0.0},
        systems=2,
    ),
    "ability and bias, easy and hard": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"raters": "ability_bias + item_difficulty"},
        values={"ability_sd": 1.5, "bias_sd": 1.5, "hard_share": 0.4, "difficulty_rate": 2.5},
        wrong={"bias_sd": 0.5},
    ),
    "one coin": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"raters": "one_coin"},
        values={"accuracy": 0.7},
        wrong={"accuracy": 0.65},
    ),
    "by class": Study(
        task=task_named("ais"),
        slots=ONCE,
        spec={"raters": "class_conditional"},
        values={"accuracy": 0.7},
        wrong={"accuracy": 0.65},
    ),
    "confusions of their own": Study(
        task=RELEVANCE,
        slots=ONCE,
        spec={"raters": "dawid_skene"},
        values={"confusion_3": [0.5, 0.3, 0.2]},
        wrong={"confusion_3": [0.45, 0.35, 0.2]},
    ),
    "lapses": Study(
        task=task_named("ais"),
        slots=((0, 0), (1, 0)),
        spec={"raters": "hierarchical + lapses"},
        values={"lapse_mean": -0.5, "lapse_sd": 0.5, "strategy_sd": 1.0},
        wrong={"lapse_mean": -1.0},
    ),
    "halo": Study(
        task=task_named("retrieval"),
        slots=((0, 0), (1, 0)),
        spec={"raters": "hierarchical + halo"},
        values={"halo_loading": 2.5, "halo_share": 0.5},
        wrong={"halo_share": 0.25},
    ),
    "continuous difficulty": Study(
        task=BINARY,
        slots=((0, 0), (1, 0), (2, 0), (2, 1)),
        spec={"raters": "one_coin + item_difficulty_continuous", "replicates": "independent"},
        values={"difficulty_rate": 1.5, "accuracy": 0.8},
        wrong={"difficulty_rate": 0.6},
    ),
    "continuous difficulty by rater": Study(
        task=BINARY,
        slots=((0, 0), (1, 0), (2, 0), (2, 1)),
        spec={"raters": "one_coin + item_difficulty_by_rater", "replicates": "independent"},
        values={
            "difficulty_rate": 1.0,
            "difficulty_rate_sd": 0.8,
            "hard_share": 0.6,
            "accuracy": 0.8,
        },
        wrong={"difficulty_rate_sd": 0.0},
    ),
    "continuous difficulty by class": Study(
        task=BINARY,
        slots=((0, 0), (1, 0), (2, 0), (2, 1)),
        spec={"raters": "one_coin + item_difficulty_by_class", "replicates": "independent"},
        values={"difficulty_rate": [[0.2, 2.0]], "accuracy": 0.8},
        wrong={"difficulty_rate": [[2.0, 0.2]]},
    ),
    "drift": Study(
        task=BINARY,
        slots=((0, 0), (1, 0), (0, 1), (1, 1)),
        spec={"raters": "hierarchical + drift"},
        values={"drift_sd": 1.0, "drift_step": -1.0, "drift_lean_sd": 0.0},
        wrong={"drift_step": -0.7},
    ),
    "drift of one class": Study(
        task=BINARY,
        slots=((0, 0), (1, 0), (0, 1), (1, 1)),
        spec={"raters": "hierarchical + drift"},
        values={"drift_sd": 0.0, "drift_lean_sd": 1.0, "drift_lean_step": [[[1.0], [-1.0]]] * 3},
        wrong={"drift_lean_step": 0.0},
    ),
    "bias": Study(
        task=RELEVANCE,
        slots=((0, 0), (1, 0)),
        spec={"raters": "dawid_skene + system_bias"},
        values={"system_bias_sd": 1.0},
        wrong={"system_bias_sd": 0.5},
        systems=2,
    ),
    "mace": Study(
        task=task_named("ais"),
        slots=((0, 0), (1, 0)),
        spec={"raters": "mace"},
        values={"spamming": 0.4},
        wrong={"spamming": 0.3},
    ),
    "mace under blocked rules, with difficulty": Study(
        task=task_named("retrieval"),
        slots=((0, 0), (1, 0)),
        spec={"raters": "mace + item_difficulty"},
        values={"spamming": 0.3, "difficulty_rate": 1.5, "hard_share": 0.4},
        wrong={"difficulty_rate": 0.5},
    ),
    "joint": Study(
        task=task_named("retrieval"),
        slots=((0, 0), (2, 0)),
        spec={"raters": "joint"},
        values={"halo_sd": 1.5, "halo_offset": 1.0, "slip_sd": 1.0, "slip_offset": 1.0},
        wrong={"halo_offset": 0.5},
    ),
    "joint, gated": Study(
        task=task_named("ais"),
        slots=((0, 0), (1, 0)),
        spec={"raters": "joint"},
        values={"slip_sd": 1.0, "slip_offset": 2.0},
        wrong={"slip_offset": 0.5},
    ),
    "ordinal": Study(
        task=RELEVANCE,
        slots=((0, 0), (1, 0)),
        spec={"raters": "ordinal"},
        values={"shift_mean": 0.5, "shift_sd": 0.3},
        wrong={"shift_mean": 0.3},
    ),
    "scores": Study(
        task=RELEVANCE,
        slots=((0, 0), (1, 0)),
        spec={"raters": "scored"},
        values={"strength_sd": 0.3, "strength_offset": 1.0},
        wrong={"strength_offset": 0.0},
    ),
    "scores on gated labels": Study(
        task=Task(name="pair", labels=(Label(name="a"), Label(name="b", asked_if="a"))),
        slots=((0, 0),),
        spec={"raters": "scored"},
        values={"strength_sd": 0.3, "strength_offset": 1.0},
        wrong={"strength_offset": -1.0},
    ),
    "scores beside answers": Study(
        task=BINARY,
        slots=ONCE,
        spec={
            "raters": {"human": "hierarchical + item_difficulty", "model": "scored + drift"},
            "reference": "human",
        },
        values={"misperceived": 0.3, "hard_share": 0.4, "human.difficulty_rate": 2.0},
        wrong={"misperceived": 0.1},
    ),
    "scores given twice": Study(
        task=BINARY,
        slots=((0, 0), (0, 0)),
        spec={"raters": "scored + item_difficulty"},
        values={
            "consistency_mean": -0.8473,
            "consistency_sd": 0.0,
            "hard_share": 0.3,
            "difficulty_rate": 1.0,
        },
        wrong={"consistency_mean": -1.3863, "consistency_sd": 0.0},
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_items_show_each_pattern_as_often_as_its_likelihood_says(name: str):
    """And a parameter that is a little wrong shows."""
    study = STUDIES[name]
    blank = study.blank()
    values = filled(blank, study.values, 2)
    ratings = simulate_answers(blank, values, np.random.default_rng(7))
    seen, patterns = study.seen(ratings), study.patterns()
    structure = study.structure(patterns)
    chance = np.exp(brute.log_likelihoods(structure, values)) / study.systems
    assert chance.sum() == pytest.approx(1, abs=1e-9)
    assert p_value(seen, patterns, chance) > 1e-3
    wrong = values | {k: np.full_like(values[k], v) for k, v in study.wrong.items()}
    chance = np.exp(brute.log_likelihoods(structure, wrong)) / study.systems
    assert p_value(seen, patterns, chance) < 1e-6
