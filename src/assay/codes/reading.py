"""Problems of a table that is read."""

READING = {
    "argument-type": (
        "An argument has a type that the function cannot use. Give a value of a type that the "
        "message lists."
    ),
    "audit-words": (
        "A column of audits holds words other than right or wrong. Write right or wrong, or leave "
        "the column out."
    ),
    "binary-file": (
        "The file is neither text nor a table in a known format. Export it as CSV, Excel, Parquet "
        "or JSON."
    ),
    "binary-spellings": (
        "The classes look like no and yes in several spellings. Merge them with `classes=`, or "
        "list them in a task file."
    ),
    "broken-cells": (
        "A few cells of a column of ratings hold none. Mend or empty them, or leave their rows out "
        "with `set_aside=True`."
    ),
    "changing-value": (
        "An item or a rater has two values of a fixed property, such as its cluster. Correct the "
        "column, or name another."
    ),
    "count-table": "The cells look like counts of votes for each class. Give each vote a row.",
    "covariate-gaps": (
        "Some items have no value of a covariate. Fill in the values, or give these items a class "
        "of their own."
    ),
    "covariate-name": (
        "A covariate has the same name as another column of items. Rename the column."
    ),
    "aggregated-report": (
        "The report has one answer for each item instead of the ratings. Export the full report."
    ),
    "damaged-export": (
        "Some parts of an export have an unexpected form. Export the data again, or correct these "
        "parts."
    ),
    "damaged-file": (
        "A compressed or binary file ends early or is damaged. Write or download it again."
    ),
    "empty-file": "The file has no rows. Check the path.",
    "empty-labels": "`labels=` names no column. Name the columns of the answers.",
    "encoding": (
        "The file is not text in the encoding that you named. Name another encoding, or none."
    ),
    "excel-missing": "No package for reading spreadsheets is installed. Install assay[excel].",
    "folder-without-task": (
        "The folder has no tables, or tables with different columns. Give the path of one file."
    ),
    "group-incomplete": "`group=` lacks some raters. Give each rater a group.",
    "item-key": (
        "Different items have the same values in the columns of `item=`. Name more columns with "
        "`item=`."
    ),
    "item-or-system": (
        "An item appears under several systems, so it may be the input or the output. Say which "
        "with `item=`."
    ),
    "json-file": (
        "The file begins as JSON but is damaged or ends early. Export it again, or read its "
        "complete records with `set_aside=True`."
    ),
    "json-shape": "The JSON has no records. Write an object for each rating.",
    "label-direction": (
        "A label's `better` names no class, or an end of classes without an order. Name the good "
        "class in the task file, or write its classes in their order with `ordered = true`."
    ),
    "labels-count": "`labels=` names too many or too few columns. Name one column for each label.",
    "lfs-pointer": (
        "The file is a pointer of Git LFS, not the data. Fetch the data with git lfs pull."
    ),
    "list-cells": (
        "Cells hold lists. Write one answer in each cell, or name the lists that belong together."
    ),
    "minus-one": (
        "The value -1 stands beside 0 and 1. Say whether it is a class or means no answer."
    ),
    "multi-select": (
        "Cells hold several chosen options. Make a column, and a label, for each option."
    ),
    "multi-select-rows": (
        "Several rows hold the options that one rater chose for one item. Make a column for each "
        "option."
    ),
    "nested-cells": "Cells hold lists, arrays or dictionaries. Write a single answer in each cell.",
    "no-ratings": "The export has no ratings. Export the annotations too.",
    "no-answer-given": (
        "No rating has an answer, so a fit has nothing to learn from. Check the columns of the "
        "labels and their values."
    ),
    "no-answers": "No column of answers was found. Name it with `labels=`.",
    "no-classes": (
        "A label takes its classes from the data, but no column holds them. Name the column with "
        "`labels=`."
    ),
    "no-counts": "A column of `counts=` holds no numbers of votes. Leave it out.",
    "no-item": "No column of items was found. Name it with `item=`.",
    "no-number": (
        "Some cells of a numeric column are not numbers. Write numbers, or leave the cells empty."
    ),
    "no-rater": "No column of raters was found. Name it with `rater=`.",
    "no-session-column": (
        "`sessions=` gives an order, but no column holds the sessions. Name it with `session=`."
    ),
    "one-column-several-labels": (
        "One column is given for several labels. Give a dictionary from label to column."
    ),
    "one-hot": "Several columns look like the classes of one answer. Combine them into one column.",
    "panel-clusters": "A panel holds items of several clusters. Check `panel=` and `cluster=`.",
    "panel-ranks": (
        "Ranks in a panel repeat, or are not positions in a list. Check `rank=` and `panel=`."
    ),
    "order-of-words": (
        "`ordered=True` orders classes that are numbers and that the data define. Write other "
        "classes in their order, and ordered = true, into a task file."
    ),
    "panels-key": (
        "The table of panels shares no column with the ratings. Add the column that names the "
        "panel of a rating."
    ),
    "panels-repeat": (
        "Different rows of the table of panels have the same key. Keep one row for each key."
    ),
    "panels-unmatched": (
        "No item of the ratings is in the table of panels. Use the same names of items in both."
    ),
    "panels-values": (
        "The table of panels shares no value with the ratings. Use the same names in both."
    ),
    "ragged-rows": (
        "Rows have more or fewer fields than the header. Quote values that hold a separator or a "
        "line break."
    ),
    "rank-words": "Ranks are not whole numbers from 1 (or from 0). Correct the column.",
    "rating-sessions": (
        "A rater's answers to one item are in several sessions. Number the ratings by session."
    ),
    "repeated-ratings": (
        "A rater rates an item more than once, with different answers. Name a replicate column, or "
        "say which rating counts."
    ),
    "same-names": (
        "Two keys of several columns get the same name when their parts are joined. They may name "
        "items, raters, clusters or lists. Replace the slash in the names by another sign."
    ),
    "score-and-confidence": (
        "`score=` and `confidence=` name a column for the same label. Give one of them."
    ),
    "score-range": (
        "`score_range=` is not two numbers. Give the lowest and the highest possible score."
    ),
    "score-without-order": (
        "Scores are given for a label of three classes or more without an order. Mark the classes"
        " as ordered."
    ),
    "seconds-columns": "`seconds=` names several columns. Name one.",
    "sessions-argument": (
        "`sessions=` is not a list of all sessions in order, each once. Correct the list."
    ),
    "several-files": (
        "The folder has several files with different columns. Give the path of one of them."
    ),
    "several-sheets": "A spreadsheet has several sheets. Name one with `sheet=`.",
    "several-tasks": "A folder has the ratings of several tasks. Name one with `task=`.",
    "shared-column": (
        "`labels=` gives one column to several labels. Give each label its own column."
    ),
    "share-table": (
        "The cells look like shares of the raters, such as per cent yes. Beside a column with the "
        "number of raters, `counts=` reads them as votes; without it nothing does."
    ),
    "source-type": "The source is not a path, a folder or a DataFrame. Give one of these.",
    "too-many-classes": (
        "A column has long texts, values that hardly repeat, or too many to be classes. Name the "
        "column of classes with `labels=`."
    ),
    "two-formats": "The input may be of several formats. Say which with `format=`.",
    "truth-conflict": "An item has two different true classes of one label. Keep one.",
    "truth-impossible": (
        "The truth of some items breaks the hard rules or gates of the task. Correct the truth, or "
        "soften the rule."
    ),
    "truth-items": (
        "The table of truth has no column that names its items. Add one with the same name as in "
        "the ratings."
    ),
    "texts-column": (
        "Documents, queries or items lack a column. Name the column with the argument that the "
        "message shows."
    ),
    "texts-empty": "Ids or texts are empty. Fill the cells, or remove the rows.",
    "texts-repeated": "Rows share an id. Give each row an id of its own.",
    "definitions-missing": "Some queries lack a definition. Add them to the file.",
    "truth-labels": (
        "The table of truth has no column for any label. Name its columns after the labels."
    ),
    "truth-not-found": "`truth=` is neither a column nor a file. Correct the name.",
    "truth-several": (
        "Cells of the truth hold several values. Leave such cells empty, which means that the "
        "truth is not known."
    ),
    "truth-unmatched": (
        "No item of the truth is an item of the ratings. Use the same names of items in both."
    ),
    "truth-vocabulary": (
        "The truth uses words that are not among the answers. Say with `classes=` what they mean."
    ),
    "unknown-class": (
        "A value is not a class of the label. Say with `classes=` which class it means, or correct "
        "it."
    ),
    "unknown-column": "An argument names a column that the table does not have. Correct the name.",
    "unknown-label": "A name is not a label of the task. Use one that the message lists.",
    "unparsed-file": (
        "The file cannot be read as a table. Close the quote in the line that the message names, "
        "or leave the line out with `set_aside=True`."
    ),
    "unread-file": "The file cannot be opened. Check the path and the permissions.",
    "weight-words": "A design weight is not a positive number. Correct the column.",
    "truth-twice": "Truth is given by `truth=` and by `truth_rater=`. Give only one of them.",
    "two-roles": (
        "One column is named for two roles that it cannot have at once, such as the answers and "
        "the item. Name another column for one of them."
    ),
    "unknown-truth-rater": (
        "`truth_rater=` names no rater of the file. Use a name that the message lists."
    ),
    "unknown-sheet": "`sheet=` does not name a sheet with data. Name one that has data.",
    "which-column": (
        "Several columns could be the rater or the item. Name the right one with `rater=` or "
        "`item=`."
    ),
    "which-item": "Several columns could name the item. Name it with `item=`.",
    "wide-table": (
        "Each rater has a column. Give each answer a row of its own; the message shows the code."
    ),
    "web-page": "The file is a web page without a table of ratings. Download the file itself.",
}
