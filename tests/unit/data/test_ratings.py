"""Ratings as a value: what may be left out, taking some, and the way through a fit's groups."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.ratings import NOT_AUDITED, PER_RATING, Ratings, storable, take_ratings
from assay.fits.datatree import accounting_json, ratings_datasets, ratings_of
from assay.io import read_ratings
from assay.io.examples.anesthesia import anesthesia_ratings


@pytest.fixture(scope="module")
def plain() -> Ratings:
    return anesthesia_ratings()


@pytest.fixture(scope="module")
def full() -> Ratings:
    rng = np.random.default_rng(5)
    size = 12
    table = pd.DataFrame(
        {
            "item": np.arange(size) // 3, "rater": list("abc") * 4,
            "misleading": rng.choice(["no", "yes"], size),
            "misleading_score": rng.choice(["0", "0.25", "1", ""], size),
            "misleading_audit": rng.choice(["right", "wrong", ""], size),
            "session": rng.choice(["2", "10"], size), "seconds": np.arange(size),
        }
    )  # fmt: skip
    return read_ratings(table, task="retrieval", sessions=["1", "2", "10"])


def through_groups(ratings: Ratings, path: Path) -> Ratings:
    observed, constant = ratings_datasets(ratings)
    empty = xr.Dataset()
    groups = {"observed_data": observed, "constant_data": constant}
    tree = xr.DataTree.from_dict({**groups, "posterior": empty, "labels": empty})
    tree.attrs = {
        "task": ratings.task.to_json(), "spec": "{}", "partial": "lost", "resolve": "retry",
        "accounting": accounting_json(ratings.accounting),
    }  # fmt: skip
    tree.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        return ratings_of(opened.load())


def same(one: Ratings, two: Ratings) -> None:
    for name in PER_RATING:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(two, name).dtype, name
    assert one.sessions == two.sessions


def test_what_is_left_out_is_not_known(plain: Ratings) -> None:
    assert np.isnan(plain.scores).all()
    assert plain.scores.shape == plain.audit.shape == plain.answers.shape
    assert (plain.audit == NOT_AUDITED).all()
    assert (plain.session == "").all()
    assert np.isnan(plain.seconds).all()
    assert plain.sessions == ()


def test_the_groups_of_a_fit_give_everything_back(full: Ratings, tmp_path: Path) -> None:
    assert full.sessions == ("1", "2", "10")
    assert np.isfinite(full.scores).any()
    assert (full.audit == 0).any()
    same(through_groups(full, tmp_path / "fit.nc"), full)


def test_a_name_is_one_object_wherever_it_stands(plain: Ratings) -> None:
    _, constant = ratings_datasets(plain)
    columns = ("item", "item_cluster", "item_stratum", "place_panel", "place_system")
    names = [name for column in columns for name in constant[column].values]
    assert {type(name) for name in names} == {str}
    assert len({id(name) for name in names}) == len(set(names)) < len(names) / 2


def test_what_is_not_known_is_not_written(plain: Ratings, tmp_path: Path) -> None:
    _, constant = ratings_datasets(plain)
    names = {"rating_score", "rating_session", "rating_audit", "rating_seconds"}
    assert not names & {str(name) for name in constant.variables}
    same(through_groups(plain, tmp_path / "fit.nc"), plain)


def test_taking_ratings_takes_all_that_is_known_of_them(full: Ratings) -> None:
    mask = full.rater == 1
    some = take_ratings(full, mask)
    for name in PER_RATING:
        np.testing.assert_array_equal(getattr(some, name), getattr(full, name)[mask])
    assert some.sessions == full.sessions
    assert len(some.items) == len(full.items)
    same(take_ratings(full, np.flatnonzero(mask)), some)


def test_arrays_of_another_length_are_refused_if_they_say_anything(
    plain: Ratings, full: Ratings
) -> None:
    fewer: dict[str, Any] = {n: getattr(plain, n)[:3] for n in ("answers", "item", "rater")}
    assert replace(plain, **fewer).scores.shape == (3, 1)
    with pytest.raises(RatingsError, check=refusal("ratings-shape")):
        replace(full, answers=full.answers[:2])


def test_a_session_that_is_not_listed_is_refused(full: Ratings) -> None:
    with pytest.raises(RatingsError, check=refusal("unlisted-sessions", sessions=1)):
        replace(full, sessions=("1", "2"))


def test_sessions_are_listed_as_they_appear_if_no_order_is_given(full: Ratings) -> None:
    named = replace(full, sessions=())
    assert named.sessions == tuple(dict.fromkeys(full.session))


def test_names_with_nul_or_half_a_character_cannot_be_stored():
    assert [storable(name) for name in ("naïve", "a\0b", "\udc80")] == [True, False, False]


def test_one_session_of_all_ratings_may_be_one_value_in_memory(full: Ratings) -> None:
    everywhere = np.broadcast_to(np.array("week 1", object), (len(full.answers),))
    assert replace(full, session=everywhere, sessions=()).sessions == ("week 1",)
