"""Which classes are positive, and what each is worth."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.validation import names_given, require_number, written
from assay.raters.scoring.truths import Truth


def positive_classes(truth: Truth, positive: str | Sequence[str] | None) -> NDArray[np.bool_]:
    """Say which classes count as positive.

    Parameters
    ----------
    truth : Truth
    positive : str, sequence of str, or None
        Classes. Of an ordered label, one class stands for itself and all above. None is the
        upper one of two classes.

    Returns
    -------
    ndarray of bool (class,)

    Raises
    ------
    UnknownNameError
        If there is no class of a name.
    ModelError
        If the label has more than two classes and none is named, or all are.

    Examples
    --------
    >>> import pandas as pd
    >>> from assay.raters.scoring.truths import read_truth
    >>> grades = pd.CategoricalDtype(["no", "partially", "yes"], ordered=True)
    >>> truth = read_truth(pd.Series(["no", "yes"], index=["a", "b"], dtype=grades))
    >>> positive_classes(truth, "partially")
    array([False,  True,  True])
    """
    names = truth.classes
    if positive is None:
        if len(names) != 2:
            raise ModelError(
                f"{truth.label!r} has the classes {', '.join(names)}; say with positive= which of "
                "them count as positive",
                code="positive-classes",
                numbers={"classes": len(names)},
            )
        return np.array([False, True])
    wanted = names_given("positive", positive, what="class")
    for name in wanted:
        if name not in names:
            raise UnknownNameError(
                f"no class {name!r}; {suggest(name, names)}", code="unknown-class"
            )
    chosen = np.isin(names, wanted)
    if isinstance(positive, str) and truth.ordered:
        chosen = np.arange(len(names)) >= names.index(positive)
    if chosen.all() or not chosen.any():
        raise ModelError(
            f"positive={positive!r} leaves nothing to tell apart: {', '.join(names)}",
            code="positive-classes",
        )
    return chosen


def class_gains(
    truth: Truth, positive: NDArray[np.bool_], gains: Mapping[str, float] | None
) -> NDArray[np.float64]:
    """Say what each class is worth in graded measures.

    Parameters
    ----------
    truth : Truth
    positive : ndarray of bool (class,)
    gains : mapping of str to float, optional
        Gain of each class, 0 of those not named. If not given, 0, 1, 2, ... of ordered classes,
        else 1 of the positive ones.

    Returns
    -------
    ndarray of float (class,)

    Raises
    ------
    UnknownNameError
        If there is no class of a name.
    ModelError
        If a gain is negative or not a number.
    """
    if gains is None:
        return class_grades(truth, positive)
    if not isinstance(gains, Mapping):
        raise ModelError(
            f"gains={written(gains)}; it must be a dictionary from class to gain, e.g. "
            f"{{{truth.classes[-1]!r}: 1}}",
            code="gains-argument",
        )
    for name, gain in gains.items():
        if name not in truth.classes:
            raise UnknownNameError(
                f"no class {name!r}; {suggest(name, truth.classes)}", code="unknown-class"
            )
        require_number(
            f"gains: {name!r}", gain, lambda x: 0 <= x < np.inf, allowed="a number from 0 on"
        )
    return np.array([float(gains.get(name, 0.0)) for name in truth.classes])


def class_grades(truth: Truth, positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Put the classes in order (class,): 0, 1, 2, ... if they are ordered, else positive last."""
    return np.asarray(np.arange(len(truth.classes)) if truth.ordered else positive, float)
