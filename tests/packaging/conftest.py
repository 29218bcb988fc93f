"""What pages and notebooks share: a fit of the same ratings is made once."""

import hashlib
from typing import Any

import pytest
import xarray as xr

import assay

_KNOWN: dict[str, xr.DataTree] = {}


@pytest.fixture
def fits_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``assay.fit`` return the fit that another page made of the same ratings and options."""
    fit = assay.fit

    def once(ratings: Any, **options: Any) -> xr.DataTree:
        names = [*ratings.items.index, *ratings.raters.index, *ratings.task.to_json()]
        held = hashlib.sha256("\n".join([*names, repr(sorted(options.items()))]).encode())
        for codes in (ratings.answers, ratings.item, ratings.rater):
            held.update(codes.tobytes())
        key = held.hexdigest()
        if key not in _KNOWN:
            _KNOWN[key] = fit(ratings, **options)
        return _KNOWN[key]

    monkeypatch.setattr(assay, "fit", once)
