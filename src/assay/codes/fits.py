"""Notes that a fit carries, and doubts about its labels."""

FITS = {
    "chains-disagree": (
        "Chains of the sampler do not agree (R-hat), so that the posterior was not found. Take "
        "more draws."
    ),
    "checkpoint-damaged": "A stored chain cannot be read. It is run again.",
    "checkpoint-not-written": (
        "A finished chain could not be stored. The draws themselves are unharmed."
    ),
    "class-drift": (
        "A class seems to mean something else than its name. Give the truth of some of its items "
        "(`truth=`)."
    ),
    "class-name-doubt": (
        "Items of a class mostly get the answer of another class. Look at its most certain items,"
        " or give their truth."
    ),
    "divergences": (
        "The sampler diverged in some transitions, so that it may have missed a part of the "
        "posterior. Raise target_accept."
    ),
    "doubts-not-sought": (
        "An earlier version made the fit and did not look for doubts about classes or data. Fit "
        "the ratings again."
    ),
    "empty-class": (
        "Hardly any item is of a class that many answers name. Give the truth of some items "
        "(`truth=`)."
    ),
    "gold-decides": (
        "Single items of known truth decide much of the posterior, so that leave-one-out weights "
        "are rough."
    ),
    "group-errors-unchecked": (
        "The ratings are too many for the check whether rater groups err together. Check it with "
        "assay.predictive_checks."
    ),
    "groups-err-together": (
        "Raters of one group agree more than the model expects, so that intervals are too narrow."
        " Fit with `reference='groups'` or 'gold'."
    ),
    "independent-replicates": (
        "Repeated ratings count as independent. Fit with `replicates='together'` to learn how far "
        "raters repeat themselves."
    ),
    "interrupted-run": (
        "The run was interrupted and holds fewer draws than were asked for. Run it again for all "
        "draws."
    ),
    "label-switching": (
        "In part of the draws classes have exchanged their names. Give the truth of some items, "
        "or prior counts."
    ),
    "laplace-rough": (
        "Laplace's approximation is rough here, and will do for a first look. Report a fit with "
        "`method='nuts'`."
    ),
    "laplace-unchecked": (
        "There are too few draws to check Laplace's approximation. Take more (`draws=`)."
    ),
    "laplace-wrong": "Laplace's approximation fails here. Use `method='nuts'`.",
    "left-mode": (
        "The chains left the mode whose classes have the right names. Give the truth of some "
        "items (`truth=`)."
    ),
    "low-ess": (
        "The effective sample size is low, so that ends of intervals are rough. Take more draws "
        "(`draws=`)."
    ),
    "mirrored-labels": (
        "Raters are wrong more often than by guessing in the heaviest mode. Give the truth of a "
        "few items (`truth=`)."
    ),
    "mixed-modes": (
        "Draws come from two modes that name classes differently, so that means hold in neither. "
        "Give the truth of some items."
    ),
    "mode-weight": (
        "The reported mode has hardly any of the evidence. The heavier mode names classes "
        "differently."
    ),
    "other-mode": (
        "The answers have another explanation, which is not part of the result. Known truth or a "
        "prior would tell which holds."
    ),
    "prior-confusions": (
        "Hardly any item is of a class, so that its confusions are those of the prior."
    ),
    "stray-chain": (
        "A chain lies in another mode for some of its draws. Try another recipe, narrower priors "
        "or known truth."
    ),
    "stray-chain-remade": (
        "A chain went to a mode of no weight or of wrong names. It was run again."
    ),
}
