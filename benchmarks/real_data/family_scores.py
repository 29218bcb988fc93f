"""Probabilities against known classes: accuracy, losses, calibration, paired bootstrap."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

CLIP = 1e-6
BINS = 10
SIMULATIONS = 500
RESAMPLES = 4000


def log_losses(probability: Floats, truth: Codes) -> Floats:
    """Log loss of each item, probabilities clipped at 1e-6."""
    right = probability[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.clip(right, CLIP, 1 - CLIP)))


def brier_scores(probability: Floats, truth: Codes) -> Floats:
    """Squared distance to the truth of each item, summed over classes: from 0 to 2."""
    hit = np.zeros_like(probability)
    hit[np.arange(len(truth)), truth] = 1.0
    return np.asarray(((probability - hit) ** 2).sum(axis=1))


def calibration_excess(probability: Floats, truth: Codes, rng: np.random.Generator) -> Floats:
    r"""ECE of the likeliest class, and its excess over what perfect calibration would give.

    Parameters
    ----------
    probability : ndarray (item, class)
    truth : ndarray of int (item,)
    rng : numpy.random.Generator

    Returns
    -------
    ndarray (2,)
        The expected calibration error with ten bins of equal width, and it minus its mean over
        simulated truths in which the likeliest class is right with just its probability: with few
        items, that mean is far from 0.
    """
    confidence = probability.max(axis=1)
    code = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    right = (probability.argmax(axis=1) == truth)[None]
    chance = rng.random((SIMULATIONS, len(truth))) < confidence
    seen, expected = (_bin_errors(hits, confidence, code) for hits in (right, chance))
    return np.array([seen[0], seen[0] - expected.mean()])


def _bin_errors(hits: NDArray[np.bool_], confidence: Floats, code: Codes) -> Floats:
    """ECE of each row of hits (simulation, item)."""
    by_bin = np.eye(BINS)[code]
    return np.asarray(np.abs((hits - confidence) @ by_bin).sum(axis=1) / len(confidence))


def score_line(probability: Floats, truth: Codes, rng: np.random.Generator) -> dict[str, float]:
    """Return all scores of one method on the items with known class."""
    ece, excess = calibration_excess(probability, truth, rng)
    return {
        "accuracy": float((probability.argmax(axis=1) == truth).mean()),
        "log_loss": float(log_losses(probability, truth).mean()),
        "brier": float(brier_scores(probability, truth).mean()),
        "ece": float(ece),
        "ece_excess": float(excess),
    }


def paired_interval(difference: Floats, rng: np.random.Generator) -> Floats:
    """Mean of paired differences with its 95 % bootstrap interval: (mean, lower, upper)."""
    count = len(difference)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    means = weights @ difference / count
    return np.array([difference.mean(), *np.quantile(means, [0.025, 0.975])])
