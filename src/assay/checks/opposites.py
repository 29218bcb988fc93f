"""Raters who agree less than by chance: one of them may have the classes the wrong way round."""

from assay._util.plurals import counted, does, some
from assay.checks.findings import Part, findings_on
from assay.data.overlap import opposite_pairs
from assay.data.ratings import Ratings

_finding = findings_on("raters")


def check_opposites(ratings: Ratings) -> Part:
    """Say which raters agree so seldom that one may have the classes the wrong way round."""
    names, labels = ratings.raters.index, ratings.task.label_names
    pairs = [
        f"{names[pair.one]} and {names[pair.other]} on {labels[pair.label]} (on {pair.same} of "
        f"{pair.items} items, {pair.chance:.0f} by chance)"
        for pair in opposite_pairs(ratings)
    ]
    if not pairs:
        return Part(findings=())
    text = (
        f"{counted(len(pairs), 'pair')} of raters {does(len(pairs), 'agree')} far less often than "
        "answers at random would. One rater of a pair may have the classes the wrong way round; "
        f"a fit may believe the wrong one. Check how they coded their answers: {some(pairs)}"
    )
    return Part(
        findings=(_finding("warning", text, code="opposite-raters", numbers={"pairs": len(pairs)}),)
    )
