"""The log of requests and answers: lines are only added, and a later run goes on from them."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from assay._util.errors import FitError
from assay._util.files import require_place, try_lock
from assay.studies.judges.requests import Request

Entry = Mapping[str, Any]
EVENTS = ("run", "request", "answer", "failure")


@dataclass(kw_only=True)
class Log:
    """What was asked and answered so far.

    Attributes
    ----------
    path : Path
    answers : dict of str to dict
        The answer of each request, as the endpoint gave it, by the key of the request.
    open : dict of str to dict
        Requests whose answer is not known: the run ended while they were on their way.
    unknown : list of dict
        Requests that may have been paid for without an answer: those that are open at the
        start, and those that ended without a known answer.
    damaged : int
        Lines that cannot be read, such as one that was cut off.
    """

    path: Path
    answers: dict[str, Entry] = field(default_factory=dict)
    open: dict[str, Entry] = field(default_factory=dict)
    unknown: list[Entry] = field(default_factory=list)
    damaged: int = 0
    _file: IO[str] | None = None

    def write(self, event: str, **fields: Any) -> None:
        """Add a line, which stands in the file when this returns."""
        assert self._file is not None
        entry = {"event": event, "time": round(time.time(), 3), **fields}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._file.flush()
        self._take(entry)

    def _take(self, entry: Entry) -> None:
        """Learn what a line tells."""
        key = str(entry.get("key", ""))
        match entry["event"]:
            case "request":
                self.open[key] = entry
            case "answer":
                self.answers[key] = entry
                self.open.pop(key, None)
            case "failure":
                asked = self.open.pop(key, None)
                if asked is not None and entry.get("paid") != "no":
                    self.unknown.append(asked)

    def close_open(self) -> None:
        """Count requests of an earlier run that are still open as paid for, without an answer."""
        self.unknown += self.open.values()
        self.open.clear()


def read_log(path: Path) -> Log:
    """Read a log; none is an empty one.

    Raises
    ------
    FitError
        If the file holds something else.
    """
    log = Log(path=path)
    if not path.exists():
        return log
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FitError(
            f"the log {path} cannot be read: {error.strerror}", code="log-file"
        ) from None
    for line in filter(str.strip, lines):
        try:
            entry = json.loads(line)
            known = entry["event"] in EVENTS
        except (ValueError, TypeError, KeyError):
            known = False
        if known:
            log._take(entry)
        else:
            log.damaged += 1
    if log.damaged and log.damaged > len(lines) / 2:
        raise FitError(
            f"{path} is no log of requests. Name a new file, or the log of an earlier run: `log=`",
            code="log-file",
        )
    log.close_open()
    return log


@contextmanager
def opened(path: Path) -> Iterator[Log]:
    """Open a log to add lines; no second run may write to it at the same time.

    Raises
    ------
    FitError
        If another run holds it, or it cannot be written.
    """
    require_place(path, example="answers.jsonl")
    with path.open("a+", encoding="utf-8") as file:
        if not try_lock(file):
            raise FitError(
                f"another run writes to the log {path}. Wait until it ends, or name another file: "
                "`log=`",
                code="log-in-use",
            )
        log = read_log(path)
        if path.stat().st_size and not _ends_a_line(path):
            file.write("\n")  # a line that a kill cut off
        log._file = file
        yield log
        log._file = None


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def log_request(log: Log, request: Request, attempt: int) -> None:
    """Write that a request is about to be sent; its body stands at the first attempt."""
    body = {"body": request.body} if attempt == 1 else {}
    bound = [request.most_input, request.most_output]
    log.write("request", key=request.key, item=request.item, attempt=attempt, bound=bound, **body)
