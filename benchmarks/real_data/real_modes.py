"""Mirror images: worlds in which every label is turned round and every rater is wrong."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import assay
from assay.data.ratings import Ratings
from assay.inference.density import Density, make_density, unconstrain
from assay.inference.mode_search import find_modes, seek_modes, starting_points
from assay.inference.modes import Mode
from assay.inference.optimise import prior_centre
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure
from benchmarks.real_data.real_sets import (
    Codes,
    Floats,
    Line,
    fit_timed,
    gold_scores,
    read_set,
    vote_shares,
    weak_subset,
)

FAMILIES = ("hierarchical", "dawid_skene")
STARTS, WEAK_STARTS, WEAK_SUBSETS = 50, 20, 8
SAMPLED: Line = {"draws": 1000, "tune": 1000, "chains": 4}


def mirror(density: Density, mode: Mode) -> Floats:
    """Turn a mode of a binary label round: classes trade names, and with them all confusions."""
    values = density.constrain(mode.x)
    turned = dict(values)
    turned["main"] = -values["main"]
    for name in ("logit_mean", "logit_offset"):
        if name in values:
            turned[name] = -values[name][:, ::-1]
    if "logit_sd" in values:
        turned["logit_sd"] = values["logit_sd"][:, ::-1]
    for name in values:
        if name.startswith("confusion"):
            turned[name] = values[name][:, ::-1]
    return unconstrain(density, turned)


def seen_modes(structure: Structure, *, starts: int, seed: int) -> list[Mode]:
    """Climb from random starts, then again with the mirror image of the best among them."""
    density = make_density(structure)
    first = find_modes(structure, density, np.random.default_rng(seed), starts=1)
    points = starting_points(prior_centre(density), np.random.default_rng(seed), starts)
    return seek_modes(structure, density, [*points, mirror(density, first[0])])


def mode_line(ratings: Ratings, family: str, starts: int, seed: int) -> Line:
    """Describe the modes that were seen, the reported one first."""
    found = seen_modes(build_structure(ratings, make_spec(family)), starts=starts, seed=seed)
    mirrored = [mode for mode in found if mode.mirrored]
    named = [mode for mode in found if "mirror image" in str(mode)]
    return {
        "family": family,
        "starts": sum(mode.starts for mode in found),
        "modes": len(found),
        "reported_mirrored": found[0].mirrored,
        "reported_rater_accuracy": found[0].accuracy,
        "reported_log_evidence": found[0].evidence,
        "mirrored_modes": len(mirrored),
        "mirrored_named": len(named),
        "starts_to_mirrored": sum(mode.starts for mode in mirrored),
        "mirrored_log_evidence": max((m.evidence for m in mirrored), default=np.nan),
        "mirrored_weight": sum(mode.weight for mode in mirrored),
    }


def sample_line(ratings: Ratings, truth: Codes, family: str, seed: int) -> Line:
    """Sample, score against gold, and count the draws in which raters are mostly wrong."""
    fit, said = fit_timed(ratings, raters=family, rng=seed, **SAMPLED)
    accuracy, loss = gold_scores(assay.label_probabilities(fit).to_numpy()[:, 0], truth)
    vote_accuracy, vote_loss = gold_scores(vote_shares(ratings), truth)
    table = assay.rater_reliability(fit).isel(label=0).to_numpy()
    right = np.diagonal(table, axis1=-2, axis2=-1).mean(axis=(-2, -1))
    return {
        "mirrored_draws": float((right < 0.5).mean()),
        "accuracy": accuracy,
        "log_loss": loss,
        "vote_accuracy": vote_accuracy,
        "vote_log_loss": vote_loss,
        **said,
    }


def modes(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per family for all of snow_rte."""
    ratings = read_set(data, "snow_rte")
    for family in FAMILIES:
        yield {"set": "snow_rte", **mode_line(ratings, family, STARTS, seed)}


def weak(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per family and subset of few items with two ratings each."""
    whole, truth = read_set(data, "snow_rte"), read_set(data, "snow_rte", gold=True).truth[:, 0]
    for family in FAMILIES:
        for number in range(WEAK_SUBSETS):
            ratings, items = weak_subset(whole, np.random.default_rng([seed, number]))
            yield {
                "subset": number,
                **mode_line(ratings, family, WEAK_STARTS, seed),
                **sample_line(ratings, truth[items], family, seed),
            }
