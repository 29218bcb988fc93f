"""Claims on the command line: input, table and exit status."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.shell import NOT_SUPPORTED, end_with

if TYPE_CHECKING:
    import pandas as pd

    from assay.comparison import ClaimResult
    from assay.fits.view import Fit

COLUMNS = (
    "metric", "estimand", "reference", "probability", "verdict", "level", "doubt", "sentence",
)  # fmt: skip
Claims = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLAIM", help="'B > A by 0.03 on METRIC', 'METRIC of B < 0.1', ...; repeat."
    ),
]


def read_claims(texts: Sequence[str] | None) -> tuple[str, ...]:
    """Return the claims; refuse unreadable ones before anything is loaded or fitted."""
    from assay.comparison import parse_claim

    for text in texts or ():
        parse_claim(text)
    return tuple(texts or ())


def claims_frame(results: "Sequence[ClaimResult]") -> "pd.DataFrame":
    """Return a row for each claim."""
    import pandas as pd

    lines = [[r.claim.text, *(getattr(r, name) for name in COLUMNS)] for r in results]
    return pd.DataFrame(lines, columns=["claim", *COLUMNS])


def end_with_claims(fit: "Fit", results: "Sequence[ClaimResult]", *, strict: bool) -> None:
    """Exit with status 3 if a claim is contradicted or undecided, else as `end_with`."""
    if any(result.verdict != "supported" for result in results):
        raise typer.Exit(NOT_SUPPORTED)
    end_with(fit, strict=strict)
