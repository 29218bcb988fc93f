"""The next fit: reasons not to rely on this one, and one command with all remedies."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from assay._util.errors import Note
from assay._util.text import some, without_folders
from assay.checks.departures.remedies import apart_by_kind, as_copies, may_copy
from assay.checks.departures.report import MEANINGS, TEAMS
from assay.checks.departures.search import Departure, search
from assay.checks.items import ALIKE, as_cluster, as_stratum
from assay.data.directions import way_to_direct
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import UNNAMED, LargerUnit, Ratings
from assay.display.notes import doubts
from assay.inference.data_doubts import has_layer_for
from assay.inference.label_doubts import CLASS_TRUTH, DRIFT_TRUTH
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import GOLD, formula_for, recipe_of
from assay.reporting.material import Material
from assay.reporting.next_command import (
    TASK_FILE,
    TRUTH_FILE,
    NextFit,
    called_again,
    drafting,
    typed_again,
    value_of,
    words_of,
)

TOO_CERTAIN = "so the labels are too certain"
GLOSS = " (items that belong together)"
"""What a cluster is, where it is named first."""
SAMPLING = ("draws", "tune", "target_accept")
"""Arguments of the sampler that doubts about its draws name, each with a value or without."""
SHOWN = "rater "
"""Start of a shown name that is no name of the source."""
WHICH_RIGHT = "depends on which raters are right"
REASONS = {
    ALIKE: "Clusters{gloss} of one {column} are alike: use {cluster} if new values count{alone}.",
    TEAMS: "The systems share no raters, so a difference may come from the raters.",
    "duplicated-items": "Some items may be listed twice, so their answers count twice: see the "
    "table equal_items of `assay check`.",
    "carried-over": f"Raters repeat their answer to one system on another one, {TOO_CERTAIN}.",
    "rater-by-cluster": "Some raters make one error on all items of a cluster{gloss}, "
    f"{TOO_CERTAIN}.",
    "rater-by-system": "Some raters favour a system on the same items, so a difference "
    f"{WHICH_RIGHT}.",
    "rater-by-rank": f"Some raters follow the rank of an item, so a metric of ranks {WHICH_RIGHT}.",
    "rater-by-kind": "Some raters err more on one kind of item ({who}) but count as equally "
    "reliable on all.",
    "dependent-raters": f"{{who}} err together but count as independent, {TOO_CERTAIN}.",
    "graded-items": "Some items are neither a clear yes nor a clear no, so their class depends on "
    "the raters who took part.",
    "skipping-by-answer": "Raters skip items depending on the truth, so shares of all items are "
    "biased.",
    "halo": f"One impression of an item counts as several independent answers, {TOO_CERTAIN}.",
}
"""What departs from the assumptions of a fit, and what that means, by code."""
BRIEFLY = {
    "rater-by-system": "some raters favour a system",
    "carried-over": "raters repeat their answers to another system",
    "duplicated-items": "some items may be listed twice",
    "rater-by-rank": "some raters follow the rank of an item",
    "rater-by-kind": "some raters err more on one kind of item",
    "dependent-raters": "some raters err together",
    "graded-items": "some items are neither a clear yes nor a clear no",
    "skipping-by-answer": "raters skip items depending on the truth",
    "halo": "answers of one rating depend on each other",
    "rater-by-cluster": "some raters make one error on all items of a cluster",
    ALIKE: "clusters of new units may differ",
}
"""The same in a clause, for a difference of two systems: the most relevant first."""
INCLUDED = " The intervals include this."
FOLLOWS = f"{{who}} follows the other raters but counts as independent, {TOO_CERTAIN}."
"""The reason where one rater depends on all others."""
CLASS_ITEMS = {"class-drift": DRIFT_TRUTH, "empty-class": CLASS_TRUTH, "scores-alone": CLASS_TRUTH}
"""Items whose truth says what a class means, by the code of the doubt."""
PERCEPTION = "perception"
"""The layer that a reference brings."""


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """The commands that hold all remedies, what they are, and notes on the files they name."""

    command: str
    lead: str = "This command holds the remedies."
    notes: tuple[str, ...] = ()


def reasons_of(material: Material) -> dict[str, str]:
    """Return a sentence for each departure that this fit does not cover, by code."""
    found, said = _departures(material), dict[str, str]()
    about = _unit_words(material.ratings)
    for note in doubts(material.view):
        if note.code in REASONS:
            one = found.get(note.code)
            text = REASONS[note.code]
            if note.code == "dependent-raters" and one and len(one.who) == 1 and not one.pairs:
                text = FOLLOWS
            if has_layer_for(note.code, material.view.spec):
                text += INCLUDED
            first = not any(GLOSS in other for other in said.values())
            text = text.format(who=_involved(one), gloss=GLOSS * first, **about)
            said[note.code] = f"{text[0].upper()}{text[1:]}" if text.startswith(SHOWN) else text
    return said


def _alike_units(ratings: Ratings) -> list[LargerUnit]:
    return [unit for unit in ratings.accounting.larger_units if unit.matters]


def _unit_words(ratings: Ratings) -> dict[str, str]:
    """Name the column whose clusters are alike, and how to read it."""
    units = _alike_units(ratings)
    if not units:
        return {"column": "larger unit", "cluster": "it as the cluster", "alone": ""}
    first = units[0]
    stratum = as_stratum(ratings, first)
    return {
        "column": some([unit.column for unit in units], 1),
        "cluster": as_cluster(ratings, first),
        "alone": f", or {stratum} if only these {first.units} do" * bool(stratum),
    }


def _involved(one: Departure | None) -> str:
    """Name the raters, or the column, of a departure."""
    if one is None:
        return "Some raters"
    return " and ".join(one.pairs[0] if one.pairs else one.who)


def _departures(material: Material) -> dict[str, Departure]:
    """Return the departures that the tests find, by code."""
    return {one.code: one for one in search(material.ratings).found}


def remedy_of(material: Material) -> Remedy | None:
    """Return the command that removes all reasons at once; None if no command removes one."""
    planned = next_fit(material)
    asked = bool(planned.reading or planned.fitting)
    if not asked and not planned.direct:
        return None
    typed = str(material.view.attrs.get("command") or "")
    words = words_of(typed)
    stem = PurePath(material.ratings.accounting.source).name.partition(".")[0]
    command = typed_again(words, planned, stem) if words else called_again(material, planned)
    notes, lead = list[str](), Remedy.lead
    if planned.truth:
        notes.append(_truth_said(material, words, planned.truth))
    units = _alike_units(material.ratings)
    if units and planned.fitting.get("prevalence") == "dirichlet":
        other = as_cluster(material.ratings, units[0])
        notes.append(f"`prevalence='dirichlet'` ignores clusters: leave it out with {other}.")
    if planned.direct:
        given = value_of(words, "--task")
        if given.endswith(".toml"):
            notes.append(f"In {without_folders(given)}, set {planned.direct} first.")
        elif words:
            command = f"{drafting(words)}\n{command}"
            lead = f"These commands {'hold the remedies' if asked else 'name the good class'}."
            notes.append(f"Before the second one, set {planned.direct} in {TASK_FILE}.")
        else:
            notes.append(f"In {TASK_FILE} (`assay task init` drafts it), set {planned.direct}.")
    return Remedy(command=command, lead=lead, notes=tuple(notes))


def _truth_said(material: Material, words: Sequence[str], items: str) -> str:
    """Say what the file of known truth holds, and where the names of its items stand."""
    labels = material.ratings.task.label_names
    columns = f"and {labels[0]}" if len(labels) == 1 else "and one for each label"
    listed = "labels.csv" if words[1:2] == ["run"] else "`assay labels`"
    return (
        f"{TRUTH_FILE} has the columns item {columns}: the truth of {items}, drawn at random from "
        f"{listed}."
    )


def next_fit(material: Material) -> NextFit:
    """Return the arguments that remove the reasons, without those that this fit has already."""
    codes = [note.code for note in doubts(material.view)]
    reading, fitting, layers = dict[str, Any](), dict[str, Any](), list[str]()
    found, ratings, spec = _departures(material), material.ratings, material.view.spec
    items = max((_known_needed(note) for note in doubts(material.view)), default=0)
    by_system = TEAMS in codes or ("rater-by-system" in codes and not material.n_known)
    # Alike clusters have no remedy here: another cluster would change the question.
    for code in (code for code in codes if code in found):
        one, meaning = found[code], MEANINGS[found[code].code]
        kinds = apart_by_kind(one.who[0], ratings) if code == "rater-by-kind" else {}
        reading |= {key: value for key, value in kinds.items() if value not in reading.values()}
        layers += ["drift"] * ("session" in kinds)
        if code in ("rater-by-kind", "rater-by-rank") and not kinds:
            items = max(items, 2 * LAYER_ITEMS)
        pairs = one.pairs or ([one.who] if len(one.who) == 2 else [])
        if code == "dependent-raters" and pairs and may_copy(ratings):
            fitting["copies"] = _by_own_name({**spec.copies, **as_copies(pairs)}, material)
        elif PERCEPTION in meaning.parts and not spec.reference:
            items = max(items, LAYER_ITEMS)
            fitting["reference"] = GOLD
        elif not {*meaning.parts} & {PERCEPTION, *spec.rater_parts}:
            layers += meaning.parts[:1]
        if meaning.covariates:
            fitting["formula"] = _with_covariates(spec.formula, meaning.covariates)
        if meaning.prevalences and spec.prevalence not in meaning.prevalences:
            fitting["prevalence"] = meaning.prevalences[0]
    # The other prevalences have no covariates.
    if "formula" in fitting or spec.formula != formula_for(ratings.items, None, spec.prevalence):
        fitting.pop("prevalence", None)
    gold = any("`reference='gold'`" in n for n in doubts(material.view) if n.code not in MEANINGS)
    if gold and not spec.reference:
        items, fitting["reference"] = max(items, LAYER_ITEMS), GOLD
    truth = _truth_of(material, items, by_system=by_system)
    if truth:
        reading["truth"] = TRUTH_FILE
    fitting = _raters(material, layers, asked="reference" in fitting) | fitting
    fitting |= _sampling(material)
    way = way_to_direct(ratings.task.labels[0]) if material.lacks_direction else ""
    return NextFit(reading=reading, fitting=fitting, truth=truth, direct=way)


def _known_needed(doubt: Note) -> int:
    """Return the number of items whose truth a doubt that is no departure calls for."""
    if doubt.code in MEANINGS:
        return 0
    return CLASS_ITEMS.get(doubt.code, LAYER_ITEMS if "`truth=`" in doubt else 0)


def _sampling(material: Material) -> dict[str, Any]:
    """Return method, draws and steps that doubts about the draws call for.

    An argument that a doubt names without a value is twice that of this fit.
    """
    view, found = material.view, dict[str, Any]()
    if view.attrs["method"] in MODES_ALONE or any(
        note.code.startswith("laplace-") for note in doubts(view)
    ):
        return {"method": "nuts"}
    now = json.loads(view.attrs.get("effort", "{}")) | {"draws": view["posterior"].sizes["draw"]}
    for note in doubts(view):
        for name, text in re.findall(rf"`({'|'.join(SAMPLING)})=([\d.]*)`", note):
            own = now.get(name, 0)
            kind = float if name == "target_accept" else int
            value = kind(text) if text else 2 * own
            if value > max(own, found.get(name, 0)):
                found[name] = value
    return {name: found[name] for name in SAMPLING if name in found}


def _with_covariates(formula: str | None, names: Sequence[str]) -> str:
    """Add covariates to a formula."""
    return " + ".join([formula or f"~ {names[0]}", *(names if formula else names[1:])])


def _truth_of(material: Material, items: int, *, by_system: bool) -> str:
    """Name the items whose truth is needed; empty if enough are known."""
    if by_system:
        return f"{LAYER_ITEMS} items of each system"
    return f"{items} items" if items > material.n_known else ""


def _raters(material: Material, layers: Sequence[str], *, asked: bool) -> dict[str, Any]:
    """Return the recipe with more layers, and the copies, where the next fit has no default.

    A reference or a recipe that is asked for takes the place of what the data tell the default.
    """
    ratings, spec = material.ratings, material.view.spec
    new = list(dict.fromkeys(name for name in layers if name not in spec.rater_parts))
    given: dict[str, Any] = {}
    plain = recipe_of(ratings, None)
    if isinstance(spec.raters, str):
        recipe: str | dict[str, str] = " + ".join([spec.raters, *new])
    else:
        recipe = {
            group: own if group == UNNAMED else " + ".join([own, *new])
            for group, own in spec.raters.items()
        }
    if (asked or new) and recipe != plain and not (set(new) == {"drift"} and not asked):
        given["raters"] = recipe
    if (asked or given) and spec.copies:
        given["copies"] = _by_own_name(spec.copies, material)
    return given


def _by_own_name(copies: Mapping[str, str], material: Material) -> dict[str, str]:
    """Return copies by the raters' names in the source, whatever displays call them."""
    own = {shown: name for name, shown in material.rater_names.items()}
    return {own.get(copier, copier): own.get(source, source) for copier, source in copies.items()}
