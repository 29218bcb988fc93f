"""Departures from raters who err independently, and alike on all items of a class."""
