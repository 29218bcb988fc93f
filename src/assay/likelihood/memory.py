"""Memory that a pass has used is kept for the next one. The C library would hand it back, and
having it cleared page by page can take longer than the pass itself.
"""

import ctypes
import os
from functools import cache

KEPT = 256 * 2**20
"""Bytes at most that are free and not handed back to the system."""
LARGEST = 32 * 2**20
"""Bytes of an array beyond which it is handed back in any case: the most that glibc allows."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
CHOSEN_BY_USERS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
"""Variables of the environment that set the same."""


@cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to ``KEPT`` bytes; return whether it does.

    Only glibc has the switch. What users have set themselves stays as it is.
    """
    if any(name in os.environ for name in CHOSEN_BY_USERS):
        return False
    try:
        switch = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(switch(M_MMAP_THRESHOLD, LARGEST) and switch(M_TRIM_THRESHOLD, KEPT))
