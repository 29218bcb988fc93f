"""Wall time from the shell to a saved posterior: the ratings of Dawid & Skene's Table 1, NUTS."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import assay
from assay.io.examples.anesthesia import anesthesia_table

RUNS = 4
"""The first run compiles for this machine, later ones find that in the caches."""


def shell_to_file(seed: int) -> pd.DataFrame:
    """Run ``assay fit`` again and again, 4 chains of 1,000 draws: seconds of each run."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        anesthesia_table().to_csv(folder / "ratings.csv", index=False)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba")}
        command = [str(Path(sys.executable).with_name("assay")), "fit", str(folder / "ratings.csv")]
        command += ["--task", "single", "-o", str(folder / "fit.nc"), "--quiet"]
        command += ["--method", "nuts", "--chains", "4", "--draws", "1000", "--seed", str(seed)]
        for run in range(1, RUNS + 1):
            load, started = os.getloadavg()[0], time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - started
            lines.append({"method": "nuts", "run": run, "seconds": seconds, "load_before": load})
        fit = assay.load(folder / "fit.nc")
    return pd.DataFrame(lines).assign(draws=fit["posterior"].sizes["draw"])
