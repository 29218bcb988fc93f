"""Reading ratings from files and tables."""

from assay.reading.reader import read_ratings

__all__ = ["read_ratings"]
