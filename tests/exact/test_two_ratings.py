r"""Two ratings an item leave open how common a class is; a third one, or other rates, tell.

For a label with prevalence :math:`\pi` and confusions :math:`\Theta_j` (true, reported), raters
:math:`a, b` give the pair of answers with the chances :math:`\Theta_a' \Pi \Theta_b`, where
:math:`\Pi = \mathrm{diag}(\pi)`. Take any orthogonal :math:`Q`, and

.. math:: \sqrt{\pi^*} = Q \sqrt{\pi}, \qquad
    \Theta_j^* = \Pi^{*-1/2}\, Q\, \Pi^{1/2} \Theta_j.

The rows of :math:`\Theta_j^*` add up to one, and all pairs of all raters have the same chances.
Near the identity they are proper confusions too. One :math:`Q` does not serve two prevalences.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import expm

from assay.checks import check
from assay.data.ratings import Ratings
from assay.io import read_ratings
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

RATERS, ITEMS = 4, 300
ANGLE = 0.1


def ratings(classes: int, per_item: int, systems: int = 1) -> Ratings:
    """Answers at random, for the likelihood is the same at any."""
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(ITEMS), per_item)
    table = pd.DataFrame(
        {
            "item": item,
            "rater": np.concatenate([rng.permutation(RATERS)[:per_item] for _ in range(ITEMS)]),
            "label": rng.choice(list("abcd")[:classes], len(item)),
            "system": item % systems,
        }
    ).astype(str)
    return read_ratings(table if systems > 1 else table.drop(columns="system"), task="single")


def rise(table: Ratings, classes: int) -> tuple[float, float]:
    """How far the log-likelihood and the prevalence move from one model to the turned one."""
    rng = np.random.default_rng(classes)
    structure = build_structure(table, make_spec("dawid_skene", "dirichlet"))
    share = rng.dirichlet(np.full(classes, 20.0), size=max(1, len(table.systems)))
    right = rng.uniform(0.6, 0.8, (RATERS, classes, 1))
    other = rng.dirichlet(np.full(classes, 200.0), size=(RATERS, classes))
    confusion = right * np.eye(classes) + (1 - right) * other
    skew = rng.standard_normal((classes, classes))
    turn = expm(ANGLE * (skew - skew.T) / np.linalg.norm(skew - skew.T))
    turned = (np.sqrt(share) @ turn.T) ** 2
    scale = np.sqrt(share[0]) / np.sqrt(turned[0])[:, None]
    moved = np.einsum("kl,jlm->jkm", turn * scale, confusion)
    assert (moved > 0).all()
    assert moved.sum(axis=2) == pytest.approx(np.ones((RATERS, classes)))
    name = f"confusion_{classes}"
    before = structure.log_likelihood({"state_share": share, name: confusion})
    after = structure.log_likelihood({"state_share": turned, name: moved})
    return after - before, float(np.abs(turned - share).max())


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_pairs_of_answers_are_the_same_with_other_rates(classes: int):
    table = ratings(classes, 2)
    gain, moved = rise(table, classes)
    assert gain == pytest.approx(0, abs=1e-8)
    assert moved > 0.02
    assert "two-ratings-items" in {f.code for f in check(table).at_least("warning")}


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize(("per_item", "systems"), [(3, 1), (2, 2)])
def test_a_third_answer_or_other_rates_tell(per_item: int, systems: int, classes: int):
    table = ratings(classes, per_item, systems)
    gain, _ = rise(table, classes)
    assert abs(gain) > 0.1
    assert "two-ratings-items" not in {f.code for f in check(table).at_least("warning")}
