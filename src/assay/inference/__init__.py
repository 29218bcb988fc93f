"""From a model to a fit: density, modes, Laplace, EM, samplers, diagnostics."""
