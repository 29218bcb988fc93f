"""Notes on exports of tools: interpretations, and information that a format lacks."""

FORMAT_NOTES = {
    "assertions-not-read": (
        "Assertions that no model grades are not ratings, so they were left out."
    ),
    "controls-or-data": (
        "The format does not say which columns are answers. If a column was misread, name the "
        "labels in a task file."
    ),
    "drafts-left-out": "Drafts were never submitted, so they were left out.",
    "flags-not-released": (
        "A file of vote counts does not tell a minority's flags from its votes against the "
        "consensus."
    ),
    "folders-not-read": (
        "The folder has subfolders with files, which are not read. To read them, give a list of "
        "paths."
    ),
    "format-loses": "This format lacks information that another export of the tool has.",
    "gate-found": (
        "A question has answers only after some answers to another question, and is read as asked "
        "only then. To change this, write `asked_if` in a task file."
    ),
    "gold-of-several": "Gold answers that allow several classes are not used as known truth.",
    "hits-are-items": "Screens with the same input are read as one item.",
    "hits-of-several": "A HIT shows several items, whose inputs and answers have the same numbers.",
    "labels-left-out": (
        "The labels have too many combinations, so the rarest labels were left out. Name the "
        "labels that you need in a task file."
    ),
    "marks-read": (
        "Columns hold a mark or nothing, as the options of a question do. They are read as yes "
        "and no."
    ),
    "metrics-failed": "Metrics that failed with an error are read as missing answers.",
    "nameless-annotators": (
        "Annotations without a name are read as those of one rater. Give a folder with a file for "
        "each annotator."
    ),
    "no-option-chosen": (
        "Ratings that choose no option, and answer nothing else, are read as no answer. With "
        "`classes=` an empty cell can be the answer no."
    ),
    "nothing-chosen": "Ratings that choose none of several options are read as no to each option.",
    "one-file-one-rater": (
        "The file has one rater. To read all raters, give the folder with their files."
    ),
    "options-are-labels": (
        "A question with several possible choices is read as one yes-or-no label for each option."
    ),
    "options-gathered": (
        "Rows that each hold one option are read as the options that a rater chose, because of "
        "`replicate=`."
    ),
    "outer-names": (
        "A file of names within names has few outer and many inner ones. The outer ones are read "
        "as raters."
    ),
    "places-left-out": (
        "Parts of the export have an unexpected form and were left out. Export the data again."
    ),
    "questions-not-read": "Questions without classes, such as texts, are not read.",
    "ratings-withdrawn": (
        "Ratings that were cancelled, discarded, empty or left as drafts are read as abstentions."
    ),
    "regions-not-read": "Results about parts of an item, such as spans or boxes, are not read.",
    "repeated-annotations": "A rater rated an item more than once. These are repeated ratings.",
    "results-without-grading": "Results without a grading were left out.",
    "scores-missing": "Scorers gave no score for some samples. These are read as missing answers.",
    "scores-not-used": (
        "Scores are not used if the classes have no order, or if the scale has no bounds."
    ),
    "shared-score": (
        "A prediction has one score, which is read as the confidence in each of its answers."
    ),
    "sides-ordered": (
        "An answer names a side, and the same pair of systems stands in both orders. Each pair has "
        "one order now, by name."
    ),
    "status-lost": (
        "The format does not say which responses are drafts or discarded, so all of them count. "
        "Export the data set with the status of responses."
    ),
    "texts-without-label": (
        "Texts without a label are not ratings. The format does not say whether no label applies "
        "or no rater read the text."
    ),
    "untrusted-kept": "Judgements that the platform did not trust count like all others.",
    "votes-missing": "Some votes are not in the file. They are read as missing answers.",
    "votes-not-released": "Outputs whose votes are not in the file were left out.",
}
