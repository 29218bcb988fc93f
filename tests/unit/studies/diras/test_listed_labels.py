"""Labels given the lists: Bayes' rule by enumeration, and nothing where nothing is in doubt."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from assay.studies.diras.cells import CellModel
from assay.studies.diras.listed_labels import ListedLabels
from assay.studies.diras.pool import JudgedPool, judged_pool

CHANCE = {"rest | 0": 0.05, "rest | 1": 0.3, "top | 0": 0.2, "top | 1": 0.6}
"""Prevalence of relevant documents by stratum, and by whether the run lists them."""


def pool() -> JudgedPool:
    """One query: 8 documents at the top, 5 of them listed; 12 others, 2 of them listed."""
    top, rest = [f"d{n}" for n in range(8)], [f"d{n}" for n in range(8, 20)]
    pairs = pd.DataFrame(
        [(f"q:{d}", "q", d, name, size, size / 4)
         for name, size, some in (("top", 8, top[3:7]), ("rest", 12, rest[:4])) for d in some],
        columns=["item", "query_id", "document_id", "stratum", "stratum_size", "weight"],
    )  # fmt: skip
    listed = [*top[:5], *rest[:2]]
    run = pd.DataFrame({"query_id": "q", "document_id": listed, "rank": range(1, 8)})
    of_pool = pd.DataFrame({"query_id": "q", "document_id": top, "stratum": "top"})
    return judged_pool(pairs, of_pool, {"run": run}, 7)


class Fixed(CellModel):
    """A model whose prevalences are given."""

    def logits(self, cell: Any, query: Any, height: Any, score: Any) -> Any:
        chance = np.array([CHANCE[name] for name in NAMES])
        return np.log(chance / (1 - chance))[cell] + 0 * (query + height + score)


NAMES: list[str] = []


def labels(before: Any) -> tuple[JudgedPool, ListedLabels]:
    found = pool()
    strata = {found.cell_stratum[found.group_cell[found.judged_group[0]]]: "top"}
    NAMES[:] = [
        f"{strata.get(stratum, 'rest')} | {int(listed)}"
        for stratum, listed in zip(found.cell_stratum, found.cell_listed, strict=True)
    ]
    height = np.where(found.group_place > 0, 1.0 / np.maximum(found.group_place, 1), 0)
    return found, ListedLabels(pool=found, before=np.broadcast_to(before, 8), height=height)


def model(found: JudgedPool) -> CellModel:
    return Fixed(
        cell=found.group_cell, query=found.group_query,
        judged=np.bincount(found.judged_group, minlength=len(found.group_cell)),
        stratum=found.cell_stratum, listed=found.cell_listed,
    )  # fmt: skip


def test_labels_follow_bayes_rule() -> None:
    """The chances by enumeration of label and listing, for a pair that the ratings leave open."""
    before = 0.4
    found, drawn = labels(before)
    rng = np.random.default_rng(1)
    held = rng.random((8000, 8)) < before
    after = np.mean([drawn.draw(one, model(found), rng) for one in held], axis=0)
    shares = {"top | 0": 3 / 8, "top | 1": 5 / 8, "rest | 0": 10 / 12, "rest | 1": 2 / 12}
    prevalence = {
        name: sum(shares[f"{name} | {n}"] * CHANCE[f"{name} | {n}"] for n in (0, 1))
        for name in ("top", "rest")
    }
    for item, group, chance in zip(found.judged_item, found.judged_group, after, strict=True):
        name = NAMES[found.group_cell[group]]
        stratum = name.split(" ")[0]
        joint = [
            before / prevalence[stratum] * shares[name] * CHANCE[name],
            (1 - before) / (1 - prevalence[stratum]) * shares[name] * (1 - CHANCE[name]),
        ]
        assert chance == pytest.approx(joint[0] / sum(joint), abs=0.025), item
    assert len(set(np.round(after, 1))) > 2


def test_certain_labels_stay() -> None:
    known = np.array([1.0, 0, 1, 0, 0, 1, 0, 0])
    found, drawn = labels(known)
    assert drawn.certain
    kept = drawn.draw(known == 1, model(found), np.random.default_rng(1))
    assert (kept == (known == 1)).all()


def test_labels_of_a_draw_are_kept_where_the_list_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where listed and other documents are relevant as often, the draws of the fit stay."""
    for name in CHANCE:
        monkeypatch.setitem(CHANCE, name, float(expit(-1.0)))
    found, drawn = labels(0.5)
    held = np.arange(8) % 2 == 0
    assert (drawn.draw(held, model(found), np.random.default_rng(1)) == held).all()
