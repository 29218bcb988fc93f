"""Real ratings for the demo: Dawid & Skene (1979), Applied Statistics 28(1), 20-28, Table 1.

Five anaesthetists judged the fitness of 45 patients for a general anaesthetic, from 1 (fit) to 4
(unfit). The first judged every form three times, the others once.
"""

from dataclasses import replace

import pandas as pd

from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io import read_ratings

SOURCE = "Dawid & Skene (1979), Applied Statistics 28, 20-28, Table 1"
CLASSES = ("1", "2", "3", "4")

# Anaesthetist and replicate of each digit of a patient.
RATERS = (1, 1, 1, 2, 3, 4, 5)
REPLICATES = (1, 2, 3, 1, 1, 1, 1)

# One word per patient, 1 to 45. Copies of the table differ in one digit, the second of patient 7:
# 1 here, 2 elsewhere.
TABLE = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1122111 3333433 2222223 "
    "2322223 4444444 2223343 1111111 2223212 1211111 1112111 1111111 1111111 "
    "2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 "
    "1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 "
    "2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222"
)


def anesthesia_table() -> pd.DataFrame:
    """Return a row for each rating: item, rater, replicate, label, all strings."""
    lines = [
        (str(patient), str(rater), str(replicate), digit)
        for patient, digits in enumerate(TABLE.split(), start=1)
        for rater, replicate, digit in zip(RATERS, REPLICATES, digits, strict=True)
    ]
    return pd.DataFrame(lines, columns=["item", "rater", "replicate", "label"])


def anesthesia_task() -> Task:
    """Return the task ``single`` with four ordered classes of fitness."""
    task = load_task("single")
    (label,) = task.labels
    fitness = replace(
        label, classes=CLASSES, ordered=True, description="Fitness, from 1 (fit) to 4 (unfit)."
    )
    shares = tuple(f"prevalence[{label.name}={one}]" for one in CLASSES)
    return replace(task, labels=(fitness,), metrics=shares)


def anesthesia_ratings() -> Ratings:
    """Return the 315 ratings of 45 patients by 5 anaesthetists."""
    return read_ratings(anesthesia_table(), task=anesthesia_task())
