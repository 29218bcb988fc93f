"""How long a method of ``fit`` runs, and what runs it: as one value, which all samplers take."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.inference.executors import Executor

Sampler = Literal["nutpie", "pymc"]


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What is asked of a method; all but ``draws``, ``chains`` and ``progress`` is of NUTS alone.

    Attributes
    ----------
    draws, tune, chains : int
        Draws kept and warm-up draws of each chain, number of chains.
    target_accept : float
        Between 0 and 1.
    progress : bool
        Whether to show a bar on standard error.
    sampler : {"nutpie", "pymc"}
    checkpoint : path, optional
        A folder in which nutpie's chains are kept as they finish, and from which they are taken if
        the very same run is made again.
    keep_interrupted : bool
        Whether Ctrl-C returns nutpie's draws so far; else it is raised. Ctrl-C during the warm-up
        is raised always: there are no draws yet.
    executor : Executor, optional
        Whose workers run nutpie's chains.
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
        """Number of draws of a chain, those of the warm-up among them."""
        return self.tune + self.draws
