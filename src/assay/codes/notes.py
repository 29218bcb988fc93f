"""Notes on decisions of the reader."""

NOTES = {
    "columns-read": "Several columns were each read as a rater, or as an item.",
    "counts-read": "Columns of classes were read as numbers of votes.",
    "decimal-commas": "Numbers with decimal commas were read as numbers.",
    "empty-words": (
        "Words such as NA are read as no answer. If such a word is a class, give it another name "
        "with `classes=`."
    ),
    "encoding-found": "The file is not UTF-8 text. Name its encoding with `encoding=`.",
    "files-joined": (
        "Files with the same columns were read as one table. To read one of them only, give its "
        "path."
    ),
    "name-lists": (
        "Lists in the column of raters are read as names of several parts, and were joined."
    ),
    "equal-numbers": (
        "Classes are numbers, and equal numbers are one class, however they are written. List the "
        "classes in a task file if they are codes."
    ),
    "header-again": "Rows that repeat the header were left out.",
    "hidden-sheets": ("The file has hidden sheets, which are not read unless `sheet=` names one."),
    "merged-cells": "Merged cells of a sheet have the value of their first cell.",
    "nameless-columns": (
        "Some columns with values have no name, so they are called by their places. Name them in "
        "the first line."
    ),
    "no-header": "The first line is a row of data, so columns are called by their numbers.",
    "number-codes": (
        "Classes that are numbers were read without an order. If they are grades, give "
        "`ordered=True`."
    ),
    "number-scale": (
        "Classes that are numbers were read as ordered, with a mean. If they are codes, give "
        "`ordered=False`."
    ),
    "nul-character": "The character NUL was removed from cells.",
    "repeated-columns": (
        "Columns have the same name. Columns that differ are numbered, such as `label (2)`, and "
        "copies are left out. Rename the columns if the choice is wrong."
    ),
    "results-left-out": "Columns of results have too many different values to be classes.",
    "rows-counted": "Rows were repeated as often as a column of counts says.",
    "rows-numbered": "No column names the items or the raters, so rows have numbers.",
    "sheets-joined": "Sheets of the same columns are read as one table.",
    "spaces": "The columns of the file are separated by spaces.",
    "table-joined": (
        "A table beside the ratings was read with them, such as `systems.csv` in the folder of an "
        "export. Name another with `panels=`."
    ),
    "table-of-page": "The file is a web page, and its largest table was read.",
    "task-chosen": "No task was named, so one was chosen. Name another task with `task=`.",
    "title-rows": "Rows above the header, or right under it, were left out: titles, questions.",
    "unnamed-raters": (
        "The raters have no names, so their votes are numbered and share one confusion. If there "
        "is a column of raters, name it with `rater=`."
    ),
    "votes-apart": "Cells hold the votes of several raters without names. Each vote became a row.",
}
