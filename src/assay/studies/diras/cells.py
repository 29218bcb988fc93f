"""Model of the number of relevant documents among the unjudged ones, by cells of documents."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay._util.typing import Bools, Floats, Ints

STEP = 0.15
MEANS = np.arange(-12.0, 6.0, STEP)
QUERIES = np.arange(-6.0, 6.0 + STEP / 2, STEP)
BLOCKS = np.arange(-3.0, 3.0 + STEP / 2, STEP)
SLOPES = np.arange(-2.0, 4.0 + STEP / 6, STEP / 3)
"""Grids of cell means, of effects of queries and of their cells, and of slopes, in logits."""
SDS = np.geomspace(0.05, 4.0, 30)
"""Grid of the SDs of the effects."""
SD_OF_QUERIES, SD_OF_BLOCKS = 1.5, 0.5
"""Scales of the half-normal priors of these SDs; the first is that of clusters in a fit."""
SD_OF_HEIGHT, SD_OF_SCORE, SD_OF_STRATA = 0.5, 1.0, 0.7
"""SDs of the slopes: logits for twice as high a place, and for one SD of the retriever's score; and
SD of the strata around the line of the score. The last two are those of a fit."""
BEYOND = 1.0
"""SD, in logits, by which the mean of a listed cell may exceed the range of the strata."""
WARM_UP, THIN = 60, 3
"""Sweeps before the first draw, and between two draws."""


@dataclass(kw_only=True, eq=False)
class CellModel:
    r"""Prevalence of relevant documents in cells of queries.

    A group is documents of one query and cell with equal best place in a list and score. Of its
    :math:`n_g` judged documents at height h and score x, :math:`y_g` are relevant:

    .. math:: y_g \sim \mathrm{Binomial}(n_g, p_g), \quad
              \mathrm{logit}\, p_g = \mu_c + u_q + v_{qc} + \beta h_g
              + \gamma x_g, \quad u_q \sim \mathrm{Normal}(0, \tau), \quad
              v_{qc} \sim \mathrm{Normal}(0, \omega),

    with half-normal priors of :math:`\tau` (scale 1.5) and :math:`\omega` (0.5), and :math:`\beta
    \sim \mathrm{Normal}(0, 0.5)`, :math:`\gamma \sim \mathrm{Normal}(0, 1)`. Unlisted cells have
    :math:`\mu_c \sim \mathrm{Normal}(\alpha + \gamma \bar x_c, 0.7)`, :math:`\alpha` the logit of a
    Beta(1/2, 1/2), or this prior itself without scores. In listed cells :math:`\mu_c` is uniform
    between the lowest and the highest prevalence of a stratum or of all listed documents, and
    normal beyond, with an SD of 1. Gibbs draws on grids.

    cell, query, judged : cell, query and number of judged documents (group,)
    stratum, listed, level : sampling stratum, whether a run lists the documents, and mean score of
        the stratum, 0 if not known (cell,)
    block, height, score : pair of query and cell; place, 0 in the middle of a list and higher
        towards the top; score, 0 at the mean of its stratum (group,). By default own blocks, and
        zeros
    """

    cell: Ints
    query: Ints
    judged: Ints
    stratum: Ints
    listed: Bools
    block: Ints | None = None
    height: Floats | None = None
    score: Floats | None = None
    level: Floats | None = None
    _block: Ints = field(init=False)
    _height: Floats = field(init=False)
    _score: Floats = field(init=False)
    _level: Floats = field(init=False)
    _on_line: Bools = field(init=False)
    _line: float = -2.0
    _of_height: float = 0.0
    _of_score: float = 0.0
    _mean: Floats = field(init=False)
    _of_query: Floats = field(init=False)
    _of_block: Floats = field(init=False)
    _warm: bool = False
    _tau: float = 1.0
    _omega: float = 0.3

    def __post_init__(self) -> None:
        """Set the starting values."""
        self._mean = np.full(len(self.stratum), -2.0)
        self._of_query = np.zeros(int(self.query.max()) + 1)
        self._block = np.arange(len(self.cell)) if self.block is None else self.block
        self._of_block = np.zeros(int(self._block.max()) + 1)
        self._height = np.zeros(len(self.cell)) if self.height is None else self.height
        self._score = np.zeros(len(self.cell)) if self.score is None else self.score
        self._level = np.zeros(len(self.stratum)) if self.level is None else self.level
        self._on_line = ~self.listed & (self._level != 0)

    def draw(self, yes: Ints, rng: np.random.Generator) -> Floats:
        """Draw the prevalence of each group, given its relevant judged documents (group)."""
        priors = self._priors_of_means(yes, rng)
        for _ in range(THIN if self._warm else WARM_UP):
            self._sweep(yes, priors, rng)
        self._warm = True
        return np.asarray(1 / (1 + np.exp(-self._logits())))

    def logits(self, cell: Ints, query: Ints, height: Floats, score: Floats) -> Floats:
        """Return the logits of documents as the last draw has them, at a block effect of 0."""
        effects = self._mean[cell] + self._of_query[query]
        return np.asarray(effects + self._of_height * height + self._of_score * score)

    def _logits(self) -> Floats:
        effects = self.logits(self.cell, self.query, self._height, self._score)
        return np.asarray(effects + self._of_block[self._block])

    def _sweep(self, yes: Ints, priors: Floats, rng: np.random.Generator) -> None:
        """Draw all parameters once, each given the others."""
        for which, grid, of, prior in (
            (self._mean, MEANS, self.cell, self._with_line(priors)),
            (self._of_query, QUERIES, self.query, _normal(QUERIES, self._tau)),
            (self._of_block, BLOCKS, self._block, _normal(BLOCKS, self._omega)),
        ):
            rest = self._logits() - which[of]
            which[:] = self._drawn(grid, of, prior, rest, yes, rng)
        self._tau = _drawn_sd(self._of_query, SD_OF_QUERIES, rng)
        self._omega = _drawn_sd(self._of_block, SD_OF_BLOCKS, rng)
        prior = _normal(SLOPES, SD_OF_HEIGHT)
        self._of_height = self._slope(self._of_height, self._height, prior, yes, rng)
        prior = _normal(SLOPES, SD_OF_SCORE) + self._strata_given(self._line, SLOPES)
        self._of_score = self._slope(self._of_score, self._score, prior, yes, rng)
        at_zero = _logit_of_beta(MEANS) + self._strata_given(MEANS, self._of_score)
        self._line = float(_one_of(MEANS, at_zero, rng) + rng.uniform(-STEP / 2, STEP / 2))

    def _with_line(self, priors: Floats) -> Floats:
        """Replace the priors of strata whose score is known by those around the line."""
        line = self._line + self._of_score * self._level[:, None]
        return np.where(self._on_line[:, None], _normal(MEANS - line, SD_OF_STRATA), priors)

    def _strata_given(self, at_zero: Any, slope: Any) -> Any:
        """Return the log density of the means of strata, given the line."""
        line = at_zero + slope * self._level[self._on_line, None]
        return _normal(self._mean[self._on_line, None] - line, SD_OF_STRATA).sum(axis=0)

    def _slope(
        self, slope: float, over: Floats, prior: Floats, yes: Ints, rng: np.random.Generator
    ) -> float:
        """Draw the slope over a covariate of the groups."""
        told = (self.judged > 0) & (over != 0)
        own = over[told, None]
        logit = (self._logits()[told] - slope * own[:, 0])[:, None] + SLOPES * own
        log = yes[told, None] * logit - self.judged[told, None] * _softplus(logit)
        at = _one_of(SLOPES, prior + log.sum(axis=0), rng)
        return float(at + rng.uniform(-STEP / 6, STEP / 6))

    def _drawn(
        self, grid: Floats, of: Ints, prior: Floats, rest: Floats, yes: Ints,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """Draw one effect for each value of ``of``; ``rest`` is the logit without it (group)."""
        told = self.judged > 0
        logit = rest[told, None] + grid
        log = yes[told, None] * logit - self.judged[told, None] * _softplus(logit)
        size = int(of.max()) + 1
        total = np.broadcast_to(prior, (size, len(grid))).copy()
        np.add.at(total, of[told], log)
        shares = np.exp(total - total.max(axis=1, keepdims=True)).cumsum(axis=1)
        at = (shares < rng.random((size, 1)) * shares[:, -1:]).sum(axis=1)
        return np.asarray(grid[at] + rng.uniform(-STEP / 2, STEP / 2, size))

    def _priors_of_means(self, yes: Ints, rng: np.random.Generator) -> Floats:
        """Return the log prior of each cell's mean, (cell, grid point)."""
        lowest, highest = self._range_of_prevalences(yes, rng)
        beyond = np.maximum(np.maximum(lowest - MEANS, MEANS - highest), 0) / BEYOND
        return np.where(self.listed[:, None], -0.5 * beyond**2, _logit_of_beta(MEANS))

    def _range_of_prevalences(self, yes: Ints, rng: np.random.Generator) -> tuple[float, float]:
        """Draw the prevalence of each stratum and of all listed documents; return the range."""
        of, listed = self.stratum[self.cell], self.listed[self.cell]
        strata = int(self.stratum.max()) + 1
        held = np.bincount(of, weights=yes, minlength=strata)
        number = np.bincount(of, weights=self.judged, minlength=strata)
        if listed.any():
            held = np.append(held, yes[listed].sum())
            number = np.append(number, self.judged[listed].sum())
        drawn = np.clip(rng.beta(held + 0.5, number - held + 0.5), 1e-6, 1 - 1e-6)
        logits = np.log(drawn) - np.log1p(-drawn)
        return float(logits.min()), float(logits.max())


