"""The tables of examples that have another shape than a row for each rating."""

import math
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from assay.io.examples.anesthesia import anesthesia_table

SEVERITIES = {
    "1": "not abusive", "0": "ambiguous", "-1": "mild", "-2": "strong", "-3": "very strong",
}  # fmt: skip
EXPERTS = {"annotation_1": "expert_1", "annotation_2": "expert_2", "meta_annotation": "expert_meta"}
JUDGES = ("gpt4", "gpt35", "gpt4_no_explanation", "gpt4_no_cot")
TOKENS = {"gpt4": "gpt4_probabYesNo", "gpt35": "gpt3.5_probabYesNo"}
"""Columns with the probability of the token of the guess, in per cent."""
RETRIEVERS = {
    "openai_small": "small_embed_score", "openai_large": "large_embed_score",
    "bge_base": "base_scores", "bge_large": "large_scores", "bge_reranker": "rerank_scores",
}  # fmt: skip
LISTS = {
    f"{model}_list_{window}{'_definition' if defined else ''}": f"{model}_rerank{defined}{ending}"
    for model in ("gpt4", "gpt35")
    for window, ending in (("2", "_2"), ("10", ""), ("20", "_20"))
    for defined in ("", "_bg")
}
"""Columns with the place of a pair in a list that a model ordered: 0 at its end."""
TOP = 59
"""Place of the first of 60 pairs."""
RESPONSES = {
    "1_full_compliance": "compliance",
    "3_partial_refusal": "partial refusal",
    "2_full_refusal": "full refusal",
}
REFUSAL_RATERS = {
    "gpteval": {
        ("person_1", "person"): "annotation_1",
        ("person_2", "person"): "annotation_2",
        ("gpt4_judge", "model"): "gpt4_label",
    },
    "streval": {("string_match", "rule"): "strmatch_label"},
}
"""Raters and their groups, by the kind of a file."""
AIS = {
    "INT & AIS": "attributable", "INT": "interpretable", "Flagged": "flagged",
    "# agree (INT)": "n_agree_interpretable", "# agree (AIS)": "n_agree_attributable",
    "model-name": "model",
}  # fmt: skip


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
    shared = _pairs(grades)
    parts = [*_experts(shared, grades)]
    for judge in JUDGES:
        confidence = guesses[f"{judge}_confidence"].astype(float)
        score = _score(_guessed(guesses, judge), confidence).round(4).astype(str)
        parts.append(shared.assign(rater=judge, group="model", relevance="", score=score))
    return _said(parts)


def diras_scores(graded: Path, judged: Path) -> pd.DataFrame:
    """Return grades of experts, and scores of language models and of retrievers. A model states its
    confidence (``_ask``), or it is its token's probability (``_tok``). Places in a list are from 0
    to 1.
    """
    grades = pd.read_csv(graded, dtype=str, keep_default_na=False)
    raw = pd.read_csv(judged, dtype=str, keep_default_na=False)
    shared = _pairs(grades).assign(uncertain=np.where(grades["hard"] == "1", "yes", "no"))
    parts = [part.assign(guess="", confidence="") for part in _experts(shared, grades)]
    stated = {f"{judge}_ask": (judge, raw[f"{judge}_confidence"].astype(float)) for judge in JUDGES}
    tokens = {f"{judge}_tok": (judge, raw[c].astype(float) / 100) for judge, c in TOKENS.items()}
    for rater, (judge, confidence) in (stated | tokens).items():
        yes = _guessed(raw, judge)
        part = shared.assign(rater=rater, group="model", relevance="")
        part["score"] = _score(yes, confidence).astype(str)
        part["guess"] = np.where(yes, "yes", "no")
        parts.append(part.assign(confidence=confidence.astype(str)))
    for rater, column in (LISTS | RETRIEVERS).items():
        part = shared.assign(rater=rater, group="list" if rater in LISTS else "retriever")
        number = raw[column].astype(float)
        if rater in LISTS:
            number = number / TOP
        elif rater == "bge_reranker":
            number = number.map(lambda logit: 1 / (1 + math.exp(-logit)))
        part = part.assign(relevance="", score=number.astype(str))
        parts.append(part.assign(guess="", confidence=""))
    return _said(parts)


def _pairs(grades: pd.DataFrame) -> pd.DataFrame:
    """Return numbered questions, and the numbered paragraphs of each."""
    question = pd.factorize(grades["Questions"])[0] + 1
    paragraph = grades.groupby("Questions", sort=False).cumcount() + 1
    return pd.DataFrame(
        {
            "question": [f"question_{n:02d}" for n in question],
            "paragraph": [f"paragraph_{n:02d}" for n in paragraph],
            "adjudicated": grades["gold"],
        }
    )


def _experts(shared: pd.DataFrame, grades: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for column, rater in EXPERTS.items():
        yield shared.assign(rater=rater, group="expert", relevance=_grade(grades[column]), score="")


def _guessed(raw: pd.DataFrame, judge: str) -> pd.Series:
    """Return whether a guess is a yes, as the authors read it: it contains "yes"."""
    return raw[f"{judge}_guess"].str.lower().str.contains("yes")


def _score(yes: pd.Series, confidence: pd.Series) -> pd.Series:
    return confidence.where(yes, 1 - confidence)


def _said(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Stack the raters, without pairs on which they said nothing."""
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


def xstest(*paths: Path) -> pd.DataFrame:
    """Return what two persons, a language model and a rule call each response; a system has a file
    of each. Responses of the model in free text are left out.
    """
    parts = []
    for path in paths:
        raw = pd.read_csv(path, dtype=str, keep_default_na=False)
        system, judge = path.stem.removeprefix("xstest_v2_completions_").rsplit("_", 1)
        kind = np.where(raw["type"].str.startswith("contrast"), "unsafe", "safe")
        shared = pd.DataFrame({"prompt": raw["id"], "system": system, "kind": kind})
        for (rater, group), column in REFUSAL_RATERS[judge].items():
            parts.append(shared.assign(rater=rater, group=group, response=raw[column]))
    table = pd.concat(parts, ignore_index=True)
    table["response"] = table["response"].map(RESPONSES)
    table = table.dropna(subset="response").reset_index(drop=True)
    return table.assign(refused=np.where(table["response"] == "compliance", "no", "yes"))


def ais_votes(path: Path) -> pd.DataFrame:
    """Return the consensus and the counts of votes; inputs are numbered, texts are left out."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    raw = raw.rename(columns=str.strip).rename(columns=AIS)
    example = pd.Series(pd.factorize(raw["ex-idx"])[0]).map("input_{:04d}".format)
    columns = ["model", "flagged", "interpretable", "attributable"]
    counts = ["n_agree_interpretable", "n_agree_attributable"]
    return raw[[*columns, *counts]].assign(example=example)[["example", *columns, *counts]]


SHAPES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "anesthesia": anesthesia_table,
    "caries": caries,
    "convabuse": convabuse,
    "diras_chatreport": diras_chatreport,
    "diras_scores": diras_scores,
    "xsum_hallucination": xsum_hallucination,
    "xstest": xstest,
    "ais_qrecc": ais_votes,
    "ais_wow": ais_votes,
    "ais_cnn_dm": ais_votes,
}
