"""What a measurement was made on: the machine, the date, the versions."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("assay", "numpy", "numba", "scipy", "pandas", "nutpie", "arviz")
CPU = Path("/proc/cpuinfo")


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
