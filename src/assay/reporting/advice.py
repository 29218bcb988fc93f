"""Page one beyond the answer: the weakest rater, what is not known, and what to do next."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.text import called, counted, does, lines_of, some
from assay.comparison.claim_tests import about_more
from assay.comparison.contrasts import SIGNS
from assay.comparison.decisions import chance_said, sign
from assay.data.directions import way_to_direct
from assay.data.ratings import Ratings
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import is_consensus
from assay.raters.standing import ALL_LABELS
from assay.reporting.answers import MOST_WORDS, shortest
from assay.reporting.material import Material
from assay.reporting.metrics import COLUMNS
from assay.reporting.page import Finding

GETS = {
    "ratings": "rate each item again",
    "clusters": "rate ten more clusters",
    "raters": "add one more rater",
}
"""Steps that narrow intervals, by what limits them."""
MARGIN = 0.01
"""Share by which more data have to narrow an interval to be mentioned."""


def overall(material: Material) -> pd.DataFrame:
    """Return the standing of each rater over all labels."""
    table = material.standing
    whole = table[table["label"] == ALL_LABELS]
    return whole if len(whole) else table


def weakest_rater(material: Material) -> str:
    """Name the weakest rater, with the probability that this rater is worse than the median."""
    if len(material.ratings.raters) < 2:
        return "There is only one rater."
    if _untold(material):
        return "Unknown: no item has two raters, and no truth is known."
    whole = overall(material)
    told = whole[(whole["doubt"] == "") & whole["mean"].notna()]
    if told["rater"].nunique() < 2:
        reasons = whole["doubt"][whole["doubt"] != ""]
        why = reasons.iloc[0] if len(reasons) else "too few answers"
        return shortest(f"Unknown: {why}.", "Unknown, because the labels are in doubt.")
    line = lines_of(told.loc[[told["mean"].idxmin()]])[0]
    name, right = line["rater"], f"right in {line['mean']:.0%} of cases"
    if not material.n_known and is_consensus(material.reference):
        right += " by the consensus"
    if material.view.attrs["method"] in MODES_ALONE:
        return f"{_first(name)}, {right}; a posterior mode gives no probability of this."
    worse = f"P(worse than the median rater) {chance_said(line['p_worse'])}"
    clear = (1 + material.level) / 2
    if line["p_worse"] <= clear:
        lowest = f"None clearly; the lowest is {name}, {right}, {worse}"
        return shortest(f"{lowest} (clear above {clear:g}).", f"{lowest}.")
    poor = told[(told["p_worse"] > clear) & (told["rater"] != name)].sort_values("mean")
    names, be = some(list(poor["rater"]), 2), does(len(poor), "are")
    others = f"; {names} {be} clearly worse, too" if names else ""
    return f"{_first(name)}, {right}, {worse}{others}."


def _first(name: str) -> str:
    """Write a rater's name at the start of a sentence."""
    return called(name) if name.startswith("rater ") else name


def not_known(material: Material) -> str:
    """State what these ratings cannot tell."""
    undecided, errors = _undecided(material), ""
    if _untold(material):
        errors = "how often each rater errs, since no item has two raters and no truth is known"
    elif not material.n_known:
        shared = is_consensus(material.reference)
        of = "that all raters share" if shared else f"of the {material.reference}"
        errors = f"errors {of}, since no item has a known truth"
    if found := [part for part in (undecided, errors) if part]:
        texts = ["; ".join(found), errors or undecided]
        return shortest(*(f"{text[0].upper()}{text[1:]}." for text in texts))
    return _unsure_labels(material)


def _untold(material: Material) -> bool:
    """Return whether rater errors are not identifiable: one rater an item, and no truth."""
    return not material.n_known and not _has_overlap(material.ratings)


def _has_overlap(ratings: Ratings) -> bool:
    """Return whether two raters answered some item."""
    pairs = np.unique(np.stack([ratings.item, ratings.rater])[:, ratings.answered], axis=1)
    return bool((np.bincount(pairs[0]) > 1).any())


