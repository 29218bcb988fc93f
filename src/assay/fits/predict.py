"""Posterior predictive answers of the same raters to the same items."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from assay._util.random import generator_of, seed_of
from assay._util.typing import Floats
from assay._util.validation import require_draws
from assay.data.states import MISSING, Vectors
from assay.fits.answer_draws import draw_answers
from assay.fits.view import Fit, FitView
from assay.modelling.structure import Structure

MOST_KEPT = 20_000_000
"""Answers in all replicates (two bytes each) up to which a view keeps them for other steps."""


def predict_answers(
    fit: Fit, *, draws: int = 200, rng: int | np.random.Generator = 1
) -> Iterator[Vectors]:
    r"""Yield posterior predictive replicates of the answers (rating, label), draws spread evenly.

    .. math:: y^{rep}_a \sim p(y \mid s_{i(a)}, \theta), \quad (s, \theta) \sim p(s, \theta \mid y)

    (Gelman, Meng & Stern 1996, Statistica Sinica 6, 733-807). Answers missing in the data are
    missing; open gates follow from the replicated answers.
    """
    require_draws("draws", draws)
    view = FitView.of(fit)

    def made() -> Iterator[Vectors]:
        return replicates(
            view.structure, view.draws_of_labels, view.states, draws, generator_of(rng)
        )

    if isinstance(rng, np.random.Generator) or draws * view.ratings.answers.size > MOST_KEPT:
        return made()
    return iter(view.once(("answers", draws, seed_of(rng)), lambda: np.stack(list(made()))))


def replicates(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    draws: int,
    rng: np.random.Generator,
) -> Iterator[Vectors]:
    """Yield replicates of the answers from draws of the parameters and of the states."""
    missing = structure.ratings.answers == MISSING
    for n in np.linspace(0, len(states), draws, endpoint=False).astype(int):
        one = {name: value[n : n + 1] for name, value in values.items()}
        answers, _ = draw_answers(structure, one, states[n], rng)
        yield np.where(missing, np.int16(MISSING), answers)
