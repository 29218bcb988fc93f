"""DIRAS as ratings: who rates, by which recipe, and whose truth is meant."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import assay
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.data.task_files import load_task
from benchmarks.real_data.diras_tables import EXPERTS, Diras


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Who rates, by which recipe, and whose truth is meant.

    Attributes
    ----------
    experts : bool
        Whether the first two experts rate too.
    raters : str or mapping of str to str
    reference : str or None
    vendors : bool
        Whether the language models of one vendor are a group, not all together.
    graded : bool
        Whether the classes are no < partially < yes, which experts say and language models do not.
    """

    experts: bool
    raters: str | Mapping[str, str]
    reference: str | None = None
    vendors: bool = False
    graded: bool = False


PLANS: Mapping[str, Plan] = {
    "hierarchical": Plan(experts=False, raters="hierarchical"),
    "dawid_skene": Plan(experts=False, raters="dawid_skene"),
    "hierarchical + item_difficulty": Plan(experts=False, raters="hierarchical + item_difficulty"),
    "hierarchical + item_difficulty_continuous": Plan(
        experts=False, raters="hierarchical + item_difficulty_continuous"
    ),
    "hierarchical + item_difficulty_by_rater": Plan(
        experts=False, raters="hierarchical + item_difficulty_by_rater"
    ),
    "hierarchical + item_difficulty_by_class": Plan(
        experts=False, raters="hierarchical + item_difficulty_by_class"
    ),
    "scored": Plan(experts=False, raters="scored"),
    "scored + item_difficulty": Plan(experts=False, raters="scored + item_difficulty"),
    "scored + item_difficulty_continuous": Plan(
        experts=False, raters="scored + item_difficulty_continuous"
    ),
    "scored + item_difficulty_by_class": Plan(
        experts=False, raters="scored + item_difficulty_by_class"
    ),
    "gpt as reference": Plan(experts=False, raters="hierarchical", reference="gpt", vendors=True),
    "gpt as reference, item_difficulty_continuous": Plan(
        experts=False,
        raters="hierarchical + item_difficulty_continuous",
        reference="gpt",
        vendors=True,
    ),
    "vendors as groups, hierarchical": Plan(
        experts=False, raters="hierarchical", reference="groups", vendors=True
    ),
    "vendors as groups, hierarchical + item_difficulty": Plan(
        experts=False, raters="hierarchical + item_difficulty", reference="groups", vendors=True
    ),
    "vendors as groups, hierarchical + item_difficulty_continuous": Plan(
        experts=False,
        raters="hierarchical + item_difficulty_continuous",
        reference="groups",
        vendors=True,
    ),
    "vendors as groups, scored": Plan(
        experts=False, raters="scored", reference="groups", vendors=True
    ),
    "experts and hierarchical": Plan(experts=True, raters="hierarchical"),
    "experts and hierarchical + item_difficulty": Plan(
        experts=True, raters="hierarchical + item_difficulty"
    ),
    "experts and hierarchical + item_difficulty_continuous": Plan(
        experts=True, raters="hierarchical + item_difficulty_continuous"
    ),
    "experts and hierarchical + item_difficulty_by_rater": Plan(
        experts=True, raters="hierarchical + item_difficulty_by_rater"
    ),
    "experts and hierarchical + item_difficulty_by_class": Plan(
        experts=True, raters="hierarchical + item_difficulty_by_class"
    ),
    "experts as reference, hierarchical": Plan(
        experts=True, raters="hierarchical", reference="expert"
    ),
    "experts as reference, hierarchical + item_difficulty_continuous": Plan(
        experts=True,
        raters={"expert": "hierarchical", "llm": "hierarchical + item_difficulty_continuous"},
        reference="expert",
    ),
    "experts as reference, hierarchical + item_difficulty_by_rater": Plan(
        experts=True,
        raters={"expert": "hierarchical", "llm": "hierarchical + item_difficulty_by_rater"},
        reference="expert",
    ),
    "experts as reference, hierarchical, graded": Plan(
        experts=True, raters="hierarchical", reference="expert", graded=True
    ),
    "experts as reference, hierarchical + item_difficulty_continuous, graded": Plan(
        experts=True,
        raters={"expert": "hierarchical", "llm": "hierarchical + item_difficulty_continuous"},
        reference="expert",
        graded=True,
    ),
    "experts and hierarchical + item_difficulty_continuous, graded": Plan(
        experts=True, raters="hierarchical + item_difficulty_continuous", graded=True
    ),
    "experts and scored": Plan(experts=True, raters={"expert": "hierarchical", "llm": "scored"}),
    "experts and scored + item_difficulty_continuous": Plan(
        experts=True,
        raters={"expert": "hierarchical", "llm": "scored + item_difficulty_continuous"},
    ),
    "experts + item_difficulty_continuous and scored + item_difficulty_continuous": Plan(
        experts=True,
        raters={
            "expert": "hierarchical + item_difficulty_continuous",
            "llm": "scored + item_difficulty_continuous",
        },
    ),
    "experts as reference, scored": Plan(
        experts=True, raters={"expert": "hierarchical", "llm": "scored"}, reference="expert"
    ),
    "experts as reference, scored + item_difficulty_continuous": Plan(
        experts=True,
        raters={"expert": "hierarchical", "llm": "scored + item_difficulty_continuous"},
        reference="expert",
    ),
}


def language_models(diras: Diras) -> list[str]:
    """Return the sixteen settings."""
    every = diras.annotations["rater"].unique()
    return [str(name) for name in every if name not in EXPERTS]


def vendor(name: str) -> str:
    """Return who made a language model: gpt, llama, gemma or phi3."""
    return next(v for v in ("gpt", "llama", "gemma", "phi3") if v in name)


def relevant(diras: Diras) -> NDArray[np.integer]:
    """Return the gold: 1 if relevant or partially relevant."""
    return (diras.gold["grade"] >= 1).to_numpy().astype(int)


def task_of(plan: Plan) -> Task:
    """One ordered question: relevant, or partially so, against not; or with all grades."""
    task = load_task("relevance")
    if plan.graded:
        return task
    return replace(task, labels=(replace(task.labels[0], classes=("no", "yes")),))


def read_plan(diras: Diras, plan: Plan) -> Ratings:
    """Read the language models' guesses and scores, and perhaps two experts' answers."""
    tables = []
    for name in language_models(diras):
        own = diras.scores(name)
        said = np.where(own["guess"], "yes", "no")
        tables.append(
            pd.DataFrame(
                {
                    "item": own.index,
                    "rater": name,
                    "group": vendor(name) if plan.vendors else "llm",
                    "relevance": said,
                }
            ).assign(score=own["score"].to_numpy())
        )
    if plan.experts:
        own = diras.annotations[diras.annotations["rater"].isin(EXPERTS[:2])]
        words = ("no", "partially", "yes") if plan.graded else ("no", "yes", "yes")
        grades = [words[int(grade)] for grade in own["grade"]]
        tables.append(own[["item", "rater"]].assign(group="expert", relevance=grades))
    table = pd.concat(tables, ignore_index=True)
    table["query"] = table["item"].map(diras.clusters)
    return assay.read_ratings(
        table, task=task_of(plan), cluster="query", group="group", score="score"
    )
