"""The function ``check``: what a fit can and cannot identify from the data."""

from assay._util.text import counted
from assay.checks.answers import check_answers, check_rows
from assay.checks.departures.report import check_departures
from assay.checks.disagreement import check_reversed_classes, check_score_directions
from assay.checks.double_sampling import check_double_sampling
from assay.checks.findings import Check, Part, finding_on, findings_on
from assay.checks.gold import check_audits, check_gold_choice
from assay.checks.gold_errors import check_gold_errors
from assay.checks.identifiability import check_leaning, check_reach
from assay.checks.items import check_clusters, check_items
from assay.checks.raters import (
    check_model_families,
    check_overlap,
    check_raters,
    check_slots,
    check_twins,
)
from assay.checks.scores import check_scores
from assay.checks.sessions import check_replicates, check_sessions, check_times
from assay.checks.truth_raters import check_truth_raters
from assay.data.metric_names import lacking_labels, unknown_metrics
from assay.data.ratings import Ratings, require_ratings

_on_metrics = findings_on("metrics")


def check_metric_names(ratings: Ratings) -> Part:
    """Report metrics of the task that cannot be computed."""
    own = ". To use a metric of your own, register it first: load_metrics(...), or --metric-file"
    said = [text + own for text in unknown_metrics(ratings.task)] + lacking_labels(ratings.task)
    texts = (f"task {ratings.task.name} cannot be reported: {text}" for text in said)
    return Part(
        findings=tuple(_on_metrics("problem", text, code="metric-unavailable") for text in texts)
    )


PARTS = (
    check_rows, check_items, check_overlap, check_raters, check_slots, check_truth_raters,
    check_twins, check_reversed_classes, check_model_families, check_replicates,
    check_answers, check_scores, check_score_directions, check_sessions, check_times,
    check_audits, check_clusters,
    check_gold_choice, check_gold_errors, check_leaning, check_double_sampling,
    check_departures, check_reach, check_metric_names,
)  # fmt: skip


def check(ratings: Ratings) -> Check:
    """Report what the ratings can identify, before any model is fitted.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    Check
        ``print`` it for the report; ``findings`` and ``tables`` hold its contents.

    Raises
    ------
    ModelError
        If ``ratings`` are not Ratings.

    Notes
    -----
    Two raters can be compared only if shared items connect them, directly or through other raters.
    Such sets are the connected components of the graph of raters and items. Near-duplicates are
    pairs of raters that agree on more than 98 % of at least 20 common items. For such a pair, two
    random answers must agree on less than 90 %. Opposite raters agree on less than half of the
    number of items expected by chance, by four standard errors, of at least 20 common items. Scores
    are opposite if their rank correlation is below -0.2, by four standard errors. Language models
    of one family are recognised only by their names. In double sampling [1]_, a group rated all
    items of several systems and others rated a sample; the finding names the model for this design.

    Departures from raters who err independently, and alike in all clusters and systems, are tested
    against replicates of a quickly fitted model [2]_. A test uses at most 6000 answers to a label.
    The model has unequal raters, hard items, and class shares that differ by system, rank and
    cluster. By Holm's rule, about 1 % of data sets without departures have a false alarm, if the
    model holds.

    References
    ----------
    .. [1] Tenenbein, A. (1970). A double sampling scheme for estimating from binomial data with
       misclassifications. Journal of the American Statistical Association 65, 1350-1361.
    .. [2] Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer
       error-rates using the EM algorithm. Applied Statistics 28, 20-28.

    Examples
    --------
    >>> import pandas as pd
    >>> from assay.io import read_ratings
    >>> table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx")})
    >>> report = check(read_ratings(table, task="single"))
    >>> report.tables["ratings_per_item"].to_dict("list")
    {'ratings': [1, 2], 'items': [1, 1]}
    """
    require_ratings("check", ratings)
    empty = bool(ratings.abstained.all())
    parts = [part(ratings) for part in ((check_rows, _no_answers) if empty else PARTS)]
    return Check(
        findings=tuple(f for part in parts for f in part.findings),
        tables={name: table for part in parts for name, table in part.tables.items()},
        summary=_summary(ratings),
    )


def _no_answers(ratings: Ratings) -> Part:
    """Report that no rating has an answer: then nothing else can be checked."""
    text = "no rating has an answer, so a fit has nothing to learn from"
    finding = finding_on("answers", "problem", text, code="no-answer-given")
    return Part(findings=(finding,))


def _summary(ratings: Ratings) -> str:
    """Summarise the ratings in a line."""
    counts = {
        "rating": len(ratings.answers),
        "item": len(ratings.items),
        "rater": len(ratings.raters),
        "cluster": ratings.items["cluster"].nunique(),
        "system": len(ratings.systems),
    }
    if counts["cluster"] == counts["item"]:
        del counts["cluster"]
    told = [counted(count, word) for word, count in counts.items() if count]
    return f"Task {ratings.task.name}: {', '.join(told)}"
