"""The address of a language model, and its key from the environment."""

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assay._util.errors import ArgumentError, FitError
from assay._util.validation import argument, require_number

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
HERE = ("localhost", "127.0.0.1", "::1")
"""Hosts that need no key."""
NO_KEY = "none"
HIDDEN = "[key]"
KEY_LIKE = re.compile(r"(?i)(?<=bearer )\S+|\bsk-[\w*.-]{6,}")
"""What looks like a key, or part of one, in a server's answer."""
SHORTEST_KEY = 8
"""Fewest characters of a key; a shorter text is no secret."""
SHOWN = 300
"""Most characters of a server's answer that a message repeats."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint with OpenAI's interface; its key stands in no file, log or error.

    url : up to the part before ``/chat/completions``
    key_variable : environment variable that holds the key
    timeout : seconds
    """

    url: str = OPENAI_URL
    key_variable: str = KEY_VARIABLE
    timeout: float = 60.0

    def __post_init__(self) -> None:
        require_number("timeout", self.timeout, lambda x: x > 0, allowed="seconds above 0")
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
        except (TypeError, ValueError, AttributeError):
            parts, host = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not host:
            raise ArgumentError(
                f"{argument('url', self.url)} is no address; give one such as {OPENAI_URL}",
                code="endpoint-url",
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            # The address is logged and shown, so it may hold no secret.
            raise ArgumentError(
                "`url=` holds a user, a password or a query. Leave them out, and give the key in "
                f"the environment variable {self.key_variable}",
                code="endpoint-url",
            )

    @property
    def key(self) -> str:
        """The key from the environment; `FitError` if there is none and the host needs one."""
        key = os.environ.get(self.key_variable, "").strip()
        if key:
            return key
        if urlsplit(self.url).hostname in HERE:
            return NO_KEY
        raise FitError(
            f"There is no key for {self.url}. Set the environment variable {self.key_variable}, to "
            "any text if the endpoint needs no key",
            code="endpoint-key",
        )

    def without_key(self, text: str) -> str:
        """Remove the key from a text."""
        key = os.environ.get(self.key_variable, "").strip()
        return text.replace(key, HIDDEN) if len(key) >= SHORTEST_KEY else text

    def said(self, text: str) -> str:
        """Shorten a server's text for a message, and remove what looks like a key."""
        bare = KEY_LIKE.sub(HIDDEN, self.without_key(" ".join(text.split())))
        return bare if len(bare) <= SHOWN else f"{bare[:SHOWN]}..."

    def asynchronous(self) -> Any:
        """Return a client for concurrent requests; it does not retry."""
        return openai_library().AsyncOpenAI(**self._given(), max_retries=0)

    def synchronous(self, retries: int) -> Any:
        """Return a client for one request at a time."""
        return openai_library().OpenAI(**self._given(), max_retries=retries)

    def _given(self) -> dict[str, Any]:
        return {"api_key": self.key, "base_url": self.url, "timeout": self.timeout}


def openai_library() -> Any:
    """Import the library ``openai``; `FitError` if it is missing."""
    try:
        import openai
    except ImportError:
        raise FitError(
            "asking a language model needs the extra: pip install 'assay[llm]'",
            code="extra-not-installed",
        ) from None
    return openai
