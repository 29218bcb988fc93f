"""Findings of a report, and its gaps."""

REPORTS = {
    "approximate-draws": (
        "Leave-one-out needs draws of the posterior, but this fit approximates it. Fit with "
        "`method='nuts'`."
    ),
    "budget-not-asked": (
        "The report leaves out the variance budget unless you request it with `budget=True`."
    ),
    "budget-untold": (
        "Too few items have second ratings to predict the gain from more data. Collect second "
        "ratings first."
    ),
    "claim-checked": "Verdict on a claim.",
    "clear-difference": "The clearest difference between systems whose interval excludes 0.",
    "conclusion-on-assumption": (
        "A refit with another assumption changes a conclusion. Report the conclusion with its "
        "assumption."
    ),
    "data-worth-most": "The kind of further data that would narrow most intervals.",
    "equal-difficulty": "Values of the metrics if all items were equally hard.",
    "features-not-reproduced": (
        "The model does not reproduce some features of the answers. Try another recipe or layer."
    ),
    "few-draws": "There are too few draws for leave-one-out. Take more draws (`draws=`).",
    "few-known-truth": (
        "Too few items have known truth for leave-one-out. Give the truth of more items (`truth=`)."
    ),
    "majority-vote-off": (
        "The estimate of the majority vote lies outside the interval of the model."
    ),
    "mode-alone": (
        "The fit is a posterior mode without uncertainty of the parameters, so intervals are too "
        "narrow. Use `method='nuts'`."
    ),
    "naive-count-turned": (
        "A difference has one sign in the counts of answers and the opposite sign in the model."
    ),
    "no-claims": "The report checks no claim. Give one as text (`claims=`).",
    "no-replicates": (
        "No rater rated an item twice, so self-consistency cannot be estimated. Collect second "
        "ratings by the same raters."
    ),
    "no-scores": (
        "The ratings have no scores, so there are no curves. Name their column (`score=`, "
        "`confidence=`) and fit with `raters='scored'`."
    ),
    "number-on-assumption": (
        "A refit with another assumption moves a number out of its interval. Report the number "
        "with its assumption."
    ),
    "people-not-named": "The ratings do not say which raters are people. Name them with `human=`.",
    "rater-drifted": (
        "The rater whose reliability changed most between the first and the last session."
    ),
    "rater-errs-most": (
        "A rater gives a wrong answer far more often than the other raters. Look at such items, "
        "and discuss them if the rater is a person."
    ),
    "refit-failed": "A refit for stability failed. Follow its message.",
    "slight-agreement": (
        "Raters agree hardly more often than by chance on a label. Check its instructions."
    ),
    "spamming-raters": (
        "Some raters mostly answer without regard to the item. Their answers have little weight in "
        "the model."
    ),
    "stability-not-asked": (
        "The report leaves out refits unless you request them with `stability=True`."
    ),
    "truth-not-consensus": (
        "The truth is known, or is defined as the consensus of one group. Therefore the report "
        "does not explore a wrong consensus."
    ),
}
