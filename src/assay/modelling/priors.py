"""Priors as data: ``"Normal(0, 1)"`` in a TOML file, a distribution in the model.

A :class:`Prior` is a name and numbers, read from text, written as text, and put in the place of
another; what a model makes of it is :mod:`assay.modelling.parameters`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay._util.errors import ModelError, suggest
from assay._util.validation import cut
from assay._util.validation import written as write
from assay.modelling.elicitation import Opinion, opinion_beta, opinion_logit_normal
from assay.modelling.prior_text import read_call, read_counts, written

PARAMETERS: dict[str, tuple[str, ...]] = {
    "Normal": ("mu", "sigma"),
    "HalfNormal": ("sigma",),
    "Exponential": ("lam",),
    "Gamma": ("alpha", "beta"),
    "Beta": ("alpha", "beta"),
    "Dirichlet": ("a",),
    "Confusion": ("correct", "total"),
    "Counts": ("counts",),
}
"""The distributions that a prior may name, with their parameters in PyMC's order.

``Confusion(correct, total)`` is the Dirichlet prior of a row of a confusion matrix: prior counts
that add up to ``total``, the share ``correct`` on the true class, the rest spread evenly.
``Counts([[8, 2], [1, 9]])`` gives these counts one by one: true class by reported class, for all
raters; (rater, true class, reported class) for each; or a mapping from labels to either.
"""

ABOUT = "About"
"""Name of a prior that stands in words (an :class:`~assay.modelling.elicitation.Opinion`)."""

POSITIVE = ("HalfNormal", "Exponential", "Gamma")
"""Distributions of what is positive, which stands among the unknowns by its logarithm."""

EXCHANGEABLE = {
    "HalfNormal": POSITIVE,
    "Confusion": ("Confusion", "Counts"),
}
"""Which distributions can take the place of which; any other only that of its own kind."""

LOG_ODDS = ("mean_binary",)
"""Priors of log odds of a right answer, for which an opinion on the accuracy can stand."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """A named distribution with numbers (or arrays of them) as parameters.

    Attributes
    ----------
    name : str
    values : tuple
    key : str
        By which name it is replaced: ``sd``, ``expert.sd``; empty for what cannot be.
    parts : tuple of Prior
        What it was put together from, if from several.
    """

    name: str
    values: tuple[Any, ...]
    key: str = field(default="", compare=False, repr=False)
    parts: tuple["Prior", ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        """Write the prior as it stands in a TOML file, so that it can be read again."""
        if self.name == ABOUT:
            return str(self.values[0])
        return f"{self.name}({', '.join(written(v) for v in self.values)})"

    def by_key(self) -> dict[str, "Prior"]:
        """Return itself, or what it was put together from, by the names to replace it by."""
        if self.key:
            return {self.key: self}
        return {key: prior for part in self.parts for key, prior in part.by_key().items()}


def distinct(priors: Iterable[Prior]) -> tuple[Prior, ...]:
    """Return priors of a catalogue, each once.

    Examples
    --------
    >>> sd = Prior(name="HalfNormal", values=(1.0,), key="sd")
    >>> len(distinct([sd, sd]))
    1
    """
    return tuple({prior.key: prior for prior in priors}.values())


def parse_prior(text: str, *, where: str = "prior") -> Prior:
    """Read a prior from text.

    Parameters
    ----------
    text : str
        A distribution with numbers, ``"Normal(0, 1)"``; prior counts of a confusion,
        ``"Counts([[8, 2], [1, 9]])"``; or an opinion on an accuracy,
        ``"about 85 % accurate, 90 % between 70 and 95"``.
    where : str
        What the error begins with.

    Raises
    ------
    ModelError
        If the text is not a known distribution with the right number of numbers.

    Examples
    --------
    >>> parse_prior("Normal(mu=0, sigma=2)")
    Prior(name='Normal', values=(0.0, 2.0))
    >>> str(parse_prior("Counts([[8, 2], [1, 9]])"))
    'Counts([[8, 2], [1, 9]])'
    """
    if not isinstance(text, str):
        raise ModelError(
            f"{where}: {write(text)} is no prior; write it as text: 'Normal(0, 1)'",
            code="prior-syntax",
        )
    if text.strip().lower().startswith("about"):
        return Prior(name=ABOUT, values=(Opinion.parse(str(text), where=where),))
    name, positional, named = read_call(str(text), where)
    if name not in PARAMETERS:
        raise ModelError(
            f"{where}: no distribution {cut(name)}; {suggest(name, list(PARAMETERS))}",
            code="prior-syntax",
        )
    wanted = PARAMETERS[name]
    given = dict(zip(wanted, positional, strict=False)) | named
    if set(given) != set(wanted) or len(positional) + len(named) != len(wanted):
        raise ModelError(
            f"{where}: {cut(str(text))}; {name} takes {', '.join(wanted)}", code="prior-syntax"
        )
    if name == "Counts":
        return Prior(name=name, values=(read_counts(given["counts"], where),))
    try:
        numbers = {w: float(given[w]) for w in wanted}
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"{where}: {cut(str(text))}; {name} takes numbers", code="prior-syntax"
        ) from None
    positive = wanted if name not in {"Normal", "Confusion"} else wanted[1:]
    if any(numbers[w] <= 0 for w in positive) or not all(np.isfinite([*numbers.values()])):
        raise ModelError(
            f"{where}: {cut(str(text))}; {', '.join(positive)} must be positive",
            code="prior-syntax",
        )
    if name == "Confusion" and not 0 < numbers["correct"] < 1:
        raise ModelError(
            f"{where}: {cut(str(text))}; correct is a share between 0 and 1", code="prior-syntax"
        )
    return Prior(name=name, values=tuple(numbers.values()))


def write_prior(value: Any, *, where: str = "prior") -> str:
    """Write a prior as text, from text, a :class:`Prior`, or prior counts as an array.

    Parameters
    ----------
    value : str, Prior, array-like or mapping of str to array-like
        An array (true class, reported class) or (rater, true class, reported class) stands for
        ``Counts``; a mapping has one for each label.
    where : str
        What the error begins with.

    Returns
    -------
    str
        That :func:`parse_prior` reads.

    Raises
    ------
    ModelError
        If the value is none of these.

    Examples
    --------
    >>> write_prior(np.array([[8, 2], [1, 9]]))
    'Counts([[8, 2], [1, 9]])'
    """
    if isinstance(value, str | Prior):
        return str(value)
    if not isinstance(value, Mapping | Sequence) and np.ndim(value) == 0:
        raise ModelError(
            f"{where}: {write(value)} is no prior; write it as text, e.g. 'Normal(0, 1)'",
            code="prior-syntax",
        )
    return str(Prior(name="Counts", values=(read_counts(value, where),)))


def override(
    defaults: Mapping[str, Prior],
    priors: Mapping[str, str | Prior],
    *,
    owner: str,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Prior]:
    """Replace default priors by the user's, by name; names that are not there are kept back.

    Opinions turn into the distribution that the default is. ``keys`` are the names as the user
    wrote them, where these are others.
    """
    chosen = {name: replace(prior, key=name) for name, prior in defaults.items()}
    for name, prior in priors.items():
        if name not in defaults:
            continue
        where = f"prior {name} of {owner}"
        value = prior if isinstance(prior, Prior) else parse_prior(prior, where=where)
        if value.name == ABOUT:
            value = _settle(value.values[0], name, defaults[name], where)
        kinds = EXCHANGEABLE.get(defaults[name].name, (defaults[name].name,))
        if value.name not in kinds:
            raise ModelError(
                f"{where}: {value} cannot take the place of {defaults[name]}; it can be "
                f"{' or '.join(kinds)}",
                code="prior-kind",
            )
        chosen[name] = replace(value, key=(keys or {}).get(name, name))
    return chosen


def _settle(opinion: Opinion, name: str, default: Prior, where: str) -> Prior:
    """Turn an opinion into a distribution of the kind that the default is."""
    if default.name == "Normal" and name in LOG_ODDS:
        return Prior(name="Normal", values=opinion_logit_normal(opinion))
    if default.name not in {"Beta", "Confusion"}:
        raise ModelError(
            f"{where}: '{opinion}' cannot take the place of {default}, which is no probability",
            code="prior-kind",
        )
    alpha, beta = opinion_beta(opinion)
    if default.name == "Beta":
        return Prior(name="Beta", values=(alpha, beta))
    return Prior(name="Confusion", values=(opinion.mean, alpha + beta))
