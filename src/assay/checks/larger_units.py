"""What is said of unused columns that group the clusters (found by ``assay.io.larger_units``)."""

from assay.checks.findings import Finding, findings_on
from assay.data.ratings import LargerUnit, Ratings

_on_clusters = findings_on("clusters")
ALIKE = "alike-clusters"
ALIKE_MARK = "alike clusters: clusters of one unit are alike but count as independent"


def describe_larger_unit(ratings: Ratings, unit: LargerUnit) -> Finding:
    """Describe an unused column that groups the clusters."""
    numbers = {"units": unit.units, "p": unit.p}
    if unit.matters:
        text = alike_warning(ratings, unit)
        return _on_clusters("warning", text, code="alike-clusters", numbers=numbers)
    text = (
        f"column {unit.column} groups the clusters ({unit.units} values). If conclusions are about "
        f"new values of it, read with {_as_cluster(ratings, unit)}"
    )
    return _on_clusters("note", text, code="larger-units", numbers=numbers)


def alike_warning(ratings: Ratings, unit: LargerUnit) -> str:
    """Say that clusters of one unit are alike, what it means, and how to read the ratings."""
    return (
        f"Clusters with one value of {unit.column} are alike beyond chance ({unit.units} values, "
        f"p = {max(unit.p, 0.001):.3f}). Population intervals count clusters as independent, so "
        f"they are too narrow. Read the ratings with {_as_cluster(ratings, unit)}"
    )


def _as_cluster(ratings: Ratings, unit: LargerUnit) -> str:
    """Write the arguments with which a column becomes the cluster."""
    arguments = f"`cluster={unit.column!r}`"
    if (ratings.panels.groupby("panel").size() > 1).any():
        roles = ratings.accounting.roles
        parts = [
            column
            for column, role in zip(roles["column"], roles["role"], strict=True)
            if {"cluster", "system"} & set(role.split(", "))
        ]
        arguments += f" and `panel={parts!r}`"
    return arguments
