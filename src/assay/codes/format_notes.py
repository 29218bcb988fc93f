"""Notes on exports of tools: interpretations, and information that a format lacks."""

FORMAT_NOTES = {
    "assertions-not-read": "Assertions that no model decides are no ratings, and were left out.",
    "controls-or-data": (
        "The format does not say which columns are answers. Name the labels in a task file if some "
        "were taken for the other."
    ),
    "drafts-left-out": "Drafts were never submitted, and were left out.",
    "folders-not-read": (
        "A folder has folders with files, which are not read. Give a list of paths to read them."
    ),
    "format-loses": "The format leaves things out that another export of the tool has.",
    "gate-found": (
        "A question has answers only after some answers to another, and is read as asked only "
        "there. A task file with another `asked_if` changes that."
    ),
    "gold-of-several": "Gold answers that allow several classes are not used as known truth.",
    "hits-are-items": "Screens that show the same input are one item.",
    "hits-of-several": "A HIT shows several items, whose inputs and answers are numbered alike.",
    "labels-left-out": (
        "The labels have too many combinations, so the rarest were left out. Name the labels that "
        "you need in a task file."
    ),
    "metrics-failed": "Metrics that failed with an error are missing answers.",
    "nameless-annotators": (
        "Annotations without a name are taken for one rater. Give a folder with a file for each "
        "annotator."
    ),
    "nothing-chosen": "Ratings that choose none of several options say no to each of them.",
    "one-file-one-rater": "A file has one rater. Give the folder with the files of all raters.",
    "options-are-labels": (
        "A question of which several options can be chosen is a label of no and yes for each "
        "option."
    ),
    "options-gathered": (
        "Rows that each hold one option are the options that a rater chose, as `replicate=` says."
    ),
    "places-left-out": (
        "Parts of an export that are not as the tool writes them were left out. Export it again."
    ),
    "questions-not-read": "Questions without classes, such as texts, are not read.",
    "ratings-withdrawn": (
        "Ratings that were cancelled, discarded, left as drafts or left empty are abstentions."
    ),
    "regions-not-read": "Results about parts of an item, such as spans or boxes, are not read.",
    "repeated-annotations": "A rater rated an item more than once. These are repeated ratings.",
    "results-without-grading": "Results without a grading were left out.",
    "scores-missing": "Scorers gave no score for some samples. These are missing answers.",
    "scores-not-used": "Scores are not used where the classes have no order, or the scale is open.",
    "shared-score": "The one score of a prediction is taken for the confidence in each answer.",
    "status-lost": (
        "The format does not say which responses are drafts or discarded, so that all count. "
        "Export the data set with the status of responses."
    ),
    "texts-without-label": "Texts without a label were not rated, as far as the format tells.",
    "untrusted-kept": "Judgements that the platform did not trust count as the others do.",
    "votes-missing": "Some votes are not in the file, and are missing answers.",
    "votes-not-released": "Outputs whose votes are not in the file were left out.",
}
