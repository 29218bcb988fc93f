"""Python's search for garbage in cycles, made rarer in commands: imports make a million lasting
objects, which Python would go through again and again.
"""

import atexit
import gc

THRESHOLDS = 50_000, 20, 100
"""New objects, and searches among younger ones, before the next search (Python: 700, 10, 10)."""


def collect_rarely() -> None:
    """Search for garbage rarely in this process, and not at its end."""
    gc.set_threshold(*THRESHOLDS)
    atexit.register(gc.freeze)
