"""Codes of messages: what each kind of message means and what to do.

Every message about data, a fit or an argument has a code, a level and the numbers of its text. A
code has one meaning everywhere.
"""

from dataclasses import dataclass

from assay.codes.data import DATA
from assay.codes.fits import FITS
from assay.codes.format_notes import FORMAT_NOTES
from assay.codes.judges import JUDGES
from assay.codes.notes import NOTES
from assay.codes.reading import READING
from assay.codes.refusals import REFUSALS
from assay.codes.reports import REPORTS


@dataclass(frozen=True, kw_only=True)
class Family:
    """Codes of one place: its title, where a program finds their messages, and meaning by code."""

    title: str
    where: str
    codes: dict[str, str]


FAMILIES = (
    Family(
        title="Reading ratings",
        where="`RatingsError.problems`, one `Problem` for each thing wrong.",
        codes=READING,
    ),
    Family(
        title="Notes on what was read",
        where="`ratings.accounting.notes`, which `assay.check(ratings).findings` repeats.",
        codes=NOTES | FORMAT_NOTES,
    ),
    Family(
        title="Checking ratings",
        where="`assay.check(ratings).findings` and `.to_frame()`; `assay check --json`.",
        codes=DATA,
    ),
    Family(
        title="Fitting",
        where="The attribute `warnings` of a fit as JSON, `FitWarning` and `assay.label_doubts`; "
        "`assay fit --json`.",
        codes=FITS,
    ),
    Family(
        title="Reports",
        where="`findings` and `gaps` of `assay report --json`.",
        codes=REPORTS,
    ),
    Family(
        title="Studies: asking language models, sampling, comparing scores",
        where="The attribute `notes` of what `assay.ask_model` and `assay.compare_scores` return, "
        "and the attribute `code` of `AssayError`.",
        codes=JUDGES,
    ),
    Family(
        title="Refusals",
        where="The attribute `code` of every `AssayError`.",
        codes=REFUSALS,
    ),
)
MEANINGS = {code: text for family in FAMILIES for code, text in family.codes.items()}


def meaning(code: str) -> str:
    """Return what a code means and what to do."""
    return MEANINGS[code]


def messages_page() -> str:
    """Return the Markdown page of the documentation that lists all codes."""
    parts = [INTRODUCTION]
    for family in FAMILIES:
        parts.append(f"## {family.title}\n\n{family.where}\n\n| code | meaning |\n|---|---|")
        lines = (f"| `{code}` | {text} |" for code, text in sorted(family.codes.items()))
        parts[-1] += "".join(f"\n{line}" for line in lines)
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """\
# Messages and their codes

Every finding, gap, warning, problem and refusal has a code, a level, a text, and the numbers that
the text shows, by name. A code keeps its meaning when the wording changes, so programs should test
codes and numbers, not sentences. The level is `ok`, `note`, `warning` or `problem`.

    try:
        assay.compare(fit)
    except assay.AssayError as error:
        print(error.code, error.numbers)

The command line shows the code in brackets at the end of a warning or an error.

This page is made from the code: `python -m assay.codes > docs/messages.md`."""
