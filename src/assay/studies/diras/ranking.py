"""The top of the rankings from which pairs are sampled."""

import numpy as np
import pandas as pd

from assay._util.random import seed_of
from assay._util.validation import require_count
from assay.studies.diras.retrievers import BM25, Embed, scores_of_documents
from assay.studies.diras.sampling import TOP, ranking, strata_of, stratum_name
from assay.studies.texts import read_texts


def rank_documents(
    documents: object,
    queries: object,
    *,
    retriever: str | Embed = BM25,
    top: int = 60,
    query_stratum: str | None = None,
    document_id: str | None = None,
    document_text: str | None = None,
    query_id: str | None = None,
    query_text: str | None = None,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    """Return the top of the ranking of each query, as :func:`sample_pairs` ranks documents.

    The arguments are those of :func:`sample_pairs`; the same seed breaks ties in the same order.
    """
    require_count("top", top)
    seed = seed_of(rng)
    held = read_texts(documents, "document", id=document_id, text=document_text)
    asked = read_texts(queries, "query", id=query_id, text=query_text)
    strata = strata_of(asked, query_stratum)
    scores = scores_of_documents(held.texts, asked.texts, retriever)
    frames = []
    for row, (stratum, found) in enumerate(zip(strata, scores, strict=True)):
        order = ranking(found, seed, row)[:top]
        frames.append(
            pd.DataFrame(
                {
                    "query_id": asked.ids[row],
                    "document_id": [held.ids[place] for place in order],
                    "stratum": stratum_name(stratum, TOP),
                    "rank": np.arange(len(order)) + 1,
                    "score": found[order],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
