"""What users write by hand, taken to extremes: one error each, in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import refusal

from assay._util.errors import AssayError
from assay.comparison.claims import parse_claim
from assay.data.rules import parse
from assay.data.states import state_space
from assay.data.task_files import load_task
from assay.modelling.elicitation import Opinion
from assay.modelling.priors import override, parse_prior, read_priors, write_prior

LABEL = "[[labels]]\nname = 'a'\n"
TASKS = {
    LABEL + "asked_if = 3": "asked_if = 3",
    LABEL + "asked_if = ['a']": "asked_if = ['a']",
    LABEL + "ordered = 'yes'": "ordered",
    LABEL + "description = 3": "description = 3",
    LABEL + "classes = [['x'], ['y']]": "list of names",
    LABEL + "classes = [1979-05-27, 1979-05-28]": "list of names",
    LABEL + "classes = [true, false]": "list of names",
    LABEL + "classes = ['', 'x']": "list of names",
    LABEL + "classes = ['x\\u0000', 'y']".replace("'x\\u0000'", '"x\\u0000"'): "control characters",
    '[[labels]]\nname = "a\\u001b[2J"': "control characters",
    "[[labels]]\nname = '" + "a" * 1000 + "'": "1,000 characters",
    "[[labels]]\nname = 1979-05-27": "has no name",
    "[[labels]]\nname = ['a']": "has no name",
    "metrics = 3\n" + LABEL: "metrics = 3",
    "metrics = [3]\n" + LABEL: "metrics = [3]",
    "metrics = 'a'\n" + LABEL: "metrics = 'a'",
    "name = 3\n" + LABEL: "name = 3",
    "description = 1979-05-27\n" + LABEL: "description = datetime.date(1979, 5, 27)",
    "max_states = 10000000\n" + LABEL: "1 to 20,000",
    "max_states = 0\n" + LABEL: "1 to 20,000",
    "max_states = true\n" + LABEL: "1 to 20,000",
    "max_states = 1.5\n" + LABEL: "1 to 20,000",
    "max_states = " + "9" * 5000 + "\n" + LABEL: "not valid TOML",
    "[columns]\nitem = 3\n" + LABEL: "columns: item = 3",
    "[columns]\nitem = [3]\n" + LABEL: "columns: item = [3]",
    "columns = 3\n" + LABEL: "columns",
    "a = " + "[" * 5000 + "]" * 5000: "nested",
    "a = '" + "x" * 2_000_000 + "'": "1,048,576 bytes",
    LABEL + "[[rules]]\nexpression = 3": "has no expression",
    LABEL + "[[rules]]\nexpression = 'a'\nname = 3": "name = 3",
    LABEL + "[[rules]]\nexpression = 'a'\ntruth = ['hard']": "truth = ['hard']; allowed",
    LABEL + "[[rules]]\nexpression = 'a'\ntruth = 3": "truth = 3; allowed",
    LABEL + "[[rules]]\nexpression = '" + "not " * 100_000 + "a'": "400,001 characters",
    LABEL + "[[rules]]\nexpression = '" + "not " * 2_000 + "a'": "100 operators",
    LABEL + "[[rules]]\nexpression = '" + "(" * 4_000 + "a" + ")" * 4_000 + "'": "100 operators",
    LABEL + "classes = []\n[[rules]]\nexpression = 'a'": "classes come from",
    "".join(f"[[labels]]\nname = 'a{n}'\n" for n in range(1_200)): "1,200 labels",
}


@pytest.mark.parametrize("text", TASKS, ids=range(len(TASKS)))
def test_a_task_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    if "(((" in text:  # brackets alone are no operators
        assert load_task(path).rules
        return
    with pytest.raises(AssayError) as caught:
        load_task(path)
    assert caught.value.code == "task-file"
    assert TASKS[text] in str(caught.value)
    assert "own.toml" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_task_of_many_states_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    classes = ", ".join(f"'c{n}'" for n in range(256))
    path.write_text(
        "max_states = 20000\n"
        + "".join(f"[[labels]]\nname = 'a{n}'\nclasses = [{classes}]\n" for n in range(9))
    )
    with pytest.raises(AssayError, check=refusal("too-many-states", most=20000)):
        state_space(load_task(path))


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


@pytest.mark.parametrize("default", ["Normal(1, 1)", "Beta(2, 1)"])
@pytest.mark.parametrize(
    "opinion",
    [
        "about 99.9999 %, 1 % between 1 and 100",
        "about 50 %, 99.99999 % between 49.999 and 50.001",
        "about 0.0001 %, 99 % between 0 and 99",
    ],
)  # fmt: skip
def test_extreme_opinions_are_settled_or_refused(default: str, opinion: str) -> None:
    try:
        override({"mean_binary": parse_prior(default)}, {"mean_binary": opinion}, owner="x")
    except AssayError as error:
        assert "opinion" in str(error) or "impossible" in str(error)  # noqa: PT017


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
