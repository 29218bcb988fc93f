"""What an input brings about: accepted, refused in words, a traceback, or an act."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from assay._util.errors import AssayError

ACTS = (
    "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile",
    "subprocess.Popen", "socket.connect", "socket.getaddrinfo", "pickle.find_class",
    "ctypes.dlopen", "code.__new__", "builtins.input", "urllib.Request",
)  # fmt: skip
"""Of Python's audit events: what no input may ever bring about."""
KEPT = 3
"""Inputs that are shown of each kind of failure."""

_watch: dict[str, Any] = {"on": False, "acts": []}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watch["on"] and event.startswith(ACTS):
        _watch["acts"].append(f"{event}{arguments!r}"[:200])
        raise PermissionError("an input tried to act")


sys.addaudithook(_audit)


@dataclass
class Tally:
    """Counts of what inputs brought about, and a few of those that should not have."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def count(self, outcome: str, given: object = "", why: str = "") -> None:
        """Count an input."""
        self.counts[outcome] += 1
        if outcome in {"traceback", "act"} and len(self.failures) < KEPT:
            self.failures.append(f"{outcome}: {given!r:.500} -> {why}")


def look(tally: Tally, attempt: Callable[[Any], bool], given: Any) -> None:
    """Try an input; ``attempt`` returns whether it was accepted, or raises."""
    _watch["acts"] = []
    _watch["on"] = True
    try:
        outcome, why = ("accepted" if attempt(given) else "refused"), ""
    except AssayError:
        outcome, why = "refused", ""
    except BaseException as error:  # whatever else it is
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome, why = "traceback", f"{type(error).__name__}: {error!s:.300}"
    finally:
        _watch["on"] = False
    if _watch["acts"]:
        outcome, why = "act", str(_watch["acts"])
    tally.count(outcome, given, why)
