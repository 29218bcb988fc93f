"""Findings of a report, and its gaps."""

REPORTS = {
    "approximate-draws": (
        "Leave-one-out needs draws of the posterior, and this fit approximates it. Fit with "
        "`method='nuts'`."
    ),
    "budget-not-asked": (
        "The variance budget was left out of this report. Ask for it with `budget=True`."
    ),
    "budget-untold": (
        "Too few ratings overlap to say what more data would bring. Collect second ratings first."
    ),
    "claim-checked": "The verdict on a claim.",
    "clear-difference": "The clearest difference between systems whose interval excludes 0.",
    "conclusion-on-assumption": (
        "A conclusion changes in a refit with another assumption. Report it with that assumption."
    ),
    "data-worth-most": "Which kind of further data would narrow most intervals.",
    "equal-difficulty": "What the metrics become if all items were equally hard.",
    "features-not-reproduced": (
        "The model does not reproduce some features of the answers. Try another recipe or layer."
    ),
    "few-draws": "There are too few draws for leave-one-out. Take more (`draws=`).",
    "few-known-truth": (
        "The truth of too few items is known for leave-one-out. Give the truth of more items "
        "(`truth=`)."
    ),
    "majority-vote-off": "The majority vote gives a number outside the interval of the model.",
    "mode-alone": (
        "The fit is a mode without uncertainty of the parameters, so that intervals are too "
        "narrow. Use `method='nuts'`."
    ),
    "naive-count-turned": (
        "Counting answers gives another sign of a difference than the model does."
    ),
    "no-claims": "No claim was made. Give one in words (`claims=`).",
    "no-replicates": (
        "No rater rated an item twice, so that self-consistency is not known. Collect second "
        "ratings by the same raters."
    ),
    "no-scores": (
        "There are no scores to draw curves of. Name their column (`score=`, `confidence=`) and "
        "fit with `raters='scored'`."
    ),
    "number-on-assumption": (
        "A number leaves its interval in a refit with another assumption. Report it with that "
        "assumption."
    ),
    "people-not-named": "It is not known which raters are people. Name them with `human=`.",
    "rater-drifted": (
        "The reliability of a rater changed most between the first and the last session."
    ),
    "rater-errs-most": (
        "A rater gives a wrong answer far more often than the others. Talk about such items."
    ),
    "refit-failed": "A refit for stability could not run. Do what its message says.",
    "slight-agreement": (
        "Raters agree hardly more than by chance on a label. Look at its instructions."
    ),
    "spamming-raters": (
        "Some raters mostly answer without regard to the item. The model gives their answers "
        "little weight."
    ),
    "stability-not-asked": "Refits were not asked for. Ask for them with `stability=True`.",
    "truth-not-consensus": (
        "The truth is known or defined by one group, so that a wrong consensus cannot be played "
        "through."
    ),
}
