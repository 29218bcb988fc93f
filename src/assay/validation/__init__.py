"""How far to trust a fit: predictive checks, gold left out, sensitivity, stability."""
