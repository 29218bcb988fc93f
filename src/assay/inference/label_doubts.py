"""Labels of a fit whose classes may not be what their names say, each doubt with a code.

A latent class has its name from the prior alone. Where the answers can be explained better with a
class that means something else, or with one that is empty, numbers that rest on its name mislead,
whatever their intervals say. A doubt is found once, in the fit, and stands beside every such
number: rankings of raters, metrics, comparisons and claims.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import Note, Numbers, plain_numbers
from assay._util.text import counted
from assay.checks.scores import unanchored_labels
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.inference.assumptions import denied_labels, label_votes
from assay.inference.data_doubts import marks_of_difference, marks_of_values
from assay.inference.diagnostics import MODE_LIMIT, reference_drifts
from assay.inference.modes import Mode, reported_weight
from assay.modelling.structure import Structure

Floats = NDArray[np.float64]
Code = Literal["class-drift", "empty-class", "mode-weight", "scores-alone", "prior-confusions"]

RIVAL = 1.5
"""How many times as often as its own name items of a class get another answer, where it may have
drifted: as in the warnings of names (:mod:`assay.inference.diagnostics`)."""
GROWN = 2.0
"""Share of a class among the items, in shares of the answers, above which it may have drifted. In
54 simulated sets of the fitted model no class of 256 met both conditions, nor in 20 real sets
by the default; where a class of ConvAbuse had become something else, it was 2.6 to 5.4."""
EMPTY = 0.1
"""The same below which a class counts as empty, if it has fewer than ``EMPTY_ITEMS`` items. In the
simulated sets 3 classes were so: they had 1 to 5 % of the items, and 23 to 38 % of the answers."""
EMPTY_ITEMS = 5
"""Expected items of a class below which hardly an item tells how raters answer such items."""
MANY_SAY = 0.2
"""Share of the answers from which on many say a class."""
MIN_ITEMS = 10
"""Expected items of a class, answers, or items of known truth, from which on they count."""
MIN_CLASS_ITEMS = 1.0
"""Expected items of a class below which its confusions are those of the prior."""
DRIFT_TRUTH = 50
"""Items of a drifted class whose truth brought it back, on ConvAbuse by the vote; 20 did not."""
CLASS_TRUTH = 20
"""Items, of 60, whose truth brought an empty class back in 12 of 12 crowds; 10 did not in one."""


@dataclass(frozen=True, kw_only=True)
class LabelDoubt:
    """Why numbers that rest on a label's classes may mislead.

    Attributes
    ----------
    code : {"class-drift", "empty-class", "mode-weight", "scores-alone", "prior-confusions"}
        A class has come to mean something else; hardly an item is of a class that many answers
        name; the reported mode has hardly any evidence, as the heavier one has other names; scores
        alone say what a class is; or the confusions of a class are those of the prior,
        which is in doubt of the raters alone.
    label : str
    classes : tuple of str
        Those in doubt.
    mark : str
        What stands at the numbers.
    warning : str
        What is wrong, what it means, and what would settle it; empty if a mark is enough.
    numbers : mapping of str to float
        The numbers that the mark and the warning show, by name.
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
        """``warning``, or ``note`` if a mark at the numbers is enough."""
        return "warning" if self.warning else "note"

    def note(self) -> Note:
        """Return the warning, for the notes of a fit."""
        return Note(self.warning, code=self.code, numbers=self.numbers)

    def __str__(self) -> str:
        return f"{self.code}: {self.mark}"


def label_doubts(fit: xr.DataTree) -> tuple[LabelDoubt, ...]:
    r"""Return the doubts about the labels of a fit, each with a code.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.

    Returns
    -------
    tuple of LabelDoubt
        Empty if the classes of all labels can be taken for what their names say.

    Notes
    -----
    With the share :math:`q_k` of the answers, averaged over items, and the expected share
    :math:`\hat\pi_k` of the items, a class may have *drifted* where :math:`\hat\pi_k > 2 q_k` and
    its items get another answer 1.5 times as often as its own. It is *empty* where it has fewer
    than five items, :math:`\hat\pi_k < q_k / 10` and :math:`q_k \ge 0.2`. It has drifted, too,
    where the fit denies it to most items of which all raters say so. Classes of which ten items
    are known are not doubted, nor are those of a reference, unless its raters call them otherwise.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", classes=["a", "b"], n_items=80, n_raters=5, rng=2)
    >>> label_doubts(assay.fit(ratings, method="map", draws=2, chains=1, rng=1))
    ()
    """
    lines = json.loads(fit.attrs.get("label_doubts", "[]"))  # older fits have none
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


def doubts_json(doubts: Sequence[LabelDoubt]) -> str:
    """Write doubts as the attribute of a fit."""
    return json.dumps([asdict(doubt) for doubt in doubts])


