"""DIRAS (Ni et al. 2025): pairs to rate, definitions, models that rate, recall of ranked lists."""

from assay.studies.diras.definitions import draft_definitions
from assay.studies.diras.embeddings import embedding_endpoint
from assay.studies.diras.ranking import rank_documents
from assay.studies.diras.recall import RunRecall, recall_of_runs
from assay.studies.diras.sampling import sample_pairs
from assay.studies.diras.scorers import ScoreComparison, compare_scores
from assay.studies.judges.ask import ask_model

__all__ = [
    "RunRecall", "ScoreComparison", "ask_model", "compare_scores", "draft_definitions",
    "embedding_endpoint", "rank_documents", "recall_of_runs", "sample_pairs",
]  # fmt: skip
