"""Layouts with all items of a cluster, and strata of clusters."""

import numpy as np

from assay.evaluation.panels import PanelLayout, first_stage
from assay.evaluation.pools import pooled_layout


def test_each_panel_gets_the_other_items_of_its_cluster():
    layout = PanelLayout(
        item=np.array([[0, 1], [1, 2]]),
        mask=np.ones((2, 2), bool),
        bounds=np.array([0, 1, 2]),
        cluster=np.zeros(2, int),
        weight=np.ones(2),
        systems=("A", "B"),
        clusters=("q",),
        stratum=np.zeros(1, int),
        pool=np.array([[0, 0, 0], [0, 1, 2]]),
    )
    pooled = pooled_layout(layout)
    assert pooled.item.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert pooled.listed == 2


def test_strata_that_share_a_cluster_are_one():
    assert first_stage(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 2])).tolist() == [0, 0, 2]