def doubts_by_class(fit: xr.DataTree) -> dict[tuple[str, str], str]:
    """Say of each class whose confusions may mislead why."""
    by_label = doubts_by_label(fit)
    found = {}
    for doubt in label_doubts(fit):
        for name in doubt.classes:
            if doubt.label not in by_label:
                found[doubt.label, name] = doubt.mark
    return found


def doubts_by_label(fit: xr.DataTree) -> dict[str, str]:
    """Say of each label whose raters cannot be ranked why, a line for each doubt."""
    found: dict[str, str] = {}
    for doubt in label_doubts(fit):
        if doubt.code != "prior-confusions":
            found.setdefault(doubt.label, doubt.mark)
    return found


def doubt_about(fit: xr.DataTree, labels: Sequence[str] | None, task: Task) -> str:
    """Say why a number that rests on some labels may mislead; ``""`` if nothing speaks for it.

    Without ``labels`` it rests on all. A label whose gate asks for a doubted one is doubted too.
    """
    doubted, asked = doubts_by_label(fit), _asked(task, labels)
    marks = [doubted[name] for name in asked if name in doubted]
    return "; ".join(dict.fromkeys([*marks, *marks_of_values(fit, asked)]))


def doubt_about_difference(
    fit: xr.DataTree, labels: Sequence[str] | None, task: Task, *systems: str
) -> str:
    """Say why a difference between systems may mislead besides, as :func:`doubt_about`."""
    return "; ".join(dict.fromkeys(marks_of_difference(fit, _asked(task, labels), *systems)))


def both_doubts(one: str, other: str) -> str:
    """Join two doubts, each of which may be empty."""
    return "; ".join(filter(None, (one, other)))


def _asked(task: Task, labels: Sequence[str] | None) -> list[str]:
    """Return the labels that a number rests on, with those that their gates ask for."""
    names = labels or task.label_names
    return list(dict.fromkeys(name for label in names for name in _with_gates(task, label)))


def _with_gates(task: Task, name: str) -> list[str]:
    """Return a label and all labels that its gates ask for."""
    (label,) = (one for one in task.labels if one.name == name)
    if not label.asked_if:
        return [name]
    before = task.expression(label.asked_if).labels
    return [name, *(other for gate in before for other in _with_gates(task, gate))]


def find_doubts(
    structure: Structure, values: Mapping[str, NDArray[Any]], probabilities: Floats
) -> list[LabelDoubt]:
    """Find the labels whose classes may not be what their names say.

    Parameters
    ----------
    structure : Structure
    values : mapping of str to ndarray (draw, ...)
        The parameters.
    probabilities : ndarray (item, state)
        Posterior probabilities of the states.
    """
    told = [
        *denied_labels(structure, probabilities),
        *reference_drifts(structure, probabilities),
    ]
    found = [
        LabelDoubt(
            code="class-drift", label=label, classes=classes, warning=text, numbers=text.numbers,
            mark=f"class drift: classes of {label} may mean something else than their names",
        )
        for label, classes, text in told
    ]  # fmt: skip
    found += _scores_alone(structure, probabilities)
    for number, label in enumerate(structure.ratings.task.labels):
        found += _of_label(structure, probabilities, number, label)
    return found


