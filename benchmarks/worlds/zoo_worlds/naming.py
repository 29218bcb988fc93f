"""Which codes of findings, warnings and marks name the fault of which world.

A world that is not here has no fault; one without codes has a fault that no message names yet.
Add a code as soon as the package has it: the codes of each set are in the results, so that the
table is right once they are made again.
"""

NAMED_BY: dict[str, frozenset[str]] = {
    "misread_queries": frozenset({"rater-by-cluster"}),
    "two_favour_one": frozenset({"double-sampling", "rater-by-system"}),
    "separate_teams": frozenset({"unconnected-raters", "separate-teams"}),
    "skipping": frozenset({"skipping-by-answer"}),
    "graded_evidence": frozenset({"graded-items"}),
    "judge_like_one_person": frozenset(
        {"near-duplicate-raters", "groups-err-together", "dependent-raters"}
    ),
    "halo": frozenset({"halo"}),
    "weak_raters": frozenset({"reliability-from-prior"}),
    "anchored_on_rank": frozenset({"rater-by-rank", "anchored-on-rank"}),
    "mostly_one_rating": frozenset({"single-rating-items", "reliability-from-prior"}),
    "fatigue": frozenset(),
    "drift_between_rounds": frozenset(),
    "truncating_interface": frozenset(),
    "duplicated_items": frozenset({"duplicated-items"}),
    "adjudicator_sees_votes": frozenset(
        {"near-duplicate-raters", "groups-err-together", "dependent-raters"}
    ),
    "experts_on_disputes": frozenset(),
    "leaking_systems": frozenset({"carried-over"}),
    "mixed_languages": frozenset({"rater-by-kind"}),
    "copying_rater": frozenset(
        {"near-duplicate-raters", "groups-err-together", "dependent-raters"}
    ),
    "position_biased_judges": frozenset({"rater-by-rank", "anchored-on-rank"}),
    "graded_halo": frozenset({"halo"}),
    "all_trust_one": frozenset({"all-raters-by-system"}),
    "errors_hard_to_see": frozenset({"all-raters-by-system"}),
    "one_system_unclear": frozenset({"all-raters-by-system"}),
}
NAMING = frozenset().union(*NAMED_BY.values())
"""All codes that name a fault of some world."""
