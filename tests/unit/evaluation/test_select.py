"""Metrics of the user's own, from a file."""

import numpy as np
import pytest
from refusals import refusal

from assay._util.errors import ModelError
from assay.data.task_files import load_task
from assay.evaluation import load_metrics
from assay.evaluation.draws import panel_totals
from assay.evaluation.select import choose_metrics

FILE = """
import numpy as np

import assay


@assay.metric("no_relevant_chunk", task="retrieval", labels=["topically_relevant"], better="lower")
def no_relevant_chunk(y, mask):
    "Share of queries without any relevant chunk."
    return ~((y[..., 0] == 1) & mask).any(axis=-1)


@assay.metric("second_metric", task="retrieval")
def second_metric(y, mask):
    return np.full(y.shape[:-2], 0.5)
"""


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Leave the registry as it was."""
    from assay.evaluation import registry

    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))


@pytest.fixture
def write(tmp_path):
    def make(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return make


def test_metrics_of_a_file_are_found_and_reported(write):
    first, second = load_metrics(write(FILE))
    assert (first.name, first.better) == ("no_relevant_chunk", "lower")
    assert first.description == "Share of queries without any relevant chunk."
    task = load_task("retrieval")
    assert [m.name for m in choose_metrics(task)][-2:] == [first.name, second.name]
    y, mask = np.zeros((2, 1, 3, 1), np.int16), np.ones((1, 3), bool)
    y[1, 0, 2] = 1
    assert first.function(y, mask).tolist() == [[True], [False]]


def test_file_that_is_loaded_again_replaces_its_metrics(write):
    load_metrics(write(FILE))
    changed = load_metrics(write(FILE.replace("0.5", "0.25")))
    assert changed[1].function(np.zeros((1, 1, 1)), None) == [0.25]


def test_other_file_may_not_take_the_name(write):
    load_metrics(write(FILE))
    with pytest.raises(ModelError, match=r"other\.py, line 7", check=refusal("metric-file")):
        load_metrics(write(FILE, "other.py"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "registers no metric"),
        ("def f(:", r"mine\.py, line 1: SyntaxError"),
        ("\n\n1 / 0", r"mine\.py, line 3: ZeroDivisionError: division by zero"),
        ("import no_such_module_here", "line 1: ModuleNotFoundError"),
        ("from assay import metric\nmetric('x', kind='mean')", "line 2: metric 'x': kind='mean'"),
    ],
)
def test_problems_of_a_file_are_told_with_their_line(write, text, words):
    with pytest.raises(ModelError, match=words, check=refusal("metric-file")):
        load_metrics(write(text))


def test_path_that_is_no_python_file_is_told(tmp_path, write):
    with pytest.raises(ModelError, match="is not a readable Python", check=refusal("metric-file")):
        load_metrics(tmp_path / "absent.py")
    with pytest.raises(ModelError, match=r"mine\.txt is not", check=refusal("metric-file")):
        load_metrics(write(FILE, "mine.txt"))


def test_error_in_a_metric_names_it_its_line_and_what_went_wrong(write):
    text = FILE.replace("np.full(y.shape[:-2], 0.5)", "np.full(y.shape[:-2], 1 / len(mask[:0]))")
    path = write(text)
    second = load_metrics(path)[1]
    with pytest.raises(ModelError) as caught:
        panel_totals(second, np.zeros((1, 3, 4), np.int16), np.ones((1, 3), bool))
    line = 1 + text.splitlines().index("    return np.full(y.shape[:-2], 1 / len(mask[:0]))")
    assert caught.value.code == "metric-function"
    assert "'second_metric'" in str(caught.value)
    assert f"({path}, line {line}): ZeroDivisionError" in str(caught.value)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_line_of_a_metric_is_its_own_and_not_that_of_what_it_calls(write):
    path = write(FILE.replace("np.full(y.shape[:-2], 0.5)", "np.stack([y, mask])"))
    with pytest.raises(ModelError, match=r"mine\.py, line 15\)", check=refusal("metric-function")):
        panel_totals(load_metrics(path)[1], np.zeros((1, 3, 4), np.int16), np.ones((1, 3), bool))


def test_metric_that_returns_no_numbers_is_named(write):
    path = write(FILE.replace("np.full(y.shape[:-2], 0.5)", "'half'"))
    with pytest.raises(
        ModelError, match="'second_metric' did not return", check=refusal("metric-function")
    ):
        panel_totals(load_metrics(path)[1], np.zeros((1, 3, 4), np.int16), np.ones((1, 3), bool))
