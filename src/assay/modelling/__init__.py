"""A specification into a model: families, layers, prevalence, priors, responses."""
