"""The marginal likelihood: arrays in, value and gradient out.

Numba compiles the loops, which are explicit, as whole-array expressions take many times as long to
compile. A tape differentiates formulas, and an Op connects both to PyTensor.
"""
