"""A small endpoint with the interface of OpenAI, which answers and fails as it is told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the endpoint does with one request.

    ``cut`` sends so many bytes of the body and closes the connection; ``after`` is in seconds.
    """

    status: int = 200
    body: bytes = b""
    after: float = 0.0
    cut: int | None = None
    headers: dict[str, str] = field(default_factory=dict)


def chat(text: str, *, tokens: tuple[int, int] | None = (50, 10), **more: Any) -> Reply:
    """Make an answer of a text."""
    choice = {
        "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop",
    } | more  # fmt: skip
    answer: dict[str, Any] = {"id": "1", "object": "chat.completion", "choices": [choice]}
    if tokens is not None:
        answer["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return Reply(body=json.dumps(answer).encode())


def refused(status: int, message: str = "no", code: str = "", **headers: str) -> Reply:
    """Make a refusal."""
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return Reply(
        status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def asked(body: dict[str, Any]) -> str:
    """Return the text of a request."""
    return "\n".join(message["content"] for message in body["messages"])


@dataclass
class Endpoint:
    """What was asked so far: the bodies and the headers, in order."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_a_time: int = 0
    times: list[float] = field(default_factory=list)


@contextmanager
def endpoint(answer: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Endpoint]:
    """Run an endpoint; ``answer`` takes the number of a request, from 0, and its body."""
    told, lock, now = Endpoint(), threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"]))
            with lock:
                number = len(told.bodies)
                told.bodies.append(json.loads(text))
                told.headers.append(dict(self.headers))
                told.times.append(time.monotonic())
                now[0] += 1
                told.most_at_a_time = max(told.most_at_a_time, now[0])
            try:
                self._send(answer(number, told.bodies[number]))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with lock:
                    now[0] -= 1

        def _send(self, reply: Reply) -> None:
            time.sleep(reply.after)
            self.send_response(reply.status)
            headers = {"content-type": "application/json"} | reply.headers
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body[: reply.cut])
            self.wfile.flush()
            if reply.cut is not None:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
