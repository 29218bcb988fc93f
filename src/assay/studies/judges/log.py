"""The log of requests and answers: only appended to, so that a later run can continue."""

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
    """Requests and answers so far, by the key of the request.

    open : requests under way, without an answer yet
    unknown : requests that may have been paid for without an answer
    damaged : number of unreadable lines
    """

    path: Path
    answers: dict[str, Entry] = field(default_factory=dict)
    open: dict[str, Entry] = field(default_factory=dict)
    unknown: list[Entry] = field(default_factory=list)
    damaged: int = 0
    _file: IO[str] | None = None

    def write(self, event: str, **fields: Any) -> None:
        """Append a line and flush it."""
        assert self._file is not None
        entry = {"event": event, "time": round(time.time(), 3), **fields}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._file.flush()
        self._take(entry)

    def _take(self, entry: Entry) -> None:
        """Update the state from a line."""
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
        """Count requests that an earlier run left open as paid for without an answer."""
        self.unknown += self.open.values()
        self.open.clear()


def read_log(path: Path) -> Log:
    """Read a log, which is empty if there is no file; refuse a file that is no log."""
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
    """Open a log to append lines, locked against other runs."""
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
            file.write("\n")  # the last line was cut off
        log._file = file
        yield log
        log._file = None


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def log_request(log: Log, request: Request, attempt: int) -> None:
    """Log that a request is about to be sent; the first attempt includes its body."""
    body = {"body": request.body} if attempt == 1 else {}
    bound = [request.most_input, request.most_output]
    log.write("request", key=request.key, item=request.item, attempt=attempt, bound=bound, **body)
