"""Stray chains, in a mode of negligible weight or with misnamed classes: found and run again.

A chain starts near the heaviest mode, but its first steps are long.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay._util.typing import Floats
from assay.inference.density import Density
from assay.inference.modes import Mode, distance, labels_at, rater_accuracy_at_mode, weighed_modes
from assay.inference.optimise import hold, spreads_of
from assay.modelling.structure import Structure

PARTS = 4
"""Stretches of a chain, each checked."""
DRAWS_CHECKED = 20
"""Draws checked in each stretch."""
APART = 0.2
"""Least mean total variation distance between label probabilities of different modes."""
NO_WEIGHT = 0.01
"""Weight below which a mode is negligible."""
HALF = 0.5
"""Share of misnamed draws above which a stretch lies in a misnamed mode."""
TRIES = 6
"""Largest number of new chains in a run."""
Chains = tuple[Floats, dict[str, NDArray[Any]]]
Place = tuple[Mode, Floats]
"""A mode, and its label probabilities (item, state)."""


def without_stray_chains(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    chains: Chains,
    run: Callable[[int], Chains],
) -> tuple[Chains, list[Note]]:
    """Run stray chains again; return the chains and notes on the stray ones, each once.

    chains : draws (chain, draw, value) and statistics (chain, draw)
    run : runs one chain, given the number of the attempt
    """
    x, stats = chains[0].copy(), {name: values.copy() for name, values in chains[1].items()}
    notes: list[Note] = []
    home, *others = [(mode, labels_at(structure, density, mode.x[None])) for mode in modes]
    rivals = [other for other in others if other[0].misnamed and not home[0].misnamed]
    tries = 0
    for n in range(len(x)):
        while other := _stray_mode(structure, density, home, rivals, x[n]):
            if tries == TRIES:
                text = (
                    f"Chain {n + 1} lies in another posterior mode for some of its draws, and "
                    "results average over draws with different labels. In that mode, "
                    f"{other}. To keep chains in one mode, use another recipe (`raters=`), "
                    "narrower priors (`priors=`) or the truth of some items (`truth=`)."
                )
                notes.append(Note(text, code="stray-chain", numbers={"chain": n + 1}))
                break
            tries += 1
            (again,), fresh = run(tries)
            x[n] = again
            for name, values in fresh.items():
                stats[name][n] = values[0]
            why = "has a negligible weight"
            if other.weight >= NO_WEIGHT:
                why = "contradicts the names of classes"
            text = (
                f"Chain {n + 1} went to another posterior mode, which {why}, and was run again. In "
                f"that mode, {other}."
            )
            numbers = {"chain": n + 1, "weight": other.weight}
            note = Note(text, code="stray-chain-remade", level="note", numbers=numbers)
            if note not in notes:
                notes.append(note)
    return (x, stats), notes


def _stray_mode(
    structure: Structure,
    density: Density,
    home: Place,
    rivals: Sequence[Place],
    chain: Floats,
) -> Mode | None:
    """Return the mode that a stretch of a chain strays into; None if there is none.

    Each stretch counts, as a chain that returns late has spent too many draws elsewhere.
    """
    parts = np.array_split(chain, PARTS) if len(chain) >= PARTS * DRAWS_CHECKED else [chain]
    found = (_stray_part(structure, density, home, rivals, part) for part in parts)
    return next((other for other in found if other is not None), None)


def _stray_part(
    structure: Structure,
    density: Density,
    home: Place,
    rivals: Sequence[Place],
    chain: Floats,
) -> Mode | None:
    """Return the misnamed or negligible mode whose labels these draws have; None otherwise."""
    some = chain[:: max(1, len(chain) // DRAWS_CHECKED)]
    there, (mode, at_home) = labels_at(structure, density, some), home
    away = distance(there, at_home)
    nearer = [(distance(there, labels), other) for other, labels in rivals]
    near, rival = min(nearer, key=lambda pair: pair[0], default=(np.inf, None))
    if (
        near < away
        and np.mean([rater_accuracy_at_mode(structure, density, x).misnamed for x in some]) > HALF
    ):
        return rival
    if away < APART:
        return None
    peak, height = hold(density, chain[-1])
    labels = labels_at(structure, density, peak[None])
    if distance(labels, at_home) < APART or distance(there, labels) > away:
        return None
    peaks = [(*hold(density, mode.x), 1), (peak, height, 1)]
    both = weighed_modes(structure, density, peaks, spreads_of(density))
    (other,) = (found for found in both if found.x is peak)
    misnamed = other.misnamed and not mode.misnamed
    return other if misnamed or other.weight < NO_WEIGHT else None
