"""Compilation of what draws states, in a second process beside that of the density. Numba compiles
one function at a time, and the first fit on a machine needs both.
"""

import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing import active_children, parent_process
from pathlib import Path
from typing import Any

import numba
import numpy as np

from assay.likelihood.bundles import panel_nodes
from assay.likelihood.compiling import SETTINGS, folder
from assay.likelihood.data import Data
from assay.likelihood.marginal import bundle_nodes
from assay.likelihood.partition import cores
from assay.likelihood.states import draw_nodes, recover_draw

AT_WORK: list["subprocess.Popen[bytes]"] = []
PATIENCE = 60.0
"""Seconds to wait for the process before what it compiles is compiled here."""


def compile_ahead(*, panels: bool) -> None:
    """Start to compile what draws states, unless a process has done so or the cores are busy.

    ``panels`` says whether systems have effects within clusters.
    """
    place, program = folder(), Path(sys.executable or "")
    if place is None or cores() < 2 or SETTINGS.DISABLE_JIT or AT_WORK:
        return
    # Programs with Python inside are not Python, and would do something else.
    if getattr(sys, "frozen", False) or not program.stem.startswith("python"):
        return
    if parent_process() or active_children() or any(place.rglob("*.bundle_nodes-*.nbi")):
        return
    work = f"from {__name__} import compile_draws; compile_draws({panels})"
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with suppress(OSError):
        AT_WORK.append(
            subprocess.Popen(
                [program, "-P", "-W", "ignore", "-c", work],
                env=os.environ | paths,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )


def wait_for_draws() -> None:
    """Wait for the process of :func:`compile_ahead`, if there is one."""
    while AT_WORK:
        process = AT_WORK.pop()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()


def compile_draws(panels: bool) -> None:
    """Compile what draws states for arguments of these types; run nothing."""
    whole, numbers = np.zeros(1, np.int64), np.zeros(1)
    table, tables, cube = np.zeros((1, 1)), np.zeros((1, 1, 1)), np.zeros((1, 1, 1, 1))
    data = Data(**{
        name: numbers if name == "bundle_weight" else table if name == "masks" else whole
        for name in Data._fields
    })  # fmt: skip
    _compile(bundle_nodes, tables, tables, table, tables, tables, table, numbers, numbers, data)
    _compile(draw_nodes, table, whole, numbers)
    states = np.zeros(1, np.int16)
    _compile(
        recover_draw, tables, cube, table, tables, data, whole, whole, whole, whole, numbers, whole,
        whole, numbers, states, table, table,
    )  # fmt: skip
    if panels:
        _compile(panel_nodes, table, table, table, table, whole, whole, whole, whole, numbers)


def _compile(function: Any, *arguments: Any) -> None:
    function.compile(tuple(numba.typeof(one) for one in arguments))
