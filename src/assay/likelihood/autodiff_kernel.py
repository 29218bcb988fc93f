"""The interpreter of tapes that :class:`assay.likelihood.autodiff.Tape` records."""

from typing import NamedTuple

import numpy as np

from assay.likelihood.compiling import at, linked

# codes of the tape's operations
SUM, DOT, EXP, LOG, LOG1P, LOG_SOFTMAX, SOFTMAX, LOG_SUM_EXP = range(8)


class TapeArrays(NamedTuple):
    """A tape for compiled functions, from :meth:`assay.likelihood.autodiff.Tape.finish`."""

    constants: np.ndarray
    operations: np.ndarray
    positions: np.ndarray


@linked()
def play_forwards(buffer, operations, positions):  # type: ignore[no-untyped-def]
    """Compute the results of all operations in the buffer."""
    for o in range(operations.shape[0]):
        code = operations[o, 0]
        out, outer, inner, first, second = _places(operations, o)
        if code == SUM:
            for n in range(outer):
                total = 0.0
                for k in range(first + n * inner, first + n * inner + inner):
                    total += buffer[at(positions[k])]
                buffer[out + n] = total
        elif code == DOT:
            for n in range(outer):
                total = 0.0
                for k in range(n * inner, n * inner + inner):
                    total += buffer[at(positions[first + k])] * buffer[at(positions[second + k])]
                buffer[out + n] = total
        elif code == EXP:
            for n in range(outer):
                buffer[out + n] = np.exp(buffer[at(positions[first + n])])
        elif code == LOG:
            for n in range(outer):
                buffer[out + n] = np.log(buffer[at(positions[first + n])])
        elif code == LOG1P:
            for n in range(outer):
                buffer[out + n] = np.log1p(buffer[at(positions[first + n])])
        else:
            for n in range(outer):
                _normalise(code, buffer, positions, first + n * inner, inner, out, n)


@linked()
def _places(operations, o):  # type: ignore[no-untyped-def]
    """Return an operation's output position, its sizes, and the start of its input positions."""
    return (
        at(operations[o, 1]),
        at(operations[o, 2]),
        at(operations[o, 3]),
        at(operations[o, 4]),
        at(operations[o, 5]),
    )


@linked()
def _normalise(code, buffer, positions, begin, inner, out, n):  # type: ignore[no-untyped-def]
    """Compute log-sum-exp, softmax or log-softmax of one row."""
    top = -np.inf
    for k in range(inner):
        top = max(top, buffer[at(positions[begin + k])])
    total = 0.0
    if code == SOFTMAX:
        here = out + n * inner
        for k in range(inner):
            buffer[here + k] = np.exp(buffer[at(positions[begin + k])] - top)
            total += buffer[here + k]
        for k in range(inner):
            buffer[here + k] /= total
        return
    for k in range(inner):
        below = buffer[at(positions[begin + k])] - top
        total += 1.0 if below == 0.0 else np.exp(below)
    total = top + np.log(total)
    if code == LOG_SUM_EXP:
        buffer[out + n] = total
        return
    for k in range(inner):
        buffer[out + n * inner + k] = buffer[at(positions[begin + k])] - total


@linked()
def play_backwards(buffer, adjoint, operations, positions):  # type: ignore[no-untyped-def]
    """Propagate the adjoints of outputs to the inputs."""
    for o in range(operations.shape[0] - 1, -1, -1):
        code = operations[o, 0]
        out, outer, inner, first, second = _places(operations, o)
        for n in range(outer):
            begin = first + n * inner
            if code == SUM:
                given = adjoint[out + n]
                for k in range(begin, begin + inner):
                    adjoint[at(positions[k])] += given
            elif code == DOT:
                given = adjoint[out + n]
                other = second + n * inner
                for k in range(inner):
                    a, b = at(positions[begin + k]), at(positions[other + k])
                    adjoint[a] += given * buffer[b]
                    adjoint[b] += given * buffer[a]
            elif code == EXP:
                adjoint[at(positions[begin])] += adjoint[out + n] * buffer[out + n]
            elif code == LOG:
                a = at(positions[begin])
                adjoint[a] += adjoint[out + n] / buffer[a]
            elif code == LOG1P:
                a = at(positions[begin])
                adjoint[a] += adjoint[out + n] / (1.0 + buffer[a])
            elif code == LOG_SUM_EXP:
                for k in range(begin, begin + inner):
                    a = at(positions[k])
                    adjoint[a] += adjoint[out + n] * np.exp(buffer[a] - buffer[out + n])
            else:
                _normalise_back(code, buffer, adjoint, positions, begin, inner, out + n * inner)


@linked()
def _normalise_back(code, buffer, adjoint, positions, begin, inner, here):  # type: ignore[no-untyped-def]
    """Propagate the adjoints of one row of a softmax or log-softmax."""
    total = 0.0
    if code == SOFTMAX:
        for k in range(here, here + inner):
            total += adjoint[k] * buffer[k]
        for k in range(inner):
            a = at(positions[begin + k])
            adjoint[a] += buffer[here + k] * (adjoint[here + k] - total)
        return
    for k in range(here, here + inner):
        total += adjoint[k]
    for k in range(inner):
        a = at(positions[begin + k])
        adjoint[a] += adjoint[here + k] - total * np.exp(buffer[here + k])
