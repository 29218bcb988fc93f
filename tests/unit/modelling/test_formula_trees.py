"""What a formula may say: nothing in it, given or stored, runs code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay import cli
from assay._util.errors import AssayError, FitError, ModelError
from assay.comparison.claims import parse_claim
from assay.data.ratings import Ratings
from assay.data.rules import parse
from assay.fits.view import FitView
from assay.modelling.elicitation import Opinion
from assay.modelling.prevalence import design as evaluated
from assay.modelling.prevalence.design import find_covariates
from assay.modelling.priors import parse_prior
from assay.modelling.spec import check_formula, covariate_names

LANGUAGES = ("de", "en", "fr")


def ratings() -> Ratings:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "item": np.repeat(np.arange(30), 2), "rater": ["a", "b"] * 30,
            "label": rng.choice(["no", "yes"], 60),
            "length": np.repeat(rng.integers(1, 8, 30), 2),
            "language": np.repeat(rng.choice(LANGUAGES, 30), 2),
        }
    )  # fmt: skip
    return assay.read_ratings(table, task="single", covariates=["length", "language"])


def escape(file: Path) -> str:
    """A formula whose quotes hide a call: formulae ends a string at either kind of quote."""
    return (
        f"~ I(language != 'en\") + I(length + pd.io.common.os.system(\"touch {file}')) "
        "+ (1 | language)"
    )


def fit(formula: str) -> Any:
    return assay.fit(ratings(), formula=formula, method="map", draws=20, chains=1, starts=1, rng=1)


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_a_formula_runs_no_code(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(ModelError):
        fit(escape(made))
    assert not made.exists()


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
@pytest.mark.parametrize("command", ["raters FIT", "labels FIT", "report FIT -o OUT"])
def test_a_stored_fit_runs_no_code(tmp_path: Path, command: str) -> None:
    made, file = tmp_path / "made", tmp_path / "fit.nc"
    tree = fit("~ I(language != 'en') + I(length + 0) + (1 | language)")
    tree.attrs["spec"] = json.dumps(json.loads(tree.attrs["spec"]) | {"formula": escape(made)})
    assay.save(tree, file)
    named = {"FIT": str(file), "OUT": str(tmp_path / "report.html")}
    done = CliRunner().invoke(cli.app, [named.get(word, word) for word in command.split()])
    assert not made.exists()
    assert done.exit_code == 1
    assert "--formula " in done.output


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
@pytest.mark.parametrize(
    "formula",
    [
        "~ bs(length, df=4) + length * language + (1 | language)",
        "~ (1 | language)",
        "~ length",
        "~ 1",
    ],
)
def test_a_stored_fit_evaluates_no_formula(
    tmp_path: Path, formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = fit(formula)
    before = FitView.of(tree).structure.prevalence.design

    def evaluate(*_: object) -> None:
        raise AssertionError("a formula was evaluated")

    monkeypatch.setattr(evaluated, "evaluate_formula", evaluate)
    again = assay.load(assay.save(tree, tmp_path / "fit.nc"))
    after = FitView.of(again).structure.prevalence.design
    assert after.covariates == before.covariates
    np.testing.assert_array_equal(after.covariate_values, before.covariate_values)
    np.testing.assert_array_equal(after.item_context, before.item_context)
    assert [(e.name, e.levels) for e in after.effects] == [
        (e.name, e.levels) for e in before.effects
    ]
    assay.rater_reliability(again)


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_a_stored_formula_without_its_columns_is_refused(tmp_path: Path) -> None:
    tree = fit("~ length")
    tree["constant_data"] = tree["constant_data"].to_dataset().drop_vars("design")
    file = assay.save(tree, tmp_path / "fit.nc")
    with pytest.raises(FitError, check=refusal("damaged-fit", problems=1)):
        assay.load(file)
    del tree.attrs["schema_version"]
    earlier = assay.load(assay.save(tree, file))
    assert "raters" in json.loads(earlier.attrs["spec"])
    with pytest.raises(FitError, check=refusal("formula-not-stored")):
        assay.rater_reliability(earlier)


TOO_LARGE: dict[str, tuple[str, dict[str, float]]] = {
    "~ " + "(" * 20_000 + "length" + ")" * 20_000: (
        "formula-size",
        {"characters": 40_008, "most": 2000},
    ),
    "~ " + "(" * 30 + "length" + ")" * 30: ("formula-size", {"most": 20}),
    "~ " + "-" * 1500 + "1": ("formula-size", {"most": 150}),
    "~ " + " + ".join(["length"] * 400): ("formula-size", {"characters": 3599, "most": 2000}),
    "~ " + "+".join(f"c{n}" for n in range(300)): ("formula-size", {"most": 150}),
    "~ (" + "+".join("abcdefghij") + ")**9": ("formula-size", {"most": 200}),
    "~ " + "*".join("abcdefghijk"): ("formula-size", {"most": 200}),
    "~ bs(length, df=100000)": ("formula-function", {"most": 50}),
    "~ poly(length, 5000)": ("formula-function", {"most": 50}),
    "~ bs(length, 3, None, 99)": ("formula-function", {"most": 50}),
    f"~ I(length + {'9' * 1500})": ("formula-size", {"most": 1e15}),
    f"~ I(length + {'9' * 5000})": ("formula-size", {"characters": 5014, "most": 2000}),
}


REFUSED = {
    "~ `length": "backtick is not closed",
    "~ length == 3": "inside I",
    "~ length > 3": "inside I",
    "~ length length": "cannot be read from 'length' on",
    "~ I('x\" + length)": "different quotes",
    "~ length['a']": "not available",
    "~ C(language, levels=language)": "C takes a column and nothing else",
    "~ bs(length, knots=length)": "one number",
    "~ bs(df=3)": "column as its first",
    "~ S(language, omit=I)": "one number, or one text",
    "~ log(length)(length)": "only named transforms",
    "~ 'a'": "not a term",
    "~ True": "not a term",
    "~ 3": "not a term",
    "~ (length + language)**length": "a power of terms",
    "~ length**2": "power of a single",
    "~ length %  2": "not available",
    "~ hsgp(length, m=3)": "calls 'hsgp'",
    "~ offset(length)": "calls 'offset'",
    "~ length = 3": "cannot be read",
    "~ ~ length": "left side",
    "~ I(length | language)": "between terms",
    "~ np.length": "backticks",
}


@pytest.mark.parametrize("text", TOO_LARGE, ids=lambda text: f"{text[:30]}, {len(text)}")
def test_a_formula_that_is_too_large_is_refused_with_its_limit(text: str) -> None:
    code, numbers = TOO_LARGE[text]
    with pytest.raises(ModelError, check=refusal(code, **numbers)) as caught:
        check_formula(text)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_formula_must_not_hold_is_said_in_words(text: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[text]) as caught:
        check_formula(text)
    assert caught.value.code in ("formula-syntax", "formula-function")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("formula", "said", "code"),
    [
        ("~ I(9**9**9**9**length)", "cannot be evaluated", "formula-data"),
        ("~ I(9**99**99**99)", "cannot be evaluated", "formula-data"),
        ("~ language + log", "uses 'log', but the items have only", "formula-unknown-column"),
        ("~ I(pd)", "uses 'pd', but the items have only", "formula-unknown-column"),
        ("~ C(language, Sum)", "nothing else", "formula-function"),
    ],
)
def test_only_columns_are_named_where_a_formula_is_evaluated(
    formula: str, said: str, code: str
) -> None:
    with pytest.raises(ModelError, match=said, check=refusal(code)):
        find_covariates(formula, ratings().items)


def test_products_of_classes_are_limited() -> None:
    items = pd.DataFrame({name: [f"c{n}" for n in range(9000)] for name in "ab"})
    with pytest.raises(ModelError, check=refusal("formula-data", columns=81000000, items=9000)):
        find_covariates("~ a:b", items)


@pytest.mark.parametrize(
    "formula",
    [
        "~ bs(length, df=4, degree=2) + T(language, ref='en')", "~ poly(length, 2)",
        "~ S(language) + center(length) + standardize(length)", "~ I(length > 3) * language",
        "~ I(language == \"en\")", "~ log(length + 1) - 1",
        "~ (length + language)**2 + (1|language)",
    ],
)  # fmt: skip
def test_what_is_documented_still_passes(formula: str) -> None:
    assert find_covariates(check_formula(formula), ratings().items).names
    assert set(covariate_names(formula)) <= {"length", "language"}


LONG = "x" * 100_000


READERS: dict[str, Callable[[str], Any]] = {
    "claim": parse_claim,
    "opinion": Opinion.parse,
    "prior": parse_prior,
    "rule": lambda text: parse(text, {"a": ("no", "yes")}),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", [LONG, "(" * 50_000, "\0", "\x1b[2J", "'", '"', "`", "a" * 900])
def test_a_message_is_short_and_clean(reader: str, text: str) -> None:
    with pytest.raises(AssayError) as caught:
        READERS[reader](text)
    said = str(caught.value)
    assert len(said) < 600
    assert said.isprintable()
