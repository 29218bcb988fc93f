"""The tables of examples that have another shape than a row for each rating."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from assay.io.datasets import anesthesia_table

SEVERITIES = {
    "1": "not abusive", "0": "ambiguous", "-1": "mild", "-2": "strong", "-3": "very strong",
}  # fmt: skip
EXPERTS = {"annotation_1": "expert_1", "annotation_2": "expert_2", "meta_annotation": "expert_meta"}
JUDGES = ("gpt4", "gpt35", "gpt4_no_explanation", "gpt4_no_cot")


def caries() -> pd.DataFrame:
    """Return a row for each rating, of counts of patterns; the numbers of the teeth are made up."""
    with (files("assay.io.examples") / "tables" / "caries.csv").open("rb") as stream:
        counts = pd.read_csv(stream)
    raters = [column for column in counts if column != "n"]
    teeth = counts.loc[counts.index.repeat(counts["n"]), raters].reset_index(drop=True)
    long = teeth.rename_axis("tooth").reset_index().melt("tooth", var_name="rater")
    long["caries"] = np.where(long["value"] == 1, "yes", "no")
    long["tooth"] = "tooth_" + (long["tooth"] + 1).astype(str)
    return long[["tooth", "rater", "caries"]].rename(columns={"tooth": "item"})


def convabuse(path: Path) -> pd.DataFrame:
    """Return severities. Items are numbered; their texts are left out."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    ticked = raw[[f"is_abuse.{level}" for level in SEVERITIES]].astype(float).to_numpy()
    text = ["prev_agent", "prev_user", "agent", "user"]
    item = raw.groupby(text, sort=False).ngroup()
    frame = pd.DataFrame(
        {
            "item": "utterance_" + (item + 1).astype(str),
            "rater": raw["annotator_id"],
            "system": raw["bot"],
            "severity": np.array(list(SEVERITIES.values()))[ticked.argmax(axis=1)],
        }
    )
    again = frame.groupby(["item", "rater"], sort=False).cumcount()
    return frame.assign(replicate=(again + 1).astype(str))


def diras_chatreport(graded: Path, judged: Path) -> pd.DataFrame:
    """Return grades of experts, scores of language models, and the adjudicated grade of each pair.

    A score is the confidence in a yes: the stated confidence, or what it lacks to 1 after a no.
    """
    grades = pd.read_csv(graded, dtype=str, keep_default_na=False)
    guesses = pd.read_csv(judged, dtype=str, keep_default_na=False)
    question = pd.factorize(grades["Questions"])[0] + 1
    paragraph = grades.groupby("Questions", sort=False).cumcount() + 1
    shared = pd.DataFrame(
        {
            "question": [f"question_{n:02d}" for n in question],
            "paragraph": [f"paragraph_{n:02d}" for n in paragraph],
            "adjudicated": grades["gold"],
        }
    )
    parts = [
        shared.assign(rater=rater, group="expert", relevance=_grade(grades[column]), score="")
        for column, rater in EXPERTS.items()
    ]
    for judge in JUDGES:
        yes = guesses[f"{judge}_guess"].str.lower().str.contains("yes")
        stated = guesses[f"{judge}_confidence"].astype(float)
        score = stated.where(yes, 1 - stated).round(4).astype(str)
        parts.append(shared.assign(rater=judge, group="model", relevance="", score=score))
    table = pd.concat(parts, ignore_index=True)
    return table[(table["relevance"] != "") | (table["score"] != "")].reset_index(drop=True)


def _grade(said: pd.Series) -> pd.Series:
    """Return no, partially or yes; every kind of partially is one class."""
    lower = said.str.lower()
    return lower.where(~lower.str.startswith("partially"), "partially")


def xsum_hallucination(path: Path) -> pd.DataFrame:
    """Return whether each slot of raters marked a span of a summary as hallucinated."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    marked = raw["hallucinated_span"] != "NULL"
    key = ["bbcid", "system", "worker_id"]
    found = marked.groupby([raw[name] for name in key], sort=False).any().reset_index(name="said")
    return pd.DataFrame(
        {
            "document": found["bbcid"],
            "system": found["system"],
            "rater": found["worker_id"],
            "hallucinated": np.where(found["said"], "yes", "no"),
        }
    )


SHAPES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "anesthesia": anesthesia_table,
    "caries": caries,
    "convabuse": convabuse,
    "diras_chatreport": diras_chatreport,
    "xsum_hallucination": xsum_hallucination,
}
