"""Recorded reliabilities: averages over states, difficulty, appearance and sessions, by hand."""

import brute
import numpy as np
import pytest
from brute_layers import difficulties, hard_states, layered, looks, misperceiving
from brute_prevalence import marginals
from brute_raters import Voice
from small import draw_values, in_sessions, small_ratings, stacked, task_named, with_scores

from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure
from assay.raters.reliability import reliability_table

PARTS = 4
RECIPES = {
    "easy and hard": {"raters": "hierarchical + item_difficulty"},
    "continuous": {"raters": "pooled + item_difficulty_continuous"},
    "by rater": {"raters": "dawid_skene + item_difficulty_by_rater"},
    "by class": {"raters": "hierarchical + item_difficulty_by_class"},
    "drift": {"raters": "dawid_skene + drift"},
    "gold": {"reference": "gold"},
    "group": {"reference": "human", "raters": "one_coin + item_difficulty + drift"},
    "mace": {"raters": "mace + item_difficulty"},
    "joint": {"raters": "joint", "reference": "gold"},
    "ordinal": {"raters": "ordinal + item_difficulty"},
    "scored": {"raters": "scored + drift"},
    "mixed": {
        "raters": {"human": "hierarchical + drift", "model": "scored + item_difficulty"},
        "reference": "human",
    },
}


def answers_of(
    structure: Structure, voice: Voice, session: int, position: float, state: brute.Vector
) -> np.ndarray:
    """P(answer to each label | what the item looks like): (label, class); the rest is not asked."""
    task = structure.ratings.task
    found = np.zeros((len(task.labels), max(len(la.classes) for la in task.labels)))
    rater = brute.speaker(structure, voice, (session, -1), position)
    if voice.family == "scored":
        for n, la in enumerate(task.labels):
            first = len(la.classes) * PARTS  # a guess without a score has the region's chance
            for k in range(len(la.classes)):
                found[n, k] = rater.factor(n, state[n], first + k)
        return found
    for option, chance in rater.menu(state, (True,) * len(state)).items():
        for n, code in enumerate(option):
            found[n, code] += chance if code >= 0 else 0.0
    return found


def in_session(
    structure: Structure, values: dict, voice: Voice, session: int, share: tuple[float, ...]
) -> np.ndarray:
    """P(recorded | true) in one session: (label, true, reported)."""
    every = brute.states(structure.ratings.task)
    hard = any(name.startswith("item_difficulty") for name in voice.layers)
    chance = np.zeros((len(every), len(every[0]), 3))
    names = layered(structure)
    for position, weight in difficulties(structure, values):
        here = np.zeros_like(chance)
        for s, state in enumerate(every):
            told = answers_of(structure, voice, session, position if hard else 0.0, state)
            here[s, :, : told.shape[1]] = told
        if voice.group in names:
            layer = names.index(voice.group)
            blur = misperceiving(structure, values, layer, position)
            appearance = [
                looks(structure, values, layer, list(share), s) for s in range(len(every))
            ]
            here = (1 - blur) * here + blur * np.einsum("alk,sa->slk", here, appearance)
        own = np.array(hard_states(structure, values, list(share), position))
        chance += weight[0] * own[:, None, None] * here  # of one system: items are alike
    counts = np.zeros((len(every[0]), 3, 3))
    for s, state in enumerate(every):
        for n, true in enumerate(state):
            if true >= 0:
                counts[n, true] += chance[s, n]
    return counts / np.where(counts.any(-1), counts.sum(-1), np.nan)[..., None]


def by_hand(structure: Structure, values: dict) -> np.ndarray:
    """P(recorded | true) of each rater, averaged over its ratings."""
    ratings = structure.ratings
    (share,) = {tuple(p) for p in np.round(marginals(structure, values), 14).tolist()}
    table = []
    for j, voice in enumerate(brute.voices(structure, values)):
        total = 0.0
        for session, name in enumerate(ratings.sessions):
            part = (ratings.session[ratings.rater == j] == name).mean()
            at = session if "drift" in voice.layers else 0
            total = total + part * in_session(structure, values, voice, at, share)
        table.append(total)
    return np.array(table)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", ["retrieval", "ais", "relevance"])
def test_recorded_reliability(name: str, recipe: str):
    if recipe == "joint" and name == "relevance":
        return
    few = small_ratings(task_named(name), 3, items=40, raters=4, missing=0.1)
    ratings = (
        with_scores(in_sessions(few, 3), 3)
        if recipe in ("scored", "mixed")
        else in_sessions(few, 3)
    )
    structure = build_structure(ratings, make_spec(**RECIPES[recipe]))
    values = draw_values(structure, 3)
    found = reliability_table(structure, stacked(values), kind="recorded")[0]
    expected = by_hand(structure, values)[..., : found.shape[-2], : found.shape[-1]]
    np.testing.assert_allclose(found, expected, atol=1e-7)
