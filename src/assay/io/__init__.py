"""Read files and tables into Ratings."""

from assay.io.reader import read_ratings

__all__ = ["read_ratings"]
