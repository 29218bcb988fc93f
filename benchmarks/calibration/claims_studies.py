"""What predictive checks, comparisons and the tables of a study of attribution claim.

Studies of ``claims.py``, as those of ``claims_raters.py``.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

import assay
from assay.comparison import compare_groups
from assay.data.overlap import build_design
from assay.data.ratings import AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, Ratings
from assay.evaluation import metrics_of_labels
from assay.raters.agreements import agreement
from assay.studies.ais import consensus_table
from benchmarks.calibration.claims_raters import LEVEL, Claim, Claims, Study, World, inside

RATES = ["flag_rate", "interpretable_rate", "attributable_rate"]
MANY = 3000
"""Clusters of the set that stands for the population."""
AUDITED = 0.1


def checks(world: World, rng: np.random.Generator) -> Claims:
    """Tails of predictive checks."""
    ratings = world.draw(rng)
    table = assay.posterior_predictive_check(world.fit(ratings, rng), rng=rng)
    for line in table.dropna(subset="tail").itertuples():
        for bound in (0.05, 0.2):
            yield Claim(
                what=f"{line.check}: tail of at most {bound}",
                stated=bound,
                so=bool(line.tail <= bound),
            )


def population(world: World, drawn: Ratings, rng: np.random.Generator, **sizes: int) -> Ratings:
    """Ratings of many clusters with the parameters of a set that was drawn."""
    per_cluster = len(drawn.items) // drawn.panels["cluster"].nunique()
    many = {"n_items": MANY * per_cluster, "n_clusters": MANY, **sizes}
    made = replace(world, sizes=dict(world.sizes) | many, plant=lambda _: drawn.simulated.values)
    return made.draw(rng)


def true_metrics(ratings: Ratings, metric: list[str] | None = None) -> pd.Series:
    """Metrics of the true labels by (metric, system)."""
    known = metrics_of_labels(ratings.simulated.truth, ratings, metric=metric)
    return known.set_index(["metric", "system"])["value"]


def systems(world: World, rng: np.random.Generator) -> Claims:
    """P(a > b), chances of being the best, and intervals of values and differences."""
    drawn = world.draw(rng)
    fit = world.fit(drawn, rng)
    value = true_metrics(population(world, drawn, rng, ratings_per_item=0))
    found = assay.compare(fit, level=LEVEL)
    best = value.unstack().max(axis=1)
    for line in found.pairs.itertuples():
        difference = value[line.metric, line.a] - value[line.metric, line.b]
        yield Claim(what="P(a > b)", stated=line.p_greater, so=bool(difference > 0))
        yield inside("difference", line.difference_lower, difference, line.difference_upper)
    for line in found.systems.itertuples():
        mine = value[line.metric, line.system]
        yield inside("value", line.lower, mine, line.upper)
        if line.better == "higher":
            yield Claim(what="P(best)", stated=line.p_best, so=bool(mine == best[line.metric]))


def groups(world: World, rng: np.random.Generator) -> Claims:
    """Intervals of differences of systems within strata, on their own and pooled."""
    drawn = world.draw(rng)
    found = compare_groups(world.fit(drawn, rng), level=LEVEL, rng=rng)
    many = population(world, drawn, rng, ratings_per_item=0)
    stratum = many.items["stratum"].to_numpy()[many.panels["item"]]
    value = {
        name: true_metrics(replace(many, panels=many.panels[stratum == name]))
        for name in np.unique(stratum)
    }
    for line in found[found["group"].isin(list(value))].itertuples():
        true = value[line.group][line.metric, line.a] - value[line.group][line.metric, line.b]
        yield inside("on its own", line.difference_lower, true, line.difference_upper)
        yield inside("pooled", line.pooled_lower, true, line.pooled_upper)


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
    many = population(world, drawn, rng)
    value = true_metrics(many, metric=RATES)
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


THREE = {"n_systems": 3, "n_clusters": 40, "n_raters": 5, "ratings_per_item": 2}
TWO = {"n_systems": 2, "n_raters": 5, "ratings_per_item": 2}


def _hard(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"hard_share": np.array(0.3), "difficulty_rate": np.array([[3.0]])}


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
            "three items in ten hard, five raters an item, fitted without": World(
                task="single",
                sizes=BINARY | {"n_items": 200, "n_raters": 5, "ratings_per_item": 5},
                made_by="hierarchical + item_difficulty",
                plant=_hard,
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
    "systems": (
        systems,
        {
            "40 clusters": World(task="generation", sizes=THREE | {"n_items": 120}),
            "8 clusters (model-based)": World(
                task="generation", sizes=THREE | {"n_items": 24, "n_clusters": 8}
            ),
            "40 clusters, a third of the items not rated": World(
                task="generation",
                sizes=THREE
                | {"n_items": 120, "ratings_per_item": np.resize([0, 2, 2, 2, 0, 2], 120)},
            ),
        },
    ),
    "groups": (
        groups,
        {
            "25 clusters a stratum": World(
                task="ais", sizes=TWO | {"n_items": 200, "n_clusters": 100}, strata=4
            ),
            "8 clusters a stratum": World(
                task="ais", sizes=TWO | {"n_items": 64, "n_clusters": 32}, strata=4
            ),
        },
    ),
}
