"""Studies of attribution: the tables of Rashkin et al. (2023) for ratings of the task ``ais``.

``study`` puts them together, ``consensus`` compares raters with the majority, ``audits`` counts
answers that were checked, ``times`` how long ratings took.
"""

from assay.ais_studies.study import AisStudy, ais_study

__all__ = ["AisStudy", "ais_study"]
