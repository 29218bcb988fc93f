"""Page one beyond the answer: what is not known, and what to do next."""

from collections.abc import Sequence

from assay._util.text import counted, lines_of, some
from assay.comparison.claim_tests import Deciding, about_more
from assay.comparison.contrasts import SIGNS
from assay.comparison.decisions import sign
from assay.data.overlap import LAYER_ITEMS
from assay.evaluation.widths import MORE_CLUSTERS
from assay.modelling.spec import is_consensus
from assay.reporting.answers import MOST_WORDS, largest_line, main_line
from assay.reporting.material import Material
from assay.reporting.metrics import COLUMNS
from assay.reporting.next_command import TRUTH_FILE
from assay.reporting.page import Finding
from assay.reporting.remedies import Remedy
from assay.reporting.weak_raters import untold, worst_errors

MARGIN = 0.05
"""Share by which more data have to narrow an interval to be mentioned."""
FEASIBLE = 10
"""Times the data of now: more of them are not advised."""
OUT_OF_REACH = "if the estimate stays as it is, no feasible amount of such data decides"
"""Said where only more would decide, or nothing."""
FEW_PAIRED = 0.5
"""Share of the clusters with all systems below which page one says so."""


def not_known(material: Material, findings: Sequence[Finding] = ()) -> str:
    """State what these ratings cannot tell, and the largest weakness of the data.

    The findings come first that say why a comparison may be wrong.
    """
    errors = ""
    if untold(material):
        errors = "How often each rater errs: no item has two raters, and no truth is known."
    elif not material.n_known:
        shared = is_consensus(material.reference)
        of = "that all raters share" if shared else f"of the {material.reference}"
        errors = f"Errors {of}: no item has a known truth."
    hedges = dict.fromkeys(one.hedge for one in findings if one.hedge)
    open_ = f"Whether the comparison is right: {' and '.join(hedges)}." if hedges else ""
    parts = (open_, _undecided(material), errors, _misfits(findings), _weakness(material))
    return " ".join(filter(None, parts)) or _unsure_labels(material)


def _misfits(findings: Sequence[Finding]) -> str:
    """Name what the model does not reproduce, of what page one rests on."""
    told = next((one.doubted for one in findings if one.doubted), "")
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _weakness(material: Material) -> str:
    """State the first weakness of the data that concerns all labels; empty without one."""
    found = {one.code: dict(one.numbers) for one in material.data_check.at_least("warning")}
    if numbers := found.get("unrated-systems"):
        return f"Labels of {counted(int(numbers['systems']), 'system')} without a rating."
    once = found.get("single-rating-items", {})
    if "telling" in once and not untold(material):
        return (
            f"How often raters err, beyond what {once['telling']:.0f} items tell: "
            f"{once['items']:.0f} of {once['of']:.0f} rated items ({once['share']:.0%}) have one "
            "rating."
        )
    pairs = found.get("paired-systems")
    if pairs and pairs["paired"] < FEW_PAIRED * pairs["clusters"]:
        own = pairs["clusters"] == len(material.ratings.items)
        unit = "items" if own else "clusters (items that belong together)"
        return (
            "Whether systems differ, or their items do: only "
            f"{pairs['paired']:.0f} of {pairs['clusters']:.0f} {unit} have all systems."
        )
    if few := found.get("few-clusters"):
        return (
            f"How far results hold elsewhere: there are only {few['clusters']:.0f} clusters "
            "(items that belong together)."
        )
    return ""


def _undecided(material: Material) -> str:
    """Name the claim, or the metrics, on which the data do not decide; empty if they do."""
    if material.claims:
        left = [one.claim.text for one in material.verdicts if one.verdict == "undecided"]
        return f"Whether {some(left, 1)}." if left else ""
    if len(material.ratings.systems) < 2:
        return ""
    if material.lacks_direction:
        return "Which system is better: no class is named as the good one."
    many = material.baseline is None and len(material.order) > 2
    table = material.comparison.systems if many else material.comparison.pairs
    usable = table[table["better"].isin(SIGNS) & (table["doubt"] == "")]
    what = "best" if many else "better"
    if usable.empty:
        return f"Which system is {what}."
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
        return f"Which system is {what}."
    on = material.titles[open_[0]] if len(open_) == 1 else f"{len(open_)} of {count} metrics"
    return f"Which system is {what} on {on}."


def _unsure_labels(material: Material) -> str:
    """Count the labels that the ratings do not settle."""
    sure = material.labels["probability"] >= material.level
    if sure.all():
        return "Whether other items are like these."
    return (
        f"The class of {int((~sure).sum())} of {counted(len(sure), 'label')}: no class has a "
        f"probability of {material.level:g} or more."
    )


def next_step(material: Material, findings: Sequence[Finding], remedy: Remedy | None = None) -> str:
    """State what to do, the most useful first, in as many words as a reader reads."""
    doubted = any(one.section == "convergence" for one in findings)
    steps = ["settle the warning in the box first"] * doubted
    if remedy:
        several = "s" * (remedy.command.count("assay ") > 1)
        chosen = "choose and run a command" if remedy.is_choice else f"run the command{several}"
        steps = [f"{chosen} in the box"]
    # No amount of such data mends a comparison that may be wrong.
    hedged = any(one.hedge for one in findings)
    more = [] if hedged else _more_data(material)
    worst = [*worst_errors(material), *material.talks]
    # Raters are looked at by a fit that holds.
    talk = [f"look at the errors of {one.rater}" for one in worst[: 0 if material.mark else 1]]
    asked = remedy is not None and TRUTH_FILE in remedy.command
    count = min(LAYER_ITEMS, len(material.ratings.items))
    truth = [f"find the truth of {counted(count, 'item')}"] * (not material.n_known and not asked)
    # What makes an answer possible precedes what makes it more precise.
    first = bool(material.claims) or untold(material) or _needs_clusters(material)
    steps += [*more, *talk, *truth] if first else [*talk, *truth, *more]
    if not steps:
        if hedged:
            return "Look at the data again: more data of this kind would not settle this."
        return (
            "Nothing: more data of this kind would hardly narrow the intervals."
            if material.budget
            else "More ratings or clusters would narrow the intervals."
        )
    while len(steps) > 1 and len("; ".join(steps).split()) > MOST_WORDS:
        steps.pop()
    text = "; ".join(steps)
    return f"{text[0].upper()}{text[1:]}."


