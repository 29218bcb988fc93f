"""DIRAS (Ni et al. 2025): pairs to rate, definitions of relevance, and the models that rate."""

from assay.studies.diras.definitions import draft_definitions
from assay.studies.diras.embeddings import embedding_endpoint
from assay.studies.diras.sampling import sample_pairs
from assay.studies.judges.ask import ask_model

__all__ = ["ask_model", "draft_definitions", "embedding_endpoint", "sample_pairs"]