def _undecided(material: Material) -> str:
    """Name the claim, or the metrics, on which the data do not decide; empty if they do."""
    if material.claims:
        left = [one.claim.text for one in material.verdicts if one.verdict == "undecided"]
        return f"whether {some(left, 1)}" if left else ""
    if len(material.ratings.systems) < 2:
        return ""
    many = material.baseline is None and len(material.order) > 2
    table = material.comparison.systems if many else material.comparison.pairs
    usable = table[table["better"].isin(SIGNS) & (table["doubt"] == "")]
    what = "best" if many else "better"
    if usable.empty:
        return f"which system is {what}"
    if many:
        chances = usable.groupby("metric", sort=False)["p_best"].max()
        open_ = list(chances.index[~(chances > (1 + material.level) / 2)])
    else:
        ends = zip(usable["difference_lower"], usable["difference_upper"], strict=True)
        open_ = list(dict.fromkeys(usable["metric"][[not sign(*pair) for pair in ends]]))
    count = usable["metric"].nunique()
    if not open_:
        return ""
    if len(open_) == count:
        return f"which system is {what}"
    on = material.titles[open_[0]] if len(open_) == 1 else f"{len(open_)} of {count} metrics"
    return f"which system is {what} on {on}"


def _unsure_labels(material: Material) -> str:
    """Count the labels that the ratings do not settle."""
    sure = material.labels["probability"] >= material.level
    if sure.all():
        return "Whether other items are like these."
    return (
        f"{counted(int((~sure).sum()), 'label')} of {len(sure)}, whose classes all have a "
        f"probability below {material.level:g}."
    )


def next_step(material: Material, findings: Sequence[Finding]) -> str:
    """State what to do, the most useful first, in as many words as a reader reads."""
    doubted = any(one.section == "convergence" for one in findings)
    steps = ["first do what the box says"] * doubted
    more = _more_data(material)
    talk = [f"discuss the errors of {one.rater}" for one in material.talks[:1]]
    truth = ["find the truth of some items"] * (not material.n_known)
    steps += [_direct(material)] if _lacks_direction(material) else []
    # What makes an answer possible precedes what makes it more precise.
    first = bool(material.claims) or _untold(material)
    steps += [*more, *talk, *truth] if first else [*talk, *truth, *more]
    if not steps:
        return (
            "Nothing: more data of this kind would hardly narrow the intervals."
            if material.budget
            else "More ratings or clusters would narrow the intervals."
        )
    while len(steps) > 1 and len("; ".join(steps).split()) > MOST_WORDS:
        steps.pop()
    text = "; ".join(steps)
    return f"{text[0].upper()}{text[1:]}."


def _lacks_direction(material: Material) -> bool:
    """Return whether systems are compared, and no label says which of its classes are good."""
    if material.claims or len(material.ratings.systems) < 2:
        return False
    told = any(label.better for label in material.ratings.task.labels)
    return not told and not material.comparison.pairs["better"].isin(SIGNS).any()


def _direct(material: Material) -> str:
    """State the step without which no system can be called best."""
    way = way_to_direct(material.ratings.task.labels[0])
    return f"set {way} in the task file (`assay task init` drafts one) and fit again"


def _more_data(material: Material) -> list[str]:
    """State which data would decide the claim, or narrow the intervals most; empty if unknown."""
    decides = next((r.would_decide for r in material.verdicts[:1] if r.would_decide), None)
    deciding = "which would decide the claim if the estimate stays"
    if decides and decides.ratings_per_item:
        more = about_more(decides.ratings_per_item, "rating")
        return [f"collect about {more} of each item, {deciding}"]
    if decides and decides.clusters:
        now = material.ratings.items["cluster"].nunique()
        more = about_more(decides.clusters, "cluster")
        return [f"collect about {more} (now {now:,}), {deciding}"]
    if _untold(material):
        return ["collect second ratings of some items"]
    if not material.budget:
        return []
    widths = material.widths
    bound = widths[widths["binds"].isin(list(COLUMNS)) & (widths["width"] > 0)]
    if bound.empty:
        return []
    most = str(bound["binds"].mode().iloc[0])
    lines = bound[bound["binds"] == most]
    shrink = float((1 - lines[COLUMNS[most]] / lines["width"]).mean())
    narrower = f"{GETS[most]} (metric intervals {shrink:.0%} narrower)"
    return [narrower] if shrink >= MARGIN else []
