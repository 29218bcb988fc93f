"""Convergence in words: which parameter is meant."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.display.notes import convergence_words
from assay.fits.datatree import posterior_dataset
from assay.inference.convergence import convergence_table, nuts_warnings, worst_first
from assay.inference.density import make_density
from assay.inference.diagnostics import (
    FEW_FOR_PSIS,
    ImportanceCheck,
    check_importance,
    laplace_warnings,
    result_draws,
)
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure


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
    said = nuts_warnings(convergence_table(posterior), {}, draws=400, target_accept=0.95)
    name = "logit_mean[group person, cell misleading: no -> no]"
    assert len(said) == 2
    assert all(name in text for text in said)
    assert [note.code for note in said] == ["chains-disagree", "low-ess"]
    assert (said[0].numbers["parameters"], said[0].numbers["of"]) == (1, 5)


@pytest.mark.parametrize(
    ("worth", "advice"), [(300, "(`draws=2000`)"), (80, "(`draws=6500`)"), (40, "(`draws=`)")]
)
def test_as_many_draws_are_proposed_as_would_do(worth: float, advice: str) -> None:
    """In proportion and a quarter more, of 1,000 draws; of a tenth of what is needed, none."""
    table = pd.DataFrame({"parameter": ["main"], "r_hat": 1.0, "ess_bulk": worth, "ess_tail": 900})
    (said,) = nuts_warnings(table, {}, draws=1000, target_accept=0.95)
    assert said.endswith(f"Take more draws {advice}.")


def test_smaller_steps_are_proposed_where_they_were_large(posterior: xr.Dataset) -> None:
    table = convergence_table(posterior)
    for aim, proposed in ((0.85, True), (0.98, False)):
        said = nuts_warnings(table, {}, draws=400, target_accept=aim)
        assert ["in smaller steps (`draws=" in text for text in said] == [proposed] * 2
        assert [", `target_accept=0.95`)" in text for text in said] == [proposed] * 2


def chains_that_agree(rng: np.random.Generator, entries: int) -> np.ndarray:
    """Four chains of 500 draws (chain, draw, entry), some 1,000 of them effective."""
    noise = rng.standard_normal((4, 600, entries))
    for n in range(1, 600):
        noise[:, n] += 0.4 * noise[:, n - 1]
    return noise[:, 100:]


def told(draws: np.ndarray) -> list[str]:
    dims = ("chain", "draw", "entry")
    posterior = xr.Dataset({"main": (dims, draws)}, coords={"entry": np.arange(draws.shape[2])})
    return nuts_warnings(convergence_table(posterior), {}, draws=500, target_accept=0.95)


@pytest.mark.slow
def test_the_largest_r_hat_of_many_parameters_is_above_its_limit_by_chance() -> None:
    """An aside: of twenty runs of chains that agree none is said not to."""
    rng = np.random.default_rng(1)
    said = [text for _ in range(20) for text in told(chains_that_agree(rng, 200))]
    above = [text for text in said if "chance alone explains this" in text]
    assert len(above) > 5
    assert all(text.level == "note" for text in above)
    assert all(text.level == "note" for text in said if text.code == "chains-disagree")


def test_r_hat_of_few_effective_draws_is_not_called_chance() -> None:
    """Walks that hardly move: their R-hat is within its limit, which such draws widen."""
    rng = np.random.default_rng(3)
    slow = np.cumsum(rng.standard_normal((4, 500, 3)), axis=1) * 0.02
    draws = slow - slow.mean(axis=1, keepdims=True) + rng.standard_normal((4, 1, 3)) * 0.02
    said = [text for text in told(draws) if text.code == "chains-disagree"]
    assert len(said) == 1
    assert "chance" not in said[0]


@pytest.mark.parametrize("apart", ["in place", "in width"])
def test_one_of_many_parameters_of_which_chains_do_not_agree_is_told(apart: str) -> None:
    draws = chains_that_agree(np.random.default_rng(2), 200)
    if apart == "in place":
        draws[0, :, 7] += 1.2 * draws[:, :, 7].std()
    else:
        draws[0, :, 7] *= 3
    (text,) = [text for text in told(draws) if text.code == "chains-disagree"]
    assert text.level == "warning"
    assert "main[entry 7]" in text


def test_divergences_are_told_with_what_they_are_of(posterior: xr.Dataset) -> None:
    stats = {"diverging": np.eye(4, 400, dtype=int)[:1]}
    table = convergence_table(posterior[["system_sd"]])
    (said,) = nuts_warnings(table, stats, draws=400, target_accept=0.95)
    assert (said.code, said.level) == ("divergences", "warning")
    assert said.numbers == {"divergences": 1, "transitions": 400}


def test_so_few_divergences_as_one_in_a_thousand_are_an_aside(posterior: xr.Dataset) -> None:
    table = convergence_table(posterior[["system_sd"]])
    for count, alone in ((4, True), (5, False)):
        flags = np.arange(4000).reshape(4, 1000) < count
        (said,) = nuts_warnings(table, {"diverging": flags}, draws=1000, target_accept=0.95)
        assert said.numbers == {"divergences": count, "transitions": 4000}
        assert (said.level == "note") == alone


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


def lines(**columns: list[float]) -> pd.DataFrame:
    """A table of convergence: R-hat 1 and 900 effective draws, but for what is given."""
    size = len(next(iter(columns.values())))
    told = {"r_hat": [1.0] * size, "ess_bulk": [900.0] * size, "r_hat_limit": [1.012] * size}
    table = pd.DataFrame({"parameter": [f"p{n}" for n in range(size)], **told, **columns})
    return table.assign(ess_tail=table["ess_bulk"])


GOOD = lines(r_hat=[1.001])


@pytest.mark.parametrize(
    ("worth", "results", "doubtful", "named"),
    [
        (390, GOOD, False, "p0"),  # one SD, say
        (390, lines(ess_bulk=[350.0]).assign(parameter="share"), True, "share"),
        (60, GOOD, True, "p0"),  # R-hat itself tells little then
        (900, GOOD, False, ""),
    ],
)
def test_few_effective_draws_of_what_no_result_reports_are_an_aside(
    worth: float, results: pd.DataFrame, doubtful: bool, named: str
) -> None:
    table = lines(ess_bulk=[worth, 900.0])
    said = nuts_warnings(table, {}, draws=1000, target_accept=0.95, results=results)
    assert [text.level == "note" for text in said] == [not doubtful] * bool(named)
    assert all((text.code, text.numbers["limit"]) == ("low-ess", 400) for text in said)
    assert all(named in text for text in said)
    if named and not doubtful:
        assert said[0].numbers == {"ess": worth, "ess_results": 900, "limit": 400}


@pytest.mark.parametrize(
    ("largest", "results", "doubtful"),
    [(1.03, GOOD, False), (1.03, lines(r_hat=[1.02]), True), (1.2, GOOD, True)],
)
def test_chains_that_differ_on_what_no_result_reports_alone_are_an_aside(
    largest: float, results: pd.DataFrame, doubtful: bool
) -> None:
    table = lines(r_hat=[1.0, largest])
    (said,) = nuts_warnings(table, {}, draws=1000, target_accept=0.95, results=results)
    assert (said.level == "note") != doubtful
    assert said.code == "chains-disagree"
    assert said.numbers == {"r_hat": largest, "parameters": 1, "of": 2}


def test_the_worst_parameters_are_worst_in_either_respect() -> None:
    table = lines(r_hat=[1.004, 1.001, 1.03, 1.002], ess_bulk=[900.0, 80.0, 500.0, 350.0])
    assert worst_first(table)["parameter"].tolist() == ["p1", "p2", "p3", "p0"]


def test_what_results_rest_on_is_shares_and_accuracies() -> None:
    ratings = assay.simulate("retrieval", n_items=60, n_raters=3, n_systems=2, rng=1)
    structure = build_structure(ratings, make_spec("hierarchical + system_bias"))
    density = make_density(structure)
    rng = np.random.default_rng(1)
    values = density.constrain(0.3 * rng.standard_normal((6, density.size)))
    states = rng.integers(0, 5, (6, 60)).astype(np.int16)
    posterior = posterior_dataset(structure, values, 2)
    found = result_draws(structure, posterior["prevalence"], values, states)
    codes = structure.prevalence.space.states[states]
    assert found["share"].sel({"class": "misleading=yes"}).to_numpy().ravel() == pytest.approx(
        (codes[..., 2] == 1).mean(axis=1)
    )
    assert dict(found["prevalence"].sizes) == {"chain": 2, "draw": 3, "system": 2, "class": 3}
    assert dict(found["accuracy"].sizes) == {"chain": 2, "draw": 3, "rater": 3, "label": 3}
    assert ((found["accuracy"] > 0) & (found["accuracy"] < 1)).all()


def normal_log_density(_mode: object, x: np.ndarray) -> np.ndarray:
    return np.asarray(-0.5 * (x**2).sum(axis=1))


@pytest.mark.parametrize(("sd", "k"), [(3.0, 1 - 1 / 9), (1.5, 1 - 1 / 2.25), (0.5, -3.0)])
def test_k_hat_is_that_of_the_ratios_known_in_closed_form(
    sd: float, k: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a normal target with this SD, seen from a standard normal, ratios grow as
    # exp((1 - 1 / sd^2) x^2 / 2): the tail has shape 1 - 1 / sd^2; below SD 1 it is bounded.
    monkeypatch.setattr("assay.inference.diagnostics.laplace_log_density", normal_log_density)
    x = np.random.default_rng(1).standard_normal((4, 10_000, 1))
    found = check_importance(None, x, -0.5 * (x[..., 0] / sd) ** 2)  # type: ignore[arg-type]
    assert (found.k_hat == pytest.approx(k, abs=0.15)) if k > 0 else (found.k_hat < 0)


@pytest.mark.parametrize("sd", [1.0, 0.8, 0.4])
def test_the_worth_of_a_draw_is_that_known_in_closed_form(
    sd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With w = exp(-(1 / s^2 - 1) x^2 / 2) is E[w] = s, and E[w^2] = s / sqrt(2 - s^2).
    monkeypatch.setattr("assay.inference.diagnostics.laplace_log_density", normal_log_density)
    x = np.random.default_rng(1).standard_normal((4, 10_000, 1))
    found = check_importance(None, x, -0.5 * (x[..., 0] / sd) ** 2)  # type: ignore[arg-type]
    assert found.worth == pytest.approx(sd * np.sqrt(2 - sd**2), rel=0.03)


def test_ratios_too_far_apart_are_told_from_too_few_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.inference.diagnostics.laplace_log_density", normal_log_density)
    x = np.random.default_rng(1).standard_normal((1, 400, 1))
    some = x[:, : FEW_FOR_PSIS - 1]
    apart = check_importance(None, x, 1e5 * x[..., 0])  # type: ignore[arg-type]
    few = check_importance(None, some, some[..., 0])  # type: ignore[arg-type]
    assert np.isinf(apart.k_hat)
    assert np.isnan(few.k_hat)
    assert laplace_warnings(apart)[0].code == "laplace-rough"
    (unchecked,) = laplace_warnings(few)
    assert (unchecked.code, unchecked.numbers) == ("laplace-unchecked", {"draws": FEW_FOR_PSIS})
    assert laplace_warnings(ImportanceCheck(0.3, 0.5)) == []
    for k_hat, worth in [(0.9, 0.5), (0.3, 0.2), (0.3, 0.04), (np.inf, 0.2)]:
        (said,) = laplace_warnings(ImportanceCheck(k_hat, worth))
        assert said.code == "laplace-rough"
        assert said.numbers["worth"] == worth
        assert said.numbers.get("k_hat", np.inf) == k_hat


def test_laplace_is_told_by_its_k_hat_and_what_its_draws_are_worth() -> None:
    posterior = xr.Dataset({"a": (("chain", "draw"), np.zeros((1, 2)))})

    def words(diagnostics: str) -> list[str]:
        attrs = {"method": "laplace", "diagnostics": diagnostics, "warnings": "[]"}
        tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs=attrs), "posterior": posterior})
        return convergence_words(tree)

    start = "Laplace approximation at the mode: PSIS k-hat"
    assert words('{"k_hat": null}') == [f"{start} undefined."]
    full = '{"k_hat": 0.41, "draws_worth": 0.213}'
    assert words(full) == [f"{start} 0.41, a draw is worth 0.21 posterior draws."]
