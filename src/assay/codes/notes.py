"""Notes on decisions of the reader."""

NOTES = {
    "abstentions-read": "Some ratings answer no label. They are read as abstentions.",
    "accents-joined": (
        "Accents that stand apart from their letters were joined with them, so names that look "
        "alike are one name."
    ),
    "answers-implied": (
        "The interface blocks all classes but one beside the rater's other answers, so empty "
        "answers are read as that class."
    ),
    "audits-of-several": (
        "An audit that found a rating of several answers wrong does not say which answer is "
        "wrong. Give a column for each label with `audit=`."
    ),
    "audits-translated": (
        "Results of audits are in another language. Correct the words if the message reads them "
        "wrongly."
    ),
    "audits-without-answer": "Audits of missing answers were left out.",
    "blanks-skipped": "Blank lines, and columns without a name or a value, were skipped.",
    "blocks-read": (
        "Lines above blocks of rows name their rater, or the like. A column has these names."
    ),
    "cases-merged": (
        "Classes that differ only in upper and lower case were merged. List the classes in a task "
        "file to keep them apart."
    ),
    "class-added": (
        "All answers are the same class, but a label needs two, so another class was added."
    ),
    "classes-of-scores": "A label has scores but no answers, so its classes are no and yes.",
    "closed-no": (
        "Answers no to a question that the rater's own answers close are read as not asked."
    ),
    "closed-scores": "Scores of a question that the rater's own answers close were left out.",
    "columns-read": "Several columns were each read as a rater, or as an item.",
    "confidence-not-used": (
        "A label has a column of scores, so its column of confidence is not used. Name the column "
        "with `confidence=` to use it instead."
    ),
    "confidence-without-answer": (
        "A confidence without an answer has no meaning, so it was left out."
    ),
    "constraint-violated": (
        "The tool marked some ratings as violating a constraint. They count like all others."
    ),
    "counts-read": "Columns of classes were read as numbers of votes.",
    "decimal-commas": "Numbers with decimal commas were read as numbers.",
    "derived-column": (
        "A column of answers is the majority of the others in nearly all rows, although they often "
        "differ. It is no rater if it was computed from them. Leave it out of `wide=` then."
    ),
    "discarded-answers": "Answers in ratings that the rater discarded were left out.",
    "empty-words": (
        "Words such as NA are read as no answer. If such a word is a class, give it another name "
        "with `classes=`."
    ),
    "encoding-found": "The file is not UTF-8 text. Name its encoding with `encoding=`.",
    "equal-numbers": (
        "Classes are numbers, and equal numbers are one class, however they are written. List the "
        "classes in a task file if they are codes."
    ),
    "files-joined": (
        "Files with the same columns were read as one table. To read one of them only, give its "
        "path."
    ),
    "files-share-items": (
        "Files have the same names of items but no rater in common. If the names start again in "
        "each file, make the file a part of the item."
    ),
    "files-without-answer": "Some files of a folder of partitions have no rows, or no answer.",
    "filled-down": "Empty cells have the name above them, which stands once for a group of rows.",
    "foreign-words": "Answers in another language were read as no and yes.",
    "fractions-as-classes": (
        "Many different fractions were read as classes, as `labels=` names their column. If they "
        "are scores, name it with `score=`."
    ),
    "group-not-used": "Raters have several groups in a column, so it is not used.",
    "group-of-no-rater": (
        "`group=` names raters without ratings. Correct the names if they should match."
    ),
    "header-again": "Rows that repeat the header were left out.",
    "header-rows": "The header has several rows, whose names were joined.",
    "hidden-sheets": "The file has hidden sheets, which are not read unless `sheet=` names one.",
    "idle-words": (
        "`classes=` names words that no answer contains. Correct them if they should match."
    ),
    "item-of-list": (
        "A column counts the places of a list, so it names the item together with the list. Name "
        "other columns with `item=` if this is wrong."
    ),
    "item-repeated": (
        "Raters rate an item more than once, but not under a longer key. If the item is more than "
        "its column, name its columns with `item=`."
    ),
    "items-without-answer": (
        "Some items have no answer. They keep their places, and the model predicts their labels."
    ),
    "items-without-panel": "Some rated items are in no panel.",
    "items-without-weight": "Some items have no weight. Their weight is 1.",
    "labels-without-column": (
        "No column holds the answers to a label, so all of them are missing. Name the column with "
        "`labels=`."
    ),
    "lists-apart": "Parallel lists in cells were taken apart, so that each rating has a row.",
    "lists-of-one": "Cells are lists of one element, which is read instead of the list.",
    "many-sessions": (
        "There are so many sessions that drift is hard to estimate. If they are times, give "
        "coarser periods."
    ),
    "merged-cells": "Merged cells of a sheet have the value of their first cell.",
    "name-lists": (
        "Lists in the column of raters are read as names of several parts, and were joined."
    ),
    "nameless": (
        "Words that may mean that the name is unknown are read as names. If the name is "
        "not known, leave the cells empty."
    ),
    "nameless-columns": (
        "Some columns with values have no name, so they are called by their places. Name them in "
        "the first line."
    ),
    "near-names": (
        "Names nearly match, but count as different. If they are the same, write one name in the "
        "file."
    ),
    "nested-read": "Cells of a text table hold ratings in JSON, which became rows.",
    "no-answer-words": (
        "A word beside the classes is read as no answer. If it is a class, list it with `classes=`."
    ),
    "no-header": "The first line is a row of data, so columns are called by their numbers.",
    "no-numbers": "A column is named like numbers but holds none, so it is not used.",
    "nul-character": "The character NUL was removed from cells.",
    "number-codes": (
        "Classes that are numbers were read without an order. If they are grades, give "
        "`ordered=True`."
    ),
    "number-scale": (
        "Classes that are numbers were read as ordered, with a mean. If they are codes, give "
        "`ordered=False`."
    ),
    "order-of-file": "No column gives the rank, so items have the order of the file.",
    "own-clusters": "Some items have no cluster. Each of them is its own cluster.",
    "panels-are-clusters": "No column names the cluster, so each panel is its own cluster.",
    "panels-incomplete": (
        "Some panels list fewer chunks than were retrieved. Name the other chunks with `panels=`."
    ),
    "panels-of-unknown-size": "Some panels do not say how many chunks were retrieved.",
    "panels-renamed": "Some panels have several systems, so panels are called by system and panel.",
    "per-cent": "A column is in per cent, so 100 % stands for 1.",
    "system-missing": "Some places have no system. Metrics by system leave them out.",
    "order-of-categories": "The classes have the order of the categories of their column.",
    "ranks-from-zero": "Ranks count from 0 in the file. In the ratings they count from 1.",
    "raters-only-abstained": (
        "Some raters gave no answer at all. Check whether their answers were lost."
    ),
    "repeated-columns": (
        "Columns have the same name. Columns that differ are numbered, such as `label (2)`, and "
        "copies are left out. Rename the columns if the choice is wrong."
    ),
    "results-left-out": "Columns of results have too many different values to be classes.",
    "rows-counted": "Rows were repeated as often as a column of counts says.",
    "rows-numbered": "No column names the items or the raters, so rows have numbers.",
    "rows-without-rating": "Rows without any rating were left out.",
    "rule-only-warns": (
        "The tool only warns when an answer breaks a rule, so such answers are used."
    ),
    "seconds-joined": (
        "A rating has several rows. Its time is the sum over the rows, or the one time that all "
        "of them repeat."
    ),
    "sessions-ordered": (
        "The sessions have an order that the file does not state. Give another with `sessions=`."
    ),
    "sessions-replicate": "A rater rated an item in several sessions. These are repeated ratings.",
    "sheets-joined": "Sheets of the same columns are read as one table.",
    "signs-left-out": (
        "Words are read without the stops, quotes and signs of emphasis around them, where that "
        "is a class."
    ),
    "spaces": "The columns of the file are separated by spaces.",
    "status-of-items": (
        "A column of status is the same in all ratings of an item, so it is not used."
    ),
    "status-read": (
        "A column of status says that responses were withdrawn. They are read as no answer."
    ),
    "status-unclear": (
        "A column of status has unknown words, so it is not used. Leave out the rows that hold no "
        "answer."
    ),
    "table-joined": (
        "A table beside the ratings was read with them, such as `systems.csv` in the folder of an "
        "export. Name another with `panels=`."
    ),
    "summary-rows": (
        "Rows of totals, means and the like beside the items were left out, with the notes below "
        "them. If one is an item, rename it."
    ),
    "table-lacks-values": "Some values are not in the table that was joined.",
    "table-of-page": "The file is a web page, and its largest table was read.",
    "task-chosen": "No task was named, so one was chosen. Name another task with `task=`.",
    "times-of-records": (
        "The times are those of records, not of answers, so they cannot show drift."
    ),
    "title-rows": "Rows above the header, or right under it, were left out: titles, questions.",
    "unfinished-responses": (
        "A column says that some responses were not finished. Their answers count. Leave out these "
        "rows if they should not."
    ),
    "truth-class-unsaid": (
        "The truth names a class that no answer does. If it means that the truth is not known, "
        "give it no class with `classes=`."
    ),
    "truth-of-others": (
        "Some items of the truth are not among the ratings. Correct their names if they should "
        "match."
    ),
    "truth-rows": "Rows of the rater that `truth_rater=` names are known truth, and no ratings.",
    "truth-translated": (
        "The truth uses other words for the classes than the answers, and was translated."
    ),
    "unnamed-raters": (
        "The raters have no names, so their votes are numbered and share one confusion. If there "
        "is a column of raters, name it with `rater=`."
    ),
    "votes-apart": "Cells hold the votes of several raters without names. Each vote became a row.",
    "word-scale": (
        "Classes are words of a known scale, or begin with numbers, and were read as ordered. If "
        "they have no order, give `ordered=False`."
    ),
    "words-of-no-answer": (
        "Words that may mean no answer are read as classes. If they mean no answer, give them no "
        "class with `classes=`."
    ),
}
