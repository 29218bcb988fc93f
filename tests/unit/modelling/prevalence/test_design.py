"""Covariates: formulas, the columns that they read, and what a fit makes of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay import cli
from assay._util.errors import ModelError, RatingsError
from assay.data.ratings import Ratings
from assay.fits.datatree import ratings_of
from assay.modelling.prevalence.design import find_covariates
from assay.modelling.spec import check_formula, covariate_names, make_spec
from assay.modelling.structure import build_structure

EFFECT = {"de": -1.0, "en": 0.0, "fr": 1.0}


def study(items: int = 60, seed: int = 1, **changed: Any) -> pd.DataFrame:
    """Three raters, right nine times in ten; longer items are less often positive."""
    rng = np.random.default_rng(seed)
    length, language = rng.integers(1, 8, items), rng.choice(list(EFFECT), items)
    shift = np.array([EFFECT[name] for name in language])
    truth = rng.random(items) < 1 / (1 + np.exp(0.7 * (length - 4) - shift))
    rows = [
        {
            "item": f"i{i}", "rater": rater, "length": length[i], "language": language[i],
            "label": ("no", "yes")[int(truth[i] ^ (rng.random() < 0.1))],
        }
        for i in range(items)
        for rater in "abc"
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**changed)


def read(table: pd.DataFrame, covariates: Any = ("length", "language"), **more: Any) -> Ratings:
    return assay.read_ratings(table, task="single", covariates=covariates, **more)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("~ length", ["length"]),
        ("length + language", ["length", "language"]),
        ("~ bs(length, df=4) + language", ["length", "language"]),
        ("~ np.log(length) + (1 | source)", ["length", "source"]),
        ("~ `answer length` + I(length**2)", ["answer length", "length"]),
        ("~ 1", []),
    ],
)
def test_formulas_that_are_let_through(text: str, columns: list[str]):
    assert covariate_names(text) == columns
    assert check_formula(check_formula(text)) == check_formula(text)


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ("label ~ length", "left side", "formula-syntax"),
        ("~ length +", "cannot be read", "formula-syntax"),
        ("~", "cannot be read", "formula-syntax"),
        ("", "cannot be read", "formula-syntax"),
        ("~ open('x')", "calls 'open'", "formula-function"),
        ("~ np.load('x')", "calls 'load'", "formula-function"),
        ("~ __import__('os').system('true')", "cannot be read", "formula-syntax"),
        ("~ length.__class__", "backticks", "formula-syntax"),
        ("~ I(length).real", "backticks", "formula-syntax"),
        ("~ `print`(length)", "only named transforms", "formula-function"),
        ("~ {length}", "braces", "formula-syntax"),
        (3, "is not a text", "formula-syntax"),
    ],
)
def test_formulas_that_are_refused(text: Any, said: str, code: str):
    with pytest.raises(ModelError, match=said, check=refusal(code)):
        check_formula(text)


def test_a_formula_needs_main_effects():
    with pytest.raises(ModelError, match="loglinear", check=refusal("formula-prevalence")):
        make_spec(prevalence="dirichlet", formula="~ length")


@pytest.mark.parametrize(
    ("formula", "said", "code"),
    [
        ("~ source", "covariates=\\['source'\\]", "formula-unknown-column"),
        ("~ (length | language)", "not available", "formula-term"),
        ("~ log(length - 1)", "not a number", "formula-data"),
        ("~ I(length * 0)", "the same for all items", "formula-data"),
        ("~ bs(length)", "cannot be evaluated", "formula-data"),
    ],
)
def test_terms_that_do_not_fit_the_items(formula: str, said: str, code: str):
    with pytest.raises(ModelError, match=said, check=refusal(code)):
        find_covariates(formula, read(study()).items)


def test_a_formula_must_not_tell_too_many_items_apart():
    ratings = assay.simulate("generation", n_items=3200, n_clusters=9, ratings_per_item=1, rng=1)
    items = ratings.items.assign(length=np.arange(3200.0))
    with pytest.raises(ModelError, check=refusal("too-many-contexts", contexts=3200)):
        build_structure(replace(ratings, items=items), make_spec(formula="~ length"))
    few = replace(ratings, items=items.round({"length": -2}))
    design = build_structure(few, make_spec(formula="~ length")).prevalence.design
    assert len(np.unique(design.covariate_values)) == 33


def test_columns_are_centred_and_numbers_divided_by_their_sd():
    found = find_covariates("~ length + language", read(study()).items)
    assert sorted(found.names) == ["language[en]", "language[fr]", "length (per SD)"]
    np.testing.assert_allclose(found.values.mean(axis=0), 0, atol=1e-12)
    assert found.values[:, found.names.index("length (per SD)")].std() == pytest.approx(1)
    dummy = found.values[:, found.names.index("language[fr]")]
    assert np.ptp(dummy) == pytest.approx(1)


def test_covariates_are_numbers_where_all_cells_are():
    items = read(study(), covariates=["length", "language"]).items
    assert items["length"].dtype == float
    assert items["language"].isin(list(EFFECT)).all()
    # The language divides the items into kinds, which are kept; the length does not.
    kept = read(study(), covariates=None).items.columns.tolist()
    assert kept == ["cluster", "stratum", "weight", "language"]


@pytest.mark.parametrize(
    ("change", "said", "code"),
    [
        ({"covariates": "lenght"}, "length", "unknown-column"),
        ({"covariates": "weight"}, "cannot be called 'weight'", "covariate-name"),
    ],
)
def test_columns_that_are_not_there(change: dict[str, Any], said: str, code: str):
    with pytest.raises(RatingsError, match=said, check=refusal(code)):
        read(study(weight=1.0), **change)


def test_a_covariate_must_not_change_within_an_item():
    with pytest.raises(RatingsError, check=refusal("changing-value")):
        read(study(), covariates="rater")


def test_a_covariate_has_no_gaps():
    table = study()
    table["length"] = table["length"].astype(object).where(table["item"] != "i3", "NA")
    with pytest.raises(RatingsError, check=refusal("covariate-gaps")):
        read(table)


def test_items_that_nobody_rated_have_theirs_in_the_table_of_panels():
    panels = pd.DataFrame(
        {"item": ["i0", "i1", "new"], "system": "A", "cluster": "q", "rank": [1, 2, 3]}
    )
    with pytest.raises(RatingsError, match="new", check=refusal("covariate-gaps", items=1)):
        read(study(), panels=panels)
    known = panels.assign(length=[np.nan, np.nan, 9], language=["", "", "en"])
    assert read(study(), panels=known).items.loc["new", "length"] == 9


@pytest.fixture(scope="module")
def fitted() -> Any:
    return assay.fit(
        read(study(300)), formula="~ length + language", draws=200, method="laplace", rng=1
    )


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_a_fit_finds_the_effects_and_keeps_what_it_needs(fitted: Any, tmp_path: Path):
    draws = fitted["posterior"]["coefficient"].sel(term="label")
    length = draws.sel(covariate="length (per SD)")
    assert float(length.quantile(0.99)) < -0.7
    assert float((draws.sel(covariate="language[fr]") > 0).mean()) > 0.95
    assay.save(fitted, tmp_path / "fit.nc")
    again = ratings_of(assay.load(tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(
        again.items, ratings_of(fitted).items, check_dtype=False, check_index_type=False
    )
    assert {"length", "language"} <= set(again.items.columns)


@pytest.mark.parametrize(("ending", "numbers"), [("", True), ("%", True), (" m", False)])
def test_decimal_commas_are_noted_where_a_covariate_is_read_as_numbers(ending: str, numbers: bool):
    table = study()
    written = [f"{length},5{ending}" for length in table["length"]]
    found = read(table.assign(length=written), covariates=["length"])
    assert pd.api.types.is_float_dtype(found.items["length"]) == numbers
    assert ("column length has decimal commas" in found.accounting.notes) == numbers
    if numbers:
        expected = table.drop_duplicates("item").set_index("item")["length"] + 0.5
        assert found.items["length"].to_dict() == expected.to_dict()


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_the_command_line_reads_the_columns_of_its_formula(tmp_path: Path):
    study().to_csv(tmp_path / "ratings.csv", index=False)
    command = ["fit", str(tmp_path / "ratings.csv"), "--task", "single", "--formula", "~ length"]
    command += ["--method", "map", "--draws", "20", "-o", str(tmp_path / "fit.nc"), "--quiet"]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 0, done.output
    assert "coefficient" in assay.load(tmp_path / "fit.nc")["posterior"]
    wrong = CliRunner().invoke(cli.app, [*command, "--formula", "~ lenght"])
    assert wrong.exit_code == 1
    assert "length" in wrong.output


def counted(called: bool) -> Ratings:
    """Two ratings an item, and a third on some: where the two disagree, or at random."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(300):
        said = (rng.random(3) < 0.75) == (i % 2)
        more = said[0] != said[1] if called else rng.random() < 0.4
        rows += [
            {"item": i, "rater": "abc"[k], "label": "yes" if said[k] else "no"}
            for k in range(3 if more else 2)
        ]
    return assay.read_ratings(pd.DataFrame(rows), task="single")


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
@pytest.mark.parametrize("called", [False, True])
def test_the_number_of_answers_is_a_covariate_but_not_where_answers_called_for_more(called: bool):
    ratings = counted(called)
    fit = assay.fit(
        ratings, raters="pooled", formula="~ n_answers", method="map", draws=2, chains=1, starts=1
    )
    assert fit["posterior"]["covariate"].values.tolist() == ["n_answers (per SD)"]
    warned = {note["code"] for note in json.loads(fit.attrs["warnings"])}
    assert ("answers-counted-twice" in warned) == called
    column = fit["constant_data"]["design"].values[:, 0]
    assert np.corrcoef(column, np.bincount(ratings.item))[0, 1] == pytest.approx(1)


def test_the_command_line_needs_no_column_for_the_number_of_answers(tmp_path: Path):
    path = tmp_path / "r.csv"
    counted(called=False).to_frame().to_csv(path, index=False)
    done = CliRunner().invoke(
        cli.app,
        ["fit", str(path), "--task", "single", "--formula", "~ n_answers", "--raters", "pooled",
         "--method", "map", "--draws", "2", "-o", str(tmp_path / "fit.nc"), "-q"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
