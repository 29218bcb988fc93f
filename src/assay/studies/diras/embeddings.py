"""Embeddings of texts from an endpoint with OpenAI's interface."""

from collections.abc import Callable

import numpy as np

from assay._util.errors import FitError
from assay._util.typing import Floats
from assay._util.validation import require_count
from assay.studies.judges.endpoint import KEY_VARIABLE, OPENAI_URL, Endpoint, openai_library

BATCH = 64
"""Texts in one request."""
RETRIES = 5


def embedding_endpoint(
    model: str,
    *,
    url: str = OPENAI_URL,
    key_variable: str = KEY_VARIABLE,
    batch: int = BATCH,
    timeout: float = 60.0,
) -> Callable[[list[str]], Floats]:
    """Return a function from texts to an array (text, dimension), for ``sample_pairs(retriever=)``.

    ``url`` ends before ``/embeddings``; ``timeout`` is in seconds. FitError if the endpoint fails.
    """
    require_count("batch", batch)
    endpoint = Endpoint(url=url, key_variable=key_variable, timeout=timeout)

    def embed(texts: list[str]) -> Floats:
        client = endpoint.synchronous(RETRIES)
        with client:
            parts = [
                _embedded(client, endpoint, model, texts[start : start + batch])
                for start in range(0, len(texts), batch)
            ]
        try:
            return np.array([row for part in parts for row in part], float)
        except (TypeError, ValueError):
            raise FitError(
                f"{endpoint.url} gives embeddings of model {model} that are not numbers, or not "
                "all of the same length",
                code="endpoint-failed",
            ) from None

    return embed


def _embedded(
    client: object, endpoint: Endpoint, model: str, texts: list[str]
) -> list[list[float]]:
    vectors, said = None, ""
    try:
        found = client.embeddings.create(  # type: ignore[attr-defined]
            model=model, input=texts, encoding_format="float"
        )
        rows = sorted(found.data, key=lambda one: one.index)
        vectors = [list(row.embedding) for row in rows]
    except (openai_library().OpenAIError, AttributeError, TypeError, ValueError) as error:
        said = endpoint.said(str(error))
    if vectors is None:  # raised here, so that the library's error, which may hold the key, is gone
        raise FitError(
            f"{endpoint.url} gives no embeddings of model {model}: {said}", code="endpoint-failed"
        )
    if len(vectors) != len(texts):
        raise FitError(
            f"{endpoint.url} gives {len(vectors)} embeddings for {len(texts)} texts",
            code="endpoint-failed",
        )
    return vectors
