"""check names items that are one, and answers that raters carry over between systems."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks import check
from assay.checks.departures.counterparts import in_clusters
from assay.checks.departures.duplicates import equal_items, same_raters
from assay.checks.departures.null_model import LabelRows
from assay.checks.departures.search import Departure, causes, search
from assay.data.ratings import Ratings
from benchmarks.worlds.departure_worlds import FAULTS, study


def world(name: str, seed: int = 3) -> Ratings:
    return FAULTS[name][1](np.random.default_rng(seed))


def test_pairs_have_all_raters_in_common_and_a_cluster() -> None:
    item = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    rater = np.array([1, 0, 0, 1, 0, 2, 0, 1, 0])
    cluster = np.array([0, 0, 0, 1, 0])
    assert same_raters(item, rater, cluster).tolist() == [[0, 1]]


def test_the_table_has_items_with_the_same_answers_of_the_same_raters() -> None:
    ratings = world("duplicates")
    found = check(ratings)
    (one,) = [f for f in found.findings if f.code == "duplicated-items"]
    assert one.level == "warning"
    table = found.tables["equal_items"]
    assert len(table) == len(equal_items(ratings))
    frame = ratings.to_frame()
    said = frame.groupby("item").apply(
        lambda part: tuple(sorted(zip(part["rater"], part["label"], strict=True))),
        include_groups=False,
    )
    assert (said[table["item"]].to_numpy() == said[table["other"]].to_numpy()).all()
    assert len(table) > 50


def test_duplicates_with_one_name_count_once_and_end_the_finding() -> None:
    ratings = world("duplicates")
    frame, names = ratings.to_frame(), ratings.items.index.to_numpy()
    pairs = pd.DataFrame(names[equal_items(ratings)], columns=["item", "other"])
    places = ratings.panels.assign(item=ratings.items.index[ratings.panels["item"]])
    both = frame.merge(places.drop(columns="panel"), on="item")
    later = pairs[pairs["item"].astype(int) % 10 // 5 != pairs["other"].astype(int) % 10 // 5]
    later = later.drop_duplicates("item").drop_duplicates("other")
    first = dict(zip(later["other"], later["item"], strict=True))
    both["item"] = both["item"].map(lambda name: first.get(name, name))
    again = assay.read_ratings(
        both, task=ratings.task, cluster="cluster", system="system", rank="rank",
        panel=["cluster", "system"],
    )  # fmt: skip
    assert len(again.items) < len(ratings.items)
    assert len(again.answers) < len(ratings.answers)
    assert "duplicated-items" not in {one.code for one in search(again).found}


def test_counterparts_are_the_pairs_of_one_rank_and_two_systems() -> None:
    rng = np.random.default_rng(1)
    found = study(rng, raters=3, each=3, queries=4)
    answers = found.answers(rng)
    item, rater = np.nonzero(found.who)
    rows = LabelRows(
        place=np.arange(len(item)), item=item, rater=rater, answer=answers[item, rater][:, None],
        truth=np.full(len(answers), -1), classes=2, n_raters=3, system=found.system,
        rank=found.rank, stratum=found.system, cluster=found.query,
    )  # fmt: skip
    apart, others = in_clusters(rows, rng.normal(size=(len(item), 1, 1)))
    # Three raters and four queries: five counterparts of the 45 pairs of ten items, twice.
    assert (apart.n_within, others.n_within) == (2 * 3 * 4 * 5, 2 * 3 * 4 * 40)
    values = rng.normal(size=(len(item), 1, 1))
    apart, _ = in_clusters(rows, values)
    grid = np.full((len(answers), 3), np.nan)
    grid[item, rater] = values[:, 0, 0]
    grid = grid.reshape(4, 2, 5, 3)
    assert apart.within.item() == pytest.approx(2 * (grid[:, 0] * grid[:, 1]).sum())


def departure(code: str, size: float) -> Departure:
    return Departure(code=code, p=0.0, size=size)  # type: ignore[arg-type]


def test_a_cause_is_named_once() -> None:
    """Many duplicates explain errors that agree; few follow from raters who repeat themselves."""
    many, few = departure("duplicated-items", 0.2), departure("duplicated-items", 0.01)
    over, halo = departure("carried-over", 0.3), departure("halo", 0.1)
    assert causes([over, many, halo]) == [many, halo]
    assert causes([few, over]) == [over]
    assert causes([few, halo]) == [few, halo]


def fitted(ratings: Ratings, **options: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return assay.fit(ratings, method="laplace", draws=50, chains=1, starts=2, rng=1, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_fit_repeats_carried_answers_at_its_numbers_and_says_what_the_model_has() -> None:
    ratings, metric = world("carried"), "prevalence[label=yes]"
    tree = fitted(ratings, prevalence="dirichlet")
    (note,) = [n for n in json.loads(tree.attrs["warnings"]) if n["code"] == "carried-over"]
    assert "ignores clusters, so" in note["text"]
    assert "no rater judge both systems" in note["text"]
    assert "carried over" in assay.metrics(tree, metric=metric)[metric].attrs["doubt"]
    (plain,) = [f for f in check(ratings).findings if f.code == "carried-over"]
    assert "`prevalence='dirichlet'`" in plain.text
