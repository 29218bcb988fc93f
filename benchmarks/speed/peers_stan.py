"""The Stan side: ``peers.stan`` or ``peers_loop.stan``, run by pystan.

    python -m benchmarks.speed.peers_stan peers.stan design.npz draws.npz --chains 4 ...

pystan keeps what it compiled in the folder that ``XDG_CACHE_HOME`` names.
"""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.peers_designs import Design, load_design
from benchmarks.speed.peers_side import (
    PARAMETERS,
    Clock,
    Floats,
    Orders,
    read_orders,
    starting_values,
    write_draws,
)


def stan_data(design: Design) -> dict[str, Any]:
    """Return the data block; Stan counts from 1."""
    return {
        "items": len(design.rater),
        "raters": design.raters,
        "positions": design.rater.shape[1],
        "rater": (design.rater + 1).tolist(),
        "answer": design.answer.tolist(),
    }


def starts(raters: int, orders: Orders) -> list[dict[str, Any]]:
    """Return the starting values of each chain, as lists."""
    drawn = [starting_values(raters, orders.seed + chain) for chain in range(orders.chains)]
    return [{name: value.tolist() for name, value in each.items()} for each in drawn]


def by_chain(found: Any, chains: int) -> Floats:
    """Bring (..., draws of all chains in turn) to (chain, draw, ...)."""
    values = np.moveaxis(np.asarray(found), -1, 0)
    return values.reshape(-1, chains, *values.shape[1:]).swapaxes(0, 1)


def main() -> None:
    """Read the orders, compile, sample, write."""
    program = Path(__file__).with_name(sys.argv.pop(1))
    orders, clock = read_orders(), Clock()
    with clock.phase("import"):
        stan = import_module("stan")
    design = load_design(orders.design)
    with clock.phase("compile"):
        data = stan_data(design)
        posterior = stan.build(program.read_text("utf-8"), data=data, random_seed=orders.seed)
    with clock.phase("sample"):
        fit = posterior.sample(
            num_chains=orders.chains,
            num_samples=orders.draws,
            num_warmup=orders.tune,
            init=starts(design.raters, orders),
        )
    draws = {name: by_chain(fit[name], orders.chains) for name in PARAMETERS}
    write_draws(
        orders.output,
        clock,
        draws,
        divergences=int(np.sum(fit["divergent__"])),
        leapfrogs=float(np.mean(fit["n_leapfrog__"])),
        version=f"pystan {version('pystan')}, httpstan {version('httpstan')}",
    )


if __name__ == "__main__":
    main()
