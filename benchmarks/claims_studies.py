"""What predictive checks and the tables of a study of attribution claim, and what is so.

Studies of ``claims.py``, as those of ``claims_raters.py``.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from claims_raters import LEVEL, Claim, Claims, Study, World, inside

import assay
from assay.agreements import agreement
from assay.agreements.design import build_design
from assay.ais_studies.consensus import consensus_table
from assay.evaluation import metrics_of_labels
from assay.ratings import AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, Ratings

RATES = ["flag_rate", "interpretable_rate", "attributable_rate"]
MANY = 3000
"""Clusters of the set that stands for the population."""
AUDITED = 0.1


def checks(world: World, rng: np.random.Generator) -> Claims:
    """Tails of predictive checks where the model is right."""
    ratings = world.draw(rng)
    table = assay.predictive_checks(world.fit(ratings, rng), rng=rng)
    for line in table.dropna(subset="tail").itertuples():
        for bound in (0.05, 0.2):
            yield Claim(
                what=f"{line.check}: tail of at most {bound}",
                stated=bound,
                so=bool(line.tail <= bound),
            )


def audited(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """Let somebody who knows the truth check some of the ratings."""
    assert ratings.simulated is not None
    truth = ratings.simulated.truth[ratings.item]
    verdict = np.where(ratings.answers == truth, AUDITED_RIGHT, AUDITED_WRONG)
    chosen = (rng.random(len(truth)) < AUDITED)[:, None] & (ratings.answers >= 0)
    return replace(ratings, audit=np.where(chosen, verdict, NOT_AUDITED).astype(np.int8))


def attribution(world: World, rng: np.random.Generator) -> Claims:
    """Intervals of a study of attribution: systems, agreement of raters, audits."""
    drawn = world.draw(rng)
    assert drawn.simulated is not None
    ratings = audited(drawn, rng)
    study = assay.ais_study(world.fit(ratings, rng), draws=400, rng=rng)
    per_cluster = len(drawn.items) // drawn.panels["cluster"].nunique()
    sizes = dict(world.sizes) | {"n_items": MANY * per_cluster, "n_clusters": MANY}
    many = replace(world, sizes=sizes, plant=lambda _: drawn.simulated.values).draw(rng)
    known = metrics_of_labels(many.simulated.truth, many, names=RATES)
    value = known.set_index(["metric", "system"])["value"]
    for line in study.systems.itertuples():
        true = value[line.metric, line.system]
        yield inside("rates: model", line.lower, true, line.upper)
        yield inside("rates: majority vote", line.majority_lower, true, line.majority_upper)
    yield from _agreement(study.agreement, many, rng)
    yield from _audits(study.audits, many)


def _agreement(table: pd.DataFrame, many: Ratings, rng: np.random.Generator) -> Claims:
    """Intervals of agreement against its value in the population."""
    found = [
        agreement(many, draws=2, rng=rng).table,
        consensus_table(many, build_design(many), level=LEVEL, draws=2, rng=rng),
    ]
    value = pd.concat(found).set_index(["label", "statistic"])["value"]
    for line in table.dropna(subset=["lower", "upper"]).itertuples():
        true = value[line.label, line.statistic]
        if np.isfinite(true):
            yield inside(f"agreement: {line.statistic}", line.lower, true, line.upper)


def _audits(table: pd.DataFrame, many: Ratings) -> Claims:
    """Intervals of the share of right answers against that in the population."""
    truth, given = many.simulated.truth[many.item], many.answers >= 0
    right = (many.answers == truth) & given
    shares = dict(zip(many.task.label_names, right.sum(axis=0) / given.sum(axis=0), strict=True))
    whole = float((right | ~given).all(axis=1).mean())
    for line in table.itertuples():
        yield inside("audits", line.lower, shares.get(line.label, whole), line.upper)


SMALL = {"n_items": 60, "n_raters": 5, "ratings_per_item": 3}
BINARY = {"classes": ("no", "yes")}
SYSTEMS = {"n_systems": 2, "n_clusters": 30}


def _ais(**sizes: object) -> World:
    return World(task="ais", sizes={"n_items": 80, "n_systems": 2, "n_clusters": 40, **sizes})


STUDIES: dict[str, tuple[Study, dict[str, World]]] = {
    "checks": (
        checks,
        {
            "two classes": World(task="single", sizes=SMALL | BINARY),
            "three classes": World(task="single", sizes=SMALL),
            "rules, systems (retrieval)": World(task="retrieval", sizes=SMALL | SYSTEMS),
            "gates, systems (ais)": World(task="ais", sizes=SMALL | SYSTEMS),
            "ordered (relevance)": World(task="relevance", sizes=SMALL, raters="ordinal"),
            "rated twice": World(task="single", sizes=SMALL | BINARY | {"replicates": 2}),
            "easy and hard items": World(
                task="single", sizes=SMALL | BINARY, raters="hierarchical + item_difficulty"
            ),
            "perception, gold": World(
                task="single", sizes=SMALL | BINARY | {"gold": 0.5}, reference="gold"
            ),
        },
    ),
    "attribution": (
        attribution,
        {
            "five raters, all items": _ais(n_raters=5, ratings_per_item=5),
            "six raters, two an item": _ais(n_raters=6, ratings_per_item=2),
            "five raters, one system of 120": World(
                task="ais",
                sizes={"n_items": 120, "n_clusters": 120, "n_raters": 5, "ratings_per_item": 5},
            ),
        },
    ),
}
