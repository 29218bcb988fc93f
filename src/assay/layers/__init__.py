"""Layers on top of rater families: what makes ratings of one item depend on each other.

``difficulty``, ``drift`` and ``system_bias`` tilt the log odds of right answers; ``perception``
stands between the truth and what a group of raters sees; ``lapses`` are answers that saw nothing.
"""

from assay.layers.difficulty import Difficulty, difficulty_of
from assay.layers.drift import Drift
from assay.layers.hard_truth import HardTruth
from assay.layers.lapses import Lapses
from assay.layers.loading import Loading
from assay.layers.perception import Perception
from assay.layers.system_bias import SystemBias

__all__ = [
    "Difficulty", "Drift", "HardTruth", "Lapses", "Loading", "Perception", "SystemBias",
    "difficulty_of",
]  # fmt: skip
