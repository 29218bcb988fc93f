"""Convergence in words: which parameter is meant."""

import numpy as np
import pytest
import xarray as xr

import assay
from assay.diagnostics import convergence_table, nuts_warnings


@pytest.fixture(scope="module")
def posterior() -> xr.Dataset:
    """Four chains of white noise, in which two entries do not agree between chains."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((4, 400, 2, 2))
    noise[:, :, 1, 0] += np.arange(4)[:, None]
    cells = ["misleading: no -> no", "misleading: yes -> yes"]
    alone = rng.standard_normal((4, 400))
    return xr.Dataset(
        {
            "logit_mean": (("chain", "draw", "group", "cell"), noise),
            "system_sd": (("chain", "draw"), alone),
        },
        coords={"group": ["llm", "person"], "cell": cells},
    )


def test_a_warning_names_the_entry_by_its_coordinates(posterior: xr.Dataset) -> None:
    said = nuts_warnings(convergence_table(posterior), {})
    name = "logit_mean[group person, cell misleading: no -> no]"
    assert len(said) == 2
    assert all(name in text for text in said)
    assert "for 1 of 5 parameters" in said[0]


def test_each_line_has_the_numbers_of_its_own_entry(posterior: xr.Dataset) -> None:
    table = convergence_table(posterior).set_index("parameter")
    assert len(table) == 5
    assert table["r_hat"].idxmax() == "logit_mean[group person, cell misleading: no -> no]"
    assert table.loc["system_sd", "r_hat"] < 1.01
    alone = convergence_table(posterior[["logit_mean"]].isel(group=[0], cell=[1]))
    (name,) = alone["parameter"]
    assert name == "logit_mean[group llm, cell misleading: yes -> yes]"
    assert table.loc[name, "ess_bulk"] == pytest.approx(alone["ess_bulk"][0])


def test_entries_of_a_fit_have_words() -> None:
    ratings = assay.simulate(
        "retrieval", n_items=40, groups={"person": 3, "llm": 2}, n_systems=2, rng=1
    )
    with pytest.warns(assay.FitWarning):
        fit = assay.fit(ratings, draws=20, tune=30, chains=2, starts=1, rng=1, progress=False)
    table = convergence_table(fit["posterior"].to_dataset().drop_vars("prevalence"))
    assert "logit_sd[group llm, cell misleading: yes -> yes]" in set(table["parameter"])
    assert "system_offset[system system_2, term misleading]" in set(table["parameter"])
    assert not table["parameter"].str.contains(r"\d, \d", regex=True).any()
