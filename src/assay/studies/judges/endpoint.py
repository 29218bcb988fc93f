"""Where language models are asked: an address, and a key from the environment alone."""

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
"""Hosts that are asked without a key where there is none."""
NO_KEY = "none"
HIDDEN = "[key]"
KEY_LIKE = re.compile(r"(?i)(?<=bearer )\S+|\bsk-[\w*.-]{6,}")
"""What looks like a key, or part of one, in the answer of a server."""
SHORTEST_KEY = 8
"""Characters; a shorter text is no secret, and may stand in any answer."""
SHOWN = 300
"""Characters of a server's answer that a message repeats."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint with the interface of OpenAI.

    Attributes
    ----------
    url : str
        Up to the part before ``/chat/completions``, such as ``http://localhost:8080/v1``.
    key_variable : str
        Environment variable that holds the key. The key stands in no file, log or error.
    timeout : float
        Seconds to wait for an answer.

    Raises
    ------
    ArgumentError
        If the address is no address, or holds a password or a query.
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
            # The address is written to the log and shown, so that it may hold no secret.
            raise ArgumentError(
                "`url=` holds a user, a password or a query. Leave them out, and give the key in "
                f"the environment variable {self.key_variable}",
                code="endpoint-url",
            )

    @property
    def key(self) -> str:
        """The key, from the environment.

        Raises
        ------
        FitError
            If the variable is not set, unless the endpoint is on this machine.
        """
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
        """Return a text without the key."""
        key = os.environ.get(self.key_variable, "").strip()
        return text.replace(key, HIDDEN) if len(key) >= SHORTEST_KEY else text

    def said(self, text: str) -> str:
        """Return what a server said, for a message: without what looks like a key, too."""
        bare = KEY_LIKE.sub(HIDDEN, self.without_key(" ".join(text.split())))
        return bare if len(bare) <= SHOWN else f"{bare[:SHOWN]}..."

    def asynchronous(self) -> Any:
        """Return a client for many requests at a time, which repeats none by itself."""
        return openai_library().AsyncOpenAI(**self._given(), max_retries=0)

    def synchronous(self, retries: int) -> Any:
        """Return a client for one request after the other."""
        return openai_library().OpenAI(**self._given(), max_retries=retries)

    def _given(self) -> dict[str, Any]:
        return {"api_key": self.key, "base_url": self.url, "timeout": self.timeout}


def openai_library() -> Any:
    """Return the library that talks to endpoints.

    Raises
    ------
    FitError
        If it is not installed.
    """
    try:
        import openai
    except ImportError:
        raise FitError(
            "asking a language model needs the extra: pip install 'assay[llm]'",
            code="extra-not-installed",
        ) from None
    return openai
