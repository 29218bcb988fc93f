"""The marginal likelihood: arrays in, a number and its gradient out.

Numba compiles the loops, a recorder makes formulas differentiable, an Op hands both to PyTensor.
The compiled functions hold no lock, so that chains run side by side. Loops are written out:
whole-array expressions take many times as long to compile.
"""
