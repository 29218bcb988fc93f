"""Past one machine: data in partitions, likelihoods that add up, label draws where the data are."""

from assay.distributed.fitting import fit_dataset

__all__ = ["fit_dataset"]
