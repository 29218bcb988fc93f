"""Fits without what a test does not look at."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def without_departures() -> Iterator[None]:
    """Fit without the tests of independent raters, a third of a small fit, which only warn."""
    from assay.checks.departures.search import Search

    with pytest.MonkeyPatch.context() as patch:
        for place in ("inference.fit", "checks.departures.remedies"):
            patch.setattr(f"assay.{place}.search", lambda _: Search())
        yield
