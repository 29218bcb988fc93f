"""The questions of an annotation tool, and the labels that stand for them: values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["choice", "choices", "number", "text"]
Value = str | int | float | tuple[str, ...]
Answers = Mapping[int, Value]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A question is asked if one of some ``values`` of another was chosen, or ``not chosen``."""

    control: str
    values: tuple[str, ...]
    chosen: bool = True


@dataclass(frozen=True, kw_only=True)
class Control:
    """A question: what is known of it from the tool's settings, or from its answers.

    Attributes
    ----------
    name : str
    kind : str or None
        One choice, a choice of several, a number, a text; None where the answers have to tell.
    options : tuple of str
        In order; empty where the answers have to tell.
    gates : tuple of Gate
        All of them have to be open.
    told : bool
        Whether the tool's settings name the options.
    inferred : bool
        Whether the gates were found in the answers.
    """

    name: str
    kind: Kind | None = None
    options: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    told: bool = False
    inferred: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """A label: the question that it comes from, and the option that it stands for, if any."""

    name: str
    control: str
    option: str = ""


def written(value: object) -> str:
    """Write a class as text; whole numbers without a point.

    Examples
    --------
    >>> written(3.0), written("yes"), written(True)
    ('3', 'yes', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
