r"""Coefficients of agreement, with a bootstrap of clusters that reweights sums over items.

With :math:`n_{ik}` of :math:`r_i` raters giving class :math:`k` to item :math:`i`, :math:`\bar P`
the mean share of agreeing pairs :math:`\sum_k n_{ik} (n_{ik} - 1) / (r_i (r_i - 1))` over items
with two answers, and :math:`P_e` that by chance, kappas and AC1 are :math:`(\bar P - P_e) / (1 -
P_e)`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import divided
from assay._util.bootstrap import times_drawn
from assay._util.errors import UnknownNameError, suggest
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import names_given
from assay.data.overlap import FirstRatings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, state_space
from assay.data.task import Task

WHOLE = "all labels"
"""Name of the column that holds whole answer vectors."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """Answers to one question, as classes from 0 on.

    name : a label, or ``WHOLE``
    codes : class of each row (row,), -1 where it has no answer to the question
    classes : number of codes that may occur
    scale : number of classes that a rater could choose from
    """

    name: str
    codes: Ints
    classes: int
    scale: int
    ordered: bool = False


def column_names(task: Task, labels: Sequence[str] | str | None) -> list[str]:
    """Return the chosen columns: by default all labels, and their whole vector."""
    valid = [*task.label_names, WHOLE]
    if labels is None:
        # With one label, the whole vector is that label.
        return valid if len(task.labels) > 1 else valid[:1]
    chosen = names_given("labels", labels, what="label")
    for name in chosen:
        if name not in valid:
            raise UnknownNameError(
                f"labels: {name!r} is no label of task {task.name}; {suggest(name, valid)}",
                code="unknown-label",
            )
    return chosen


def build_columns(task: Task, answers: Vectors, names: Sequence[str]) -> list[Column]:
    """Code the answers (row, label) to each question."""
    return [_whole(task, answers) if n == WHOLE else _label(task, answers, n) for n in names]


def _label(task: Task, answers: Vectors, name: str) -> Column:
    """Code one label; raters who were not asked, because of their own answers, are left out."""
    place = task.label_names.index(name)
    label = task.labels[place]
    count = len(label.classes)
    codes = np.maximum(answers[:, place], -1).astype(np.int64)
    return Column(name=name, codes=codes, classes=count, scale=count, ordered=label.ordered)


def _whole(task: Task, answers: Vectors) -> Column:
    """Code complete answer vectors, in which "not asked" is an answer of its own."""
    complete = (answers != MISSING).all(axis=1)
    codes = np.full(len(answers), -1, np.int64)
    if not answers.shape[1]:
        return Column(name=WHOLE, codes=codes, classes=1, scale=1)
    found, codes[complete] = _distinct(answers[complete])
    space = state_space(task)
    return Column(name=WHOLE, codes=codes, classes=max(found, 1), scale=int((~space.blocked).sum()))


def _distinct(vectors: Vectors) -> tuple[int, Ints]:
    """Return the number of distinct vectors, and the number of each vector among them."""
    number = np.zeros(len(vectors), np.int64)
    for column in vectors.T:
        # Numbers stay dense from 0, so that the number of a long vector does not overflow.
        digits = column.astype(np.int64) - min(NOT_ASKED, MISSING)
        number = number * (int(digits.max(initial=0)) + 1) + digits
        number = np.unique(number, return_inverse=True)[1].ravel()
    return int(number.max(initial=-1)) + 1, number


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementBlock:
    """Sums over items: ``value`` of ``item`` is added to sum ``row``, of ``size`` sums."""

    size: int
    row: Ints
    item: Ints
    value: Floats

    def total(self) -> Floats:
        """Return the sums over all items, (size, 1)."""
        return np.bincount(self.row, self.value, minlength=self.size)[:, None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """The sums of one column, with r the number of answers to an item.

    blocks : ``agree``, shares of agreeing pairs on items with r >= 2, and ``pairable``, their
        number; ``same``, agreeing pairs over r - 1; ``marginal``, answers by class on those items;
        ``rated`` and ``share``, items with an answer and their shares of the classes; ``crossed``
        (ordered classes), pairs of different answers over r - 1, by the two classes; ``shared`` and
        ``matched``, items by pair of raters, and those that agree; ``left`` and ``right``, answers
        by pair of raters and class
    pair_of_key : pair of raters of each row of ``left`` and ``right`` (key,)
    n_items, n_ratings : items with two answers or more, and the answers to them
    """

    column: Column
    blocks: Mapping[str, AgreementBlock]
    pair_of_key: Ints
    n_items: int
    n_ratings: int


def build_tally(column: Column, design: FirstRatings) -> Tally:
    """Count one column of answers."""
    codes, given = column.codes, column.codes >= 0
    answers = np.bincount(design.item[given], minlength=len(design.cluster))
    cells, count = np.unique(design.item[given] * column.classes + codes[given], return_counts=True)
    met = given[design.left] & given[design.right]
    pairs, pair_of_key = _pair_blocks(column, design, met)
    blocks = _class_blocks(cells, count, answers, column.classes) | pairs
    if column.ordered:
        blocks["crossed"] = _crossed(column, design, met, answers)
    many = answers >= 2
    return Tally(
        column=column,
        blocks=blocks,
        pair_of_key=pair_of_key,
        n_items=int(many.sum()),
        n_ratings=int(answers[many].sum()),
    )


def _class_blocks(
    cells: Ints, count: Ints, answers: Ints, classes: int
) -> dict[str, AgreementBlock]:
    """Return the sums over cells of item and class, where ``count`` raters gave the class."""
    every, kind = cells // classes, cells % classes
    share = AgreementBlock(size=classes, row=kind, item=every, value=count / answers[every])
    keep = answers[every] >= 2
    item, kind, count = every[keep], kind[keep], count[keep]
    several = answers[item]
    agreeing = count * (count - 1) / (several - 1)
    return {
        "share": share,
        "rated": _number_of(answers >= 1),
        "pairable": _number_of(answers >= 2),
        "agree": AgreementBlock(
            size=1, row=np.zeros_like(item), item=item, value=agreeing / several
        ),
        "same": AgreementBlock(size=1, row=np.zeros_like(item), item=item, value=agreeing),
        "marginal": AgreementBlock(size=classes, row=kind, item=item, value=count.astype(float)),
    }


def _number_of(counted: Bools) -> AgreementBlock:
    item = np.flatnonzero(counted)
    return AgreementBlock(size=1, row=np.zeros_like(item), item=item, value=np.ones(len(item)))


def _crossed(column: Column, design: FirstRatings, met: Bools, answers: Ints) -> AgreementBlock:
    left, right = column.codes[design.left[met]], column.codes[design.right[met]]
    item = design.item[design.left[met]]
    apart = left != right
    row, item = (left * column.classes + right)[apart], item[apart]
    return AgreementBlock(size=column.classes**2, row=row, item=item, value=1 / (answers[item] - 1))


def _pair_blocks(
    column: Column, design: FirstRatings, met: Bools
) -> tuple[dict[str, AgreementBlock], Ints]:
    """Return the sums by pair of raters, and the pair of each row of ``left`` and ``right``."""
    left, right = column.codes[design.left[met]], column.codes[design.right[met]]
    item, pair = design.item[design.left[met]], design.pair[met]
    # Chance agreement has a term for a class only where both raters of the pair use it.
    key_left, key_right = pair * column.classes + left, pair * column.classes + right
    keys = np.intersect1d(key_left, key_right)
    match = left == right

    def block(size: int, row: Ints, keep: Bools) -> AgreementBlock:
        return AgreementBlock(
            size=size, row=row[keep], item=item[keep], value=np.ones(int(keep.sum()))
        )

    blocks = {
        "shared": block(len(design.raters), pair, np.ones_like(match)),
        "matched": block(len(design.raters), pair, match),
    }
    for side, key in (("left", key_left), ("right", key_right)):
        blocks[side] = block(len(keys), np.searchsorted(keys, key), np.isin(key, keys))
    return blocks, keys // column.classes


STATISTICS = (
    "percent",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "krippendorff_alpha_ordinal",
    "gwet_ac1",
)
CERTAIN = 1 - 1e-12
"""Chance agreement above which agreement beyond chance is undefined."""


def statistics(tally: Tally, sums: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return each statistic that suits the column, (sample,); NaN where it is undefined.

    ``sums`` hold the totals of the tally's blocks, (size, sample).
    """
    observed = divided(sums["agree"][0], sums["pairable"][0])
    _, _, kappa = pair_agreement(tally, sums)
    found = {
        "percent": observed,
        "cohen_kappa": _weighted_mean(kappa, sums["shared"]),
        "fleiss_kappa": _beyond_chance(observed, _fleiss_chance(sums)),
        "krippendorff_alpha": _alpha_nominal(sums),
    }
    if tally.column.ordered:
        found["krippendorff_alpha_ordinal"] = _alpha_ordinal(sums, tally.column.classes)
    found["gwet_ac1"] = _beyond_chance(observed, _gwet_chance(sums, tally.column.scale))
    return found


