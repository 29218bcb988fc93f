"""What all benchmarks share: what a measurement was made on, and the memory of this process."""

import ctypes
import gc
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("assay", "numpy", "numba", "scipy", "pandas", "nutpie", "arviz")
CPU = Path("/proc/cpuinfo")
ROOT = Path(__file__).resolve().parents[1]
"""Where ``python -m benchmarks.X`` runs."""
PACKED = {"method": "gzip", "compresslevel": 9, "mtime": 0}
"""How pandas packs a table: the same lines give the same bytes."""
NO_LEAN = {"lean_spread": "HalfNormal(0.0001)"}
"""Priors by which labels are drawn without the raters' lean from their pool."""
STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def processor() -> str:
    """Name of the processor, as Linux has it."""
    if not CPU.exists():
        return platform.processor()
    lines = CPU.read_text("utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def write_machine(path: Path, work: str) -> None:
    """Write what a piece of work was measured on, beside what other pieces were measured on."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    found[work] = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _field(name: str) -> float:
    lines = STATUS.read_text("ascii").splitlines()
    found = next(line for line in lines if line.startswith(name))
    return float(found.split()[1]) * 1024


def resident() -> float:
    """Bytes in memory now."""
    return _field("VmRSS")


def reset_peak() -> None:
    """Let the peak begin anew at what is resident now."""
    CLEAR.write_text("5", "ascii")


def peak() -> float:
    """Most bytes that were in memory at once since the start, or since :func:`reset_peak`."""
    return _field("VmHWM")


def trim_heap() -> None:
    """Give freed memory back, so that no phase lives on what another one left."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
