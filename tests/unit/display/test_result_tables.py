"""Results in a notebook: short reprs, tables as HTML, frames."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.comparison import check_claim, compare_baselines
from assay.data.states import MISSING

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
EVIL = "<script>x</script>"


@pytest.fixture(scope="module")
def ratings() -> assay.Ratings:
    made = assay.simulate(
        "retrieval", n_items=60, n_raters=3, n_systems=3, n_clusters=10, ratings_per_item=2, rng=5
    )
    places = made.panels.set_index("item").loc[made.item]
    table = pd.DataFrame(made.answers, columns=list(made.task.label_names)).assign(
        item=made.item, query=places["cluster"].to_numpy(), rank=places["rank"].to_numpy(),
        system=places["system"].replace("system_1", EVIL).to_numpy(),
        rater=[EVIL if r == 0 else f"rater {r}" for r in made.rater],
    )  # fmt: skip
    return assay.read_ratings(table, task="retrieval")


@pytest.fixture(scope="module")
def fit(ratings: assay.Ratings) -> xr.DataTree:
    return assay.fit(ratings, method="map", draws=40, chains=1, starts=1, rng=1)


@pytest.fixture(scope="module")
def results(ratings: assay.Ratings, fit: xr.DataTree) -> dict[str, object]:
    return {
        "Ratings": ratings,
        "Check": assay.check(ratings),
        "Comparison": assay.compare(fit),
        "Agreement": assay.agreement(ratings, draws=50),
        "SideBySide": compare_baselines(fit),
        "Decision": assay.decide(fit, gain="ndcg_at_k", baseline="system_2"),
        "ClaimResult": check_claim(fit, "system_3 > system_2 on ndcg_at_k"),
        "PaperText": assay.methods(fit),
        "Task": ratings.task,
    }


TABLES = ("Ratings", "Check", "Comparison", "Agreement", "SideBySide", "Decision")
NAMES = (*TABLES, "ClaimResult", "PaperText", "Task")


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_one_short_line(results: dict[str, object], name: str) -> None:
    text = repr(results[name])
    assert text.startswith(f"<assay.{name}")
    assert "\n" not in text
    assert len(text) < 200


def test_a_notebook_shows_the_sentence_of_a_claim_and_a_methods_paragraph(
    results: dict[str, object],
) -> None:
    claim, paper = (results[name] for name in ("ClaimResult", "PaperText"))
    assert "on ndcg_at_k. P" in claim._repr_html_()  # type: ignore[attr-defined]
    (line,) = claim.to_frame().to_dict("records")  # type: ignore[attr-defined]
    assert line["claim"] == "system_3 > system_2 on ndcg_at_k"
    assert line["probability"] == claim.probability  # type: ignore[attr-defined]
    html = paper._repr_html_()  # type: ignore[attr-defined]
    assert html.count("<li>") == len(paper.references)  # type: ignore[attr-defined]
    assert "We analysed" in html


@pytest.mark.parametrize("name", TABLES)
def test_a_notebook_shows_a_table_that_runs_nothing(results: dict[str, object], name: str) -> None:
    html = results[name]._repr_html_()  # type: ignore[attr-defined]
    assert "<table" in html
    assert "<script" not in html
    frame = results[name].to_frame()  # type: ignore[attr-defined]
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)


def test_a_comparison_shows_titles_and_the_best(results: dict[str, object]) -> None:
    html = results["Comparison"]._repr_html_()  # type: ignore[attr-defined]
    assert "ndcg_at_k" not in html
    assert any(title in html for title in ("nDCG@", "Topical precision@", "Sufficiency"))
    assert "Which system is best" in html
    assert "assay.Comparison: 3 systems on" in html.replace("<b>", "")


def test_ratings_come_back_as_they_were_read(ratings: assay.Ratings) -> None:
    frame = ratings.to_frame()
    assert len(frame) == len(ratings.answers)
    codes = frame["misleading"].map({"no": 0, "yes": 1}).fillna(MISSING).to_numpy()
    assert np.array_equal(codes, ratings.answers[:, ratings.task.label_names.index("misleading")])
    again = assay.read_ratings(frame, task="retrieval")
    assert again.answers.tolist() == ratings.answers.tolist()
