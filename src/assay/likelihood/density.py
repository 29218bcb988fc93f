"""The compiled density: a tape, then the marginal likelihood."""

import math
from typing import NamedTuple

import numpy as np

from assay.likelihood.arrays import empty, zeros
from assay.likelihood.autodiff_kernel import play_backwards, play_forwards
from assay.likelihood.cells import TINY, row_chances, rows_of_chances
from assay.likelihood.compiling import at, compiled, linked
from assay.likelihood.marginal import full_value_of_rows, plain_value_of_rows


@linked()
def log_of_score(score):  # type: ignore[no-untyped-def]
    r"""Return log quantile of a score, its slope, and the slope of the log slope.

    .. math:: \log q, \quad q = -\log \Phi(-v), \qquad
              \frac{\mathrm d \log q}{\mathrm d v} = \frac{h}{q}, \quad
              h = \frac{\varphi(v)}{\Phi(-v)}, \qquad
              \frac{\mathrm d}{\mathrm d v} \log \frac{h}{q} = h - v - \frac{h}{q}.
    """
    above = 0.5 * math.erfc(score * math.sqrt(0.5))
    if score < 0:
        quantile = -math.log1p(-0.5 * math.erfc(-score * math.sqrt(0.5)))
    else:
        quantile = -math.log(above)
    hazard = math.exp(-0.5 * score * score) / math.sqrt(2 * math.pi) / above
    slope = hazard / quantile
    return math.log(quantile), slope, hazard - score - slope


class Places(NamedTuple):
    """Positions of the log prior and the likelihood's tables in a tape's buffer.

    With ``chances``, responses are probabilities, else log probabilities.
    """

    prior: int
    chances: int
    prevalence: np.ndarray
    response: np.ndarray
    difficulty: np.ndarray
    layer: np.ndarray
    hard_truth: np.ndarray
    mixing: np.ndarray
    reading: np.ndarray


@linked()
def log_density(x, tape, places, log_weight, data):  # type: ignore[no-untyped-def]
    """Return log density and gradient at unconstrained values ``x``."""
    buffer, prevalence, response, difficulty, layer, hard_truth, mixing, reading = _tables(
        x, tape, places
    )
    rows = rows_of_chances(response) if places.chances else row_chances(response)
    found = full_value_of_rows(
        prevalence, rows, difficulty, layer, hard_truth, mixing, reading, log_weight, data
    )
    back = _carry_back(buffer, found[1:], tape, places, x.shape[0])
    return found[0] + buffer[places.prior], back


@linked()
def plain_log_density(x, tape, places, log_weight, data):  # type: ignore[no-untyped-def]
    """Return what :func:`log_density` does, for plain models."""
    buffer, prevalence, response, difficulty, layer, hard_truth, mixing, reading = _tables(
        x, tape, places
    )
    rows = rows_of_chances(response) if places.chances else row_chances(response)
    found = plain_value_of_rows(
        prevalence, rows, difficulty, layer, hard_truth, mixing, reading, data
    )
    back = _carry_back(buffer, found[1:], tape, places, x.shape[0])
    return found[0] + buffer[places.prior], back


@compiled()
def tables_at(x, tape, places):  # type: ignore[no-untyped-def]
    """Run the tape at ``x``; return its buffer and the tables, responses as logs."""
    buffer, prevalence, response, difficulty, layer, hard_truth, mixing, reading = _tables(
        x, tape, places
    )
    if places.chances:
        for d in range(response.shape[0]):
            for row in range(response.shape[1]):
                for s in range(response.shape[2]):
                    response[d, row, s] = np.log(max(response[d, row, s], TINY))
    return buffer, prevalence, response, difficulty, layer, hard_truth, mixing, reading


