"""Past one machine: data in partitions, likelihoods that add up, draws where the data are."""

from assay.distributed.executor import dask_executor
from assay.distributed.fitting import fit_dataset

__all__ = ["dask_executor", "fit_dataset"]
