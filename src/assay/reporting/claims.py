"""Section: claims, checked."""

from assay.comparison import ClaimResult
from assay.reporting.material import Material
from assay.reporting.page import Callout, Finding, Gap, Section

LEVELS = {"supported": "good", "undecided": "doubt", "contradicted": "bad"}
WEIGHTS = {"supported": 15.0, "undecided": 60.0, "contradicted": 70.0}
NO_CLAIMS = Gap(
    what="Check of claims",
    why="no claim was made",
    enable="a claim in words: claims=['B > A by 0.03 on METRIC']",
    code="no-claims",
)


def claims_section(material: Material) -> Section | Gap:
    """Give the verdict on each claim."""
    if not material.claims:
        return NO_CLAIMS
    results = material.verdicts
    return Section(
        key="claims",
        title="Claims",
        blocks=tuple(_callout(result) for result in results),
        findings=tuple(
            Finding(
                weight=WEIGHTS[r.verdict], text=r.sentence, section="claims", code="claim-checked"
            )
            for r in results
        ),
    )


def _callout(result: ClaimResult) -> Callout:
    text = result.sentence.removeprefix(f"{result.verdict.capitalize()}: ")
    return Callout(word=result.verdict, text=text, level=LEVELS[result.verdict])