def _normal(grid: Floats, sd: float) -> Floats:
    """Return the log density of a normal effect, up to a constant."""
    return np.asarray(-0.5 * (grid / sd) ** 2)


def _softplus(logit: Floats) -> Floats:
    """Return log(1 + exp(logit)), which is quicker than ``logaddexp``; logits here are below 50."""
    return np.asarray(np.log1p(np.exp(logit)))


def _logit_of_beta(grid: Floats) -> Floats:
    """Return the log density of Beta(1/2, 1/2) in the logit."""
    return np.asarray(0.5 * grid - np.logaddexp(0, grid))


def _one_of(grid: Floats, log: Floats, rng: np.random.Generator) -> float:
    """Draw a grid point by its log density."""
    shares = np.exp(log - log.max()).cumsum()
    return float(grid[np.searchsorted(shares, rng.random() * shares[-1])])


def _drawn_sd(effects: Floats, scale: float, rng: np.random.Generator) -> float:
    """Draw the SD of effects from its posterior under a half-normal prior."""
    log = -len(effects) * np.log(SDS) - 0.5 * (effects**2).sum() / SDS**2
    log = log - 0.5 * (SDS / scale) ** 2 + np.log(SDS)  # Jacobian: the grid is even in log SD
    return _one_of(SDS, log, rng)
