"""From documents and queries to pairs to rate: the first step of DIRAS (Ni et al. 2025)."""

from assay.studies.diras.embeddings import embedding_endpoint
from assay.studies.diras.sampling import sample_pairs

__all__ = ["embedding_endpoint", "sample_pairs"]
