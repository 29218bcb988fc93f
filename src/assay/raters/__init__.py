"""Results about raters: reliability, agreement, and scores compared with the truth.

The models of raters are in :mod:`assay.modelling.families`.
"""
