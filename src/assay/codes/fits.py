"""Notes that a fit carries, and doubts about its labels."""

FITS = {
    "answers-counted-twice": (
        "Raters' disagreement called for more answers, and `n_answers` uses the answers again. Fit "
        "without it."
    ),
    "chains-disagree": (
        "Chains of the sampler disagree (R-hat), so the draws do not represent the posterior. Take "
        "more draws."
    ),
    "checkpoint-damaged": "A stored chain cannot be read. The chain is run again.",
    "checkpoint-not-written": (
        "A finished chain could not be stored. The draws of this run are not affected."
    ),
    "class-drift": (
        "Class drift: a class may have come to mean something else than its name. Give the truth "
        "of some of its items (`truth=`)."
    ),
    "class-name-doubt": (
        "Most answers to the items of a class name another class. Check the most certain items of "
        "the class, or give their truth."
    ),
    "divergences": (
        "The sampler diverged in some transitions, so it may have missed a part of the posterior. "
        "Raise target_accept."
    ),
    "doubts-not-sought": (
        "An earlier version made the fit and did not check classes and data for doubts. Fit the "
        "ratings again."
    ),
    "empty-class": (
        "Empty class: hardly any item is in a class that many answers name. Give the truth of some "
        "items (`truth=`)."
    ),
    "gold-decides": (
        "Single items of known truth have a large influence on the posterior, so leave-one-out "
        "weights are unreliable."
    ),
    "group-errors-unchecked": (
        "There are too many ratings to check whether raters of a group err together. Check it with "
        "assay.posterior_predictive_check."
    ),
    "groups-err-together": (
        "Raters of one group agree more often than the model expects, so intervals are too narrow. "
        "Fit with `reference='groups'` or 'gold'."
    ),
    "independent-replicates": (
        "The model treats repeated ratings of a rater as independent. Fit with "
        "`replicates='together'` to estimate how far they depend on each other."
    ),
    "interrupted-run": (
        "The run was interrupted, so it has fewer draws than requested. Run it again for all draws."
    ),
    "label-switching": (
        "Label switching: classes have exchanged their names in some of the draws. Give the truth "
        "of some items, or prior counts."
    ),
    "laplace-rough": (
        "Laplace's approximation is rough here and suits a first look only. Report a fit with "
        "`method='nuts'`."
    ),
    "laplace-unchecked": (
        "There are too few draws to check Laplace's approximation. Take more draws (`draws=`)."
    ),
    "left-mode": (
        "The chains left the chosen posterior mode, in which classes have the right names. Give "
        "the truth of some items (`truth=`)."
    ),
    "low-ess": (
        "The effective sample size is low, so the ends of intervals are imprecise. Take more draws "
        "(`draws=`)."
    ),
    "mirrored-labels": (
        "In the posterior mode of the largest weight, raters are wrong more often than by "
        "guessing. Give the truth of a few items (`truth=`)."
    ),
    "mixed-modes": (
        "Draws come from two posterior modes that name classes differently, so means describe "
        "neither mode. Give the truth of some items."
    ),
    "mode-weight": (
        "The reported posterior mode has a negligible weight. The mode of larger weight names "
        "classes differently."
    ),
    "other-mode": (
        "Another posterior mode explains the answers too, and is not part of the result. Known "
        "truth or a prior can decide between them."
    ),
    "prior-confusions": "Hardly any item is in a class, so the prior determines its confusions.",
    "stray-chain": (
        "A chain lies in another posterior mode for some of its draws. Try another recipe, "
        "narrower priors or known truth."
    ),
    "stray-chain-remade": (
        "A chain went to a posterior mode of negligible weight or with wrong class names. It was "
        "run again."
    ),
}
