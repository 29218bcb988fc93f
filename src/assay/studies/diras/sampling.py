"""Pairs of query and document to rate: half from the top of a ranking, half from the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ArgumentError, FitError
from assay._util.random import seed_of
from assay._util.text import counted, some
from assay._util.typing import Floats, Ints
from assay._util.validation import argument, require_count
from assay.data.ratings import RETRIEVER_SCORE
from assay.studies.diras.retrievers import BM25, Embed, scores_of_documents
from assay.studies.diras.score_bands import tied_normal_scores
from assay.studies.texts import Texts, read_texts

TOP, REST = "top", "rest"
SCORE_DECIMALS = 1
"""Decimals of normal scores: the prevalence has a table for each value."""
DRAWING, RANKING = 0, 1
"""Random streams of one seed."""
SEPARATORS = (":", "|", "||", "::", " / ", " | ")
"""Separators of the two ids in the name of a pair; the first that no id contains is used."""


def sample_pairs(
    documents: object,
    queries: object,
    *,
    retriever: str | Embed = BM25,
    per_query: int = 60,
    top: int = 60,
    query_stratum: str | None = None,
    queries_per_stratum: int | None = None,
    document_id: str | None = None,
    document_text: str | None = None,
    query_id: str | None = None,
    query_text: str | None = None,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Draw pairs of query and document to rate, each with its inclusion probability.

    The documents are ranked for each query. Half of its pairs are drawn from the ``top`` of the
    ranking, half from all other documents.

    Parameters
    ----------
    documents, queries : path or DataFrame
        A row for each, with an id and a text: CSV, JSON, JSON lines, Parquet, Excel.
    retriever : "bm25" or callable
        Method of ranking: BM25, or the cosines of embeddings. For these, give a function from a
        list of texts to an array (text, dimension), such as ``encode`` of a SentenceTransformer.
    per_query : int
        Pairs drawn for each query, at least 2.
    top : int
        Documents at the top of the ranking.
    query_stratum : str, optional
        Column of the queries that divides them into strata.
    queries_per_stratum : int, optional
        Queries drawn in each stratum, at random; else all. Without ``query_stratum`` all queries
        are one stratum.
    document_id, document_text, query_id, query_text : str, optional
        Columns, where their names are not recognised.
    rng : int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row for each pair, with these columns:

        - ``item``: name of the pair
        - ``query_id``, ``query``, ``document_id``, ``document``
        - ``stratum``, and ``stratum_size``: number of documents of the query in it
        - ``inclusion_probability``, and ``weight``: its inverse
        - ``retriever_rank`` (from 1), ``retriever_score``, and ``retriever_normal_score``: its
          rank as a quantile of a standard normal, the same for equal scores
        - the column of ``query_stratum``, if given

        :func:`read_ratings` reads item, cluster, stratum, weight and the normal score by their
        names. Stratum and normal score then enter the prevalence of a fit.

    Raises
    ------
    RatingsError
        If the tables cannot be used.
    ArgumentError
        If a number does not suit.
    FitError
        If BM25 is asked for without the extra ``assay[diras]``.

    Notes
    -----
    A query has N documents, n pairs and k documents at the top. Then ⌈n/2⌉ pairs are drawn without
    replacement from the top, and the others from the remaining documents. Where one part has too
    few documents, the other gives more. Let m of the M queries of a stratum be drawn. Then

    .. math:: \pi = \frac{m}{M} \frac{n_\mathrm{top}}{k} \quad\text{or}\quad
              \pi = \frac{m}{M} \frac{n_\mathrm{rest}}{N - k}.

    Equal scores are ranked in random order.

    References
    ----------
    Ni, J. et al. (2025). DIRAS: efficient LLM annotation of document relevance for retrieval
    augmented generation. NAACL 2025, 5238-5258.

    Horvitz, D. G. & Thompson, D. J. (1952). A generalization of sampling without replacement from
    a finite universe. JASA 47, 663-685.

    Examples
    --------
    >>> import assay
    >>> texts = ["sun", "sun and wind", "coal", "oil"]
    >>> documents = pd.DataFrame({"id": list("abcd"), "text": texts})
    >>> queries = pd.DataFrame({"id": ["q"], "text": ["sun"]})
    >>> embed = lambda texts: [[text.count("sun"), 1] for text in texts]
    >>> pairs = assay.sample_pairs(documents, queries, retriever=embed, per_query=2, top=2)
    >>> pairs["inclusion_probability"].tolist()
    [0.5, 0.5]
    """
    require_count("per_query", per_query, least=2)
    require_count("top", top)
    seed = seed_of(rng)
    generator = np.random.default_rng([seed, DRAWING])
    held = read_texts(documents, "document", id=document_id, text=document_text)
    asked = read_texts(queries, "query", id=query_id, text=query_text)
    parts = _parts(len(held), per_query, top)
    drawn = _draw_queries(asked, query_stratum, queries_per_stratum, generator)
    name = _pair_namer(asked.ids, held.ids)
    scores = scores_of_documents(held.texts, [asked.texts[one.row] for one in drawn], retriever)
    frames = [
        _pairs_of_query(one, asked, held, parts, found, name, seed, generator)
        for one, found in zip(drawn, scores, strict=True)
    ]
    pairs = pd.concat(frames, ignore_index=True)
    if query_stratum is not None:
        strata = dict(zip(asked.ids, asked.frame[query_stratum], strict=True))
        pairs[query_stratum] = pairs["query_id"].map(strata)
    return pairs


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of each ranking: name, first and last place, and number of pairs drawn."""

    name: str
    start: int
    stop: int
    drawn: int


def _parts(documents: int, per_query: int, top: int) -> list[Part]:
    """Divide the pairs of a query between the top of the ranking and the rest."""
    if per_query > documents:
        raise ArgumentError(
            f"`per_query={per_query}`, and there are {counted(documents, 'document')}; it can be "
            f"at most {documents}",
            code="pairs-size",
            numbers={"documents": documents},
        )
    k = min(top, documents)
    rest = documents - k
    of_top = min(-(-per_query // 2), k)
    of_rest = min(per_query - of_top, rest)
    found = [
        Part(name=TOP, start=0, stop=k, drawn=per_query - of_rest),
        Part(name=REST, start=k, stop=documents, drawn=of_rest),
    ]
    return [part for part in found if part.stop > part.start]


@dataclass(frozen=True, kw_only=True)
class _Query:
    """A query that was drawn: its row, its stratum and its inclusion probability."""

    row: int
    stratum: str
    probability: float


def _draw_queries(
    queries: Texts, column: str | None, number: int | None, rng: np.random.Generator
) -> list[_Query]:
    """Draw queries within strata; all of them without a number."""
    if number is not None:
        require_count("queries_per_stratum", number)
    strata = strata_of(queries, column)
    sizes = pd.Series(strata).value_counts()
    few = sorted(sizes.index[sizes < (number or 1)])
    if few:
        raise ArgumentError(
            f"`queries_per_stratum={number}` is more than a stratum has: {some(few)}; the smallest "
            f"has {sizes.min()}",
            code="pairs-size",
            numbers={"queries": int(sizes.min())},
        )
    found = []
    for name in dict.fromkeys(strata):
        rows = [row for row, stratum in enumerate(strata) if stratum == name]
        size = number or len(rows)
        chosen = sorted(rng.choice(len(rows), size, replace=False))
        found += [_Query(row=rows[n], stratum=name, probability=size / len(rows)) for n in chosen]
    return found


def strata_of(queries: Texts, column: str | None) -> list[str]:
    """Return the stratum of each query; all are in one without a column."""
    if column is None:
        return [""] * len(queries)
    if not isinstance(column, str) or column not in queries.frame.columns:
        raise ArgumentError(
            f"{argument('query_stratum', column)} is no column of the queries; they have "
            f"{some([str(name) for name in queries.frame.columns])}",
            code="texts-column",
        )
    strata: list[str] = queries.frame[column].tolist()
    return strata


def _pairs_of_query(
    query: _Query,
    queries: Texts,
    documents: Texts,
    parts: Sequence[Part],
    scores: Floats,
    name: Callable[[str, str], str],
    seed: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Draw the pairs of one query, in the order of the ranking."""
    order = ranking(scores, seed, query.row)
    places, lines = [], []
    for part in parts:
        size = part.stop - part.start
        chosen = part.start + np.sort(rng.choice(size, part.drawn, replace=False))
        stratum = stratum_name(query.stratum, part.name)
        places += list(chosen)
        lines += [(stratum, size, query.probability * part.drawn / size)] * part.drawn
    found = documents.take(order[places].tolist())
    strata, sizes, probabilities = (list(column) for column in zip(*lines, strict=True))
    asked = queries.ids[query.row]
    columns: dict[str, Any] = {
        "item": [name(asked, document) for document in found.ids],
        "query_id": asked,
        "query": queries.texts[query.row],
        "document_id": found.ids,
        "document": found.texts,
        "stratum": strata,
        "stratum_size": sizes,
        "inclusion_probability": probabilities,
        "weight": 1 / np.asarray(probabilities),
        "retriever_rank": np.asarray(places) + 1,
        "retriever_score": scores[order[places]],
        RETRIEVER_SCORE: tied_normal_scores(scores)[order[places]].round(SCORE_DECIMALS),
    }
    return pd.DataFrame(columns)


def stratum_name(of_query: str, part: str) -> str:
    """Return the stratum of a pair: stratum of its query and part of the ranking."""
    return f"{of_query}: {part}" if of_query else part


def ranking(scores: Floats, seed: int, query: int) -> Ints:
    """Return documents from the highest score to the lowest; a seed breaks ties at random."""
    ties = np.random.default_rng([seed, RANKING, query]).random(len(scores))
    return np.lexsort((ties, -scores)).astype(np.int64)


def _pair_namer(queries: Sequence[str], documents: Sequence[str]) -> Callable[[str, str], str]:
    """Return a function that names a pair from both ids, with a separator that no id contains."""
    ids = [*queries, *documents]
    for mark in SEPARATORS:
        if not any(mark in name for name in ids):
            return lambda query, document: f"{query}{mark}{document}"
    raise FitError(
        f"Ids hold all of {' '.join(SEPARATORS)}, so that the names of pairs would not be unique. "
        "Give queries or documents other ids",
        code="pairs-names",
    )
