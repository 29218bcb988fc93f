"""Items, clusters and panels: the number of their ratings and raters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.sums import Sums
from assay._util.text import counted, does, some
from assay._util.typing import Bools, Ints
from assay.checks.findings import Finding, Level, Part, findings_on
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import NOT_AUDITED, LargerUnit, Ratings

_on_clusters = findings_on("clusters")
_on_systems = findings_on("systems")
_on_truth = findings_on("truth")

_finding = findings_on("items")
FEW_CLUSTERS = 20
ALIKE = "alike-clusters"
ALIKE_MARK = "alike clusters: intervals are about these units, and too narrow for new ones"


def telling_items(ratings: Ratings) -> Bools:
    """Return which items have answers of two raters, or an answer and known truth."""
    raters = ratings.raters_of_items
    return np.asarray((raters >= 2) | (ratings.has_truth & (raters >= 1)))


def settling_items(ratings: Ratings) -> Bools:
    """Return which items have answers of three raters, or an answer and known truth: two leave
    rates and errors unidentified (``tests/exact/test_two_ratings.py``).
    """
    raters = ratings.raters_of_items
    return np.asarray((raters >= 3) | (ratings.has_truth & (raters >= 1)))


def other_witnesses(ratings: Ratings) -> list[str]:
    """Name sources of information about the truth besides answers to the same question.

    Populations with different rates identify two raters' errors if these are equal in both (Hui &
    Walter 1980, Biometrics 36, 167-171).
    """
    found = {
        "items of one cluster": ratings.items["cluster"].nunique() < len(ratings.items),
        "dependent labels": len(ratings.task.labels) > 1,
        "differences between systems": len(ratings.systems) > 1,
        "differences between strata": ratings.items["stratum"].nunique() > 1,
    }
    return [words for words, there in found.items() if there]


def check_items(ratings: Ratings) -> Part:
    """Report how many ratings items have."""
    counts = np.bincount(ratings.item[~ratings.abstained], minlength=len(ratings.items))
    raters = ratings.raters_of_items
    findings = []
    none = int((counts == 0).sum())
    if none:
        text = (
            f"{none} of {len(counts)} items {does(none, 'have')} no rating; the model predicts "
            "their labels"
        )
        findings.append(
            _finding("note", text, code="unrated-items", numbers={"items": none, "of": len(counts)})
        )
    findings.append(_shared(raters, int(telling_items(ratings).sum())))
    again = int((ratings.replicate > 0).sum())
    if again:
        text = f"{counted(again, 'replicate')} (the same rater rated the same item again)"
        findings.append(_finding("note", text, code="replicates", numbers={"replicates": again}))
    return Part(findings=tuple(findings), tables={"ratings_per_item": _histogram(counts)})


def _shared(raters: Ints, telling: int) -> Finding:
    """Report how many items identify errors: those with two raters, or else with known truth."""
    several = int((raters >= 2).sum())
    text = f"{several} of {len(raters)} items were answered by two raters or more"
    numbers = {"items": several, "of": len(raters)}
    if several:
        enough = 2 * several >= int((raters > 0).sum())
        return _finding("ok" if enough else "note", text, code="shared-items", numbers=numbers)
    if telling:
        numbers = {**numbers, "known": telling}
        text = f"{text}; errors are estimated from {telling} items of known truth"
        return _finding("note", text, code="errors-from-known-truth", numbers=numbers)
    text = f"{text}, so the errors of raters cannot be separated from the truth"
    return _finding("problem", text, code="no-shared-items", numbers=numbers)


def _histogram(counts: Ints) -> pd.DataFrame:
    values, items = np.unique(counts, return_counts=True)
    return pd.DataFrame({"ratings": values, "items": items})


def check_clusters(ratings: Ratings) -> Part:
    """Report the numbers of clusters, systems and complete panels, and the known truth."""
    clusters = int(ratings.items["cluster"].nunique())
    few = clusters < FEW_CLUSTERS
    own = clusters == len(ratings.items)
    text = counted(clusters, "cluster") + (" (each item is its own)" if own else "")
    if few:
        text += (
            f"; fewer than {FEW_CLUSTERS}, so population estimates depend partly on the model. "
            f"Resampling clusters needs {FEW_CLUSTERS - clusters} more"
        )
    numbers = {"clusters": clusters}
    found = [
        _on_clusters(
            "warning" if few else "ok",
            text,
            code="few-clusters" if few else "clusters",
            numbers=numbers,
        )
    ]
    found += [describe_larger_unit(ratings, unit) for unit in ratings.accounting.larger_units]
    found += _systems(ratings)
    table = _panels(ratings)
    incomplete = table[table["unrated"] > 0]
    if len(incomplete) and len(table) < len(ratings.panels):
        text = f"{len(incomplete)} of {len(table)} panels hold items without an answer"
        numbers = {"panels": len(incomplete), "of": len(table)}
        found.append(_on_clusters("note", text, code="incomplete-panels", numbers=numbers))
    known = int(ratings.has_truth.sum())
    text = f"the truth of {known} of {len(ratings.items)} items is known, at least in part"
    if known >= LAYER_ITEMS:
        text += ". `reference='gold'` uses these items to estimate how often raters err together"
    elif len(ratings.items) >= LAYER_ITEMS:
        text += (
            f". With {LAYER_ITEMS} such items or more, a fit can estimate how often raters err "
            "together"
        )
    if not known:
        audited = (ratings.audit != NOT_AUDITED).any()
        but = ", apart from audits of single answers" if audited else ""
        text = f"no truth is known{but}, so a fit estimates the consensus of the raters"
    numbers = {"items": known, "of": len(ratings.items)}
    found.append(
        _on_truth("note", text, code="known-truth" if known else "no-known-truth", numbers=numbers)
    )
    return Part(findings=tuple(found), tables={"incomplete_panels": incomplete})


def _systems(ratings: Ratings) -> list[Finding]:
    panels = ratings.panels
    if not ratings.systems:
        return []
    listed = panels[panels["system"] != ""].drop_duplicates(["system", "cluster"])
    per_cluster = listed.groupby("cluster")["system"].nunique()
    paired = int((per_cluster == len(ratings.systems)).sum())
    systems = counted(len(ratings.systems), "system")
    text = f"{systems}; {paired} of {len(per_cluster)} clusters have all of them"
    several = int((per_cluster > 1).sum())
    if not paired and several:
        text += (
            f" and {several} have several. Differences between two systems are paired on shared "
        )
        text += "clusters"
    elif several == paired < len(per_cluster):
        text += f". Differences are {'paired on these clusters only' if paired else 'not paired'}"
        if 2 * paired < len(per_cluster):
            text += ". If the systems had the same queries, name their column with `cluster=`"
    level: Level = "ok" if paired == len(per_cluster) else "warning"
    numbers = {"systems": len(ratings.systems), "paired": paired, "clusters": len(per_cluster)}
    found = [_on_systems(level, text, code="paired-systems", numbers=numbers)]
    known = (ratings.raters_of_items > 0) | ratings.has_truth
    heard = set(panels.loc[known[panels["item"].to_numpy()], "system"])
    if silent := [name for name in ratings.systems if name not in heard]:
        text = f"no item of {some(silent)} was rated; the numbers are predicted from other items"
        found.append(
            _on_systems("warning", text, code="unrated-systems", numbers={"systems": len(silent)})
        )
    without = int((panels["system"] == "").sum())
    if without:
        text = f"{without} of {len(panels)} places in panels have no system"
        numbers = {"places": without, "of": len(panels)}
        found.append(_on_systems("warning", text, code="places-without-system", numbers=numbers))
    return found


def _panels(ratings: Ratings) -> pd.DataFrame:
    """Return the items of each panel and how many of them have no answer."""
    answered = np.bincount(ratings.item[~ratings.abstained], minlength=len(ratings.items))
    panels = ratings.panels.assign(
        unrated=(answered[ratings.panels["item"].to_numpy()] == 0).astype(int)
    )
    return (
        panels.groupby(["panel", "system"], sort=False)
        .agg(items=("item", "size"), unrated=("unrated", "sum"))
        .reset_index()
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage(Sums):
    """Counts that add over parts of the data with the same raters.

    items : of each system alone (system,)
    answered : by each rater group, or rater if there is one group (unit, system)
    """

    items: Ints
    answered: Ints


def coverage(ratings: Ratings, systems: Sequence[str]) -> Coverage:
    """Count the items of each system, and those that each unit answered."""
    place = _own_system(ratings, systems)
    mine, item = _answered(ratings, place)
    answered = np.zeros((len(units(ratings)[1]), len(systems)), np.int64)
    pairs = pd.DataFrame({"unit": mine, "item": item}).drop_duplicates()
    np.add.at(answered, (pairs["unit"], place[pairs["item"]]), 1)
    items = np.bincount(place[place >= 0], minlength=len(systems))
    return Coverage(items=items, answered=answered)


def checked_items(ratings: Ratings, systems: Sequence[str], judge: Bools) -> Ints:
    """Count the items of each system that non-judges answered, or with known truth."""
    place = _own_system(ratings, systems)
    mine, item = _answered(ratings, place)
    known = ratings.has_truth
    known[item[~judge[mine]]] = True
    return np.bincount(place[known & (place >= 0)], minlength=len(systems))


def _answered(ratings: Ratings, place: Ints) -> tuple[Ints, Ints]:
    """Return the unit and the item of each rating with an answer, for items of one system."""
    used = ratings.answered & (place[ratings.item] >= 0)
    return units(ratings)[0][ratings.rater[used]], ratings.item[used]


def _own_system(ratings: Ratings, systems: Sequence[str]) -> Ints:
    """Return the position of the only system of each item; -1 if none or several."""
    places = ratings.panels.loc[ratings.panels["system"] != "", ["system", "item"]]
    places = places.drop_duplicates().drop_duplicates("item", keep=False)
    found = np.full(len(ratings.items), -1, np.int64)
    found[places["item"].to_numpy()] = pd.Index(list(systems)).get_indexer(
        pd.Index(places["system"])
    )
    return found


def units(ratings: Ratings) -> tuple[Ints, NDArray[np.object_], bool]:
    """Return each rater's unit, the units' names, and whether units are groups."""
    groups = ratings.raters["group"]
    if groups.nunique() > 1:
        codes, names = pd.factorize(groups)
        return np.asarray(codes, np.int64), np.asarray(names, object), True
    return np.arange(len(groups)), ratings.raters.index.to_numpy(object), False


def describe_larger_unit(ratings: Ratings, unit: LargerUnit) -> Finding:
    """Describe an unused column that groups the clusters."""
    numbers = {"units": unit.units, "p": unit.p}
    if unit.matters:
        text = alike_warning(ratings, unit)
        return _on_clusters("warning", text, code="alike-clusters", numbers=numbers)
    text = (
        f"column {unit.column} groups the clusters ({unit.units} values). If conclusions are about "
        f"new values of it, read with {as_cluster(ratings, unit)}"
    )
    return _on_clusters("note", text, code="larger-units", numbers=numbers)


def alike_warning(ratings: Ratings, unit: LargerUnit) -> str:
    """Say that clusters of one unit are alike, what it means, and how to read the ratings."""
    stratum = as_stratum(ratings, unit)
    alone = f". If only these {unit.units} count, read with {stratum}" * bool(stratum)
    return (
        f"Clusters with one value of {unit.column} are alike beyond chance ({unit.units} values, "
        f"p = {max(unit.p, 0.001):.3f}). If the conclusion is about new values of {unit.column}, "
        f"not these {unit.units}, population intervals are too narrow. In that case read the "
        f"ratings with {as_cluster(ratings, unit)}, and check again{alone}"
    )


def stratum_arguments(ratings: Ratings, unit: LargerUnit) -> dict[str, str]:
    """Return how to read a column as a fixed set of units; empty if there are strata."""
    return {} if (ratings.items["stratum"] != "").any() else {"stratum": unit.column}


def as_stratum(ratings: Ratings, unit: LargerUnit) -> str:
    """Write the argument with which a column is a fixed set of units; empty if there are strata."""
    return "".join(f"`{k}={v!r}`" for k, v in stratum_arguments(ratings, unit).items())


def as_cluster(ratings: Ratings, unit: LargerUnit) -> str:
    """Write the arguments with which a column becomes the cluster."""
    given = cluster_arguments(ratings, unit)
    return " and ".join(f"`{name}={value!r}`" for name, value in given.items())


def cluster_arguments(ratings: Ratings, unit: LargerUnit) -> dict[str, str | list[str]]:
    """Return the arguments with which a column becomes the cluster."""
    arguments: dict[str, str | list[str]] = {"cluster": unit.column}
    if (ratings.panels.groupby("panel").size() > 1).any():
        roles = ratings.accounting.roles
        arguments["panel"] = [
            column
            for column, role in zip(roles["column"], roles["role"], strict=True)
            if {"cluster", "system"} & set(role.split(", "))
        ]
    return arguments
