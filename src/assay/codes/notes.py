"""Notes of the reader: what it decided, and what a format loses."""

NOTES = {
    "task-chosen": "No task is named, and one was chosen. Name another with `task=`.",
}
