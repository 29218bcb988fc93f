"""Priors: given, written, and read from a file of the user's own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refusal
from scipy import stats

from assay._util.errors import AssayError, ModelError
from assay.data.task_files import catalogue_names, catalogue_path
from assay.modelling.parameters import Parameter
from assay.modelling.priors import (
    Prior,
    given_priors,
    override,
    parse_prior,
    read_call,
    read_counts,
    read_priors,
    write_prior,
    written_prior,
)


def parameter(prior: Prior, *shape: int) -> Parameter:
    dims = tuple(f"d{n}" for n in range(len(shape)))
    coords = {d: tuple(str(k) for k in range(size)) for d, size in zip(dims, shape, strict=True)}
    return Parameter(name="p", prior=prior, dims=dims, coords=coords)


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("Normal(0, 1.5)", "Normal", (0.0, 1.5)),
        ("Normal(-2, sigma=1)", "Normal", (-2.0, 1.0)),
        (" Beta(beta=3, alpha=2) ", "Beta", (2.0, 3.0)),
        ("Confusion(0.6, 8)", "Confusion", (0.6, 8.0)),
    ],
)
def test_priors_are_read_and_written(text: str, name: str, values: tuple[float, ...]):
    prior = parse_prior(text)
    assert prior == Prior(name=name, values=values)
    assert parse_prior(str(prior)) == prior


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("Normal", "is not a prior", "prior-syntax"),
        ("Normal(0, x)", "is not a prior", "prior-syntax"),
        ("Normal(0, 1) + 1", "is not a prior", "prior-syntax"),
        ("__import__('os')", "no distribution '__import__'|is not a prior", "prior-syntax"),
        ("Norml(0, 1)", "did you mean Normal", "prior-syntax"),
        ("Normal(0)", "takes mu, sigma", "prior-syntax"),
        ("Normal(0, 1, 2)", "takes mu, sigma", "prior-syntax"),
        ("Normal(0, 1, sigma=2)", "takes mu, sigma", "prior-syntax"),
        ("Normal(0, scale=1)", "takes mu, sigma", "prior-syntax"),
        ("Normal(0, -1)", "sigma must be positive", "prior-syntax"),
        ("HalfNormal(0)", "sigma must be positive", "prior-syntax"),
        ("Normal(1e999, 1)", "must be positive|finite", "prior-syntax"),
        ("Confusion(1.2, 8)", "between 0 and 1", "prior-syntax"),
        ("Normal([0, 1], 1)", "takes numbers", "prior-syntax"),
        ("Counts([[8, 2]])", "square table", "prior-counts"),
        ("Counts([8, 2])", "square table", "prior-counts"),
        ("Counts([[8, 2], [1]])", "square table", "prior-counts"),
        ("Counts(5)", "square table", "prior-counts"),
        ("Counts([[8, 0], [1, 9]])", "must be positive", "prior-counts"),
        (
            "Counts({'a': [[8, 2], [1, 9]], 'b': 3})",
            "main, label b: counts must be a square",
            "prior-counts",
        ),
        ("about 85 %", "Write e.g. 'about 85 % accurate", "prior-syntax"),
    ],
)
def test_what_is_no_prior_is_said_in_words(text: str, words: str, code: str):
    with pytest.raises(ModelError, match=words, check=refusal(code)):
        parse_prior(text, where="main")


@pytest.mark.parametrize(
    "prior",
    [
        "Normal(0.1, 1e-09)",
        "Normal(-1.2345678901234567, 3)",
        "Counts([[8, 2], [1.5, 9]])",
        "Counts([[[8, 2], [1, 9]], [[5, 5], [5, 5]]])",
        "Counts({'a': [[8, 2], [1, 9]], 'b': [[8, 2, 1], [1, 9, 1], [1, 1, 1]]})",
        "about 85 %, 90 % between 70 and 95",
    ],
)
def test_text_comes_back_exactly(prior: str):
    assert str(parse_prior(prior)) == prior
    assert write_prior(parse_prior(prior)) == write_prior(prior) == prior
    assert parse_prior(json.loads(json.dumps(write_prior(prior)))) == parse_prior(prior)


def test_calls_counts_and_numbers_are_read_and_written():
    assert read_call("Normal(1, sigma=2)", "prior") == ("Normal", [1], {"sigma": 2})
    assert read_counts([[8, 2], [1, 9]], "prior") == ((8.0, 2.0), (1.0, 9.0))
    written = [written_prior(value) for value in (0.1, [[8, 2.0], [1, 9]], {"a": 1})]
    assert written == ["0.1", "[[8, 2], [1, 9]]", "{'a': 1}"]
    given = given_priors([{"sd": "HalfNormal(1)"}, {"sd": "HalfNormal(2)"}])
    assert given == {"sd": "HalfNormal(2)"}


def test_arrays_are_written_as_counts():
    counts = np.array([[8, 2], [0.1, 1 / 3]])
    for value in (counts, counts.tolist(), np.stack([counts, counts]), {"a": counts}):
        text = write_prior(value)
        assert parse_prior(text).name == "Counts"
        found = parse_prior(text).values[0]
        np.testing.assert_array_equal(
            np.asarray(found["a"] if isinstance(found, dict) else found),
            np.asarray(value["a"] if isinstance(value, dict) else value),
        )
    shown = Prior(name="Dirichlet", values=(np.array([[1.0, 2.5]]),))
    assert str(shown) == "Dirichlet([[1, 2.5]])"
    for value in (3, None):
        with pytest.raises(ModelError, match="not a prior", check=refusal("prior-syntax")):
            write_prior(value, where="x")
    for counts in (np.ones(3), [[8, 2], [1]], {"a": [[8, 2], [1]]}, [[[8, 2], [1, 9]], [[8, 2]]]):
        with pytest.raises(ModelError, match="square table", check=refusal("prior-counts")):
            write_prior(counts)


def test_an_opinion_takes_the_place_of_a_probability():
    words = "about 85 %, 90 % between 70 and 95"
    defaults = {
        "accuracy": parse_prior("Beta(4, 3)"),
        "confusion": parse_prior("Confusion(0.6, 8)"),
        "mean_binary": parse_prior("Normal(1.8, 0.8)"),
        "main": parse_prior("Normal(0, 1)"),
    }
    chosen = override(
        defaults, dict.fromkeys(("accuracy", "confusion", "mean_binary"), words), owner="x"
    )
    alpha, beta = chosen["accuracy"].values
    assert alpha / (alpha + beta) == pytest.approx(0.85)
    assert chosen["confusion"].values == pytest.approx((0.85, alpha + beta))
    assert chosen["mean_binary"].name == "Normal"
    assert chosen["main"] == defaults["main"]
    with pytest.raises(ModelError, match="cannot replace Normal", check=refusal("prior-kind")):
        override(defaults, {"main": words}, owner="x")
    swapped = override(defaults, {"confusion": "Counts([[8, 2], [1, 9]])"}, owner="x")
    assert swapped["confusion"].name == "Counts"


def test_override_keeps_to_the_kind():
    defaults = {"sd": parse_prior("HalfNormal(1)"), "main": parse_prior("Normal(0, 1)")}
    chosen = override(defaults, {"sd": "Exponential(2)", "elsewhere": "Beta(1, 1)"}, owner="x")
    assert str(chosen["sd"]) == "Exponential(2)"
    assert set(chosen) == set(defaults)
    with pytest.raises(ModelError, check=refusal("prior-kind")):
        override(defaults, {"main": "Beta(1, 1)"}, owner="x")


@pytest.mark.parametrize(
    ("prior", "reference"),
    [
        ("Normal(1, 2)", stats.norm(1, 2)),
        ("HalfNormal(2)", stats.halfnorm(scale=2)),
        ("Exponential(3)", stats.expon(scale=1 / 3)),
        ("Gamma(2, 5)", stats.gamma(2, scale=1 / 5)),
        ("Beta(2, 5)", stats.beta(2, 5)),
    ],
)
def test_draws_follow_the_distribution(prior: str, reference: object):
    drawn = parameter(parse_prior(prior), 4000).draw(np.random.default_rng(1))
    assert stats.kstest(drawn, reference.cdf).pvalue > 1e-3


def test_dirichlet_draws_and_transform():
    counts = np.array([[1.0, 2.0, 3.0]] * 5000)
    block = parameter(Prior(name="Dirichlet", values=(counts,)), 5000, 3)
    drawn = block.draw(np.random.default_rng(1))
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    for k in range(3):
        assert stats.kstest(drawn[:, k], stats.beta(k + 1, 6 - k - 1).cdf).pvalue > 1e-3
    assert block.free_shape == (5000, 2)
    value, _ = block.constrain(np.zeros(block.free_shape), np)
    np.testing.assert_allclose(value, 1 / 3)


@pytest.mark.parametrize("prior", ["HalfNormal(2)", "Exponential(3)", "Gamma(2, 5)", "Beta(2, 5)"])
def test_densities_integrate_to_one_on_the_unconstrained_scale(prior: str):
    block = parameter(parse_prior(prior), 1)
    x = np.linspace(-40, 12, 200_001)[:, None]
    density = np.exp(block.constrain(x, np)[1][:, 0])
    assert np.trapezoid(density, x[:, 0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("prior", "centre"),
    [
        ("Normal(0.5, 2)", 0.5),
        ("HalfNormal(0.6)", stats.halfnorm(scale=0.6).median()),
        ("Exponential(4)", stats.expon(scale=1 / 4).median()),
        ("Gamma(3, 4)", stats.gamma(3, scale=1 / 4).mean()),
        ("Beta(2, 6)", stats.beta(2, 6).mean()),
        ("Dirichlet(1.5)", 0.25),
    ],
)
def test_the_centre_is_a_mean_or_a_median(prior: str, centre: float):
    found = parameter(parse_prior(prior), 3, 4).centre
    assert found.shape == (3, 4)
    np.testing.assert_allclose(found, centre, rtol=0.01)


GOOD = """
[priors]
main = "Normal(0, 1)"
accuracy = "about 85 %, 90 % between 70 and 95"
confusion = [[8, 2], [1, 9]]
expert.mean_binary = "Normal(3, 0.3)"
"gpt-4.1".accuracy = "Beta(9, 1)"