def mode_doubts(structure: Structure, modes: Sequence[Mode]) -> list[LabelDoubt]:
    """Doubt all labels where the result is a mode of hardly any evidence.

    It is reported since its classes are what raters call them; what the heavier mode is, and that
    known truth would tell, stands in the warnings of modes.
    """
    if reported_weight(modes) >= MODE_LIMIT:
        return []
    mark = (
        f"mode of hardly any evidence: the reported mode has less than {MODE_LIMIT:.0%} of it, and "
        "in the heavier one raters call a class by the name of another"
    )
    return [
        LabelDoubt(code="mode-weight", label=label.name, classes=tuple(label.classes), mark=mark)
        for label in structure.ratings.task.labels
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shares:
    """A label's classes in the fit, and in the answers to the items that have any.

    Attributes
    ----------
    items : ndarray (class,)
        Expected number of items.
    answers : ndarray (class, class)
        Expected number of answers (column) to items of a class (row).
    said : ndarray (class,)
        Share of the answers, averaged over items.
    """

    items: Floats
    answers: Floats
    said: Floats


def _shares(structure: Structure, probabilities: Floats, label: int, classes: int) -> _Shares:
    """Hold a fit's classes against the answers."""
    ratings, states = structure.ratings, structure.prevalence.space.states
    votes = label_votes(ratings, ratings.answers[:, label], classes)
    rated = votes.sum(axis=1) > 0
    votes = votes[rated]
    member = states[:, label, None] == np.arange(classes)
    held = probabilities[rated] @ member
    said = (votes / votes.sum(axis=1, keepdims=True)).mean(axis=0) if len(votes) else held.sum(0)
    return _Shares(items=held.sum(axis=0), answers=held.T @ votes, said=said)


def _of_label(
    structure: Structure, probabilities: Floats, number: int, label: Label
) -> Iterator[LabelDoubt]:
    """Find the classes of a label that have drifted, are empty, or are known by the prior alone."""
    found = _shares(structure, probabilities, number, len(label.classes))
    if found.answers.sum() < MIN_ITEMS:
        return
    truth = structure.ratings.truth[:, number]
    known = np.array([(truth == k).sum() for k in range(len(label.classes))])
    share = found.items / max(found.items.sum(), 1e-12)
    open_to_doubt = not structure.spec.anchored
    for k, name in enumerate(label.classes):
        own, rivals = found.answers[k, k], found.answers[k].copy()
        rivals[k] = -1
        rival, total = int(rivals.argmax()), max(found.answers[k].sum(), 1e-12)
        if (
            open_to_doubt
            and known[k] < MIN_ITEMS <= found.items[k]
            and share[k] > GROWN * found.said[k]
            and rivals[rival] > RIVAL * own
        ):
            shown = own / total, rivals[rival] / total
            yield _drift(label, k, rival, (share[k], found.said[k], *shown))
        elif (
            open_to_doubt
            and known.sum() < MIN_ITEMS
            and found.items[k] < EMPTY_ITEMS
            and found.said[k] >= MANY_SAY
            and share[k] < EMPTY * found.said[k]
        ):
            yield _empty(label, name, share[k], found.said[k])
        elif found.items[k] < MIN_CLASS_ITEMS:
            mark = (
                f"prior alone: {found.items[k]:.1f} items are {name!r} ({label.name}) by this fit, "
                "so that the raters' answers to such items are what the prior says"
            )
            yield LabelDoubt(
                code="prior-confusions", label=label.name, classes=(name,), mark=mark,
                numbers={"items": found.items[k]},
            )  # fmt: skip


def _drift(label: Label, k: int, rival: int, numbers: Sequence[float]) -> LabelDoubt:
    """Say that a class is much more common than its name."""
    name, other = label.classes[k], label.classes[rival]
    share, said, own, given = numbers
    mark = (
        f"class drift: {name!r} ({label.name}) is {share:.0%} of the items by this fit, and "
        f"{said:.0%} of the answers"
    )
    warning = (
        f"Class drift: {share:.0%} of the items are {name!r} by this fit ({label.name}), but "
        f"{said:.0%} of the answers say so. Raters call these items {other!r} more often "
        f"({given:.0%}) than {name!r} ({own:.0%}), so the class may mean something else. Rankings "
        f"of raters and metrics that rest on {label.name} are marked. The truth of {DRIFT_TRUTH} "
        "of these items (`truth=`) would settle it. `raters='dawid_skene'`, which pools nothing, "
        "shows whether another family keeps the name."
    )
    return LabelDoubt(
        code="class-drift", label=label.name, classes=(name,), mark=mark, warning=warning,
        numbers={"items": share, "answers": said, "own": own, "other": given},
    )  # fmt: skip


def _empty(label: Label, name: str, share: float, said: float) -> LabelDoubt:
    """Say that hardly an item is of a class that many answers name."""
    mark = (
        f"empty class: {share:.1%} of the items are {name!r} ({label.name}) by this fit, and "
        f"{said:.0%} of the answers"
    )
    warning = (
        f"Empty class: {share:.1%} of the items are {name!r} by this fit ({label.name}), although "
        f"{said:.0%} of the answers say so. How raters answer such items is then what the prior "
        f"says. Rankings of raters and metrics that rest on {label.name} are marked. The truth of "
        f"{CLASS_TRUTH} items (`truth=`) would tell whether the class is empty."
    )
    return LabelDoubt(
        code="empty-class", label=label.name, classes=(name,), mark=mark, warning=warning,
        numbers={"items": share, "answers": said},
    )  # fmt: skip


def _scores_alone(structure: Structure, probabilities: Floats) -> Iterator[LabelDoubt]:
    """Say where scores alone tell what a class is: it is a cluster of scores."""
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
                f"The classes of {name} have no anchor: raters give scores alone, and no truth is "
                f"known. They are {clusters} of scores{at}, and {label.classes[-1]!r} is the "
                "highest one, whatever its scores mean. Shares of classes are those of clusters, "
                f"and no claim rests on them. The truth of {CLASS_TRUTH} items (`truth=`) would "
                "give them a meaning; so would answers beside the scores."
            ),
        )  # fmt: skip


def _cuts(structure: Structure, probabilities: Floats, label: int) -> list[float]:
    """Mean scores of items that tell each class and those above from those below."""
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
        # Items below a place that are of the upper classes, and items above it that are not.
        wrong = np.r_[0.0, np.cumsum(above)] + np.r_[np.cumsum((1 - above)[::-1])[::-1], 0.0]
        place = int(wrong.argmin())
        if 0 < place < len(mean):
            found.append(float((mean[place - 1] + mean[place]) / 2))
    return found
