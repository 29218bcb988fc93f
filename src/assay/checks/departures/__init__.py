"""Tests for departures from raters who err independently, and alike on all items of a class."""
