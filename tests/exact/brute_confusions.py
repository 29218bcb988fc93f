"""Confusions of each rater family a second time, from parameters by name."""

import math
from collections.abc import Callable, Iterable
from itertools import count, pairwise

from assay.data.task import Task

Confusion = list[list[list[float]]]  # [label][true class][reported class]
Tilt = list[list[float]]  # [label][true class]


def confusion_of(family: str, task: Task, values: dict, rater: int, group: int) -> Confusion:
    """Confusion of one rater, biases of ability_bias left aside: [label][true][reported].

    ``values`` has the parameters of its part, by their own names; ``rater`` and ``group`` are
    positions in it.
    """
    return FAMILIES[family](task, values, rater, group)


def tilted(confusion: Confusion, tilt: Tilt) -> Confusion:
    """Add to the log odds of right answers; errors keep their proportions."""
    found = []
    for rows, by_class in zip(confusion, tilt, strict=True):
        table = []
        for true, (row, by) in enumerate(zip(rows, by_class, strict=True)):
            right = row[true] * math.exp(by)
            total = right + math.fsum(p for k, p in enumerate(row) if k != true)
            table.append([(right if k == true else p) / total for k, p in enumerate(row)])
        found.append(table)
    return found


def nearer_guessing(confusion: Confusion, shares: Tilt) -> Confusion:
    """Leave a share of the log odds between any two answers; one for all true classes."""
    found = []
    for rows, kept in zip(confusion, shares, strict=True):
        powers = [[p**share for p in row] for row, share in zip(rows, kept, strict=True)]
        found.append([[p / math.fsum(row) for p in row] for row in powers])
    return found


def biased(task: Task, confusion: Confusion, values: dict, rater: int, group: int) -> Confusion:
    """Multiply each answer to a label with three classes or more by the odds of a rater's bias."""
    found, long, answer = [], count(), 0
    for la, rows in zip(task.labels, confusion, strict=True):
        odds = [1.0] * len(la.classes)
        if len(la.classes) > 2:
            sd, own = values["bias_sd"][group][next(long)], values["bias_offset"][rater]
            rates = blind_rates(values, group, answer, len(la.classes))
            odds = [rate * math.exp(sd * own[answer + k]) for k, rate in enumerate(rates)]
            answer += len(la.classes)
        table = [[p * o for p, o in zip(row, odds, strict=True)] for row in rows]
        found.append([[p / math.fsum(row) for p in row] for row in table])
    return found


def blind_rates(values: dict, group: int, first: int, classes: int) -> list[float]:
    """Rates of the answers to one label by raters who do not know the class; their mean is 1."""
    rates = values["answer_rate"][group][first : first + classes]
    return [rate * classes / math.fsum(rates) for rate in rates]


def partly_guessed(confusion: Confusion, shares: Tilt) -> Confusion:
    """Replace answers by guesses; a share of each true class, [label][true class], is kept."""
    found = []
    for rows, kept in zip(confusion, shares, strict=True):
        guess = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
        found.append(
            [
                [w * p + (1 - w) * g for p, g in zip(row, guess, strict=True)]
                for row, w in zip(rows, kept, strict=True)
            ]
        )
    return found


def _spread(accuracy: float, true: int, classes: int) -> list[float]:
    return [accuracy if k == true else (1 - accuracy) / (classes - 1) for k in range(classes)]


def _one_coin(task: Task, values: dict, j: int, g: int) -> Confusion:
    return [
        [_spread(values["accuracy"][j], k, len(la.classes)) for k in range(len(la.classes))]
        for la in task.labels
    ]


def _class_conditional(task: Task, values: dict, j: int, g: int) -> Confusion:
    rows = iter(values["accuracy"][j])
    return [
        [_spread(next(rows), k, len(la.classes)) for k in range(len(la.classes))]
        for la in task.labels
    ]


def _from_rows(task: Task, blocks: dict) -> Confusion:
    rows = {classes: iter(block) for classes, block in blocks.items()}
    return [[list(next(rows[len(la.classes)])) for _ in la.classes] for la in task.labels]


def _dawid_skene(task: Task, values: dict, j: int, g: int) -> Confusion:
    blocks = {k: values[f"confusion_{k}"][j] for k in {len(la.classes) for la in task.labels}}
    return _from_rows(task, blocks)


def _pooled(task: Task, values: dict, j: int, g: int) -> Confusion:
    return _from_rows(
        task, {k: values[f"confusion_{k}"] for k in {len(la.classes) for la in task.labels}}
    )


def _hierarchical(task: Task, values: dict, j: int, g: int) -> Confusion:
    mean, sd, offset = (values[f"logit_{n}"] for n in ("mean", "sd", "offset"))
    return _from_cells(task, mean[g] + sd[g] * offset[j])


