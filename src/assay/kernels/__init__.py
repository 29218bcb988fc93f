"""All code that Numba compiles: a file for each thing that is computed.

``positions`` are looked up; ``rows`` are multiplied to ``cells``; with ``bundles``, and ``panels``
within these, they add up to ``marginal_likelihood``, where nothing else is summed out in one loop,
``plain_cells``; with the interpreter of ``tape`` that is ``density``, and ``c_functions`` hand it
to nutpie. ``recovery`` draws the states. ``kept_code`` is how machine code stands on disk.

What the functions compute is said where they are used: :mod:`assay.likelihood` (states summed
out), :mod:`assay.tape` (the interpreter of formulas), :mod:`assay.density` (both together) and
:mod:`assay.recovery` (the states drawn). They hold no lock, so that chains run side by side.
Loops are written out: whole-array expressions take many times as long to compile.
"""
