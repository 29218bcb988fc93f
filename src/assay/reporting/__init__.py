"""The report: what a fit means, as one HTML file that people read.

``writing`` puts a page together from its sections, a file each (``asked``, ``evidence``, ``trust``,
``numbers``, ``comparisons``, ``claims``, ``raters``, ``labels``, ``agreed``, ``misfit``,
``wrong``, ``budget``, ``robust``, ``limits``, ``card``, ``provenance``). ``material`` computes what
they are made of, ``page`` says what a page is, ``html`` writes it with the template beside it,
``svg`` makes figures part of it, ``talks`` finds who to talk to, ``export`` writes the tables.
"""

from assay.reporting.writing import report

__all__ = ["report"]