@linked()
def _tables(x, tape, places):  # type: ignore[no-untyped-def]
    """Run the tape; return its buffer and the tables as recorded."""
    buffer = empty(tape.constants.shape[0])
    for n in range(buffer.shape[0]):
        buffer[n] = tape.constants[n]
    for n in range(x.shape[0]):
        buffer[n] = x[n]
    play_forwards(buffer, tape.operations, tape.positions)
    prevalence = empty(places.prevalence.shape)
    response = empty(places.response.shape)
    difficulty = empty(places.difficulty.shape)
    layer = empty(places.layer.shape)
    hard_truth = empty(places.hard_truth.shape)
    mixing = empty(places.mixing.shape)
    reading = empty(places.reading.shape)
    _gather(buffer, places.prevalence, prevalence)
    _gather(buffer, places.response, response)
    _gather(buffer, places.layer, layer)
    _gather_square(buffer, places.difficulty, difficulty)
    _gather(buffer, places.hard_truth, hard_truth)
    _gather_square(buffer, places.mixing, mixing)
    for n in range(reading.shape[0]):
        reading[n] = buffer[at(places.reading[n])]
    return buffer, prevalence, response, difficulty, layer, hard_truth, mixing, reading


@linked()
def _carry_back(buffer, by_table, tape, places, size):  # type: ignore[no-untyped-def]
    """Return the gradient by the first ``size`` numbers of the buffer, with the prior's."""
    by_prevalence, by_response, by_difficulty, by_layer, by_hard_truth, by_mixing, by_reading = (
        by_table
    )
    adjoint = zeros(buffer.shape[0])
    adjoint[places.prior] = 1.0
    _scatter(adjoint, places.prevalence, by_prevalence)
    if places.chances:
        _scatter_by_log(adjoint, places.response, by_response, buffer)
    else:
        _scatter(adjoint, places.response, by_response)
    _scatter(adjoint, places.layer, by_layer)
    _scatter_square(adjoint, places.difficulty, by_difficulty)
    _scatter(adjoint, places.hard_truth, by_hard_truth)
    _scatter_square(adjoint, places.mixing, by_mixing)
    for n in range(by_reading.shape[0]):
        adjoint[at(places.reading[n])] += by_reading[n]
    play_backwards(buffer, adjoint, tape.operations, tape.positions)
    gradient = empty(size)
    for n in range(size):
        gradient[n] = adjoint[n]
    return gradient


carry_back = compiled()(_carry_back)


@linked()
def _gather(buffer, places, table):  # type: ignore[no-untyped-def]
    """Copy the buffer's numbers at given places to a table of three axes."""
    for a in range(places.shape[0]):
        for b in range(places.shape[1]):
            for c in range(places.shape[2]):
                table[a, b, c] = buffer[at(places[a, b, c])]


@linked()
def _scatter(target, places, table):  # type: ignore[no-untyped-def]
    """Add a table of three axes to the target at given places."""
    for a in range(places.shape[0]):
        for b in range(places.shape[1]):
            for c in range(places.shape[2]):
                target[at(places[a, b, c])] += table[a, b, c]


@linked()
def _scatter_by_log(target, places, table, buffer):  # type: ignore[no-untyped-def]
    """Add derivatives by logs of numbers to the derivatives by the numbers."""
    for a in range(places.shape[0]):
        for b in range(places.shape[1]):
            for c in range(places.shape[2]):
                place = at(places[a, b, c])
                target[place] += table[a, b, c] / max(buffer[place], TINY)


@linked()
def _gather_square(buffer, places, table):  # type: ignore[no-untyped-def]
    """Copy the buffer's numbers at given places to a table of two axes."""
    for a in range(places.shape[0]):
        for b in range(places.shape[1]):
            table[a, b] = buffer[at(places[a, b])]


@linked()
def _scatter_square(target, places, table):  # type: ignore[no-untyped-def]
    """Add a table of two axes to the target at given places."""
    for a in range(places.shape[0]):
        for b in range(places.shape[1]):
            target[at(places[a, b])] += table[a, b]
