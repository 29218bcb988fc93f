"""Settings of a run of ``fit``, and checks of its arguments."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from assay._util.errors import FitError
from assay._util.validation import (
    path_given,
    require_choice,
    require_draws,
    require_flag,
    require_number,
)
from assay.data.ratings import Ratings, require_ratings, require_storable
from assay.fits.schema import METHODS
from assay.inference.executors import Executor, require_executor
from assay.modelling.spec import Spec

Sampler = Literal["nutpie", "pymc"]


@dataclass(frozen=True, kw_only=True)
class SamplerSettings:
    """Settings of a method; all but ``draws``, ``chains`` and ``progress`` are for NUTS alone.

    tune : warm-up draws of each chain
    checkpoint : folder of nutpie's finished chains, which the same run reads again
    keep_interrupted : whether Ctrl-C after the warm-up returns nutpie's draws so far
    executor : its workers run nutpie's chains
    """

    draws: int
    chains: int
    tune: int = 1000
    target_accept: float = 0.85
    progress: bool = False
    sampler: Sampler = "nutpie"
    checkpoint: Path | None = None
    keep_interrupted: bool = False
    executor: Executor | None = None

    @property
    def total(self) -> int:
        """Draws of a chain, with the warm-up."""
        return self.tune + self.draws


MODES_ALONE = ("map", "em")
"""Methods that ignore the uncertainty of the parameters."""
SAMPLERS = get_args(Sampler)


def check_arguments(ratings: Ratings, method: str, target_accept: float, **counts: int) -> None:
    """Raise ModelError or FitError for arguments of ``fit`` out of range."""
    require_ratings("fit", ratings)
    require_storable(ratings)
    require_choice("method", method, METHODS)
    require_number(
        "target_accept", target_accept, lambda x: 0 < x < 1, allowed="a number between 0 and 1"
    )
    check_counts(**counts)
    check_answers(ratings)


def check_counts(**counts: int) -> None:
    """Raise FitError for numbers of draws, chains or starts out of range."""
    for name, value in counts.items():
        require_draws(name, value)


def check_answers(ratings: Ratings) -> None:
    """Raise FitError if no rating has an answer or a score."""
    if not (ratings.answers >= 0).any() and not np.isfinite(ratings.scores).any():
        raise FitError(
            "no rating has an answer, so a fit has nothing to learn from", code="no-answer-given"
        )


def check_read(ratings: Ratings, spec: Spec) -> None:
    """Raise FitError if all ratings are scores and no family of the model reads scores."""
    if (ratings.answers >= 0).any() or "scored" in spec.rater_parts:
        return
    raise FitError(
        "the ratings have scores but no answers, and no family of this model uses scores. To use "
        "the scores, give `raters='scored'`",
        code="scores-unread",
    )


def check_sampler(
    method: str,
    sampler: str,
    checkpoint: str | Path | None,
    keep_interrupted: bool,
    executor: Any,
    client: Any,
) -> None:
    """Raise ModelError or FitError for an unknown sampler, or options not available."""
    require_choice("sampler", sampler, SAMPLERS)
    require_flag("keep_interrupted", keep_interrupted)
    if checkpoint is not None:
        path_given("checkpoint", checkpoint)
    if method != "nuts" and (checkpoint is not None or keep_interrupted):
        raise FitError(
            "`checkpoint=` and `keep_interrupted=` work with `method='nuts'` only; "
            f"`method={method!r}` has no partial results to keep",
            code="nuts-option",
        )
    if sampler != "nutpie" and (checkpoint is not None or keep_interrupted):
        raise FitError(
            "`checkpoint=` and `keep_interrupted=` work with `sampler='nutpie'` only, not with "
            f"{sampler!r}",
            code="nuts-option",
        )
    if executor is None and client is None:
        return
    require_executor(executor, client)
    if sampler != "nutpie" or checkpoint is not None or keep_interrupted:
        raise FitError(
            "`executor=` works with `sampler='nutpie'` only, and without `checkpoint=` and "
            "`keep_interrupted=`",
            code="nuts-option",
        )
