"""Doubts about what the classes of a fitted label mean, each with a code.

Only the prior names a latent class. A doubt is found once, at the fit, and marks every result that
rests on the name.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np

from assay._util.errors import Note, Numbers, plain_numbers
from assay._util.text import counted
from assay._util.typing import Floats
from assay.checks.scores import unanchored_labels
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.fits.view import Fit, FitView
from assay.inference.class_drift import (
    MIN_RATIO_OF_ANSWERS,
    LabelSums,
    denied_labels,
    reference_drifts,
)
from assay.inference.data_doubts import (
    NOT_SOUGHT_MARK,
    DataDoubt,
    marks_of_difference,
    marks_of_values,
)
from assay.inference.diagnostics import MODE_LIMIT
from assay.inference.modes import Mode, reported_weight
from assay.modelling.structure import Structure

Code = Literal[
    "class-drift", "empty-class", "mode-weight", "scores-alone", "prior-confusions",
    "doubts-not-sought",
]  # fmt: skip

GROWN = 2.0
"""Ratio of a class's share of items to its share of answers above which it may have drifted.

In 54 simulated data sets of the fitted model, none of 256 classes met this and
``MIN_RATIO_OF_ANSWERS``, nor did any in 20 real data sets. A drifted class of ConvAbuse
had ratios of 2.6 to 5.4.
"""
EMPTY = 0.1
"""The same ratio below which a class with fewer than ``EMPTY_ITEMS`` items counts as empty.

