"""DIRAS: a light student beside its teacher, on questions that it was not trained on.

Run ``python -m benchmarks diras_student [--data DIR]``; it writes ``student.csv`` to
``results/diras``. The files are those of ``diras_tables``. Each of the 11 questions is left out in
turn: the student learns from the teacher's judgements of the ten others, and scores the 60
paragraphs of the one left out. Student and teacher are then held against the gold.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import assay
from assay.studies.students import train_student
from benchmarks.real_data.diras_retrievers import EMBEDDINGS
from benchmarks.real_data.diras_tables import Diras, Line, read_diras, write

TEACHERS = {"Point-Ask-D GPT-4": "gpt4", "Llama-3 Tok": "ft_gc_llama tok"}
MEASURES = ["ece", "auroc", "brier", "kendall_tau"]
NUMBERS = tuple(EMBEDDINGS.values())
VARIANTS = {
    "texts": ((), False),
    "texts and definitions": ((), True),
    "texts, definitions, released embeddings": (NUMBERS, True),
}
"""The numbers that describe a pair, and whether definitions are known."""


def pairs_of(diras: Diras) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pairs with their texts and numbers, and the definitions."""
    raw, query = diras.raw, diras.clusters
    pairs = pd.DataFrame(
        {
            "item": query.index,
            "query_id": query.to_numpy(),
            "query": raw["Questions"].to_numpy(),
            "document": raw["Paragraphs"].to_numpy(),
            **{name: raw[name].to_numpy() for name in NUMBERS},
        }
    )
    told = pd.DataFrame({"query_id": query.to_numpy(), "definition": raw["Background"].to_numpy()})
    return pairs, told.drop_duplicates("query_id")


def left_out_scores(diras: Diras, rater: str, variant: str) -> tuple[pd.Series, float]:
    """Return the student's scores of each question when it was left out, and seconds a training."""
    pairs, told = pairs_of(diras)
    numbers, defined = VARIANTS[variant]
    definitions = told if defined else None
    taught = diras.scores(rater)["score"]
    parts, seconds = [], 0.0
    for query in pairs["query_id"].unique():
        own = pairs["query_id"] == query
        begin = time.process_time()
        student = train_student(
            pairs[~own],
            taught[pairs["item"][~own]],
            numbers=numbers or None,
            definitions=definitions,
        )
        seconds += time.process_time() - begin
        parts.append(student.scores(pairs[own], definitions=definitions))
    return pd.concat(parts).set_index("item")["score"], seconds / len(parts)


def student_lines(diras: Diras) -> Iterator[Line]:
    """Make a line for each teacher and variant of its student."""
    choices: Line = {"positive": "partially", "clusters": diras.clusters, "metric": MEASURES}
    for name, rater in TEACHERS.items():
        teacher = diras.scores(rater)["score"]
        own = assay.score_rater(diras.relevance(), teacher, **choices)
        yield {"teacher": name, "student": "(the teacher)", **_numbers(own), "seconds": ""}
        for variant in VARIANTS:
            scores, seconds = left_out_scores(diras, rater, variant)
            found = assay.score_rater(diras.relevance(), scores, **choices)
            yield {
                "teacher": name,
                "student": variant,
                **_numbers(found),
                "seconds": f"{seconds:.1f}",
            }


def _numbers(found: object) -> Line:
    return {m: f"{found[m].item():.3f}" for m in MEASURES}  # type: ignore[index]


def main() -> None:
    """Read the command line and write the table."""
    project = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=project.parent / "shared" / "data")
    folder = Path(__file__).resolve().parent / "results" / "diras"
    write(student_lines(read_diras(parser.parse_args().data)), folder / "student.csv")


if __name__ == "__main__":
    main()
