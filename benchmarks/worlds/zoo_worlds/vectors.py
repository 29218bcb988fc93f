"""Raters who answer several labels at once, in an interface that admits no contradiction."""

import numpy as np
from scipy.special import log_expit, logsumexp


def log_responses(states: np.ndarray, log_odds: np.ndarray, truth_states: np.ndarray) -> np.ndarray:
    """Log chances of every admissible answer: (..., truth state, answer).

    ``log_odds`` (..., label, class) is that of a yes to each label; a rater who is blocked starts
    afresh, so that chances are proportional to those of the labels, one by one.
    """
    labels = np.arange(states.shape[1])
    own = log_odds[..., labels, truth_states]  # (..., truth state, label)
    sign = 2 * states - 1
    each = log_expit(own[..., None, :] * sign).sum(-1)
    return each - logsumexp(each, axis=-1, keepdims=True)


def drawn_answers(log_chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the position of an answer from log chances (rating, answer)."""
    edges = np.cumsum(np.exp(log_chances), axis=-1)
    return (rng.random((len(edges), 1)) * edges[:, -1:] > edges).sum(-1)


def state_positions(states: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Positions of truth vectors (item, label) among the states."""
    return (labels[:, None] == states).all(-1).argmax(-1)
