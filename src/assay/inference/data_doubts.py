"""Departures from independent errors that the data check finds and the model does not cover. Each
is a warning of the fit and marks every result that it affects.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay._util.errors import Note, Numbers, plain_numbers
from assay.checks.departures.remedies import origin_of
from assay.checks.departures.report import (
    MEANINGS,
    TEAMS,
    TEAMS_MARK,
    needs,
    numbers,
    teams_warning,
    warning,
)
from assay.checks.departures.search import Departure
from assay.checks.items import ALIKE, ALIKE_MARK, alike_warning
from assay.data.ratings import Ratings
from assay.fits.view import Fit
from assay.modelling.spec import Spec, covariate_names

NOT_SOUGHT_MARK = (
    "doubts not checked: an earlier version of assay made this fit and did not check for doubts "
    "(fit the ratings again)"
)


@dataclass(frozen=True, kw_only=True)
class DataDoubt:
    """A reason in the data why results may mislead.

    labels : results that rest on these are affected; all if empty
    teams : systems in different teams have no link, so their differences are affected
    differences_only : whether values of a single system are not affected
    departure : the departure, if it is one
    """

    code: str
    mark: str
    warning: str
    numbers: Numbers
    labels: tuple[str, ...] = ()
    teams: tuple[tuple[str, ...], ...] = ()
    differences_only: bool = False
    departure: Departure | None = None

    def note(self) -> Note:
        """Return the warning as a note of a fit."""
        return Note(self.warning, code=self.code, numbers=self.numbers)


def find_data_doubts(
    spec: Spec,
    ratings: Ratings,
    teams: Sequence[tuple[str, ...]],
    departures: Sequence[Departure],
) -> list[DataDoubt]:
    """Return separate teams, alike clusters, and the departures that a model does not cover."""
    found = [
        DataDoubt(
            code=ALIKE, mark=ALIKE_MARK, warning=f"{alike_warning(ratings, unit)}.",
            numbers={"units": unit.units, "p": unit.p},
        )
        for unit in ratings.accounting.larger_units
        if unit.matters
    ]  # fmt: skip
    if teams:
        found.append(
            DataDoubt(
                code=TEAMS, mark=TEAMS_MARK, warning=teams_warning(teams), teams=tuple(teams),
                numbers={"teams": len(teams)}, differences_only=True,
            )
        )  # fmt: skip
    for one in departures:
        if copied(one, spec):
            continue
        meaning, modelled = MEANINGS[one.code], ""
        if has_part_for(one.code, spec):
            if not needs(one, ratings):
                continue
            modelled = (
                f"The model has the layer {meaning.parts[0]}, so the intervals include this"
                if meaning.parts
                else "The model ignores clusters, so shares of a system include this"
            )
        found.append(
            DataDoubt(
                code=one.code, mark=meaning.mark, warning=warning(one, ratings, modelled),
                labels=one.labels, numbers=plain_numbers(numbers(one)),
                differences_only=bool(modelled), departure=one,
            )
        )  # fmt: skip
    return found


def copied(departure: Departure, spec: Spec) -> bool:
    """Return whether a model lets one of each pair of dependent raters copy the other."""
    pairs = departure.pairs or [departure.who] * (len(departure.who) == 2)
    origin = {name: origin_of(spec.copies, name) for pair in pairs for name in pair}
    return bool(origin) and all(origin[one] == origin[other] for one, other in pairs)


def has_part_for(code: str, spec: Spec) -> bool:
    """Return whether a model covers the departure with this code."""
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


def has_layer_for(code: str, spec: Spec) -> bool:
    """Return whether a layer of the model makes its intervals include the departure."""
    return code in MEANINGS and bool({*MEANINGS[code].parts} & {*spec.rater_parts})


def marks_of_values(fit: Fit, labels: Sequence[str]) -> list[str]:
    """Return the marks of results that rest on some labels."""
    return [
        line["mark"]
        for line in _stored(fit)
        if not _of_differences(line) and (not line["labels"] or {*line["labels"]} & {*labels})
    ]


def marks_of_difference(fit: Fit, labels: Sequence[str], *systems: str) -> list[str]:
    """Return the additional marks of differences between systems."""
    return [
        line["mark"]
        for line in _stored(fit)
        if _of_differences(line)
        and (not line["labels"] or {*line["labels"]} & {*labels})
        and (not line["teams"] or not any({*systems} <= {*team} for team in line["teams"]))
    ]


def departures_of(fit: Fit) -> dict[str, Departure]:
    """Return the departures that a fit warns of, by code."""
    found = {}
    for one in (line["departure"] for line in _stored(fit) if line.get("departure")):
        names = {key: tuple(one[key]) for key in ("labels", "who")}
        pairs = tuple(tuple(pair) for pair in one["pairs"])
        found[one["code"]] = Departure(**one | names | {"pairs": pairs})
    return found


def differences_doubted(fit: Fit) -> bool:
    """Return whether any difference between systems is marked."""
    return any(_of_differences(line) for line in _stored(fit))


def _of_differences(line: dict[str, Any]) -> bool:
    # Fits of earlier versions say it of separate teams alone.
    return bool(line.get("differences_only", line["code"] == TEAMS))


def _stored(fit: Fit) -> list[dict[str, Any]]:
    if "data_doubts" not in fit.attrs:
        return [{"code": "doubts-not-sought", "mark": NOT_SOUGHT_MARK, "labels": [], "teams": []}]
    return list(json.loads(fit.attrs["data_doubts"]))
