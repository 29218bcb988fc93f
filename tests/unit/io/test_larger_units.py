"""Columns that group the clusters: topics of queries, conversations of turns."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.ratings import ALIKE_P, Ratings
from assay.io.larger_units import find_larger_units

TOPICS = 15


def topics(seed: int, sd: float, queries: int = 150) -> pd.DataFrame:
    """Two systems, of which each is better on some topics by an effect with this SD."""
    rng = np.random.default_rng(seed)
    effect, ease = rng.normal(0, sd, (TOPICS, 2)), rng.normal(0, 0.7, queries)
    rows = []
    for query in range(queries):
        topic = query % TOPICS
        for system in range(2):
            yes = rng.random() < 1 / (1 + np.exp(-ease[query] - effect[topic, system]))
            rows += [
                {"query": f"q{query}", "topic": f"t{topic}", "language": ["de", "fr"][topic % 2],
                 "system": "AB"[system], "rater": rater, "note": f"n{rng.integers(9)}",
                 "good": "yes" if yes == (rng.random() < 0.9) else "no"}
                for rater in "xyz"
            ]  # fmt: skip
    return pd.DataFrame(rows)


def read(frame: pd.DataFrame, **more: object) -> Ratings:
    return assay.read_ratings(frame, item=["query", "system"], labels="good", **more)


def codes(ratings: Ratings) -> set[str]:
    return {finding.code for finding in assay.check(ratings).findings}


def test_a_column_that_groups_the_clusters_is_named_and_no_other() -> None:
    ratings = read(topics(1, sd=0.0))
    (unit,) = ratings.accounting.larger_units
    assert (unit.column, unit.units) == ("topic", TOPICS)
    assert "larger-units" in codes(ratings)
    assert "alike-clusters" not in codes(ratings)


def test_alike_clusters_are_a_warning_and_its_advice_is_right() -> None:
    ratings = read(topics(1, sd=1.0))
    (text,) = (f.text for f in assay.check(ratings).findings if f.code == "alike-clusters")
    condition = f"If the conclusion is about new values of topic, not these {TOPICS}, "
    assert f"{condition}population intervals are too narrow." in text
    named = read(topics(1, sd=1.0), cluster="topic")
    assert named.items["cluster"].nunique() == TOPICS
    assert not codes(named) & {"alike-clusters", "larger-units"}
    assert text.endswith(f"If only these {TOPICS} count, read with `stratum='topic'`")
    fixed = read(topics(1, sd=1.0), stratum="topic")
    assert fixed.items["stratum"].nunique() == TOPICS
    assert not codes(fixed) & {"alike-clusters", "larger-units"}


def test_p_values_are_spread_evenly_where_clusters_are_not_alike() -> None:
    """Of 40 sets, four or more at a level of 0.01 have a probability of 0.0008."""
    frame, rng = topics(1, sd=1.0), np.random.default_rng(2)
    ratings, item = read(frame), pd.factorize(frame["query"] + frame["system"])[0]
    found = []
    for _ in range(40):
        unit = rng.permutation(frame["query"].nunique()) % TOPICS
        cells = pd.Series(unit[pd.factorize(frame["query"])[0]].astype(str))
        found += [u.p for u in find_larger_units(ratings, {"topic": cells}, item)]
    assert len(found) == 40
    assert sum(p <= ALIKE_P for p in found) < 4
    assert 0.25 < np.mean(found) < 0.75


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_fit_repeats_it_at_the_numbers_and_keeps_it(tmp_path: Path) -> None:
    fit = assay.fit(read(topics(1, sd=1.0)), method="map", draws=20, chains=1, starts=1)
    assay.save(fit, tmp_path / "fit.nc")
    again = assay.load(tmp_path / "fit.nc")
    assert "alike-clusters" in {note["code"] for note in json.loads(again.attrs["warnings"])}
    (pair,) = assay.compare(again, metric="prevalence[good=yes]").pairs.itertuples()
    assert "alike clusters" in pair.doubt


def test_ranked_lists_keep_their_panels_if_the_advice_is_followed() -> None:
    frame = topics(1, sd=3.0, queries=60)
    ranked = pd.concat([
        frame.assign(rank=rank, doc=frame["query"] + frame["system"] + str(rank)) for rank in (1, 2)
    ])  # fmt: skip
    ratings = assay.read_ratings(ranked, item="doc", labels="good")
    (text,) = (f.text for f in assay.check(ratings).findings if f.code == "alike-clusters")
    assert "`cluster='topic'` and `panel=['query', 'system']`" in text
    named = assay.read_ratings(
        ranked, item="doc", labels="good", cluster="topic", panel=["query", "system"]
    )
    assert (named.items["cluster"].nunique(), named.systems) == (TOPICS, ["A", "B"])
    assert named.panels["panel"].nunique() == 120


def test_items_without_a_system_count_for_their_cluster_alone() -> None:
    frame = topics(1, sd=1.0)
    ratings = read(frame)
    lost = replace(ratings, panels=ratings.panels.assign(
        system=ratings.panels["system"].where(ratings.panels["item"] > 3, "")
    ))  # fmt: skip
    item = pd.factorize(frame["query"] + frame["system"])[0]
    (unit,) = find_larger_units(lost, {"topic": frame["topic"]}, item)
    assert unit.p <= ALIKE_P
