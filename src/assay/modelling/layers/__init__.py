"""Layers on rater families, which make the ratings of one item dependent."""

from assay.modelling.layers.difficulty import Difficulty, difficulty_of
from assay.modelling.layers.drift import Drift
from assay.modelling.layers.halo import Halo
from assay.modelling.layers.hard_truth import HardTruth
from assay.modelling.layers.lapses import Lapses
from assay.modelling.layers.loading import Loading
from assay.modelling.layers.misreading import Misreading
from assay.modelling.layers.perception import Perception
from assay.modelling.layers.system_bias import SystemBias

__all__ = [
    "Difficulty",
    "Drift",
    "Halo",
    "HardTruth",
    "Lapses",
    "Loading",
    "Misreading",
    "Perception",
    "SystemBias",
    "difficulty_of",
]  # fmt: skip
