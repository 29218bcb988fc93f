"""Write a simulated export of the protocol tool: its files and columns, with a truth of its own.

Nothing of the package's models is used: labels are drawn one after the other, each on the logit
scale; one number per query, its ease, helps what is good and hinders what is bad on all labels.
Raters answer each question on their own; an answer that breaks a blocked rule is given anew, one
that breaks the warned rule is given anew three times in four.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SYSTEMS = ("baseline", "reranked")
CALIBRATED = 0.12
RATERS_OF_CALIBRATED = 3
KEPT_AFTER_WARNING = 0.25
EASE_SD = 1.0
PANEL_SIZES, PANEL_SHARES = (3, 5, 7), (0.2, 0.6, 0.2)
REASONS = ("unclear", "outside_reviewer_expertise", "invalid_or_unrealistic")
START = pd.Timestamp("2026-03-02T10:00:00+00:00")


@dataclass(frozen=True, kw_only=True)
class Question:
    """One label: its log odds at a query of average ease, and what must hold for a yes.

    ``good`` is 1 if ease helps it and -1 if ease hinders it; ``only_if`` is the position of an
    earlier label and the answer that it must have.
    """

    name: str
    odds: float
    good: int
    only_if: tuple[int, bool] | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One task of the export."""

    questions: tuple[Question, ...]
    raters: tuple[str, ...]
    texts: tuple[str, ...]
    discards: float
    blocked: Callable[[Bools], Bools]
    warned: Callable[[Bools], Bools]


def _never(answers: Bools) -> Bools:
    return np.zeros(len(answers), bool)


JUNIORS = tuple(f"junior_{n}" for n in range(1, 7))
EXPERTS = tuple(f"expert_{n}" for n in range(1, 5))
PLANS = {
    "retrieval": Plan(
        questions=(
            Question(name="topically_relevant", odds=0.2, good=1),
            Question(name="evidence_sufficient", odds=-0.8, good=1, only_if=(0, True)),
            Question(name="misleading", odds=-1.7, good=-1, only_if=(1, False)),
        ),
        raters=JUNIORS,
        texts=("query", "chunk", "chunk_id", "doc_id", "chunk_rank", "n_retrieved_chunks"),
        discards=0.02,
        blocked=lambda y: y[:, 1] & ~y[:, 0],
        warned=lambda y: y[:, 1] & y[:, 2],
    ),
    "grounding": Plan(
        questions=(
            Question(name="support_present", odds=1.6, good=1),
            Question(name="unsupported_claim_present", odds=-1.1, good=-1),
            Question(name="contradicted_claim_present", odds=-0.7, good=-1, only_if=(1, True)),
            Question(name="source_cited", odds=1.4, good=1),
            Question(name="fabricated_source", odds=-1.5, good=-1, only_if=(3, True)),
        ),
        raters=JUNIORS,
        texts=("answer", "context_set"),
        discards=0.01,
        blocked=lambda y: (y[:, 2] & ~y[:, 1]) | (y[:, 4] & ~y[:, 3]),
        warned=_never,
    ),
    "generation": Plan(
        questions=(
            Question(name="proper_action", odds=1.9, good=1),
            Question(name="response_on_topic", odds=2.0, good=1),
            Question(name="helpful", odds=1.0, good=1),
            Question(name="incomplete", odds=-1.1, good=-1),
            Question(name="unsafe_content", odds=-3.6, good=-1),
        ),
        raters=EXPERTS,
        texts=("query", "answer"),
        discards=0.01,
        blocked=_never,
        warned=_never,
    ),
}
HEAD = (
    "record_uuid",
    "annotator_id",
    "task",
    "language",
    "calibration",
    "inserted_at",
    "created_at",
    "record_status",
    "response_status",
    "discard_reason",
    "discard_notes",
)
TAIL = ("notes", "constraint_violated", "constraint_details")
PANEL_TAIL = (
    "panel_complete",
    "n_annotated_chunks",
    "n_submitted_chunks",
    "n_discarded_chunks",
    "n_records_seen",
)
POOR_TASK = "grounding"


