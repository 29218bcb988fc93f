"""Findings of ``check`` about ratings."""

DATA = {
    "abstentions": (
        "Some ratings are abstentions. Ask assay.abstention_sensitivity whether they depend on the "
        "truth."
    ),
    "agreement-alone": (
        "The data tell how often raters agree, but not which way they err. Collect a third rating"
        " or known truth for some items."
    ),
    "alike-clusters": (
        "Clusters with one value of an unused column, such as a topic, are alike beyond chance. "
        "Population intervals count them as independent and are too narrow. Name the column as "
        "the cluster."
    ),
    "ambiguous-column": (
        "More than one column could have a role. Name the right one if the choice is wrong."
    ),
    "answers-complete": "Every label that was asked has an answer, and every class was reported.",
    "audit-choice": (
        "It is not known how the audited ratings were chosen. If they were chosen because of "
        "doubts, shares of right answers are too low."
    ),
    "audit-contradiction": (
        "Known truth, audits and the rules of the task contradict each other. Correct or clear "
        "them for the items that are named."
    ),
    "audit-shares": "Share of right answers by label among the audited ratings.",
    "audited-ratings": "Number of audited ratings, and the share of them that is right.",
    "clusters": "Number of clusters. There are enough to resample them.",
    "comparable-systems": "There are several systems, so that they can be compared.",
    "connected-raters": (
        "Items in common, or known truth, connect all raters, so that they can be compared."
    ),
    "constant-raters": (
        "Some raters always give the same answer, which has no information on the items. Look at "
        "their ratings."
    ),
    "constant-scores": (
        "Some raters always give the same score, which has no information on the items. Look at "
        "their scores."
    ),
    "dependent-raters": (
        "Two raters err together more than raters so good would, so that labels are too sure. "
        "Leave one out, or learn it from known truth."
    ),
    "dirichlet-labels": (
        "The dirichlet prevalence has a prior that is not vague for many labels. Compare with the"
        " default prevalence."
    ),
    "double-sampling": (
        "One instrument rated all items, others a sample. A difference between systems may be the"
        " instrument's error: fit with system_bias."
    ),
    "double-sampling-few": (
        "The checked sample has few items of some system, so that its bias comes from the prior. "
        "Check more items at random."
    ),
    "drift-raters": "Number of raters with enough ratings in two sessions to learn their drift.",
    "errors-from-known-truth": (
        "No item has two raters. Errors are learned from the items of known truth alone."
    ),
    "few-clusters": (
        "There are few clusters, so that estimates for the population rely on the model. Add "
        "clusters, or use `estimand='finite'`."
    ),
    "few-items-classes": (
        "Reliability on some classes rests on few items and leans on the prior. Collect second "
        "ratings of such items."
    ),
    "few-items-systems": (
        "Few items of some systems have a second rating or known truth. Comparisons assume that "
        "raters err alike on all systems."
    ),
    "few-ratings-raters": (
        "Some raters gave few ratings, so that their reliability leans on their group."
    ),
    "few-score-values": "Some raters use few different scores.",
    "few-shared-items": (
        "Some raters share few items with others, so that their reliability leans on the group "
        "and the prior."
    ),
    "gold-contradicted": (
        "All raters of some items contradict the known truth. The truth is wrong there, or raters "
        "err together. Check these items."
    ),
    "gold-unlike-others": (
        "Items of known truth differ from the others, so they are no random sample. Say "
        "`gold_chosen='recorded'` if recorded data explain the choice."
    ),
    "graded-items": (
        "Items stand on a continuum, and raters say yes from a threshold on. Give the truth of "
        "some items, and fit with `reference='gold'`."
    ),
    "groups-may-err-together": (
        "Raters of one group may err together, which makes intervals too narrow. Fit with "
        "`reference='groups'`."
    ),
    "halo": (
        "Answers of one rating to several labels hang together beyond the truth. Fit with "
        "`raters='joint'`."
    ),
    "incomplete-panels": (
        "Some panels hold items without an answer. The model predicts these items."
    ),
    "items-with-one-rater": "Number of items that only one rater answered.",
    "joint-errors-askable": (
        "Some group has enough double ratings to serve as the reference, so that joint errors can"
        " be learned."
    ),
    "joint-errors-not-askable": (
        "No group has enough double ratings to serve as the reference. Collect second ratings "
        "within a group."
    ),
    "known-truth": "Number of items whose truth is known at least in part.",
    "label-scores-only": "A label has scores and no answers. Fit with `raters='scored'`.",
    "label-unanswered": (
        "A label has no answer at all, so that only its prior and the rules speak about it."
    ),
    "larger-units": (
        "An unused column groups the clusters. Name it as the cluster if conclusions are about new "
        "values of it."
    ),
    "learnable-reliability": "The data tell the reliability of raters.",
    "metric-unavailable": (
        "A metric cannot be computed for this task. Register the metric, or add the labels that "
        "it needs."
    ),
    "missing-answers": (
        "Some answers to a label are missing. They are taken to be missing at random."
    ),
    "model-families": (
        "Several raters seem to be language models of one family, which may err together. Give "
        "known truth or rater groups."
    ),
    "near-duplicate-raters": (
        "Pairs of raters agree on almost all items. They may not be independent witnesses: look "
        "whether one copies the other."
    ),
    "near-duplicates-untold": "Near-duplicate raters cannot be looked for in these data.",
    "no-comparison": (
        "Fewer than two systems are named, so that nothing can be compared. Name the column with "
        "`system=` or `panels=`."
    ),
    "no-departures": (
        "No test finds that raters err together, or unevenly over clusters, systems and ranks."
    ),
    "no-known-truth": (
        "No truth is known, so that estimates are of the raters' consensus. Give the truth of "
        "some items, chosen at random (`truth=`)."
    ),
    "no-near-duplicates": "No two raters agree so often that they may be one.",
    "no-prior-leaning": (
        "No class, rater or system rests on so few items that its numbers lean on the prior."
    ),
    "no-ranked-lists": (
        "Every item is a list of its own, so that ranked metrics cannot be computed. Name "
        "`cluster=` or `panel=`, and `rank=`."
    ),
    "no-ranks": (
        "No column gives the rank, so that ranked metrics use the order of the file. Name it with"
        " `rank=`."
    ),
    "no-shared-items": (
        "No item has two raters, so that errors cannot be told from the truth. Collect second "
        "ratings or known truth."
    ),
    "one-rater": (
        "There is one rater and no known truth, so that errors cannot be told from the truth. Add"
        " a rater or known truth."
    ),
    "one-rater-group": (
        "All raters are one group, so that joint errors of a group cannot be learned. Name the "
        "groups with `group=`."
    ),
    "one-rater-known-truth": (
        "There is one rater. Errors are learned from the items of known truth."
    ),
    "opposite-raters": (
        "Pairs of raters agree far less than by chance. One of them may have the classes the "
        "wrong way round: check its coding."
    ),
    "opposite-scores": (
        "Scores of two raters run against each other. One may score the wrong way round: write 1 "
        "- score for it."
    ),
    "ordered-classes": (
        "The classes of a label have an order that the default recipe ignores. Fit with "
        "`raters='ordinal'`."
    ),
    "paired-systems": "Number of clusters that have all systems. Differences are paired on these.",
    "places-without-system": "Some places in panels have no system. Comparisons leave them out.",
    "ranked-lists": "Items stand in ranked lists, so that ranked metrics can be computed.",
    "rater-by-cluster": (
        "Raters err on whole clusters, which the model takes for clusters that differ. Collect "
        "further raters, or fit with `prevalence='dirichlet'`."
    ),
    "rater-by-rank": (
        "Raters follow the rank of items differently. Give the truth of some items, or have them "
        "rated in random order."
    ),
    "rater-by-system": (
        "Raters judge the systems differently, so that the difference depends on who is right. Fit "
        "with `system_bias`, or give the truth of some items."
    ),
    "rater-groups": "Number of raters and of rater groups.",
    "rating-times": "How long ratings took.",
    "reader-decision": (
        "Something that the reader decided by itself. Name the column or the words if the "
        "decision is wrong."
    ),
    "reliability-from-prior": (
        "Too few items have two raters or known truth, so that reliability is mostly the prior's."
        " Collect second ratings."
    ),
    "replicate-agreement": "How often raters who rated an item again gave the same answer.",
    "replicates": "Number of ratings that repeat a rater's rating of the same item.",
    "rows-set-aside": (
        "Rows were set aside, for the reason that is given. Correct them if they should count."
    ),
    "rows-used": "Number of rows that were read, used and set aside.",
    "rule-broken": "Some ratings break a rule that the interface did not block. They are used.",
    "rule-not-blocked": (
        "Many rows were set aside because they break a blocked rule. If the interface did not "
        "block, read with `response=`."
    ),
    "score-values": "Number of scores of a label and of their different values.",
    "scores-against-answers": (
        "Some scores lie on the other side of 1/2 than the answer beside them. Check their "
        "direction."
    ),
    "scores-alone": (
        "Scores alone tell about a label, so that its classes are clusters of scores. Give the "
        "truth of some items, or answers."
    ),
    "scores-reader": "Which recipe reads the scores.",
    "scores-unread": (
        "Scores are there that the chosen recipe does not read. Fit with `raters='scored'`, or "
        "order the classes."
    ),
    "scores-without-answers": (
        "Some ratings have scores and no answer. Only `raters='scored'` reads them."
    ),
    "separate-teams": (
        "Systems share no raters and no known truth, so that nothing tells their difference from "
        "one of their raters. Have each team rate items of the others."
    ),
    "session-sizes": "Number of sessions and of their ratings.",
    "shared-items": (
        "Number of items that two raters or more answered. Reliability is learned from these."
    ),
    "silent-raters": "Some raters only abstained. Look whether their answers were lost.",
    "single-class-answers": (
        "Every answer to a label is the same class, so that errors on it cannot be learned."
    ),
    "single-rating-items": (
        "Many items have a single rating, so that their labels rest on one answer each. Collect "
        "second ratings."
    ),
    "skipping-by-answer": (
        "Items with more answers get other answers. Fit with the number of answers as a covariate "
        "if the design asked for as many of each."
    ),
    "slot-raters": (
        "Raters may be positions (first answer, second answer) and not persons. If so, fit with "
        "`raters='pooled'`."
    ),
    "truth-class-slip": (
        "The truth holds a class that no rater reported and that resembles one that some did. "
        "Correct the spelling."
    ),
    "two-ratings-items": (
        "Items with two ratings tell how often raters agree, not which way they err. Collect a "
        "third rating or known truth."
    ),
    "unconnected-raters": (
        "Raters fall into parts without items in common, so that the prior alone compares them. "
        "Rate some items in two parts."
    ),
    "unknown-sessions": "Some ratings have no session. They have no information on drift.",
    "unrated-items": "Some items have no rating. The model predicts their labels.",
    "unrated-systems": (
        "No item of some system was rated. Its numbers are predicted from other items."
    ),
    "unreported-classes": "No rater reported some classes of a label.",
    "untested-departures": (
        "The data are too few to test some assumptions on raters, which are then assumed."
    ),
    "unused-columns": "Columns that are not used.",
    "unused-truth-column": (
        "A column sounds like known truth and is not used. Take it with `truth=` if it is."
    ),
    "vague-audits": (
        "Some audits found a rating wrong without saying in which answer. Shares by label leave "
        "them out and are too high."
    ),
}
