"""Models from specifications: families, layers, prevalence, priors, responses."""
