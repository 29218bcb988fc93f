"""The report: what a fit means, as one HTML file that people read.

``writing`` puts a page together from its sections, a file each (``asked``, ``data``,
``convergence``, ``metrics``, ``comparisons``, ``claims``, ``raters``, ``drift``, ``scores``,
``labels``, ``agreement``, ``model_checks``, ``leave_one_out``, ``gold``, ``wrong_consensus``,
``budget``, ``stability``, ``limits``, ``gaps``, ``card``, ``provenance``). ``material`` computes
what they are made of, ``page`` says what a page is, ``html`` writes it with the template beside it,
``svg`` makes figures part of it, ``talks`` finds who to talk to, ``spamming`` who answers without
looking, ``export`` writes the tables.
"""

from assay.reporting.writing import report

__all__ = ["report"]
