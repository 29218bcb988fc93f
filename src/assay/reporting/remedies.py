"""The next fit: reasons not to rely on this one, and one command with all remedies."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from assay._util.errors import Note
from assay._util.text import some, without_folders
from assay.checks.departures.remedies import apart_by_kind, as_copies, may_copy
from assay.checks.departures.report import MEANINGS, TEAMS
from assay.checks.departures.search import BY_SYSTEM, Departure, search
from assay.checks.double_sampling import (
    DOUBLE,
    PREVALENCE,
    SCORES,
    double_sampling,
    recipe_for,
)
from assay.checks.items import ALIKE, cluster_arguments, stratum_arguments
from assay.data.directions import way_to_direct
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import UNNAMED, LargerUnit, Ratings
from assay.display.notes import doubts
from assay.inference.data_doubts import departures_of, has_layer_for
from assay.inference.label_doubts import CLASS_TRUTH, DRIFT_TRUTH
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import GOLD, Spec, formula_for, recipe_of
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
    DOUBLE: "If the error rate of {judges} differs by system, the difference between systems is "
    "biased, and its sign can turn.{scores}",
    ALIKE: "Clusters{gloss} of one {column} are alike, so intervals are too narrow if new values "
    "of it count.",
    TEAMS: "The systems share no raters, so a difference may come from the raters.",
    "duplicated-items": "Some items may be listed twice, so their answers count twice: see the "
    "table equal_items of `assay check`.",
    "carried-over": f"Raters repeat their answer to one system on another one, {TOO_CERTAIN}.",
    "rater-by-cluster": "Some raters make one error on all items of a cluster{gloss}, "
    f"{TOO_CERTAIN}.",
    "rater-by-system": "Some raters favour a system on the same items, so a difference "
    f"{WHICH_RIGHT}.",
    "all-raters-by-system": "All raters err otherwise on one system than on others, so a "
    "difference is less certain.",
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
    "all-raters-by-system": "all raters err otherwise on one system",
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
OF_DATA = ("drift", "halo")
"""Layers that the data bring into the default."""
PERCEPTION = "perception"
"""The layer that a reference brings."""


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """The commands that hold the remedies, what they are, and notes on the files they name.

    A line that starts with ``#`` says what the command below it assumes: the reader chooses one.
    """

    command: str
    lead: str = ""
    notes: tuple[str, ...] = ()
    is_choice: bool = False


def reasons_of(material: Material) -> dict[str, str]:
    """Return a sentence for each departure that this fit does not cover, by code."""
    found, said = _departures(material), dict[str, str]()
    about = _names_in_reasons(material.ratings, [note.code for note in doubts(material.view)])
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


def _names_in_reasons(ratings: Ratings, codes: Collection[str]) -> dict[str, str]:
    """Name the column whose clusters are alike, and the raters of double sampling."""
    units = _alike_units(ratings)
    design = double_sampling(ratings) if DOUBLE in codes else None
    return {
        "column": some([unit.column for unit in units], 1) if units else "larger unit",
        "judges": some(design.judges) if design else "the raters of all items",
        "scores": f" {SCORES}." if design and design.scores_only else "",
    }


def _involved(one: Departure | None) -> str:
    """Name the raters, or the column, of a departure."""
    if one is None:
        return "Some raters"
    return " and ".join(one.pairs[0] if one.pairs else one.who)


def _departures(material: Material) -> dict[str, Departure]:
    """Return the departures that the tests of the data and of the fit find, by code."""
    found = {one.code: one for one in search(material.ratings).found}
    return departures_of(material.view) | found


def remedy_of(material: Material) -> Remedy | None:
    """Return the command that removes the reasons at once; None if no command removes one."""
    planned = next_fit(material)
    choices = _choices(material, planned)
    asked = any(one.reading or one.fitting for one in choices.values())
    if not asked and not planned.direct:
        return None
    typed = str(material.view.attrs.get("command") or "")
    words = words_of(typed)
    stem = PurePath(material.ratings.accounting.source).name.partition(".")[0]
    lines = list[str]()
    for assumed, one in choices.items():
        lines += [f"# {assumed}:"] * bool(assumed)
        lines.append(typed_again(words, one, stem) if words else called_again(material, one))
    notes, is_choice = list[str](), len(choices) > 1
    if planned.truth:
        notes.append(_truth_said(material, words, planned.truth))
    given, drafts = value_of(words, "--task"), False
    if planned.direct:
        if given.endswith(".toml"):
            notes.append(f"In {without_folders(given)}, set {planned.direct} first.")
        elif words:
            drafts = True
            lines.insert(0, drafting(words))
            when = "In between" if is_choice else "Before the second one"
            notes.append(f"{when}, set {planned.direct} in {TASK_FILE}.")
        else:
            notes.append(f"In {TASK_FILE} (`assay task init` drafts it), set {planned.direct}.")
    lead = "These commands name" if drafts else "This command names"
    lead += " the good class."
    if asked:
        what = "the other remedies" if _without_remedy(material, planned) else "the remedies"
        lead = f"These commands hold {what}." if drafts else f"This command holds {what}."
        if is_choice:
            first = "Run the first command, then choose" if drafts else "Choose"
            lead = f"{first} one of the {'others' if drafts else 'two'}: each holds {what}."
    return Remedy(command="\n".join(lines), lead=lead, notes=tuple(notes), is_choice=is_choice)


def _choices(material: Material, planned: NextFit) -> dict[str, NextFit]:
    """Return the next fits of which a reader chooses one, by what they assume.

    Alike clusters matter for new units alone, so the question decides how to read them.
    """
    ratings, codes = material.ratings, {note.code for note in doubts(material.view)}
    units = _alike_units(ratings) if ALIKE in codes else []
    if not units:
        return {"": planned}
    column, count = units[0].column, units[0].units
    wider, fitting = cluster_arguments(ratings, units[0]), dict(planned.fitting)
    # This prevalence ignores clusters, and raters do not err on clusters of another kind.
    own = material.view.spec.prevalence
    if fitting.get("prevalence", own) == PREVALENCE and DOUBLE not in codes:
        fitting["prevalence"] = Spec().prevalence if own == PREVALENCE else own
        if own == fitting["prevalence"]:
            del fitting["prevalence"]
    fixed = stratum_arguments(ratings, units[0])
    return {
        f"If new values of {column} count": replace(
            planned, reading={**planned.reading, **wider}, fitting=fitting
        ),
        f"If only these {count} values of {column} count": replace(
            planned, reading={**planned.reading, **fixed}
        ),
    }


def _without_remedy(material: Material, planned: NextFit) -> bool:
    """Return whether a reason in the box has no remedy among the arguments of the next fit."""
    given = {**planned.reading, **planned.fitting}
    parts = {*Spec(raters=given["raters"]).rater_parts} if "raters" in given else set()
    parts |= {PERCEPTION} if "reference" in given else set()
    for note in doubts(material.view):
        meaning = next((one for one in MEANINGS.values() if one.code == note.code), None)
        if note.code == "duplicated-items" or (note.code == DOUBLE and "raters" not in given):
            return True
        # Other doubts name the arguments that settle them.
        named = {*re.findall(r"`(\w+)=", note), *(["method"] * note.code.startswith("laplace-"))}
        if meaning is None and note.code not in REASONS and not named & {*given}:
            return True
        if meaning and not (
            planned.truth
            or {*meaning.parts} & parts
            or given.get("prevalence") in meaning.prevalences
            or (meaning.covariates and "formula" in given)
            or (note.code == "dependent-raters" and "copies" in given)
            or (note.code == "rater-by-kind" and {"session", "rater"} & {*given})
        ):
            return True
    return False


def _truth_said(material: Material, words: Sequence[str], items: str) -> str:
    """Say what the file of known truth holds, and where the names of its items stand."""
    labels = material.ratings.task.label_names
    columns = f"and {labels[0]}" if len(labels) == 1 else "and one for each label"
    listed = "labels.csv" if words[1:2] == ["run"] else "`assay labels`"
    drawn = f", named as in {listed}"
    if not items.startswith("all "):
        drawn = f", drawn at random from {listed}"
    return f"{TRUTH_FILE} has the columns item {columns}: the truth of {items}{drawn}."


def next_fit(material: Material) -> NextFit:
    """Return the arguments that remove the reasons, without those that this fit has already."""
    codes = [note.code for note in doubts(material.view)]
    reading, fitting, layers = dict[str, Any](), dict[str, Any](), list[str]()
    found, ratings, spec = _departures(material), material.ratings, material.view.spec
    items = max((_known_needed(note) for note in doubts(material.view)), default=0)
    by_system = TEAMS in codes or (not BY_SYSTEM.isdisjoint(codes) and not material.n_known)
    # Alike clusters have no remedy here: what to do depends on the question.
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
    base = _for_double_sampling(ratings) if DOUBLE in codes else ""
    if base:
        fitting.pop("formula", None)
        if spec.formula == formula_for(ratings.items, None, spec.prevalence):
            fitting["prevalence"] = PREVALENCE
    fitting = _raters(material, layers, base, asked="reference" in fitting) | fitting
    fitting |= _sampling(material)
    way = way_to_direct(ratings.task.labels[0]) if material.lacks_direction else ""
    if way and len(ratings.task.labels) > 1:
        way += f" below label {ratings.task.labels[0].name}, or so for another label"
    return NextFit(reading=reading, fitting=fitting, truth=truth, direct=way)


def _for_double_sampling(ratings: Ratings) -> str | dict[str, str]:
    """Return the raters that let errors of the judges differ by system; empty if none can."""
    design = double_sampling(ratings)
    return "" if design is None or design.scores_only else recipe_for(design)


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
    there = len(material.ratings.items)
    if by_system:
        of_each = material.ratings.panels.groupby("system")["item"].nunique()
        if (of_each <= LAYER_ITEMS).all():
            return f"all {there} items"
        fewer = " (all of a system with fewer)" * bool((of_each < LAYER_ITEMS).any())
        return f"{LAYER_ITEMS} items of each system{fewer}"
    if min(items, there) <= material.n_known:
        return ""
    return f"{items} items" if items < there else f"all {there} items"


def _raters(
    material: Material, layers: Sequence[str], base: str | dict[str, str], *, asked: bool
) -> dict[str, Any]:
    """Return the recipe with more layers, and the copies, where the next fit has no default: a
    reference or recipe is asked for. ``base`` replaces this fit's recipe; data's layers stay.
    """
    ratings, spec = material.ratings, material.view.spec
    kept = [name for name in OF_DATA if name in spec.rater_parts] if base else []
    own_parts = Spec(raters=base).rater_parts if base else spec.rater_parts
    new = list(dict.fromkeys(name for name in [*kept, *layers] if name not in own_parts))
    given: dict[str, Any] = {}
    plain, start = recipe_of(ratings, None), base or spec.raters
    if isinstance(start, str):
        recipe: str | dict[str, str] = " + ".join([start, *new])
    else:
        recipe = {
            group: own if group == UNNAMED else " + ".join([own, *new])
            for group, own in start.items()
        }
    known_to_default = set(new) == {"drift"} and not asked and not base
    if (asked or new or base) and recipe != plain and not known_to_default:
        given["raters"] = recipe
    if (asked or given) and spec.copies:
        given["copies"] = _by_own_name(spec.copies, material)
    return given


def _by_own_name(copies: Mapping[str, str], material: Material) -> dict[str, str]:
    """Return copies by the raters' names in the source, whatever displays call them."""
    own = {shown: name for name, shown in material.rater_names.items()}
    return {own.get(copier, copier): own.get(source, source) for copier, source in copies.items()}
