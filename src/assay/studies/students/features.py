"""Features of pairs of query and document: how alike their texts are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.typing import Floats
from assay.studies.diras.retrievers import Embed, unit_rows

DIMENSIONS = 100
"""Most dimensions of latent semantic analysis."""
HASHES = 2**14
"""Number of places of hashed words."""
SMALL = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTexts:
    """Pairs: names, query of each, texts, further numbers (pair, column), and design weights."""

    items: list[str]
    query: NDArray[np.int64]
    queries: list[str]
    documents: list[str]
    definitions: list[str]
    numbers: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.items)


@dataclass(kw_only=True, eq=False)
class Features:
    """Similarities of the texts of pairs, relative to the pairs of the same query. They are TF-IDF,
    latent semantic analysis (Deerwester et al. 1990, JASIS 41(6), 391-407), and ``embed``.
    """

    embed: Embed | None = None
    _words: Any = field(init=False, default=None)
    _weights: Any = field(init=False, default=None)
    _topics: Any = field(init=False, default=None)

    def learn(self, pairs: PairTexts) -> None:
        """Learn words and topics of the texts."""
        text, decomposition = sklearn_modules("feature_extraction.text", "decomposition")
        texts = list(dict.fromkeys(pairs.documents))
        # Hashed, so that words of new queries count too, with the weight of rare words.
        self._words = text.HashingVectorizer(alternate_sign=False, norm=None, n_features=HASHES)
        counts = self._words.transform(texts)
        if not counts.nnz:
            raise FitError(
                "no document has a word of two letters or more; give other texts",
                code="texts-without-words",
            )
        self._weights = text.TfidfTransformer(sublinear_tf=True).fit(counts)
        counts = self._weights.transform(counts)
        size = min(DIMENSIONS, min(counts.shape) - 1)
        if size > 0:
            self._topics = decomposition.TruncatedSVD(size, random_state=1).fit(counts)

    def of(self, pairs: PairTexts) -> Floats:
        """Return the features, (pair, feature)."""
        sides = [pairs.queries]
        if any(pairs.definitions):
            sides.append(
                [f"{q} {d}" for q, d in zip(pairs.queries, pairs.definitions, strict=True)]
            )
        columns = [np.log1p([len(text) for text in pairs.documents])]
        for side in sides:
            columns += self._similarities(side, pairs.documents)
        found = np.column_stack([*columns, pairs.numbers])
        return _within(found, pairs.query, pairs.weight)

    def _similarities(self, first: Sequence[str], second: Sequence[str]) -> list[Floats]:
        one, other = (
            self._weights.transform(self._words.transform(texts)) for texts in (first, second)
        )
        found = [np.asarray(one.multiply(other).sum(axis=1)).ravel()]
        if self._topics is not None:
            found.append(_cosine(self._topics.transform(one), self._topics.transform(other)))
        if self.embed is not None:
            found.append(_cosine(self._embedded(first), self._embedded(second)))
        return found

    def _embedded(self, texts: Sequence[str]) -> Floats:
        """Embed texts, each once."""
        assert self.embed is not None
        distinct = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        rows = unit_rows(self.embed, list(distinct), "embed")
        return rows[[distinct[text] for text in texts]]


def _cosine(one: Floats, other: Floats) -> Floats:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((one * other).sum(axis=1) / np.maximum(lengths, SMALL))


def _within(values: Floats, query: NDArray[np.int64], weight: Floats) -> Floats:
    """Centre and scale within each query; ``weight`` counts a pair for those that it stands for."""
    size = int(query.max()) + 1
    total = np.bincount(query, weights=weight, minlength=size)[:, None]
    mean = _sums(values, query, weight) / total
    gap = values - mean[query]
    sd = np.sqrt(_sums(gap**2, query, weight) / total)
    return np.asarray(gap / np.where(sd > SMALL, sd, 1.0)[query])


def _sums(values: Floats, query: NDArray[np.int64], weight: Floats) -> Floats:
    size = int(query.max()) + 1
    return np.stack(
        [np.bincount(query, weights=weight * v, minlength=size) for v in values.T], axis=1
    )


def sklearn_modules(*names: str) -> tuple[Any, ...]:
    """Import parts of scikit-learn; `FitError` if it is missing."""
    from importlib import import_module

    try:
        return tuple(import_module(f"sklearn.{name}") for name in names)
    except ImportError:
        raise FitError(
            "a student needs the extra: pip install 'assay[student]'", code="extra-not-installed"
        ) from None
