"""A light student: a calibrated classifier on similarities of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.text import counted
from assay._util.typing import Floats, Ints
from assay._util.validation import names_given
from assay.data.task_files import load_task
from assay.io.files.opening import open_source
from assay.studies.diras.retrievers import Embed
from assay.studies.judges.items import Items, read_items
from assay.studies.judges.prompts import load_prompt
from assay.studies.students.features import Features, PairTexts, sklearn_modules
from assay.studies.students.teacher import Teacher, read_teacher

PLAIN, DEFINED = "relevance", "relevance_definition"
"""Prompts whose slots say which texts a pair has."""
STRENGTHS = (0.01, 0.1, 1.0)
"""Inverse strengths of the penalty that cross-validation chooses from."""
FOLDS = 5
FEWEST_QUERIES = 2
RATER, GROUP = "student", "student"


@dataclass(frozen=True, kw_only=True, eq=False)
class Student:
    """A trained student.

    strength : inverse strength of the penalty, chosen by cross-validation over queries
    n_pairs, n_queries : pairs and queries that it was trained on
    """

    features: Features
    classifier: Any
    centre: Floats
    scale: Floats
    numbers: tuple[str, ...]
    defined: bool
    strength: float
    n_pairs: int
    n_queries: int

    def scores(self, pairs: object, *, definitions: object = None) -> pd.DataFrame:
        """Return P(relevant) of pairs as ratings of a scored rater.

        Columns: those of the pairs without texts, ``rater``, ``group``, ``relevance`` (no or yes)
        and ``score``. ``definitions`` are needed if, and only if, it was trained with some.
        Similarities count relative to the pairs of the same query in this table.
        """
        if self.defined and definitions is None:
            raise RatingsError.of(
                "definitions-missing",
                "the student learned with definitions of relevance",
                "the pairs",
                mend="give those of these queries too: `definitions=`",
            )
        items, texts = _read(pairs, definitions if self.defined else None, self.numbers)
        inputs = (self.features.of(texts) - self.centre) / self.scale
        score = self.classifier.predict_proba(inputs)[:, 1]
        kept = items.kept.drop(columns=[c for c in ("rater", "group") if c in items.kept])
        said = np.where(score >= 0.5, "yes", "no")
        return kept.assign(rater=RATER, group=GROUP, relevance=said, score=score)


def train_student(
    pairs: object,
    teacher: Teacher,
    *,
    embed: Embed | None = None,
    numbers: str | Sequence[str] | None = None,
    definitions: object = None,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
) -> Student:
    r"""Train a light student of relevance from a teacher's judgements, in seconds, on a CPU.

    Parameters
    ----------
    pairs : path or DataFrame
        Pairs of query and document, as :func:`assay.sample_pairs` makes them.
    teacher : xarray.DataTree, path, DataFrame, Series or mapping
        A fit, whose posterior is learned from; or ratings with ``item`` and ``score``, as
        :func:`assay.ask_model` makes them (the mean where several rate); or P(relevant) by item.
    embed : callable, optional
        Function from texts to an array (text, dimension), as for ``sample_pairs(retriever=)``.
    numbers : str or sequence of str, optional
        Columns of numbers that also describe a pair, such as ``retriever_score``.
    definitions : path or DataFrame, optional
        What makes a document relevant, for each query.
    label, positive
        Of a fit, as for :func:`assay.score_rater`.

    Returns
    -------
    Student

    Raises
    ------
    RatingsError
        If tables cannot be used, fewer than two queries have a judged pair, or the teacher finds
        all or no pairs relevant.
    FitError
        If the extra ``assay[student]`` is missing.

    Notes
    -----
    A logistic regression on similarities of the texts. A pair with P(relevant) :math:`p` counts
    with weight :math:`p` as relevant and :math:`1 - p` as not, so that certain judgements count
    most. The scores are calibrated by Platt's method on pairs of queries that were left out
    (Platt 1999), and the penalty is chosen there too.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines. Advances in Large Margin
    Classifiers, 61-74.
    """
    named = () if numbers is None else tuple(names_given("numbers", numbers, what="column"))
    items, texts = _read(pairs, definitions, named)
    chance = read_teacher(teacher, label=label, positive=positive)
    taught = np.array([chance.get(name, np.nan) for name in items.names], float)
    known = np.isfinite(taught)
    _require_enough(taught[known], texts.query[known])
    features = Features(embed=embed)
    features.learn(texts)
    inputs = features.of(texts)[known]
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    strength, classifier = _fitted((inputs - centre) / scale, taught[known], texts.query[known])
    return Student(
        features=features, classifier=classifier, centre=centre, scale=scale,
        numbers=named, defined=definitions is not None, strength=strength, n_pairs=int(known.sum()),
        n_queries=len(np.unique(texts.query[known])),
    )  # fmt: skip


def _fitted(inputs: Floats, taught: Floats, query: Ints) -> tuple[float, Any]:
    """Return the strength with the least log loss of left-out queries, and its classifier."""
    linear, calibration, selection = sklearn_modules(
        "linear_model", "calibration", "model_selection"
    )
    both = np.vstack([inputs, inputs])
    relevant = np.repeat([1, 0], len(inputs))
    weight = np.r_[taught, 1 - taught]
    groups = np.r_[query, query]
    parts = selection.GroupKFold(min(FOLDS, len(np.unique(query))))
    splits = list(parts.split(both, relevant, groups))

    def model(strength: float) -> Any:
        return linear.LogisticRegression(C=strength, max_iter=2000)

    losses = {
        strength: sum(
            _loss(model(strength).fit(both[a], relevant[a], weight[a]), both[b], relevant[b],
                  weight[b])
            for a, b in splits
        )
        for strength in STRENGTHS
    }  # fmt: skip
    best = min(losses, key=losses.__getitem__)
    calibrated = calibration.CalibratedClassifierCV(model(best), cv=splits, ensemble=False)
    return best, calibrated.fit(both, relevant, sample_weight=weight)


def _loss(model: Any, inputs: Floats, relevant: Ints, weight: Floats) -> float:
    log = model.predict_log_proba(inputs)
    return float(-(weight * log[np.arange(len(relevant)), relevant]).sum())


def _read(source: object, definitions: object, numbers: tuple[str, ...]) -> tuple[Items, PairTexts]:
    """Read pairs with their texts and numbers."""
    task = load_task("relevance")
    defined = definitions is not None
    prompt = load_prompt(DEFINED if defined else PLAIN, task)
    items = read_items(source, task, prompt, definitions=definitions)
    table = open_source(source, what="the pairs").plain_table()
    kept = items.kept
    problems = [problem for name in numbers for problem in _number_problems(kept, name)]
    if problems:
        raise RatingsError(problems, table.source)
    queries = {name: n for n, name in enumerate(dict.fromkeys(items.cluster))}
    weight = pd.to_numeric(kept["weight"], errors="coerce") if "weight" in kept else pd.Series([])
    usable = len(weight) == len(kept) and bool((weight > 0).all())
    return items, PairTexts(
        items=items.names,
        query=np.array([queries[name] for name in items.cluster], np.int64),
        queries=[value["query"] for value in items.values],
        documents=[value["document"] for value in items.values],
        definitions=[value["definition"] if defined else "" for value in items.values],
        numbers=np.array([kept[n].astype(float) for n in numbers], float)
        .reshape(len(numbers), len(kept))
        .T,
        weight=weight.to_numpy(float) if usable else np.ones(len(kept)),
    )


def _number_problems(kept: pd.DataFrame, name: str) -> list[Problem]:
    if name not in kept:
        return [Problem(code="texts-column", what=f"there is no column {name}", where="the pairs")]
    wrong = ~np.isfinite(pd.to_numeric(kept[name], errors="coerce").astype(float))
    if not wrong.any():
        return []
    return [
        Problem(
            code="no-number",
            what=f"{counted(int(wrong.sum()), 'cell', 'are')} no number",
            where=f"column {name}",
            mend="correct these cells, or leave the column out",
            numbers={"cells": int(wrong.sum())},
        )
    ]


def _require_enough(taught: Floats, query: Ints) -> None:
    """Refuse judgements that nothing can be learned from."""
    queries = len(np.unique(query))
    if queries < FEWEST_QUERIES:
        raise RatingsError.of(
            "student-pairs",
            f"{counted(queries, 'query', 'have')} a pair that the teacher judged",
            "the teacher",
            mend=f"a student needs at least {FEWEST_QUERIES}, since it is checked on queries that "
            "were left out",
        )
    if not taught.sum() or not (1 - taught).sum():
        raise RatingsError.of(
            "student-pairs",
            "the teacher gives all pairs the same certain judgement",
            "the teacher",
            mend="judge pairs of both kinds",
        )
