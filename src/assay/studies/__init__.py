"""Whole published procedures, made of the other packages."""
