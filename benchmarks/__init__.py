"""Measurements behind the documentation, by question; ``python -m benchmarks`` lists them."""
