"""Resident memory of this process, now and at its peak, as Linux counts it."""

from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


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
