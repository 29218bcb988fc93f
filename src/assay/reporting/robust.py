"""Section: whether the conclusions survive other assumptions."""

import pandas as pd

from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Gap, Section, prose, table_of
from assay.words import interval

WEIGHT = 55.0
NOT_ASKED = Gap(
    what="Stability: refits without each rater, with other priors, rules and kernels",
    why="it was not asked for; each refit takes as long as a small fit",
    enable="--stability",
)
NO_SYSTEMS = Gap(
    what="Stability",
    why="it is about contrasts of systems, and the ratings name fewer than two",
    enable="a column that names the system (--system)",
)


def stability_section(material: Material) -> Section | Gap:
    """Say which conclusions change under other assumptions."""
    if len(material.ratings.systems) < 2:
        return NO_SYSTEMS
    if not material.stability:
        return NOT_ASKED
    table = material.stable
    changed = table[table["changes"].str.startswith("changes")]
    refits = table.loc[table["kind"] != "none", "variant"].nunique()
    said = [
        f"{line.metric}, {line.a} − {line.b}, {line.variant}: {line.changes}"
        for line in changed.itertuples()
    ]
    blocks: list[Block] = [
        prose(
            f"The model was refitted in {refits} ways, with fewer draws than the fit itself: small "
            "moves are Monte Carlo error."
        ),
        _verdict(said),
        _table(table),
    ]
    gaps = tuple(_gaps(table))
    return Section(
        key="stability",
        title="Stability",
        blocks=tuple(blocks),
        gaps=gaps,
        findings=_findings(said),
    )


def _verdict(said: list[str]) -> Block:
    if not said:
        text = "No conclusion changes under any of them."
        return Callout(word="Stable", text=text, level="good")
    return Callout(word="Not stable", text="; ".join(said) + ".", level="doubt")


def _table(table: pd.DataFrame) -> Block:
    numbers = table[["difference", "difference_lower", "difference_upper"]].to_numpy(float)
    words = table.assign(
        contrast=table["metric"] + ", " + table["a"] + " − " + table["b"],
        told=[interval(*line) for line in numbers],
    ).sort_values("contrast", kind="stable")
    shown = {"variant": "Variant", "told": "Difference", "changes": "What changes"}
    return table_of(
        "stability",
        "Each contrast under other assumptions: posterior mean and interval",
        words,
        shown,
        under="contrast",
        note=f"Estimand {', '.join(e for e in dict.fromkeys(table['estimand']) if e)}.",
        export=table,
    )


def _gaps(table: pd.DataFrame) -> list[Gap]:
    """Name the variants that could not run."""
    failed = table[table["changes"].str.startswith("could not run")].drop_duplicates("variant")
    return [
        Gap(
            what=f"Stability, {line.variant}",
            why=str(line.changes).removeprefix("could not run: "),
            enable="what the message says",
        )
        for line in failed.itertuples()
    ]


def _findings(said: list[str]) -> tuple[Finding, ...]:
    if not said:
        return ()
    more = f" {len(said) - 1} more conclusions change as well." if len(said) > 1 else ""
    text = f"A conclusion hangs on an assumption. {said[0]}.{more}"
    return (Finding(weight=WEIGHT, text=text, section="stability"),)