def pair_agreement(tally: Tally, sums: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
    r"""Return shared items, share of agreement and Cohen's kappa of each pair, (pair, sample).

    On the items that both answered, :math:`P_e = \sum_k p_{ak} p_{bk}` (Cohen 1960).
    """
    from scipy import sparse

    shared = sums["shared"]
    keys = len(tally.pair_of_key)
    ends = np.searchsorted(tally.pair_of_key, np.arange(len(shared) + 1))
    gather = sparse.csr_matrix((np.ones(keys), np.arange(keys), ends), shape=(len(shared), keys))
    chance = divided(gather @ (sums["left"] * sums["right"]), shared**2)
    percent = divided(sums["matched"], shared)
    return shared, percent, _beyond_chance(percent, chance)


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    return divided(observed - chance, np.where(chance < CERTAIN, 1 - chance, 0.0))


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean over the first axis, without undefined values."""
    known = ~np.isnan(values)
    return divided(np.where(known, values * weights, 0).sum(axis=0), (weights * known).sum(axis=0))


def _fleiss_chance(sums: Mapping[str, Floats]) -> Floats:
    """Return the sum of squared class shares among the answers to items with two or more."""
    marginal = sums["marginal"]
    return divided((marginal**2).sum(axis=0), marginal.sum(axis=0) ** 2)


def _gwet_chance(sums: Mapping[str, Floats], scale: int) -> Floats:
    r"""Return :math:`\sum_k \pi_k (1 - \pi_k) / (K - 1)`, :math:`\pi_k` the mean share of items."""
    share, rated = sums["share"], sums["rated"][0]
    squares = divided((share**2).sum(axis=0), rated**2)
    # With a single class, all agreement is by chance.
    return (1 - squares) / (scale - 1) if scale > 1 else np.ones_like(squares)


def _alpha_nominal(sums: Mapping[str, Floats]) -> Floats:
    r"""Return :math:`1 - (n - 1) (n - \sum_c o_{cc}) / (n^2 - \sum_c n_c^2)`, o coincidences."""
    marginal = sums["marginal"]
    n = marginal.sum(axis=0)
    return 1 - divided((n - 1) * (n - sums["same"][0]), n**2 - (marginal**2).sum(axis=0))


def _alpha_ordinal(sums: Mapping[str, Floats], classes: int) -> Floats:
    r"""Return alpha with distances between the mid-ranks :math:`\sum_{g \le c} n_g - n_c / 2`."""
    marginal = sums["marginal"]
    n = marginal.sum(axis=0)
    rank = marginal.cumsum(axis=0) - marginal / 2
    distance = (rank[:, None] - rank[None]) ** 2
    crossed = sums["crossed"].reshape(classes, classes, -1)
    apart = 2 * (crossed * distance).sum(axis=(0, 1))
    spread = (marginal[:, None] * marginal[None] * distance).sum(axis=(0, 1))
    return 1 - divided((n - 1) * apart, spread)


NUMBERS = 4_000_000
"""Numbers held at a time: bounds the memory of the bootstrap."""
FULL = 0.05
"""Share of non-zero entries above which a dense product is faster."""


def bootstrap(
    tallies: Sequence[Tally], design: FirstRatings, draws: int, rng: np.random.Generator
) -> list[dict[str, Floats]]:
    """Return statistics of each tally in the same bootstrap samples of clusters, (draw,) each."""
    matrices = [
        {name: _by_cluster(block, design) for name, block in tally.blocks.items()}
        for tally in tallies
    ]
    sizes = [block.size for tally in tallies for block in tally.blocks.values()]
    step = max(1, NUMBERS // max(len(design.stratum), *sizes))
    parts: list[list[dict[str, Floats]]] = [[] for _ in tallies]
    for start in range(0, draws, step):
        times = times_drawn(design.stratum, min(step, draws - start), rng)
        for tally, matrix, part in zip(tallies, matrices, parts, strict=True):
            part.append(statistics(tally, {name: m @ times for name, m in matrix.items()}))
    return [{name: np.concatenate([p[name] for p in part]) for name in part[0]} for part in parts]


def _by_cluster(block: AgreementBlock, design: FirstRatings) -> Any:
    """Return the matrix (size, cluster) of a block's sums in each cluster, sparse or dense."""
    from scipy import sparse

    where = (block.row, design.cluster[block.item])
    matrix = sparse.csr_matrix((block.value, where), shape=(block.size, len(design.stratum)))
    cells = matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if FULL * cells < matrix.nnz and cells < 5 * NUMBERS else matrix
