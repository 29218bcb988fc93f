"""Python's search for garbage in cycles, made rarer in the processes of the command line.

The libraries that a command imports make a million objects that live until the end. Python would
go through them again and again, and once more when the process ends.
"""

import atexit
import gc

THRESHOLDS = 50_000, 20, 100
"""New objects, and searches among younger ones, before the next search (Python: 700, 10, 10)."""


def collect_rarely() -> None:
    """Search for garbage rarely in this process, and not at its end."""
    gc.set_threshold(*THRESHOLDS)
    atexit.register(gc.freeze)
