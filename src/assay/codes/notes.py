"""Notes on decisions of the reader."""

NOTES = {
    "columns-read": "Each of some columns was read as a rater, or as an item.",
    "counts-read": "Columns of classes were read as numbers of votes.",
    "decimal-commas": "Numbers with decimal commas were read as numbers.",
    "empty-words": (
        "Words such as NA are read as no answer. If such a word is a class, give it another name "
        "with `classes=`."
    ),
    "encoding-found": "The file is not UTF-8 text. Name its encoding with `encoding=`.",
    "files-joined": (
        "Files of the same columns were read as one table. Give the path of one of them if only "
        "that is meant."
    ),
    "equal-numbers": (
        "Classes are numbers, and equal numbers are one class, however they are written. List the "
        "classes in a task file if they are codes."
    ),
    "header-again": "Rows that repeat the header were left out.",
    "merged-cells": "Merged cells of a sheet have the value of their first cell.",
    "name-lists": "Lists in a column of names are names of several parts, and were joined.",
    "nameless-columns": (
        "Columns that hold values have no name, and are called by their places. Name them in the "
        "first line."
    ),
    "no-header": "The first line is a row, so the columns are called by their numbers.",
    "nul-character": "The character NUL was removed from cells.",
    "repeated-columns": (
        "Columns have the same name. Those that differ are numbered, such as `label (2)`, and "
        "copies are left out. Rename them if another is meant."
    ),
    "results-left-out": "Columns of results hold too many values to be classes.",
    "rows-counted": "Rows were repeated as often as a column of numbers says.",
    "rows-numbered": "No column names the items or the raters, so rows have numbers.",
    "spaces": "Spaces separate the columns of a text.",
    "task-chosen": "No task is named, and one was chosen. Name another with `task=`.",
    "title-rows": "Rows above the header of a sheet were left out.",
    "unnamed-raters": (
        "The raters have no names, so their votes are numbered and share one confusion. Name the "
        "column of the raters with `rater=` if there is one."
    ),
    "votes-apart": "Cells hold the votes of several raters without names. Each vote has a row.",
}
