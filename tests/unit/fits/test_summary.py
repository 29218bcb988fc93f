"""Draws to a table."""

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError
from assay.fits.summary import summarize

COLUMNS = [
    "estimand", "mean", "sd", "lower", "upper", "level", "undefined", "n_undefined", "reference",
    "doubt",
]  # fmt: skip


def draws(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def test_statistics_are_those_of_the_draws_by_system():
    values = draws(2, 500, 3)
    data = xr.Dataset(
        {"m": (("chain", "draw", "system"), values, {"estimand": "finite"})},
        coords={"system": ["A", "B", "C"]},
        attrs={"reference": "gold", "estimand": "population"},
    )
    table = summarize(data, level=0.9)
    assert list(table.columns) == ["metric", "system", *COLUMNS]
    assert table["system"].tolist() == ["A", "B", "C"]
    flat = values.reshape(1000, 3)
    np.testing.assert_allclose(table["mean"], flat.mean(axis=0))
    np.testing.assert_allclose(table["sd"], flat.std(axis=0))
    np.testing.assert_allclose(table["lower"], np.quantile(flat, 0.05, axis=0))
    np.testing.assert_allclose(table["upper"], np.quantile(flat, 0.95, axis=0))
    assert table.loc[0, ["estimand", "level", "reference"]].tolist() == ["finite", 0.9, "gold"]


def test_undefined_draws_are_left_out_and_counted():
    values = np.array([[1.0, np.nan, 3.0, np.nan], [np.nan] * 4])
    data = xr.Dataset({"m": (("system", "draw"), values)}, coords={"system": ["A", "B"]})
    table = summarize(data)
    assert table["mean"].tolist() == [2.0, pytest.approx(np.nan, nan_ok=True)]
    assert table["undefined"].tolist() == [0.5, 1.0]
    assert table["n_undefined"].tolist() == [2, 4]


def test_further_dims_become_columns_and_gaps_are_empty():
    data = xr.Dataset(
        {
            "plain": (("chain", "draw"), draws(1, 10)),
            "rich": (("chain", "draw", "rater", "rank"), draws(1, 10, 2, 3)),
        },
        coords={"rater": ["r", "s"]},
    )
    table = summarize(data)
    assert list(table.columns) == ["metric", "system", "rater", "rank", *COLUMNS]
    assert len(table) == 7
    assert table.loc[0, ["system", "rater", "rank"]].tolist() == ["", "", ""]
    assert table.loc[6, ["metric", "system", "rater", "rank"]].tolist() == ["rich", "", "s", 2]


def test_data_array_is_summarised_under_its_name():
    array = xr.DataArray(draws(50), dims="sample", name="delta", attrs={"estimand": "finite"})
    assert summarize(array).loc[0, ["metric", "estimand"]].tolist() == ["delta", "finite"]
    assert summarize(array.rename(None)).loc[0, "metric"] == "value"


def test_nothing_gives_an_empty_table():
    assert list(summarize(xr.Dataset()).columns) == ["metric", "system", *COLUMNS]


def test_level_and_dims_are_checked():
    with pytest.raises(FitError, match="level=95", check=refusal("argument-number")):
        summarize(xr.Dataset({"m": ("draw", draws(5))}), level=95)
    with pytest.raises(FitError, match="'m' has the", check=refusal("draws-dims")):
        summarize(xr.Dataset({"m": ("item", draws(5))}))


@pytest.mark.parametrize(
    "table",
    [
        assay.rater_drift,
        assay.group_misperception,
        assay.rater_consistency,
        assay.rater_spammers,
        assay.rater_calibration,
    ],
)
@pytest.mark.parametrize("level", [0, 1, 95, float("nan")])
def test_tables_of_a_fit_refuse_a_level_before_they_compute(table, level):
    with pytest.raises(FitError, match="level=", check=refusal("argument-number")):
        table(xr.DataTree(), level=level)


def test_a_fit_is_no_draws_of_metrics():
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"m": (("chain", "draw"), draws(1, 4))})})
    with pytest.raises(FitError, match="not DataTree", check=refusal("argument-type")):
        summarize(tree)