def _without_bias(task: Task, values: dict, j: int, g: int) -> Confusion:
    """What ability_bias has before rates and biases of answers."""
    logits, binary, cell, long, answer = [], count(), count(), count(), 0
    for la in task.labels:
        if len(la.classes) == 2:
            mean, sd, offset = (values[f"logit_{n}"] for n in ("mean", "sd", "offset"))
            at = [next(binary), next(binary)]
            logits += [float(mean[g][n] + sd[g][n] * offset[j][n]) for n in at]
            continue
        n, rates = next(long), blind_rates(values, g, answer, len(la.classes))
        ability = values["ability_mean"][g][n]
        ability += values["ability_sd"][g][n] * values["ability_offset"][j][n]
        for true in range(len(la.classes)):
            for said in range(len(la.classes)):
                logit = float(values["confusion_mean"][g][next(cell)])
                if said == true:
                    apart = values["class_sd"][g][n] * values["class_offset"][j][answer + true]
                    logit = math.log(1 + math.exp(ability + logit + apart) / rates[said])
                logits.append(logit)
        answer += len(la.classes)
    return _from_cells(task, logits)


def _from_cells(task: Task, logits: Iterable[float]) -> Confusion:
    cells, table = iter(logits), []
    for la in task.labels:
        rows = []
        for true in range(len(la.classes)):
            if len(la.classes) == 2:
                right = 1 / (1 + math.exp(-next(cells)))
                rows.append(_spread(right, true, 2))
            else:
                odds = [math.exp(next(cells)) for _ in la.classes]
                rows.append([o / math.fsum(odds) for o in odds])
        table.append(rows)
    return table


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _ordinal(task: Task, values: dict, j: int, g: int) -> Confusion:
    gaps, widths = iter(values["spacing"][g]), count()
    table = []
    for n, la in enumerate(task.labels):
        apart = [math.exp(next(gaps)) for _ in la.classes[1:]]
        place = [math.fsum(apart[:k]) for k in range(len(la.classes))]
        cuts = [(a + b) / 2 for a, b in pairwise(place)]
        middle = math.fsum(cuts) / len(cuts)
        slope = 1 + values["slope_sd"][g] * values["slope_offset"][j][n]
        shift = values["shift_mean"][g][n] + values["shift_sd"][g] * values["shift_offset"][j][n]
        own = [0.0]
        for a, b in pairwise(cuts):
            w = next(widths)
            wider = (
                values["width_mean"][g][w] + values["width_sd"][g] * values["width_offset"][j][w]
            )
            own.append(own[-1] + (b - a) * math.exp(wider))
        own = [shift + cut - math.fsum(own) / len(own) for cut in own]
        rows = []
        for where in place:
            below = [_expit(cut - slope * (where - middle)) for cut in own]
            chances = [b - a for a, b in zip([0.0, *below], [*below, 1.0], strict=True)]
            lapse = values["lapse"][g] if len(chances) > 2 else 0.0
            rows.append([(1 - lapse) * p + lapse / len(chances) for p in chances])
        table.append(rows)
    return table


HONEST_ERROR = math.exp(-60.0)


def honest(task: Task) -> Confusion:
    """Copies of the truth; errors are as good as impossible."""
    return [
        [[1.0 if k == true else HONEST_ERROR for k in range(len(la.classes))] for true in
         range(len(la.classes))]
        for la in task.labels
    ]  # fmt: skip


def spam(task: Task, values: dict, rater: int) -> Confusion:
    """The same answers whatever is true."""
    return [[list(values[f"strategy_{la.name}"][rater])] * len(la.classes) for la in task.labels]


def lapse_share(values: dict, rater: int, group: int) -> float:
    """Chance that a rating of a rater is a lapse."""
    odds = values["lapse_mean"][group] + values["lapse_sd"][group] * values["lapse_offset"][rater]
    return 1 / (1 + math.exp(-float(odds)))


def blind(task: Task, values: dict, rater: int, group: int) -> Confusion:
    """What lapses say: the same answers whatever is true."""
    mean, sd = values["strategy_mean"][group], values["strategy_sd"][group]
    logits = [
        float(m + sd * w) for m, w in zip(mean, values["strategy_offset"][rater], strict=True)
    ]
    found, first = [], 0
    for la in task.labels:
        odds = [math.exp(x) for x in logits[first : first + len(la.classes)]]
        found.append([[o / math.fsum(odds) for o in odds]] * len(la.classes))
        first += len(la.classes)
    return found


FAMILIES: dict[str, Callable[[Task, dict, int, int], Confusion]] = {
    "one_coin": _one_coin,
    "class_conditional": _class_conditional,
    "dawid_skene": _dawid_skene,
    "pooled": _pooled,
    "hierarchical": _hierarchical,
    "ability_bias": _without_bias,
    "joint": _hierarchical,
    "ordinal": _ordinal,
}
