"""An executor is all that ``fit`` knows of a cluster: one of this process does."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import assay
from assay.inference.executors import Executor

pytestmark = pytest.mark.filterwarnings("ignore::assay.FitWarning")


class Here:
    """An executor whose parts are the values themselves; it counts its work."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def ready(self, *, show: bool = False) -> None:
        self.done.append("ready")

    def send(self, value: Any) -> Any:
        return value

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        self.done.append(function.__name__)
        return [function(*each) for each in zip(*arguments, strict=True)]

    def gather(self, parts: Sequence[Any], *, to_the_end: bool = False) -> list[Any]:
        return list(parts)

    def each(self, parts: Sequence[Any]) -> Iterator[Any]:
        return iter(parts)

    def close(self) -> None:
        self.done.append("close")


def test_chains_of_an_executor_have_the_bits_of_this_process() -> None:
    ratings = assay.simulate("single", n_items=40, n_raters=4, rng=2)
    effort: dict[str, Any] = {"draws": 30, "tune": 30, "chains": 2, "rng": 1, "progress": False}
    executor = Here()
    one, other = assay.fit(ratings, **effort), assay.fit(ratings, executor=executor, **effort)
    for group in ("posterior", "labels", "sample_stats"):
        assert one[group].to_dataset().identical(other[group].to_dataset())
    # The user opened it, and closes it.
    assert executor.done == ["ready", "sample_chain"]


@pytest.mark.parametrize("method", ["laplace", "map", "em"])
def test_passes_over_parts_of_the_data_find_the_same_mode(method: str) -> None:
    ratings = assay.simulate("single", n_items=60, n_raters=4, rng=2)
    effort: dict[str, Any] = {"draws": 200, "chains": 1, "rng": 1, "progress": False}
    executor: Executor = Here()
    one = assay.fit(ratings, method=method, **effort)
    other = assay.fit(ratings, method=method, executor=executor, **effort)
    shares = [fit["labels"]["state_probability"] for fit in (one, other)]
    np.testing.assert_allclose(*shares, atol=2e-3)


def test_parts_of_the_data_hold_their_readings() -> None:
    raters = "hierarchical + misreading"
    ratings = assay.simulate("single", raters=raters, n_items=60, n_clusters=12, n_raters=4, rng=2)
    effort: dict[str, Any] = {"draws": 200, "chains": 1, "rng": 1, "progress": False}
    effort |= {"raters": raters, "method": "laplace"}
    one, other = assay.fit(ratings, **effort), assay.fit(ratings, executor=Here(), **effort)
    shares = [fit["labels"]["state_probability"] for fit in (one, other)]
    np.testing.assert_allclose(*shares, atol=0.03)
    totals = [fit["log_likelihood"]["ratings"].mean("draw").sum() for fit in (one, other)]
    assert totals[0] == pytest.approx(float(totals[1]), abs=0.5)
    assert one["log_likelihood"]["ratings"].sizes["cluster"] == 12


def test_fit_does_not_import_what_is_distributed() -> None:
    code = (
        "import sys, assay, assay.inference.fit; "
        "print([name for name in sys.modules if name.startswith(('assay.distributed', 'distr'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
