"""The side of this package: ``assay.fit`` with NUTS.

    python -m benchmarks.speed.peers_assay design.npz draws.npz --chains 4 ...

The seconds of ``sample`` are those of the whole of ``assay.fit``: the data collapsed, the modes
sought, warm-up, draws, diagnostics, and the states drawn, which no other side does. The seconds of
``compile`` are those of a fit to forty items before it. Numba keeps what it compiled in the folder
that ``NUMBA_CACHE_DIR`` names.
"""

import json
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.speed.peers_designs import CLASSES, Design, load_design, make_design
from benchmarks.speed.peers_side import Clock, Orders, read_orders, write_draws

if TYPE_CHECKING:
    import xarray as xr

    from assay import Ratings

SMALL = 400
"""Ratings of the fit that makes Numba compile."""


def as_ratings(design: Design) -> "Ratings":
    """Turn a design into Ratings."""
    import pandas as pd

    import assay

    table = pd.DataFrame(design.columns())
    table["label"] = np.asarray(CLASSES)[table["label"]]
    return assay.read_ratings(
        table, task="single", item="item", rater="rater", labels={"label": "label"}
    )


def run(ratings: "Ratings", orders: Orders, **changed: Any) -> "xr.DataTree":
    """Fit; what a short fit warns of is no news here, and R-hat is computed for all sides alike."""
    import assay

    effort = {"draws": orders.draws, "tune": orders.tune, "chains": orders.chains}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        return assay.fit(
            ratings,
            raters="hierarchical",
            prevalence="dirichlet",
            rng=orders.seed,
            progress=False,
            **{**effort, **changed},
        )


def common_draws(fit: "xr.DataTree", raters: int) -> dict[str, Any]:
    """Draws of the common quantities, raters in the order of their numbers."""
    posterior = fit["posterior"].dataset
    order = [str(rater) for rater in range(raters)]
    return {
        "logit_mean": posterior["logit_mean"].isel(group=0),
        "logit_sd": posterior["logit_sd"].isel(group=0),
        "logit_offset": posterior["logit_offset"].sel(rater=order),
        "prevalence": posterior["prevalence"],
    }


def main() -> None:
    """Read the orders, fit, write."""
    orders, clock = read_orders(), Clock()
    with clock.phase("import"):
        import assay
    design = load_design(orders.design)
    with clock.phase("read"):
        ratings = as_ratings(design)
    with clock.phase("compile"):
        run(as_ratings(make_design(SMALL, orders.seed)), orders, draws=10, tune=10)
    with clock.phase("sample"):
        fit = run(ratings, orders)
    found = json.loads(fit.attrs["diagnostics"])
    write_draws(
        orders.output,
        clock,
        common_draws(fit, design.raters),
        divergences=found["divergences"],
        leapfrogs=float(fit["sample_stats"]["n_steps"].mean()),
        version=f"assay {assay.__version__}, nutpie {version('nutpie')}",
    )


if __name__ == "__main__":
    main()