def write_export(folder: Path, rng: np.random.Generator, *, queries: int = 160) -> str:
    """Write an export with its truth into a folder.

    Parameters
    ----------
    folder : Path
    rng : numpy.random.Generator
    queries : int
        Each is answered by both systems: twice as many records.

    Returns
    -------
    str
        The rater who is poor in grounding.
    """
    records = _records(queries, rng)
    ease = rng.normal(0, EASE_SD, queries)
    poor = str(rng.choice(JUNIORS))
    counts = {}
    for name, plan in PLANS.items():
        items = _items(records, rng) if name == "retrieval" else records.assign(chunk_id="")
        truth = draw_truth(plan, items, ease, rng)
        rows = _rows(name, plan, items, truth, poor if name == POOR_TASK else "", rng)
        rows.to_csv(folder / f"{name}.csv", index=False)
        _truth_file(plan, items, truth).to_csv(folder / f"truth_{name}.csv", index=False)
        counts[name] = len(rows)
    records[["record_uuid", "query_id", "system"]].to_csv(folder / "systems.csv", index=False)
    meta = {"export_id": "simulated", "tasks": list(PLANS), "row_counts": counts}
    (folder / "annotation_export.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return poor


def _records(queries: int, rng: np.random.Generator) -> pd.DataFrame:
    """One line per query and system."""
    number = np.arange(queries * len(SYSTEMS))
    query = number // len(SYSTEMS)
    hours = pd.to_timedelta(number, unit="h")
    return pd.DataFrame(
        {
            "record_uuid": [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in number],
            "query_id": [f"query_{n + 1:03d}" for n in query],
            "system": [SYSTEMS[n] for n in number % len(SYSTEMS)],
            "query_number": query,
            "chunk_rank": 1,
            "language": rng.choice(["de", "en"], len(number), p=[0.7, 0.3]),
            "created_at": [(START + h).isoformat() for h in hours],
            "query": [f"query {n + 1}" for n in query],
            "answer": [f"answer {n + 1}" for n in number],
            "context_set": "a[CTX_SEP]b",
        }
    )


def _items(records: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """One line per retrieved chunk, in the order of the lists."""
    size = rng.choice(PANEL_SIZES, len(records), p=PANEL_SHARES)
    items = records.loc[records.index.repeat(size)].reset_index(drop=True)
    rank = np.concatenate([np.arange(1, n + 1) for n in size])
    chunk = items["record_uuid"].str.slice(0, 8) + "-c" + pd.Series(rank).astype(str)
    return items.assign(
        chunk_rank=rank,
        n_retrieved_chunks=np.repeat(size, size),
        chunk_id=chunk,
        chunk="chunk " + chunk,
        doc_id=[f"doc_{n}" for n in rank],
    )


def draw_truth(plan: Plan, items: pd.DataFrame, ease: Floats, rng: np.random.Generator) -> Bools:
    """Draw the true labels, (item, label), one label after the other."""
    better = (items["system"] == SYSTEMS[1]).to_numpy()
    helped = ease[items["query_number"]] + better * rng.normal(0.2, 0.3)
    helped -= rng.normal(0.12, 0.04) * (items["chunk_rank"].to_numpy() - 1)
    truth = np.zeros((len(items), len(plan.questions)), bool)
    for n, question in enumerate(plan.questions):
        odds = question.odds + rng.normal(0, 0.3) + question.good * helped
        truth[:, n] = rng.random(len(items)) < expit(odds)
        if question.only_if is not None:
            other, wanted = question.only_if
            truth[:, n] &= truth[:, other] == wanted
    return truth


def draw_reliability(plan: Plan, poor: str, rng: np.random.Generator) -> Floats:
    """P(right answer) of each rater, label and true class: (rater, label, class)."""
    shape = (len(plan.raters), len(plan.questions), 2)
    right = expit(rng.normal(2.0, 0.6, shape))
    if poor:
        right[plan.raters.index(poor)] = rng.uniform(0.45, 0.7, shape[1:])
    return np.asarray(right)


def draw_answers(plan: Plan, truth: Bools, right: Floats, rng: np.random.Generator) -> Bools:
    """Answers of ratings with these truths (rating, label); ``right`` is (rating, label, class)."""
    chance = np.take_along_axis(right, truth[..., None].astype(int), axis=2)[..., 0]
    answers = np.zeros_like(truth)
    open_rows = np.arange(len(truth))
    while len(open_rows):
        correct = rng.random((len(open_rows), truth.shape[1])) < chance[open_rows]
        given = truth[open_rows] == correct
        answers[open_rows] = given
        again = plan.warned(given) & (rng.random(len(given)) >= KEPT_AFTER_WARNING)
        open_rows = open_rows[plan.blocked(given) | again]
    return answers


def _rows(
    task: str, plan: Plan, items: pd.DataFrame, truth: Bools, poor: str, rng: np.random.Generator
) -> pd.DataFrame:
    """Lay out the task's file: a line per rating."""
    calibrated = rng.random(len(items)) < CALIBRATED
    per_item = np.where(calibrated, RATERS_OF_CALIBRATED, 1)
    item = np.repeat(np.arange(len(items)), per_item)
    order = rng.random((len(items), len(plan.raters))).argsort(axis=1)
    rater = order[np.arange(len(plan.raters)) < per_item[:, None]]
    answers = draw_answers(plan, truth[item], draw_reliability(plan, poor, rng)[rater], rng)
    discarded = rng.random(len(item)) < plan.discards
    broken = plan.warned(answers) & ~discarded
    rows = items.iloc[item].reset_index(drop=True)
    words = np.where(answers, "true", "false").astype(object)
    words[discarded] = ""
    labels = {q.name: words[:, n] for n, q in enumerate(plan.questions)}
    detail = f"{task}: evidence_sufficient=True but misleading=True"
    rows = rows.assign(
        annotator_id=np.array(plan.raters)[rater],
        task=task,
        calibration=_words(calibrated[item]),
        inserted_at=rows["created_at"],
        record_status="completed",
        response_status=np.where(discarded, "discarded", "submitted"),
        discard_reason=np.where(discarded, rng.choice(REASONS, len(item)), ""),
        discard_notes="",
        notes="",
        constraint_violated=_words(broken),
        constraint_details=np.where(broken, detail, ""),
        **labels,
    )
    columns = [*HEAD, *plan.texts, *labels, *TAIL]
    if task == "retrieval":
        rows, columns = _with_panels(rows, discarded), [*columns, *PANEL_TAIL]
    return rows[columns]


def _with_panels(rows: pd.DataFrame, discarded: Bools) -> pd.DataFrame:
    """Add what the tool counts for each ranked list."""

    def chunks(kept: Bools) -> pd.Series:
        counts = rows[kept].groupby("record_uuid")["chunk_id"].nunique()
        return rows["record_uuid"].map(counts).fillna(0).astype(int)

    annotated, submitted = chunks(np.ones(len(rows), bool)), chunks(~discarded)
    return rows.assign(
        panel_complete=_words((submitted == rows["n_retrieved_chunks"]).to_numpy()),
        n_annotated_chunks=annotated,
        n_submitted_chunks=submitted,
        n_discarded_chunks=chunks(discarded),
        n_records_seen=annotated,
    )


def _truth_file(plan: Plan, items: pd.DataFrame, truth: Bools) -> pd.DataFrame:
    """Lay out the truth, as 0 and 1."""
    labels = {q.name: truth[:, n].astype(int) for n, q in enumerate(plan.questions)}
    return items[["record_uuid", "chunk_id"]].assign(**labels)


def _words(flags: Bools) -> NDArray[np.str_]:
    return np.where(flags, "true", "false")