def _more_data(material: Material) -> list[str]:
    """State which data would decide the claim, or narrow the intervals most; empty if unknown."""
    decides = next((r.would_decide for r in material.verdicts[:1] if r.would_decide), None)
    if decides:
        aim = "which would decide the claim if the estimate stays"
        told = _deciding(material, decides, aim, f"{OUT_OF_REACH} the claim")
        if not (untold(material) and told.startswith(OUT_OF_REACH)):
            return [told]
    if untold(material):
        return ["collect second ratings of some items"]
    if not material.budget or material.mark:
        return []
    metric, pair, is_open = _main_number(material)
    if is_open and pair:
        first, second = pair
        decides = material.would_decide(metric, first, second)
        if decides:
            aim = f"to tell {first} from {second} if the estimate stays"
            out_of_reach = f"{OUT_OF_REACH} between {first} and {second}"
            return [_deciding(material, decides, aim, out_of_reach)]
    found = material.width_of(metric, pair)
    found = found[found["binds"].isin(list(COLUMNS)) & (found["width"] > 0)]
    if found.empty:
        return []
    line = lines_of(found)[0]
    clusters = is_open and _mostly_clusters(material, metric, pair)
    most = "clusters" if clusters else str(line["binds"])
    gets, shrink = _get(material, most, float(1 - line[COLUMNS[most]] / line["width"]))
    several = material.summaries["population"]["metric"].nunique() > 1
    what = material.titles[metric] if several else "interval"
    return [f"{gets}: {what} {shrink:.0%} narrower)"] if shrink >= MARGIN else []


def _deciding(material: Material, decides: Deciding, aim: str, otherwise: str) -> str:
    """State which data would decide, or that so many are out of reach."""
    ratings = material.ratings
    now = int(ratings.items["cluster"].nunique())
    each = len(ratings.answers) / max(len(ratings.items), 1)
    if decides.ratings_per_item and decides.ratings_per_item <= FEASIBLE * max(each, 1):
        more = about_more(decides.ratings_per_item, "rating")
        return f"collect about {more} of each item, {aim}"
    if decides.clusters and decides.clusters <= FEASIBLE * now:
        return f"collect about {about_more(decides.clusters, 'cluster')} (now {now:,}), {aim}"
    return otherwise


def _main_number(material: Material) -> tuple[str, tuple[str, str] | None, bool]:
    """Return metric and pair of systems that page one is about, and whether data leave it open.

    Of several metrics it is the first that is open; the first if none is.
    """
    if len(material.ratings.systems) < 2:
        return str(main_line(material).get("metric", "")), None, False
    pairs = material.comparison.pairs.dropna(subset=["difference"])
    if pairs.empty:
        return "", None, False
    lines = lines_of(pairs[pairs["better"].isin(SIGNS) & (pairs["doubt"] == "")])
    if material.baseline is None:
        lines = [one for one in lines if [one["a"], one["b"]] == material.order[:2]]
    lines = lines or [largest_line(material, pairs)]
    open_ = [one for one in lines if not sign(one["difference_lower"], one["difference_upper"])]
    line = (open_ or lines)[0]
    return str(line["metric"]), (str(line["a"]), str(line["b"])), bool(open_)


def _needs_clusters(material: Material) -> bool:
    """Return whether the main number is open, and mostly for want of clusters."""
    if not material.budget or material.mark:
        return False
    metric, pair, is_open = _main_number(material)
    return is_open and _mostly_clusters(material, metric, pair)


def _mostly_clusters(material: Material, metric: str, pair: tuple[str, str] | None) -> bool:
    """Return whether the sampling of clusters is most of the variance of a number."""
    return any(
        one["variance"] > 0 and one["clusters"] > 0.5 * one["variance"]
        for one in lines_of(material.variance_of(metric, pair))
    )


def _get(material: Material, binds: str, shrink: float) -> tuple[str, float]:
    """State the step that narrows an interval, its number of ratings, and how far it does so."""
    ratings = material.ratings
    total = len(ratings.answers)
    if binds == "ratings":
        return f"rate each item once more ({len(ratings.items)} ratings", shrink
    if binds == "raters":
        return f"add one more rater (about {round(total / len(ratings.raters))} ratings", shrink
    clusters, more = int(ratings.items["cluster"].nunique()), MORE_CLUSTERS
    if shrink < MARGIN:  # Of many clusters, ten more are too few to be seen.
        more = max(more, clusters // 4)
        share = more * (clusters + MORE_CLUSTERS) / (MORE_CLUSTERS * (clusters + more))
        shrink = 1 - (1 - share * (1 - (1 - shrink) ** 2)) ** 0.5
    return f"rate {more} more clusters (about {round(more * total / clusters)} ratings", shrink
