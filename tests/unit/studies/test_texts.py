"""Documents and queries that cannot be used are refused."""

from typing import Any

import pandas as pd
import pytest
from refusals import refusal

import assay
from assay.studies.diras import rank_documents, sample_pairs

TEXTS: dict[str, Any] = {
    "documents": pd.DataFrame({"id": list("abcd"), "text": ["sun", "sun and wind", "coal", "oil"]}),
    "queries": pd.DataFrame({"id": ["q", "r"], "text": ["sun", "oil"], "lang": ["en", "de"]}),
    "retriever": lambda texts: [[text.count("sun"), 1] for text in texts],
    "top": 2,
}


@pytest.mark.parametrize("function", [sample_pairs, rank_documents])
@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"query_stratum": "language"}, "texts-column"),
        ({"query_stratum": ["lang"]}, "texts-column"),
        ({"query_stratum": 2}, "texts-column"),
        ({"document_id": TEXTS["documents"]}, "texts-column"),
        ({"retriever": pd.DataFrame()}, "argument-choice"),
        ({"documents": TEXTS["documents"].iloc[:0]}, "empty-file"),
    ],
)
def test_texts_that_cannot_be_used_are_refused(
    function: Any, more: dict[str, Any], code: str
) -> None:
    size = {"per_query": 2} if function is sample_pairs else {}
    with pytest.raises(assay.AssayError, check=refusal(code)):
        function(**TEXTS | size | more)