[priors.rater_7]
confusion = {a = [[8, 2], [1, 9]], b = [[5, 1], [1, 5]]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_priors_are_read_by_name_and_owner(tmp_path: Path):
    found = read_priors(written(tmp_path, GOOD))
    assert found == {
        "main": "Normal(0, 1)",
        "accuracy": "about 85 %, 90 % between 70 and 95",
        "confusion": "Counts([[8, 2], [1, 9]])",
        "expert.mean_binary": "Normal(3, 0.3)",
        "gpt-4.1.accuracy": "Beta(9, 1)",
        "rater_7.confusion": "Counts({'a': [[8, 2], [1, 9]], 'b': [[5, 1], [1, 5]]})",
    }
    for text in found.values():
        assert str(parse_prior(text)) == text


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path):
    lines = ["[priors]", 'main = "Norml(0, 1)"', "sd = 3", 'ok = "Beta(1, 1)"']
    path = written(tmp_path, "\n".join([*lines, 'expert.accuracy = "about 85 %"']))
    with pytest.raises(ModelError) as caught:
        read_priors(path)
    message = str(caught.value)
    for words in (
        str(path),
        "main: no distribution 'Norml'",
        "sd: 3 is not a prior",
        "expert.accuracy:",
    ):
        assert words in message
    assert "ok" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('main = "Normal(0, 1)"', "has main. Write all priors"),
        (
            '[priors]\na = "Beta(1, 1)"\n[fit]\ndraws = 3',
            "has fit. Write all priors",
        ),
        ("", "has no table"),
        ("[priors\n", "mine.toml: .*line 1"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, words: str):
    with pytest.raises(ModelError, match=words, check=refusal("prior-file")):
        read_priors(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(ModelError, match="there is no", check=refusal("prior-file")):
        read_priors(tmp_path / "none.toml")


@pytest.mark.parametrize("name", catalogue_names("raters"))
def test_priors_of_the_catalogue_come_back(tmp_path: Path, name: str):
    text = catalogue_path("raters", f"{name}.toml").read_text(encoding="utf-8")
    table = text[text.index("[priors]") :]
    found = read_priors(written(tmp_path, table))
    assert found
    assert all(str(parse_prior(prior)) == prior for prior in found.values())


PRIORS = {
    "Normal(0, " + "9" * 5000 + ")": "at most 1,000",
    "Normal(0, " + "9" * 900 + ")": "takes numbers",
    "(" * 300 + "1" + ")" * 300: "is not a prior",
    "-" * 900 + "1": "is not a prior",
    "Counts(" + "[" * 5000 + "]" * 5000 + ")": "is not a prior",
    "Counts(" + "-" * 50_000 + "1)": "is not a prior",
    "Counts(" + "1+" * 50_000 + "1)": "is not a prior",
    "Counts([[1, 2], [3, " + "9" * 900 + "]])": "square table",
    "Counts({'a': {'b': [[1, 2], [3, 4]]}})": "cannot be a dictionary",
    "Normal(0, 1j)": "takes numbers",
    "Normal(0, [1])": "takes numbers",
    "Normal(0, \0)": "is not a prior",
    "Normal(**{'mu': 0})": "Normal takes mu, sigma",
    "Normal({[]: 1}, 1)": "is not a prior",
    "__import__('os').system('true')": "is not a prior",
    "Normal(__import__('os'), 1)": "is not a prior",
    "exec('1')": "no distribution 'exec'",
    "Normal((lambda: 1)(), 1)": "is not a prior",
    "Normal(0, 1e999)": "must be positive",
    "about " + "9" * 5000 + " accurate": "is not an opinion",
}


@pytest.mark.parametrize("text", PRIORS, ids=range(len(PRIORS)))
def test_a_prior_is_refused_in_words(text: str) -> None:
    with pytest.raises(AssayError) as caught:
        parse_prior(text, where="prior main")
    assert PRIORS[text] in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", [3, None, 1.5, object(), [[1]], {"a": 3}, {"a": {"b": 1}}])
def test_a_value_that_is_no_prior_is_refused(value: Any) -> None:
    with pytest.raises(AssayError):
        write_prior(value)


FILES = {
    "[priors]\nmain = " + "[" * 5000 + "]" * 5000: "nested too deeply",
    "[priors]\nmain = " + "9" * 5000: "is not valid TOML",
    "[priors]\nmain = 1979-05-27": "is not a prior",
    "[priors]\nmain = true": "is not a prior",
    "[priors]\nmain = [1979-05-27]": "square table",
    "[priors]\nmain = ['a']": "square table",
    "[priors]\n" + ".".join("a" * 300) + " = 'x'": "is not a prior",
}


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_a_file_of_priors_is_refused_in_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "priors.toml"
    path.write_text(text)
    with pytest.raises(AssayError, match=r"priors\.toml") as caught:
        read_priors(path)
    assert FILES[text] in str(caught.value)