In the simulated sets 3 classes were empty: 1 to 5 % of the items, 23 to 38 % of the answers.
"""
EMPTY_ITEMS = 5
"""Expected items of a class below which the data say little of how raters answer such items."""
MANY_SAY = 0.2
"""Least share of the answers at which a class is common."""
MIN_ITEMS = 10
"""Least expected items of a class, answers, or items of known truth, that count as evidence."""
MIN_CLASS_ITEMS = 1.0
"""Expected items of a class below which its confusions are those of the prior."""
DRIFT_TRUTH = 50
"""Known items of a drifted class that restored its meaning on ConvAbuse; 20 did not."""
CLASS_TRUTH = 20
"""Known items, of 60, that restored an empty class in 12 of 12 crowds; 10 failed in one."""


@dataclass(frozen=True, kw_only=True)
class LabelDoubt:
    """A reason why results that rest on a label's classes may mislead.

    code : ``class-drift`` (a class has another meaning), ``empty-class`` (many answers, hardly an
        item), ``mode-weight`` (the reported mode has hardly any evidence, the heavier one has other
        names), ``scores-alone`` (classes are clusters of scores), ``prior-confusions`` (a
        class's confusions are the prior's, a doubt about raters only), or ``doubts-not-sought``
        (the fit is of an earlier version, which did not look)
    classes : the doubted classes; empty if nobody looked
    mark : short text beside results
    warning : problem, meaning and remedy; empty if the mark is enough
    numbers : the numbers in the mark and the warning, by name
    """

    code: Code
    label: str
    classes: tuple[str, ...]
    mark: str
    warning: str = ""
    numbers: Numbers = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", plain_numbers(self.numbers))

    @property
    def level(self) -> str:
        """``warning``, or ``note`` if the mark is enough."""
        return "warning" if self.warning else "note"

    def note(self) -> Note:
        """Return the warning as a note of a fit."""
        return Note(self.warning, code=self.code, numbers=self.numbers)

    def __str__(self) -> str:
        return f"{self.code}: {self.mark}"


def label_doubts(fit: Fit) -> tuple[LabelDoubt, ...]:
    r"""Return the doubts about the labels of a fit, each with a code.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` or :func:`assay.fit_dataset`.

    Returns
    -------
    tuple of LabelDoubt
        Empty if no class is doubted. A fit of an earlier version that did not look for doubts has
        one for each label, of code ``doubts-not-sought``.

    Notes
    -----
    Let :math:`q_k` be a class's share of the answers, averaged over items, and :math:`\hat\pi_k`
    its expected share of the items. The class may have *drifted* if :math:`\hat\pi_k > 2 q_k` and
    its items get another answer 1.5 times as often as its own. It has also drifted if the fit
    denies it to most items with unanimous answers for it. It is *empty* if it has fewer than five
    items, :math:`\hat\pi_k < q_k / 10` and :math:`q_k \ge 0.2`. Classes with ten known items are
    not doubted, nor are those of a reference whose raters agree with them.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", classes=["a", "b"], n_items=80, n_raters=5, rng=2)
    >>> label_doubts(assay.fit(ratings, method="map", draws=2, chains=1, rng=1))
    ()
    """
    if "label_doubts" not in fit.attrs:
        names = FitView.of(fit).task.label_names
        return tuple(
            LabelDoubt(code="doubts-not-sought", label=name, classes=(), mark=NOT_SOUGHT_MARK)
            for name in names
        )
    lines = json.loads(fit.attrs["label_doubts"])
    return tuple(
        LabelDoubt(
            **{
                **line,
                "classes": tuple(line["classes"]),
                "code": line["code"].replace("_", "-"),  # as earlier versions wrote them
            }
        )
        for line in lines
    )


def doubts_json(doubts: Sequence[LabelDoubt] | Sequence[DataDoubt]) -> str:
    """Return doubts as JSON, for an attribute of a fit."""
    return json.dumps([asdict(doubt) for doubt in doubts])


def doubts_by_class(fit: Fit) -> dict[tuple[str, str], str]:
    """Return the marks of doubted classes, by label and class, without wholly doubted labels."""
    by_label = doubts_by_label(fit)
    found = {}
    for doubt in label_doubts(fit):
        for name in doubt.classes:
            if doubt.label not in by_label:
                found[doubt.label, name] = doubt.mark
    return found


def doubts_by_label(fit: Fit) -> dict[str, str]:
    """Return the first mark of each label that does not allow a ranking of raters."""
    found: dict[str, str] = {}
    for doubt in label_doubts(fit):
        if doubt.code != "prior-confusions":
            found.setdefault(doubt.label, doubt.mark)
    return found


def doubt_about(fit: Fit, labels: Sequence[str] | None, task: Task) -> str:
    """Return the marks of a result that rests on some labels (all by default), ``""`` without any.

    A label whose gate depends on a doubted label is doubted too.
    """
    doubted, asked = doubts_by_label(fit), _asked(task, labels)
    marks = [doubted[name] for name in asked if name in doubted]
    return "; ".join(dict.fromkeys([*marks, *marks_of_values(fit, asked)]))


def doubt_about_difference(
    fit: Fit, labels: Sequence[str] | None, task: Task, *systems: str
) -> str:
    """Return the additional marks of a difference between systems, as :func:`doubt_about`."""
    return "; ".join(dict.fromkeys(marks_of_difference(fit, _asked(task, labels), *systems)))


def both_doubts(one: str, other: str) -> str:
    """Join two marks, each possibly empty."""
    return "; ".join(filter(None, (one, other)))


def _asked(task: Task, labels: Sequence[str] | None) -> list[str]:
    """Return the labels of a result, together with the labels that their gates need."""
    names = labels or task.label_names
    return list(dict.fromkeys(name for label in names for name in _with_gates(task, label)))


def _with_gates(task: Task, name: str) -> list[str]:
    """Return a label and all labels that its gates need."""
    (label,) = (one for one in task.labels if one.name == name)
    if not label.asked_if:
        return [name]
    before = task.expression(label.asked_if).labels
    return [name, *(other for gate in before for other in _with_gates(task, gate))]


def find_doubts(
    structure: Structure, sums: Sequence[LabelSums], scores: Sequence[LabelDoubt] = ()
) -> list[LabelDoubt]:
    """Return the doubts about all labels; ``scores`` are those of :func:`scores_alone`."""
    found = [
        LabelDoubt(
            code="class-drift", label=drift.label, classes=(drift.name,), warning=drift.note,
            numbers=drift.note.numbers,
            mark=f"class drift: classes of {drift.label} may mean something else than their names",
        )
        for drift in (*denied_labels(structure, sums), *reference_drifts(structure, sums))
    ]  # fmt: skip
    found += scores
    for label, of_label in zip(structure.ratings.task.labels, sums, strict=True):
        found += _of_label(label, of_label, anchored=structure.spec.anchored)
    return found


def mode_doubts(structure: Structure, modes: Sequence[Mode]) -> list[LabelDoubt]:
    """Doubt all labels if the reported mode (with the raters' names) has hardly any evidence."""
    if reported_weight(modes) >= MODE_LIMIT:
        return []
    mark = (
        f"mode of negligible weight: the reported mode has a weight below {MODE_LIMIT:.0%}, and in "
        "the heavier mode most answers to a class name another class"
    )
    return [
        LabelDoubt(code="mode-weight", label=label.name, classes=tuple(label.classes), mark=mark)
        for label in structure.ratings.task.labels
    ]


def _of_label(label: Label, found: LabelSums, *, anchored: bool) -> Iterator[LabelDoubt]:
    """Yield doubts about classes that have drifted, are empty, or rest on the prior alone."""
    if found.answers.sum() < MIN_ITEMS:
        return
    known, said = found.known, found.said / found.rated
    share = found.items / max(found.items.sum(), 1e-12)
    open_to_doubt = not anchored
    for k, name in enumerate(label.classes):
        own, rivals = found.answers[k, k], found.answers[k].copy()
        rivals[k] = -1
        rival, total = int(rivals.argmax()), max(found.answers[k].sum(), 1e-12)
        if (
            open_to_doubt
            and known[k] < MIN_ITEMS <= found.items[k]
            and share[k] > GROWN * said[k]
            and rivals[rival] > MIN_RATIO_OF_ANSWERS * own
        ):
            shown = own / total, rivals[rival] / total
            needed = min(DRIFT_TRUTH, round(float(found.items[k])))
            yield _drift(label, k, rival, (share[k], said[k], *shown), needed)
        elif (
            open_to_doubt
            and known.sum() < MIN_ITEMS
            and found.items[k] < EMPTY_ITEMS
            and said[k] >= MANY_SAY
            and share[k] < EMPTY * said[k]
        ):
            yield _empty(label, name, share[k], said[k], min(CLASS_TRUTH, found.rated))
        elif found.items[k] < MIN_CLASS_ITEMS:
            mark = (
                f"prior alone: {found.items[k]:.1f} items are {name!r} ({label.name}) by this fit, "
                "so the prior determines how raters answer such items"
            )
            yield LabelDoubt(
                code="prior-confusions", label=label.name, classes=(name,), mark=mark,
                numbers={"items": found.items[k]},
            )  # fmt: skip


def _drift(label: Label, k: int, rival: int, numbers: Sequence[float], needed: int) -> LabelDoubt:
    """Return the doubt that a class is much more common among items than among answers."""
    name, other = label.classes[k], label.classes[rival]
    share, said, own, given = numbers
    mark = (
        f"class drift: {name!r} ({label.name}) is {share:.0%} of the items by this fit, but "
        f"{said:.0%} of the answers"
    )
    warning = (
        f"Class drift: {share:.0%} of the items are {name!r} by this fit ({label.name}), but only "
        f"{said:.0%} of the answers. Raters call these items {other!r} more often "
        f"({given:.0%}) than {name!r} ({own:.0%}), so the class may mean something else. Rankings "
        f"of raters and metrics that use {label.name} are marked. To settle this, give the truth "
        f"of {needed} of these items (`truth=`). Or see whether the class keeps its name in "
        "a fit without pooling (`raters='dawid_skene'`)."
    )
    return LabelDoubt(
        code="class-drift", label=label.name, classes=(name,), mark=mark, warning=warning,
        numbers={"items": share, "answers": said, "own": own, "other": given},
    )  # fmt: skip


def _empty(label: Label, name: str, share: float, said: float, needed: int) -> LabelDoubt:
    """Return the doubt that many answers name a class which hardly an item has."""
    mark = (
        f"empty class: {share:.1%} of the items are {name!r} ({label.name}) by this fit, but "
        f"{said:.0%} of the answers"
    )
    warning = (
        f"Empty class: {share:.1%} of the items are {name!r} by this fit ({label.name}), but "
        f"{said:.0%} of the answers. The prior then determines how raters answer such items. "
        f"Rankings of raters and metrics that use {label.name} are marked. To find out whether the "
        f"class is empty, give the truth of {needed} items (`truth=`)."
    )
    return LabelDoubt(
        code="empty-class", label=label.name, classes=(name,), mark=mark, warning=warning,
        numbers={"items": share, "answers": said},
    )  # fmt: skip


def scores_alone(structure: Structure, probabilities: Floats) -> Iterator[LabelDoubt]:
    """Yield a doubt about each label whose classes are clusters of scores."""
    ratings, spec = structure.ratings, structure.spec
    if spec.anchored or "scored" not in spec.rater_parts:
        return
    for name in unanchored_labels(ratings):
        number = ratings.task.label_names.index(name)
        label = ratings.task.labels[number]
        cuts = _cuts(structure, probabilities, number)
        where = " and ".join(f"{cut:.2f}" for cut in cuts)
        at = f", cut at a mean score of about {where} (from 0 to 1)" * bool(cuts)
        clusters = counted(len(label.classes), "cluster")
        yield LabelDoubt(
            code="scores-alone", label=name, classes=tuple(label.classes),
            mark=f"scores alone: shares of {name} are those of {clusters} of scores{at}",
            warning=(
                f"Nothing defines the classes of {name}: raters gave only scores, and no truth is "
                f"known. The classes are {clusters} of scores{at}, and {label.classes[-1]!r} has "
                "the highest scores. Shares of classes are shares of clusters, so they support no "
                "claim. To define the classes, give the truth of "
                f"{min(CLASS_TRUTH, len(ratings.items))} items (`truth=`), "
                "or answers beside the scores."
            ),
        )  # fmt: skip


def _cuts(structure: Structure, probabilities: Floats, label: int) -> list[float]:
    """Return the mean scores that best separate neighbouring classes."""
    ratings, states = structure.ratings, structure.prevalence.space.states[:, label]
    score = ratings.scores[:, label]
    told = np.isfinite(score)
    count = np.bincount(ratings.item[told], minlength=len(ratings.items))
    total = np.bincount(ratings.item[told], score[told], minlength=len(ratings.items))
    scored = np.flatnonzero(count)
    mean = total[scored] / count[scored]
    order = np.argsort(mean, kind="stable")
    mean = mean[order]
    found = []
    for k in range(1, int(states.max(initial=MISSING)) + 1):
        above = probabilities[scored][:, states >= k].sum(axis=1)[order]
        # Expected misclassified items: of upper classes below a cut, of lower ones above it.
        wrong = np.r_[0.0, np.cumsum(above)] + np.r_[np.cumsum((1 - above)[::-1])[::-1], 0.0]
        place = int(wrong.argmin())
        if 0 < place < len(mean):
            found.append(float((mean[place - 1] + mean[place]) / 2))
    return found
