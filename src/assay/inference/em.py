r"""The mode by expectation and maximisation, for models whose maximisation has a closed form.

For confusions and prevalences with Dirichlet and Beta priors, at parameters :math:`\theta` the
expected number :math:`n_k` of the answers that a probability :math:`\theta_k` stands for is the
derivative of the log-likelihood by :math:`\log \theta_k`: the fused pass gives all of them, as the
gradient by its tables. From these and the prior's the next point follows in closed form
(:mod:`assay.inference.maximisation`). No rating is stored twice, and nothing is dense in items x
raters.

Two steps of EM point to where they lead, and a third point is tried there (SQUAREM); it is kept
if it is higher than the second, so that the log posterior never falls.

References
----------
Dempster, A. P., Laird, N. M. & Rubin, D. B. (1977). Maximum likelihood from incomplete data via the
EM algorithm. JRSS B 39, 1-38.
Varadhan, R. & Roland, C. (2008). Simple and globally convergent methods for accelerating the
convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 335-353.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.progress import steps
from assay.inference.density import Density, unconstrain
from assay.inference.maximisation import Maximisation
from assay.inference.mode_search import find_modes
from assay.inference.optimise import prior_centre
from assay.inference.peaks import Mode
from assay.inference.precision import Precision
from assay.likelihood.density import carry_back
from assay.likelihood.marginal import value_and_gradient
from assay.likelihood.partition import in_threads
from assay.modelling.answers import AnswerPart
from assay.modelling.model import Structure
from assay.modelling.response_rows import ProductRows

Floats = NDArray[np.float64]
FAMILIES = ("dawid_skene", "pooled", "class_conditional", "one_coin")
"""Families whose parameters are probabilities of answers, with priors conjugate to their counts."""
NEAR = 1e-10
"""Gain in log posterior density, were the truth known, below which a step is the last."""
CYCLES = 5_000
TELLING = 1e-6
"""Difference of the log probabilities of an answer between states that tells them apart."""


class Expected(NamedTuple):
    """What the data say at one point.

    Attributes
    ----------
    height : float
        Log posterior density.
    gradient : ndarray (value,)
        Its gradient by the unconstrained values.
    prevalence : ndarray (context, state)
        Derivative of the log-likelihood by the probabilities of the states.
    response : ndarray (row, state)
        Expected number of ratings of each row on items of each state.
    """

    height: float
    gradient: Floats
    prevalence: Floats
    response: Floats


def closed_form(structure: Structure) -> Maximisation | None:
    """Return the closed form of a model's maximisation; None if it has none.

    It needs the prevalence ``dirichlet``, a family of :data:`FAMILIES` for every rater, no layers,
    gates, active rules or repeated ratings with a learned consistency.

    Examples
    --------
    >>> import assay
    >>> from assay.modelling.model import build_structure
    >>> from assay.modelling.spec import make_spec
    >>> ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    >>> closed_form(build_structure(ratings, make_spec("hierarchical", "dirichlet"))) is None
    True
    """
    plain = structure.difficulty.kind == "none" and not structure.perception.groups
    if not plain or structure.prevalence.name != "dirichlet":
        return None
    if not all(_is_counted(part) for part in structure.parts):
        return None
    shares = next(p for p in structure.parameters() if p.name == "state_share")
    # The table is linear in the shares of the components: each alone shows where it counts.
    each = np.eye(shares.shape[0])[:, :, None] * np.ones(shares.shape[1])
    table = structure.prevalence.table({"state_share": each}, np)
    return Maximisation(structure=structure, share=np.ascontiguousarray(table[:, :, 0, 0].T))


def _is_counted(part: Any) -> bool:
    """Whether each rating of a part is a product of probabilities of its raters' parameters."""
    return (
        isinstance(part, AnswerPart)
        and part.family.name in FAMILIES
        and part.drift is None
        and part.bias is None
        and part.loading is None
        and not part.repeats.urns
        and not part.responses.parameters()
        and all(
            isinstance(block, ProductRows) and block.entries.shape[1] == 1
            for block in part.responses.blocks
        )
    )


def expect(density: Density, x: Floats) -> Expected:
    """Return what the data say at one point: one pass over them."""
    steps()(1)
    buffer, *tables = density.tables(x)

    def look(piece: Any) -> tuple[Any, ...]:
        arguments: Any = (*tables, density.log_weight, piece)
        found: tuple[Any, ...] = value_and_gradient(*arguments)
        return found

    found = in_threads(look, density.pieces, density.threads)
    value, *by_table = (sum(terms) for terms in zip(*found, strict=True))
    back: Any = (buffer, *by_table, density.tape, density.places, len(x))
    return Expected(
        height=float(value + buffer[density.places.prior]),
        gradient=carry_back(*back),
        prevalence=by_table[0][:, :, 0],
        response=by_table[1][0],
    )


def starting_point(form: Maximisation, density: Density) -> Floats:
    """Return the centre of the prior, moved if no rater tells classes apart there.

    Such a centre, of a flat prior, is a saddle that EM never leaves: in its place stands the
    guess that raters are mostly right.
    """
    centre = prior_centre(density)
    _, _, response, *_ = density.tables(centre)
    if np.ptp(response, axis=-1).max(initial=0.0) > TELLING:
        return centre
    values = density.constrain(centre)
    return unconstrain(density, values | form.guess())


class Ascent(NamedTuple):
    """A mode, and the log posterior density at the start and after each cycle."""

    x: Floats
    heights: tuple[float, ...]


def ascend(form: Maximisation, density: Density, start: Floats) -> Ascent:
    """Go from a start to the mode that EM leads to.

    A cycle is two steps of EM and a leap. The last one is that whose second step would gain less
    than ``NEAR`` if the truth were known.
    """

    def step(x: Floats, expected: Expected) -> Floats:
        values = form.values(density.constrain(x), expected.prevalence, expected.response)
        return unconstrain(density, values)

    x, here = start, expect(density, start)
    heights = [here.height]
    for _ in range(CYCLES):
        first = step(x, here)
        there = expect(density, first)
        second = step(first, there)
        gain = 0.5 * float(there.gradient @ (second - first))
        if gain < NEAR:
            x, here = first, there
        else:
            x, here = _leap(density, x, first, second, there.height)
        heights.append(here.height)
        if gain < NEAR:
            break
    return Ascent(x, tuple(heights))


def _leap(
    density: Density, x: Floats, first: Floats, second: Floats, floor: float
) -> tuple[Floats, Expected]:
    """Go where two steps of EM point to if that is higher than the first of them; else the second.

    The second step is at least as high as the first, so that either way nothing is lost.
    """
    ahead, bend = first - x, second - 2 * first + x
    length = float(np.sqrt((ahead @ ahead) / max(float(bend @ bend), 1e-300)))
    if length > 1:
        place = x + 2 * length * ahead + length**2 * bend
        found = expect(density, place)
        if found.height >= floor:
            return place, found
    return second, expect(density, second)


def find_em_modes(
    form: Maximisation, density: Density, rng: np.random.Generator, *, starts: int = 4
) -> list[Mode]:
    """Seek modes as :func:`assay.inference.mode_search.find_modes` does, by EM from every start."""

    def climb(density: Density, start: Floats, _: Precision | None) -> tuple[Floats, float]:
        x, heights = ascend(form, density, start)
        return x, heights[-1]

    return find_modes(
        form.structure,
        density,
        rng,
        starts=starts,
        centre=starting_point(form, density),
        ascend=climb,
        widths=False,
    )
