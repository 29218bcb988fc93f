"""Fits of data sets in partitions, on the workers of a Dask cluster."""

from assay.distributed.executor import dask_executor
from assay.distributed.fitting import fit_dataset

__all__ = ["dask_executor", "fit_dataset"]
