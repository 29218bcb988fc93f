"""Two worlds without a fault: what a detector must not speak of."""

import numpy as np

from benchmarks.worlds.zoo_worlds.reported import answered_by_labels
from benchmarks.worlds.zoo_worlds.study import (
    Population,
    Sizes,
    Study,
    World,
    assigned,
    difference_of,
    skills,
)

Rng = np.random.Generator


def equal_raters(rng: Rng, sizes: Sizes) -> Study:
    """All raters err alike, clusters are alike, and only the systems may differ."""
    population = Population(
        base=(rng.uniform(-0.8, 0.8),), difference=difference_of(rng), sd=0.0,
        pull=((1, 1, 0),),
    )  # fmt: skip
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    log_odds = np.repeat(skills(1, rng), sizes.raters, axis=0)[rater]
    return answered_by_labels(population, sizes, truth, item, rater, log_odds, rng)


def unequal_raters(rng: Rng, sizes: Sizes) -> Study:
    """Good, weak, lenient and strict raters; clusters of unequal ease; systems that differ."""
    population = Population(
        base=(rng.uniform(-0.8, 0.8),), difference=rng.choice([-1, 1]) * rng.uniform(0.4, 1.2),
        sd=1.5,
    )  # fmt: skip
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    skill = skills(sizes.raters, rng, 0.68, 0.97) + rng.normal(0, 0.5, (sizes.raters, 1))
    return answered_by_labels(population, sizes, truth, item, rater, skill[rater], rng)


FAULT_FREE = (
    World(
        name="equal_raters",
        what="no fault: raters err alike, clusters are alike",
        knowable=True,
        because="the model is near the truth",
        draw=equal_raters,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="unequal_raters",
        what="no fault: unequal raters, clusters and systems",
        knowable=True,
        because="the model is near the truth",
        draw=unequal_raters,
        sizes=Sizes(raters=6, per_item=3),
    ),
)
