"""Notes of the reader: what it decided, and what a format loses."""

NOTES = {
    "decimal-commas": "Commas in numbers were read as decimal commas.",
    "encoding-found": "The file is not UTF-8 text. Name its encoding with `encoding=`.",
    "task-chosen": "No task is named, and one was chosen. Name another with `task=`.",
    "title-rows": "Rows above the header of a sheet were left out.",
}
