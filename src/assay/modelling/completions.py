"""Completions of a partly answered rating: the gating labels that it leaves open, in every way."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, label_order
from assay.modelling.confusion import ConfusionLayout

Ints = NDArray[np.int64]
MAX_COMPLETIONS = 4096


def completions_of(layout: ConfusionLayout, answer: tuple[int, ...]) -> Ints:
    """Complete the gating labels of an answer vector in every way that its gates allow.

    Labels that gate nothing may stay ``MISSING``: summed over their classes they are a factor 1.
    """
    task = layout.task
    gates = {n: task.expression(la.asked_if) for n, la in enumerate(task.labels) if la.asked_if}
    gating = {task.label_names.index(name) for gate in gates.values() for name in gate.labels}
    choices = [
        [NOT_ASKED, *range(layout.classes[n])] if code == MISSING and n in gating else [int(code)]
        for n, code in enumerate(answer)
    ]
    if np.prod([len(c) for c in choices]) > MAX_COMPLETIONS:
        raise ModelError(
            f"a rating leaves so many gating labels of task {task.name} open that it has more than "
            f"{MAX_COMPLETIONS} completions; read with partial='draft' if raters stopped half-way",
            code="too-many-completions",
            numbers={"most": MAX_COMPLETIONS},
        )
    vectors = np.array(list(product(*choices)))
    columns = {name: vectors[:, n] for n, name in enumerate(task.label_names)}
    fits = np.ones(len(vectors), bool)
    for n in label_order(task):
        asked = gates[n](columns) if n in gates else np.ones(len(vectors), bool)
        code = vectors[:, n]
        fits &= (code == MISSING) | (asked == (code != NOT_ASKED))
    if not fits.any():
        raise ModelError(
            f"a rating of task {task.name} answers a question that its own answers close; "
            "read ratings with read_ratings, which sets such rows aside",
            code="forbidden-answers",
        )
    return np.asarray(vectors[fits], np.int64)
