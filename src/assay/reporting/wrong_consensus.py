"""Section: what the metrics become if the consensus is wrong."""

from assay._util.words import intervals, percent
from assay.display.notes import estimand_words
from assay.modelling.spec import is_consensus
from assay.reporting.material import Material
from assay.reporting.page import Gap, Section, by_metric, prose, table_of

NOT_A_CONSENSUS = Gap(
    what="What the metrics become if the consensus is wrong",
    why="truth here is known, or the consensus of one group",
    enable="a fit without reference=, of items whose truth is not known",
    code="truth-not-consensus",
)


def wrong_section(material: Material) -> Section | Gap:
    """Recompute the metrics as if the consensus were wrong on some share of the items."""
    if not is_consensus(material.reference):
        return NOT_A_CONSENSUS
    table = material.sensitivity
    told = intervals(table)
    named = table.assign(told=told, share=[f"{share:.0%}" for share in table["wrong"]])
    cells = named.pivot_table(
        index=["metric", "system"], columns="share", values="told", aggfunc="first", sort=False
    ).reset_index()
    shares = {share: f"Wrong on {share}" for share in dict.fromkeys(named["share"])}
    shown, under = by_metric(cells, shares)
    return Section(
        key="wrong",
        title="If the consensus is wrong",
        blocks=(
            prose(
                "Ratings cannot tell how often all raters are wrong together. This is what the "
                "metrics become if the truth differs from the consensus on a share of the items."
            ),
            table_of(
                "wrong",
                f"If the consensus is wrong: posterior mean ({percent(material.level)} interval)",
                cells,
                shown,
                under=under,
                note=f"Estimand {estimand_words(table)}. Reference: {material.reference}.",
                export=table,
            ),
        ),
    )
