"""Scores of all documents for a query: BM25, or cosines of any embedding."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from assay._util.errors import ArgumentError, FitError
from assay._util.typing import Floats
from assay._util.validation import argument

Embed = Callable[[list[str]], Any]
"""Function from texts to an array (text, dimension)."""
BM25 = "bm25"


def scores_of_documents(
    documents: Sequence[str], queries: Sequence[str], retriever: str | Embed
) -> Iterator[Floats]:
    """Yield the scores of all documents for each query, (document,); a callable gives cosines."""
    if callable(retriever):
        return _cosines(documents, queries, retriever)
    if isinstance(retriever, str) and retriever == BM25:
        return _bm25(documents, queries)
    raise ArgumentError(
        f"{argument('retriever', retriever)}; it must be 'bm25', or a function from a list of "
        "texts to an array with a row for each",
        code="argument-choice",
    )


def _bm25(documents: Sequence[str], queries: Sequence[str]) -> Iterator[Floats]:
    try:
        import bm25s
    except ImportError:
        raise FitError(
            "BM25 needs the extra: pip install 'assay[diras]'", code="extra-not-installed"
        ) from None

    def words(texts: Sequence[str]) -> list[list[str]]:
        # No stop words: their list would be English, and BM25 gives frequent words little weight.
        cut: list[list[str]] = bm25s.tokenize(
            list(texts), stopwords=None, return_ids=False, show_progress=False
        )
        return cut

    indexed = words(documents)
    if not any(indexed):
        raise FitError(
            "No document has a word of two letters or more, so BM25 finds nothing. Give "
            "texts, or a function that embeds them: `retriever=`",
            code="texts-without-words",
        )
    index = bm25s.BM25()
    index.index(indexed, show_progress=False)
    for asked in words(queries):
        yield np.asarray(index.get_scores(asked), float) if asked else np.zeros(len(documents))


def _cosines(documents: Sequence[str], queries: Sequence[str], embed: Embed) -> Iterator[Floats]:
    of_documents, of_queries = unit_rows(embed, documents), unit_rows(embed, queries)
    if of_documents.shape[1] != of_queries.shape[1]:
        raise ArgumentError(
            f"`retriever=` gives documents {of_documents.shape[1]} dimensions and queries "
            f"{of_queries.shape[1]}; it must give all texts as many",
            code="embedding-shape",
        )
    for query in of_queries:
        yield of_documents @ query


def unit_rows(embed: Embed, texts: Sequence[str], name: str = "retriever") -> Floats:
    """Embed texts; return rows of length 1. ``name`` names the function in messages."""
    if not callable(embed):
        raise ArgumentError(
            f"`{name}=` is no function from texts to an array of numbers", code="embedding-shape"
        )
    rows = embed(list(texts))  # its own errors say more than ours: they pass
    try:
        found = np.asarray(rows, float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"`{name}=` does not return an array of numbers: {error}", code="embedding-shape"
        ) from None
    if found.ndim != 2 or len(found) != len(texts):
        raise ArgumentError(
            f"`{name}=` returns an array of shape {found.shape} for {len(texts)} texts; it must "
            "return a row for each text",
            code="embedding-shape",
            numbers={"texts": len(texts)},
        )
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise ArgumentError(
            f"`{name}=` returns numbers that are not finite", code="embedding-shape"
        )
    return found / np.where(lengths > 0, lengths, 1.0)
