"""What the data can answer, what they cannot, and what would unlock it."""

from assay.checking.items import (
    other_witnesses,
    raters_of_items,
    settling_items,
    telling_items,
)
from assay.checking.result import Finding, Part, findings_on
from assay.plurals import some
from assay.ratings import Ratings
from assay.witnesses import (
    ENOUGH,
    WITNESSES,
    groups_of_items,
    groups_tell,
    rated_twice_and_by_others,
)

_finding = findings_on("what can be answered")

RANKED_METRICS = frozenset({
    "topical_precision_at_k", "sufficiency_hit_at_k", "sufficiency_rate_at_k",
    "misleading_context_rate_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k",
})  # fmt: skip
WANTED = 100
"""Items that tell of errors, from which on they tell more than the prior does: a number and not a
share, since a reliability of 0.9 is known to within 0.03 (an SD) from 100 ratings, of few or many.
"""


def check_reach(ratings: Ratings) -> Part:
    """Say which questions the data can answer."""
    found = [_comparison(ratings), *_lists(ratings), *_reliability(ratings), *_groups(ratings)]
    return Part(findings=tuple(found))


def _comparison(ratings: Ratings) -> Finding:
    count = len(ratings.systems)
    if count > 1:
        return _finding("ok", f"{count} systems can be compared: {', '.join(ratings.systems[:8])}")
    if count == 1:
        return _finding("note", "one system: nothing to compare it with")
    return _finding(
        "note",
        "no column names a system: no comparison of systems; unlock it with system= or panels=",
    )


def _lists(ratings: Ratings) -> list[Finding]:
    if not RANKED_METRICS & set(ratings.task.metrics):
        return []
    roles = set(", ".join(ratings.accounting.roles["role"]).split(", "))
    lonely = ratings.panels["panel"].nunique() == len(ratings.panels)
    if lonely:
        text = (
            "every item is a list of its own: metrics at K, MRR and NDCG need ranked lists; "
            "unlock them with cluster= or panel=, and rank="
        )
        return [_finding("warning", text)]
    if ratings.accounting.rows_read and "rank" not in roles and len(roles) > 1:
        text = (
            "no column gives the rank: MRR and NDCG rest on the order of the file; "
            "unlock them with rank="
        )
        return [_finding("warning", text)]
    return [
        _finding("ok", "items stand in ranked lists: metrics at K, MRR and NDCG can be computed")
    ]


def _reliability(ratings: Ratings) -> list[Finding]:
    several = int((raters_of_items(ratings) >= 2).sum())
    telling, size = int(telling_items(ratings).sum()), len(ratings.items)
    wanted = min(WANTED, size)
    known = telling - several
    if telling >= wanted:
        where = " and ".join(["items they share"] * (several > 0) + ["known truth"] * (known > 0))
        if not settling_items(ratings).any() and not other_witnesses(ratings):
            return [
                _finding("note", "how often raters agree can be learned, which way they err not")
            ]
        return [_finding("ok", f"the raters' reliability can be learned from {where}")]
    more = f", and the truth of {known} others is known" if known else ""
    text = (
        f"{several} of {size} items have two raters or more{more}: reliabilities will lean on the "
        f"prior; second ratings, or the truth, of {wanted - telling} more items would change that"
    )
    return [_finding("warning", text, leans=True)]


def _groups(ratings: Ratings) -> list[Finding]:
    """Say whether it can be asked if a group errs together, and of whose consensus."""
    names = list(dict.fromkeys(map(str, ratings.raters["group"])))
    if len(names) < 2:
        text = (
            "all raters are one group: whether a group (e.g. models) errs together cannot be "
            "asked; unlock it with group="
        )
        return [_finding("note", text)]
    told = {name: int(rated_twice_and_by_others(ratings, name).sum()) for name in names}
    able = [f"reference={name!r} ({n} items)" for name, n in told.items() if n >= ENOUGH]
    text = (
        "whether a group errs together can be asked where the consensus of another, with two "
        f"ratings an item, counts as the truth: {some(able)}"
    )
    if not able:
        text = (
            "whether a group errs together can hardly be asked: no group has two ratings each on "
            f"{ENOUGH} items that others rated too"
        )
    found = [_finding("note", text)]
    if groups_tell(ratings):
        seen = int((groups_of_items(ratings) >= WITNESSES).sum())
        text = (
            f"{seen} items were rated by {WITNESSES} groups or more: without a reference all "
            "raters count as independent witnesses, and intervals miss the truth if those of a "
            "group err together; reference='groups' learns how often from what the groups agree "
            "on, and costs little if they do not"
        )
        found.append(_finding("warning", text, proposes="reference"))
    return found
