"""The PyTensor operation: machine code of other sources is never found."""

from collections.abc import Iterator
from typing import Any

import pytest

from assay.likelihood import pytensor_op
from assay.likelihood.pytensor_op import MarginalLogLikelihood, cache_key


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forget the key, before and after."""
    cache_key.cache_clear()
    yield
    cache_key.cache_clear()


def key_pytensor_keeps() -> int:
    from pytensor.link.numba.dispatch.basic import numba_funcify_default_op_cache_key

    dispatch: Any = numba_funcify_default_op_cache_key
    _, key = dispatch(MarginalLogLikelihood(), node=None)
    return int(key)


@pytest.mark.usefixtures("fresh")
def test_pytensor_keeps_machine_code_by_the_sources_of_the_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = key_pytensor_keeps()
    cache_key.cache_clear()
    assert key_pytensor_keeps() == before
    monkeypatch.setattr(pytensor_op, "digest", lambda: "other sources")
    cache_key.cache_clear()
    assert key_pytensor_keeps() != before
