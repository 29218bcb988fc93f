"""The NumPyro side: the model in the style of NumPyro's documented example of annotation models.

    python -m benchmarks.speed.peers_numpyro design.npz draws.npz --chains 4 ...

As there: plates, ``Vindex``, a non-centred ``LocScaleReparam``, the true class enumerated in
parallel, chains in parallel on host devices. Unlike there: the priors are those of this project,
numbers are of double precision, and chains start near the centre of the priors.
"""

from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.speed.peers_designs import load_design
from benchmarks.speed.peers_side import Clock, Orders, read_orders, write_draws


def make_model() -> Any:
    """Return the model, a function of the raters, the answers and the number of raters."""
    numpyro = import_module("numpyro")
    dist = import_module("numpyro.distributions")
    jnp = import_module("jax.numpy")
    reparam = import_module("numpyro.handlers").reparam
    non_centred = import_module("numpyro.infer.reparam").LocScaleReparam
    vindex = import_module("numpyro.ops.indexing").Vindex

    def model(rater: Any, answer: Any, raters: int) -> None:
        with numpyro.plate("class", 2):
            mean = numpyro.sample("logit_mean", dist.Normal(1.8, 0.8))
            sd = numpyro.sample("logit_sd", dist.HalfNormal(1.0))
        with (
            numpyro.plate("rater", raters, dim=-2),
            numpyro.plate("class", 2),
            reparam(config={"logit": non_centred(0)}),
        ):
            logit = numpyro.sample("logit", dist.Normal(mean, sd))
        says_yes = logit * jnp.array([-1.0, 1.0])
        prevalence = numpyro.sample("prevalence", dist.Dirichlet(jnp.full(2, 0.5)))
        with numpyro.plate("item", rater.shape[0], dim=-2):
            true = numpyro.sample(
                "true", dist.Categorical(prevalence), infer={"enumerate": "parallel"}
            )
            with numpyro.plate("position", rater.shape[1]):
                logits = vindex(says_yes)[rater, true]
                numpyro.sample("answer", dist.Bernoulli(logits=logits), obs=answer)

    return model


def prepare(chains: int) -> None:
    """Set double precision and a device for each chain: before JAX does anything."""
    numpyro = import_module("numpyro")
    numpyro.set_host_device_count(chains)
    numpyro.enable_x64()


def make_sampler(orders: Orders) -> Any:
    """Return NUTS with its defaults."""
    infer = import_module("numpyro.infer")
    kernel = infer.NUTS(make_model(), init_strategy=infer.init_to_median)
    return infer.MCMC(
        kernel,
        num_warmup=orders.tune,
        num_samples=orders.draws,
        num_chains=orders.chains,
        progress_bar=False,
    )


def main() -> None:
    """Read the orders, run for one draw (which compiles), then as ordered; write."""
    orders, clock = read_orders(), Clock()
    with clock.phase("import"):
        prepare(orders.chains)
        jax = import_module("jax")
        import_module("numpyro.infer")
    design = load_design(orders.design)
    data = (jax.numpy.asarray(design.rater), jax.numpy.asarray(design.answer), design.raters)

    def run(seed: int, effort: Orders) -> Any:
        sampler = make_sampler(effort)
        sampler.run(jax.random.PRNGKey(seed), *data, extra_fields=("diverging", "num_steps"))
        jax.block_until_ready(sampler.get_samples())
        return sampler

    with clock.phase("compile"):
        run(orders.seed + 1, replace(orders, draws=1, tune=1))
    with clock.phase("sample"):
        sampler = run(orders.seed, orders)
    # Each run compiles anew: what the short one took is in the long one, and happens twice here.
    clock.seconds["repeated"] = clock.seconds["compile"]
    clock.seconds["sample"] -= clock.seconds["compile"]
    draws = sampler.get_samples(group_by_chain=True)
    extra = sampler.get_extra_fields()
    write_draws(
        orders.output,
        clock,
        {**draws, "logit_offset": draws["logit_decentered"]},
        divergences=int(np.sum(extra["diverging"])),
        leapfrogs=float(np.mean(extra["num_steps"])),
        version=f"numpyro {version('numpyro')}, jax {version('jax')}",
    )


if __name__ == "__main__":
    main()
