"""What outputs about raters claim, and what is true of the simulated raters.

A study draws one set of ratings, fits it, and yields claims: a stated probability, and whether what
it was about is so. ``claims.py`` runs them and makes the table.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import expit, logit

import assay
from assay.data.ratings import Ratings
from assay.fits.datatree import posterior_dataset
from assay.fits.simulate import simulate_answers
from assay.modelling.spec import Spec, make_spec
from assay.modelling.structure import build_structure
from assay.raters.consistency import rater_consistency
from assay.raters.dependence import effective_number_of_raters
from assay.raters.drift import rater_drift, reliability_by_session
from assay.raters.reliability import compare_raters, rater_accuracy
from assay.raters.spammers import rater_spammers
from benchmarks.measuring import NO_LEAN

LEVEL = 0.95
NUTS: dict[str, Any] = {"draws": 400, "tune": 400, "chains": 1}

MODES = ", fit warns of modes"
"""Added to claims of a fit that says that its posterior has other modes, or is a mirror image."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing that an output says.

    Attributes
    ----------
    what : str
    stated : float
        The probability that it states.
    so : bool
        Whether what it is about is so.
    """

    what: str
    stated: float
    so: bool


Claims = Iterator[Claim]
Plant = Callable[[np.random.Generator], Mapping[str, np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class World:
    """A model that ratings are drawn from, and the model that is fitted to them.

    Attributes
    ----------
    task : str
    sizes : mapping
        Further arguments of ``simulate``; what is not given is drawn from its prior.
    raters, reference, priors
        Of both models.
    strata : int
        Clusters are dealt out to so many strata.
    made_by : str
        Recipe that ratings are drawn from, where that is another one.
    plant : callable, optional
        From a generator to values of parameters.
    """

    task: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    raters: str = "hierarchical"
    reference: str | None = None
    priors: Mapping[str, str] | None = None
    strata: int = 0
    made_by: str = ""
    plant: Plant | None = None

    def draw(self, rng: np.random.Generator) -> Ratings:
        """Draw a set of ratings."""
        values = self.plant(rng) if self.plant else {}
        ratings = assay.simulate(
            self.task,
            raters=self.made_by or self.raters,
            reference=self.reference,
            priors=self.priors,
            values={} if self.strata else values,
            rng=rng,
            **self.sizes,
        )
        if not self.strata:
            return ratings
        number = ratings.items["cluster"].str.removeprefix("cluster_").astype(int)
        stratum = [f"stratum_{n % self.strata}" for n in number]
        ratings = replace(ratings, items=ratings.items.assign(stratum=stratum))
        return simulate_answers(build_structure(ratings, self.spec), values, rng)

    @property
    def spec(self) -> Spec:
        """Of the model that ratings are drawn from."""
        return make_spec(self.made_by or self.raters, "loglinear", self.reference, self.priors)

    def fit(self, ratings: Ratings, rng: np.random.Generator, **how: Any) -> xr.DataTree:
        """Fit a set of ratings; the raters are no sample of a pool."""
        leaning = build_structure(ratings, make_spec(self.raters, reference=self.reference)).pools
        lean = NO_LEAN if leaning else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", assay.FitWarning)
            return assay.fit(
                ratings,
                raters=self.raters,
                reference=self.reference,
                priors={**(self.priors or {}), **lean},
                rng=int(rng.integers(2**31)),
                progress=False,
                **(how or NUTS),
            )

    def truth(self, fit: xr.DataTree, ratings: Ratings) -> xr.DataTree:
        """Return the fit with the true parameters as its only draw."""
        assert ratings.simulated is not None
        one = {name: np.asarray(value)[None] for name, value in ratings.simulated.values.items()}
        known = fit.copy()
        posterior = posterior_dataset(build_structure(ratings, self.spec), one, 1)
        known["posterior"] = xr.DataTree(posterior)
        labels = known["labels"].to_dataset().drop_vars("pool_lean", errors="ignore")
        known["labels"] = xr.DataTree(labels)
        known.attrs["spec"] = json.dumps(asdict(self.spec))
        return known


Study = Callable[[World, np.random.Generator], Claims]


def inside(what: str, lower: float, value: float, upper: float) -> Claim:
    """Claim that a value lies in an interval of 95 %."""
    return Claim(what=what, stated=LEVEL, so=bool(lower - 1e-12 <= value <= upper + 1e-12))


def adversaries(count: int, *, rows: int, classes: int) -> Plant:
    """Confusions of eight raters, of whom the first ``count`` are wrong more often than by chance.

    Row ``r`` is that of true class ``r % classes``.
    """

    def plant(rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        wrong = (np.arange(8) < count)[:, None]
        high = np.where(wrong, 0.35 if classes == 2 else 0.2, 0.95)
        right = rng.uniform(np.where(wrong, 0.05, 0.7), high, (8, rows))
        others = rng.dirichlet(np.full(classes - 1, 3.0), (8, rows)) * (1 - right)[..., None]
        table = np.zeros((8, rows, classes))
        for row in range(rows):
            truth = row % classes
            table[:, row, truth] = right[:, row]
            table[:, row, np.arange(classes) != truth] = others[:, row]
        return {f"confusion_{classes}": table}

    return plant


def confused(classes: int) -> Plant:
    """Confusions of eight raters, the first a guesser; the second takes classes for each other."""

    def plant(rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        right = rng.uniform(0.7, 0.95, (8, 1, 1))
        table = right * np.eye(classes) + (1 - right) / classes
        table[0] = rng.dirichlet(np.full(classes, 2.0))
        table[1] = table[1][[1, 0, *range(2, classes)]]
        return {f"confusion_{classes}": table}

    return plant


def kinds(world: World, rng: np.random.Generator) -> Claims:
    """Chances of being adversarial or a spammer, names given, and intervals of informedness."""
    ratings = world.draw(rng)
    fit = world.fit(ratings, rng)
    doubt = MODES if "mode" in fit.attrs["warnings"] else ""
    true = rater_spammers(world.truth(fit, ratings))
    pairs = zip(rater_spammers(fit, level=LEVEL).itertuples(), true.itertuples(), strict=True)
    for said, known in pairs:
        yield inside(f"informedness{doubt}", said.lower, known.informedness, said.upper)
        for kind in ("adversarial", "spammer"):
            stated, so = getattr(said, f"p_{kind}"), getattr(known, f"p_{kind}") == 1
            yield Claim(what=f"P({kind}){doubt}", stated=stated, so=so)
            if said.behaviour == kind:
                yield Claim(what=f"called {kind}{doubt}", stated=stated, so=so)
            if so:
                yield Claim(
                    what=f"{kind}: called so{doubt}", stated=np.nan, so=said.behaviour == kind
                )


def better(world: World, rng: np.random.Generator) -> Claims:
    """Chances that one rater is right more often than another, of each two."""
    ratings = world.draw(rng)
    fit = world.fit(ratings, rng)
    doubt = MODES if "mode" in fit.attrs["warnings"] else ""
    true = rater_accuracy(world.truth(fit, ratings)).isel(chain=0, draw=0)
    found = compare_raters(fit)
    for label in found["label"].values:
        for a, b in combinations(found["rater"].values, 2):
            gap = float(true.sel(rater=a, label=label) - true.sel(rater=b, label=label))
            stated = float(found.sel(rater=a, other=b, label=label))
            yield Claim(what=f"P(more accurate){doubt}", stated=stated, so=gap > 0)
            if max(stated, 1 - stated) >= 0.95:
                so = (gap > 0) == (stated > 0.5)
                yield Claim(what=f"clearly so{doubt}", stated=max(stated, 1 - stated), so=so)


def consistency(world: World, rng: np.random.Generator) -> Claims:
    """Intervals of the chance that a repeated rating is the earlier one again."""
    ratings = world.draw(rng)
    table = rater_consistency(world.fit(ratings, rng), level=LEVEL)
    assert ratings.simulated is not None
    values = ratings.simulated.values
    sd, offset = float(values["consistency_sd"][0]), float(values["consistency_offset"][0])
    value = float(expit(float(values["consistency_mean"][0]) + sd * offset))
    yield inside("consistency", table["lower"].iloc[0], value, table["upper"].iloc[0])


def worth(world: World, rng: np.random.Generator) -> Claims:
    """Intervals of how many independent raters each group is worth."""
    ratings = world.draw(rng)
    fit = world.fit(ratings, rng)
    true = effective_number_of_raters(world.truth(fit, ratings)).values[0, 0]
    draws = effective_number_of_raters(fit)
    ends = draws.quantile([(1 - LEVEL) / 2, (1 + LEVEL) / 2], dim=("chain", "draw"))
    for g, name in enumerate(draws["group"].values):
        for label, value in enumerate(true[g]):
            lower, upper = ends.values[:, g, label]
            if upper - lower > 1e-9:
                yield inside(f"effective raters of {name}", lower, value, upper)


def drift(world: World, rng: np.random.Generator) -> Claims:
    """Chances of being better at the end than at the start, and intervals of the change."""
    ratings = world.draw(rng)
    fit = world.fit(ratings, rng)
    walk = reliability_by_session(world.truth(fit, ratings))[0, 0]
    change = (walk[..., -1] - walk[..., 0]).to_series()
    for line in rater_drift(fit, level=LEVEL).itertuples():
        value = change[line.rater, line.label]
        yield inside("change", line.lower, value, line.upper)
        yield Claim(what="P(better)", stated=line.p_better, so=bool(value > 0))
        if max(line.p_better, 1 - line.p_better) >= 0.975:
            sure = max(line.p_better, 1 - line.p_better)
            yield Claim(
                what="called better or worse",
                stated=sure,
                so=bool((value > 0) == (line.p_better > 0.5) and value != 0),
            )


EIGHT = {"n_items": 60, "n_raters": 8, "ratings_per_item": 4}
BINARY = {"classes": ("no", "yes")}
GOLD = {"n_items": 300, "gold": 0.1}
TWICE = {"n_items": 40, "n_raters": 4, "ratings_per_item": 2, "replicates": 2}
THRICE = {"n_items": 90, "n_raters": 6, "ratings_per_item": 3, "sessions": 3}


def _planted(count: int, task: str, classes: int) -> World:
    rows = 6 if task == "ais" else classes
    plant = adversaries(count, rows=rows, classes=classes)
    sizes = EIGHT | ({} if task == "ais" else {"classes": tuple("abcd"[:classes])})
    return World(task=task, sizes=sizes, made_by="dawid_skene", plant=plant)


def _consistent(kappa: float) -> Plant:
    return lambda rng: {"consistency_mean": logit(np.array([kappa])), "consistency_sd": np.zeros(1)}


STUDIES: dict[str, tuple[Study, dict[str, World]]] = {
    "kinds": (
        kinds,
        {
            "two classes": World(task="single", sizes=EIGHT | BINARY),
            "three classes": World(task="single", sizes=EIGHT),
            "rules (retrieval)": World(task="retrieval", sizes=EIGHT),
            "gates (ais)": World(task="ais", sizes=EIGHT),
            "two classes, dawid_skene": World(
                task="single", sizes=EIGHT | BINARY, raters="dawid_skene"
            ),
            "three classes, dawid_skene": World(task="single", sizes=EIGHT, raters="dawid_skene"),
            "two classes, raters of all kinds": World(
                task="single", sizes=EIGHT | BINARY, priors={"sd": "HalfNormal(2)"}
            ),
            "a guesser, and one who swaps two of three classes": World(
                task="single",
                sizes=EIGHT | {"n_items": 150},
                made_by="dawid_skene",
                plant=confused(3),
            ),
        }
        | {
            f"{count} of 8 wrong, {name}": _planted(count, task, classes)
            for count in (0, 1, 3)
            for name, task, classes in (
                ("two classes", "single", 2),
                ("three classes", "single", 3),
                ("gates", "ais", 2),
            )
        },
    ),
    "consistency": (
        consistency,
        {
            "two classes": World(task="single", sizes=TWICE | BINARY),
            "three classes, three times": World(task="single", sizes=TWICE | {"replicates": 3}),
            "rules (retrieval)": World(task="retrieval", sizes=TWICE),
            "gates (ais)": World(task="ais", sizes=TWICE),
        }
        | {
            f"two classes, consistency {kappa}": World(
                task="single", sizes=TWICE | BINARY, plant=_consistent(kappa)
            )
            for kappa in (0.05, 0.5, 0.95)
        },
    ),
    "worth": (
        worth,
        {
            "gold, two classes": World(
                task="single",
                sizes=GOLD | BINARY | {"n_raters": 6, "ratings_per_item": 6},
                reference="gold",
            ),
            "gold, three classes": World(
                task="single", sizes=GOLD | {"n_raters": 6, "ratings_per_item": 3}, reference="gold"
            ),
            "gold, people and models": World(
                task="single",
                sizes=GOLD | BINARY | {"groups": {"person": 3, "llm": 5}, "ratings_per_item": 4},
                reference="gold",
            ),
            "gold, rules (retrieval)": World(
                task="retrieval",
                sizes=GOLD | {"n_raters": 6, "ratings_per_item": 3},
                reference="gold",
            ),
            "easy and hard items, no gold": World(
                task="single",
                sizes=BINARY | {"n_items": 100, "n_raters": 6, "ratings_per_item": 4},
                raters="hierarchical + item_difficulty",
            ),
        },
    ),
    "drift": (
        drift,
        {
            "two classes": World(
                task="single", sizes=THRICE | BINARY, raters="hierarchical + drift"
            ),
            "rules (retrieval)": World(
                task="retrieval", sizes=THRICE, raters="hierarchical + drift"
            ),
            "gates (ais)": World(task="ais", sizes=THRICE, raters="hierarchical + drift"),
            "two classes, no drift": World(
                task="single",
                sizes=THRICE | BINARY,
                raters="hierarchical + drift",
                plant=lambda rng: {
                    "drift_sd": np.zeros((1, 1)),
                    "drift_lean_sd": np.zeros((1, 1)),
                },
            ),
            "two classes, strong drift": World(
                task="single",
                sizes=THRICE | BINARY,
                raters="hierarchical + drift",
                priors={"drift_sd": "HalfNormal(2)"},
            ),
        },
    ),
}

LATER: dict[str, tuple[Study, dict[str, World]]] = {
    "better": (
        better,
        {
            "two classes": World(task="single", sizes=EIGHT | BINARY),
            "three classes, dawid_skene": World(task="single", sizes=EIGHT, raters="dawid_skene"),
            "rules (retrieval)": World(task="retrieval", sizes=EIGHT),
            "two classes, raters of all kinds": World(
                task="single", sizes=EIGHT | BINARY, priors={"sd": "HalfNormal(2)"}
            ),
        },
    ),
}
"""Studies that came last: the place of a study is part of its seed."""
