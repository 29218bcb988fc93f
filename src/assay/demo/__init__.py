"""The demo: the whole path twice, on real ratings and on a SIMULATED study with known truth.

``studies`` fits and concludes, ``tables`` shows, ``run`` goes through both.
"""

from assay.demo.run import run_demo
from assay.demo.studies import EFFORTS, METHODS, SimulatedStudy, real_study, simulated_study
from assay.demo.tables import simulated_metrics_table

__all__ = [
    "EFFORTS",
    "METHODS",
    "SimulatedStudy",
    "real_study",
    "run_demo",
    "simulated_metrics_table",
    "simulated_study",
]
