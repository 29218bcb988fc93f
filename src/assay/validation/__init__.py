"""Validation of a fit: predictive checks, leave-one-out of gold, sensitivity, stability."""
