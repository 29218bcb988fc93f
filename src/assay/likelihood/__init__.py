"""The marginal likelihood: arrays in, value and gradient out.

Numba compiles the loops, a tape differentiates formulas, and an Op connects both to PyTensor.
Compiled functions release Python's lock, so chains run in parallel. Loops are explicit, as
whole-array expressions take many times as long to compile.
"""
