"""Findings of ``check`` about ratings."""

DATA = {
    "abstentions": (
        "Some ratings are abstentions. They bias results if they depend on the truth: check with "
        "assay.sensitivity_to_abstention."
    ),
    "agreement-alone": (
        "The data identify how often raters agree, but not the direction of their errors. Collect "
        "a third rating, or the truth, for some items."
    ),
    "alike-clusters": (
        "Clusters with one value of an unused column, such as a topic, are alike beyond chance. "
        "If conclusions are about new values of it, population intervals are too narrow: name the "
        "column as the cluster. If its values are a fixed set, name it as the stratum."
    ),
    "ambiguous-column": (
        "More than one column could have a role. If the choice is wrong, name the right column."
    ),
    "anchored-on-rank": (
        "All raters say yes more readily at one end of the list, whatever is true. Give the truth "
        "of some items, or have items rated in random order."
    ),
    "answers-complete": (
        "Every label that was asked has an answer, and raters reported every class."
    ),
    "audit-choice": (
        "How ratings were chosen for audit is not recorded. If doubtful ratings were chosen, the "
        "shares of right answers are too low."
    ),
    "audit-contradiction": (
        "Known truth, audits and the rules of the task contradict each other. Correct or clear "
        "them for the items that the message names."
    ),
    "audit-shares": "Share of right answers among the audited ratings, by label.",
    "audited-ratings": "Number of audited ratings, and the share of right ones.",
    "carried-over": (
        "Raters give their answer to one system to another one again, within a cluster. Fit with "
        "`prevalence='dirichlet'`, and have no rater judge both systems in one cluster."
    ),
    "clusters": "Number of clusters. It is large enough to resample clusters.",
    "comparable-systems": "The ratings cover several systems, which can be compared.",
    "connected-raters": (
        "Shared items or known truth connect all raters, so raters can be compared."
    ),
    "constant-raters": (
        "Some raters always give the same answer, which is not informative about the items. Check "
        "their ratings."
    ),
    "constant-scores": (
        "Some raters always give the same score, which is not informative about the items. Check "
        "their scores."
    ),
    "dependent-raters": (
        "Two raters make the same errors, or one confirms the others, more often than independent "
        "raters would. So labels are too certain. Leave one out, or give the truth of some items."
    ),
    "dirichlet-labels": (
        "With many labels, the prior of the dirichlet prevalence is informative. Compare the "
        "results with those of the default prevalence."
    ),
    "double-sampling": (
        "One instrument rated all items, another a sample of them. If the error rate of the first "
        "differs by system, the comparison is biased: fit with system_bias."
    ),
    "double-sampling-few": (
        "The double-rated sample has few items of some systems, so their bias comes from the "
        "prior. Rate a larger random sample."
    ),
    "drift-raters": "Number of raters with enough ratings in two sessions to estimate their drift.",
    "duplicated-items": (
        "Some items of a cluster may be one and the same, so that their answers count twice. Look "
        "at the pairs in the table equal_items, and give lines of the same item one name."
    ),
    "errors-from-known-truth": (
        "No item has two raters. Errors are estimated from the items of known truth alone."
    ),
    "exchanged-classes": (
        "A rater gives classes each other's names, such as a reversed scale. Check how this rater "
        "coded the answers, and mend the file."
    ),
    "few-clusters": (
        "There are few clusters, so population estimates depend partly on the model. Add clusters, "
        "or use `estimand='finite'`."
    ),
    "few-items-classes": (
        "Few items inform the reliability on some classes, so it depends on the prior. Collect "
        "second ratings of such items."
    ),
    "few-items-systems": (
        "Few items of some systems have a second rating or known truth. Comparisons assume that "
        "raters err on these systems as on the others."
    ),
    "few-ratings-raters": (
        "Some raters gave few ratings, so their reliability depends on their group."
    ),
    "few-score-values": "Some raters use only a few different scores.",
    "few-shared-items": (
        "Some raters share few items with others, so their reliability depends on the group and "
        "the prior."
    ),
    "gold-contradicted": (
        "All raters of some items contradict the known truth. The truth is wrong there, or raters "
        "err together. Check these items."
    ),
    "gold-unlike-others": (
        "Items of known truth differ from the other items, so they are not a random sample. If "
        "they were chosen on recorded data, give `gold_chosen='recorded'`."
    ),
    "graded-items": (
        "Items lie on a continuum, and each rater says yes above a threshold. Give the truth of "
        "some items drawn at random."
    ),
    "groups-may-err-together": (
        "Raters of one group may err together, which makes intervals too narrow. Fit with "
        "`reference='groups'`."
    ),
    "halo": (
        "Answers of one rating to several labels are correlated beyond the truth. Fit with the "
        "layer `halo`, which the default has for three such labels or more."
    ),
    "incomplete-panels": (
        "Some panels hold items without an answer. The model predicts the labels of these items."
    ),
    "joint-errors-askable": (
        "A group has enough double ratings to serve as the reference, so dependent errors within "
        "other groups can be estimated."
    ),
    "joint-errors-not-askable": (
        "No group has enough double ratings to serve as the reference, so dependent errors can "
        "hardly be estimated. Collect second ratings within a group."
    ),
    "known-truth": "Number of items whose truth is known at least in part.",
    "label-scores-only": "A label has scores but no answers. Fit with `raters='scored'`.",
    "label-unanswered": "A label has no answers, so only the prior and the rules inform it.",
    "larger-units": (
        "An unused column groups the clusters. If conclusions are about new values of it, name it "
        "as the cluster."
    ),
    "learnable-reliability": "The data identify the reliability of raters.",
    "metric-unavailable": (
        "This task lacks a metric, or the labels that the metric needs. Register the metric, or "
        "add the labels."
    ),
    "missing-answers": (
        "Some answers to a label are missing. The model assumes that they are missing at random."
    ),
    "model-families": (
        "Several raters seem to be language models of one family, which may err together. Give the "
        "truth of some items, or rater groups."
    ),
    "near-duplicate-raters": (
        "Pairs of raters agree on almost all items, so they may not be independent. Check whether "
        "one copies the other."
    ),
    "near-duplicates-untold": "These data do not allow a search for near-duplicate raters.",
    "no-comparison": (
        "The ratings name fewer than two systems, so nothing can be compared. Name the column of "
        "systems with `system=` or `panels=`."
    ),
    "no-departures": (
        "No test found that raters err together, or unevenly over clusters, systems and ranks."
    ),
    "no-known-truth": (
        "No truth is known, so a fit estimates the consensus of the raters. Give the truth of some "
        "items drawn at random (`truth=`)."
    ),
    "no-near-duplicates": "No two raters agree so often that they may be near-duplicates.",
    "no-prior-leaning": (
        "Every class, rater and system has enough shared items to outweigh the prior."
    ),
    "no-ranked-lists": (
        "Every item is its own list, but ranked metrics need lists of several items. Name the "
        "lists with `cluster=` or `panel=`, and `rank=`."
    ),
    "no-ranks": (
        "No column gives the rank, so ranked metrics use the order of the file. Name the column "
        "with `rank=`."
    ),
    "no-shared-items": (
        "No item has two raters, so the errors of raters cannot be separated from the truth. "
        "Collect second ratings or known truth."
    ),
    "one-rater": (
        "There is one rater and no known truth, so errors cannot be separated from the truth. Add "
        "a rater or known truth."
    ),
    "one-rater-group": (
        "All raters are in one group, so dependent errors within a group cannot be estimated. Name "
        "the groups with `group=`."
    ),
    "one-rater-known-truth": (
        "There is one rater. Errors are estimated from the items of known truth."
    ),
    "opposite-raters": (
        "Pairs of raters agree far less often than by chance. One rater of a pair may have "
        "reversed the classes: check how both coded their answers."
    ),
    "opposite-scores": (
        "Scores of two raters are negatively correlated, so one of them may have a reversed scale. "
        "Replace reversed scores by 1 - score."
    ),
    "ordered-classes": (
        "The classes of a label are ordered, but the default family ignores the order. Fit with "
        "`raters='ordinal'`."
    ),
    "paired-systems": (
        "Number of clusters that have all systems. Differences are paired on these clusters."
    ),
    "places-without-system": "Some places in panels have no system. Comparisons leave them out.",
    "ranked-lists": "Items form ranked lists, so ranked metrics can be computed.",
    "rater-by-cluster": (
        "Raters err on whole clusters, and the model attributes these errors to the cluster. Fit "
        "with the layer `misreading`, which the default then has."
    ),
    "all-raters-by-system": (
        "All raters err more, or in another direction, on the items of one system. Fit with "
        "`system_bias`, or give the truth of some items."
    ),
    "rater-by-kind": (
        "Some raters err more on one kind of items, such as those of one language. Read the "
        "ratings with the column of the kinds as `session=`."
    ),
    "rater-by-rank": (
        "Raters follow the rank of items to different extents. Give the truth of some items, or "
        "have items rated in random order."
    ),
    "rater-by-system": (
        "Some raters favour one system, so the difference depends on which raters are right. Fit "
        "with `system_bias`, or give the truth of some items."
    ),
    "rater-groups": "Number of raters, and of groups of raters.",
    "rating-times": "Time that ratings took.",
    "reader-decision": (
        "A decision of the reader, in a fit that was stored: it keeps the sentence without the "
        "code. If the decision is wrong, read the ratings again with the columns or words named."
    ),
    "reliability-from-prior": (
        "Too few items have two raters or known truth, so reliability depends on the prior. "
        "Collect second ratings."
    ),
    "replicate-agreement": "How often raters gave the same answer when they rated an item again.",
    "replicates": "Number of ratings in which a rater rated the same item again.",
    "rows-set-aside": (
        "Some rows were not used; the message gives the reason. If these rows should count, "
        "correct them."
    ),
    "rows-used": "Number of rows read, used and set aside.",
    "rule-broken": "Some ratings break a rule that the interface did not block. They are used.",
    "rule-not-blocked": (
        "Many rows were set aside because they break a blocked rule. If the interface did not "
        "block such answers, read with `response=`."
    ),
    "score-values": "Number of scores of a label, and of different values among them.",
    "scores-against-answers": (
        "Some scores contradict the answer beside them: a confidence below 1/2 means that the "
        "other class is more likely. Check the direction of the scores."
    ),
    "scores-alone": (
        "A label has scores but no answers and no truth, so its classes are clusters of scores. "
        "Give the truth of some items, or answers."
    ),
    "scores-reader": "Rater family that uses the scores.",
    "scores-unread": (
        "The chosen rater family ignores the scores. Fit with `raters='scored'`, or mark the "
        "classes as ordered."
    ),
    "scores-without-answers": (
        "Some ratings have scores but no answer. Only `raters='scored'` uses them."
    ),
    "separate-teams": (
        "Systems share no raters and no known truth, so their difference cannot be separated from "
        "a difference between the raters. Have each team rate items of the other systems."
    ),
    "session-sizes": "Number of sessions, and of ratings in each.",
    "shared-items": (
        "Number of items that two raters or more answered. Reliability is estimated from these "
        "items."
    ),
    "silent-raters": "Some raters only abstained. Check whether their answers were lost.",
    "single-class-answers": (
        "Every answer to a label is the same class, so errors on the label cannot be estimated."
    ),
    "single-rating-items": (
        "Many items have a single rating, which limits the precision of rates and metrics. Collect "
        "second ratings."
    ),
    "skipping-by-answer": (
        "Items with more answers get different answers, so raters skip items depending on the "
        "truth. If the design asked for equally many answers, fit with their number as a "
        "covariate."
    ),
    "slot-raters": (
        "Raters may be slots (first answer, second answer) and not persons. If so, fit with "
        "`raters='pooled'`."
    ),
    "truth-class-slip": (
        "The truth contains a class that no rater reported and that resembles a reported class. If "
        "it is a misspelling, correct it."
    ),
    "two-ratings-items": (
        "Two ratings per item identify how often raters agree, but not the direction of their "
        "errors. Collect a third rating, or the truth, of some items."
    ),
    "truth-rater": (
        "A rater's name or answers suggest known truth or an adjudicator, and no rater beside the "
        "others. Read the rows as the truth with `truth_rater=`, or delete them."
    ),
    "unconnected-raters": (
        "Raters form sets that share no items, so comparisons between sets depend on the prior "
        "alone. Have some items rated in two sets."
    ),
    "unknown-sessions": "Some ratings have no session, so they are not informative about drift.",
    "unrated-items": "Some items have no rating. The model predicts their labels.",
    "unrated-systems": (
        "No item of some system was rated. Its numbers are predicted from other items."
    ),
    "unreported-classes": "No rater reported some classes of a label.",
    "untested-departures": (
        "There are too few data to test some assumptions about raters. The model makes these "
        "assumptions untested."
    ),
    "unused-columns": "Columns that are not used.",
    "unused-truth-column": (
        "The name or the values of a column suggest known truth, but it is not used. If it holds "
        "the truth, name it with `truth=`."
    ),
    "vague-audits": (
        "Some audits mark a rating as wrong without saying which answer is wrong. Shares by label "
        "leave them out, so they are too high."
    ),
}
