"""What the check of the ratings found against a fit, unless the fit has a part for it.

Each departure from raters who err independently is a warning of the fit, and stands beside every
number that it concerns.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import xarray as xr

from assay._util.errors import Note, Numbers, plain_numbers
from assay.checks.departures.report import (
    DIFFERENCES,
    MEANINGS,
    TEAMS,
    TEAMS_MARK,
    numbers,
    teams_warning,
    warning,
)
from assay.checks.departures.search import search
from assay.checks.departures.teams import separate_teams
from assay.data.ratings import Ratings
from assay.modelling.spec import Spec, covariate_names


@dataclass(frozen=True, kw_only=True)
class DataDoubt:
    """Why numbers may mislead, by the data alone.

    Attributes
    ----------
    code : str
    mark : str
        What stands at the numbers.
    warning : str
    numbers : mapping of str to float
    labels : tuple of str
        It concerns numbers that rest on these; all if empty.
    teams : tuple of tuple of str
        Systems that nothing connects: it concerns differences between two of different teams.
    """

    code: str
    mark: str
    warning: str
    numbers: Numbers
    labels: tuple[str, ...] = ()
    teams: tuple[tuple[str, ...], ...] = ()

    def note(self) -> Note:
        """Return the warning, for the notes of a fit."""
        return Note(self.warning, code=self.code, numbers=self.numbers)


def find_data_doubts(ratings: Ratings, spec: Spec, *, quick: bool) -> list[DataDoubt]:
    """Find the departures that the model of a fit has no part for.

    Parameters
    ----------
    ratings : Ratings
    spec : Spec
    quick : bool
        Whether only the design is looked at: the mode alone is a first look, and takes no seconds
        more.
    """
    found = []
    if teams := separate_teams(ratings):
        found.append(
            DataDoubt(
                code=TEAMS, mark=TEAMS_MARK, warning=teams_warning(teams), teams=tuple(teams),
                numbers={"teams": len(teams)},
            )
        )  # fmt: skip
    if quick:
        return found
    return found + [
        DataDoubt(
            code=one.code, mark=MEANINGS[one.code].mark, warning=warning(one), labels=one.labels,
            numbers=plain_numbers(numbers(one)),
        )
        for one in search(ratings).found
        if not has_part_for(one.code, spec)
    ]  # fmt: skip


def has_part_for(code: str, spec: Spec) -> bool:
    """Whether a model has a part for the departure that a code is of."""
    meaning = next((one for one in MEANINGS.values() if one.code == code), None)
    if meaning is None:
        return False
    parts = {*spec.rater_parts, *(["perception"] if spec.reference else [])}
    columns = covariate_names(spec.formula) if spec.formula else []
    return bool(
        parts & set(meaning.parts)
        or spec.prevalence in meaning.prevalences
        or set(columns) & set(meaning.covariates)
    )


def data_doubts_json(doubts: Sequence[DataDoubt]) -> str:
    """Write doubts as the attribute of a fit."""
    return json.dumps([asdict(doubt) for doubt in doubts])


def marks_of_values(fit: xr.DataTree, labels: Sequence[str]) -> list[str]:
    """Return the marks at numbers that rest on some labels."""
    return [
        line["mark"]
        for line in _stored(fit)
        if line["code"] not in DIFFERENCES and (not line["labels"] or {*line["labels"]} & {*labels})
    ]


def marks_of_difference(fit: xr.DataTree, labels: Sequence[str], *systems: str) -> list[str]:
    """Return the further marks at differences between systems, of numbers on some labels."""
    return [
        line["mark"]
        for line in _stored(fit)
        if line["code"] in DIFFERENCES
        and (not line["labels"] or {*line["labels"]} & {*labels})
        and (not line["teams"] or not any({*systems} <= {*team} for team in line["teams"]))
    ]


def differences_doubted(fit: xr.DataTree) -> bool:
    """Whether any difference of systems is marked."""
    return any(line["code"] in DIFFERENCES for line in _stored(fit))


def _stored(fit: xr.DataTree) -> list[dict[str, Any]]:
    return list(json.loads(fit.attrs.get("data_doubts", "[]")))  # older fits have none
