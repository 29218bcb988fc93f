"""Unanimous and ambiguous outputs by system; who is below the best; the command."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import assay
from assay.cli.program import app

ANSWERS = {
    # system, output: (flagged, interpretable, attributable) of each rater
    ("A", "1"): [("no", "yes", "yes")] * 3,
    ("A", "2"): [("no", "yes", "yes")] * 2 + [("no", "yes", "no")],
    ("A", "3"): [("no", "no", "")] * 2 + [("no", "yes", "yes")],
    ("B", "1"): [("yes", "", "")] * 3,
    ("B", "2"): [("no", "yes", "no")] * 3,
    ("B", "3"): [("no", "yes", "no")] * 2 + [("no", "yes", "yes")],
}


def frame() -> pd.DataFrame:
    rows = [
        (f"{system}{output}", output, system, f"r{n}", *answer)
        for (system, output), answers in ANSWERS.items()
        for n, answer in enumerate(answers)
    ]
    return pd.DataFrame(
        rows,
        columns=[
            "item", "cluster", "system", "rater", "flagged", "interpretable", "attributable",
        ],
    )  # fmt: skip


@pytest.fixture
def ratings() -> assay.Ratings:
    return assay.read_ratings(frame(), task="ais")


def test_outputs_are_counted_by_system_and_label(ratings: assay.Ratings) -> None:
    table = assay.ais_study(ratings, draws=50).unanimity.set_index(["label", "system"])
    counts = table[["n_items", "unanimous", "yes_if_unanimous", "yes_if_ambiguous"]]
    expected = {
        ("flagged", "A"): (3, 1.0, 0.0, np.nan),
        ("flagged", "B"): (3, 1.0, 1 / 3, np.nan),
        ("interpretable", "A"): (3, 2 / 3, 1.0, 0.0),
        ("interpretable", "B"): (2, 1.0, 1.0, np.nan),
        ("attributable", "A"): (2, 0.5, 1.0, 1.0),
        ("attributable", "B"): (2, 0.5, 0.0, 0.0),
        ("attributable", "all systems"): (4, 0.5, 0.5, 0.5),
    }
    for key, line in expected.items():
        np.testing.assert_allclose(counts.loc[key].to_numpy(float), line)
    assert (table["lower"] <= table["unanimous"]).all()
    assert (table["unanimous"] <= table["upper"]).all()


def test_a_tie_counts_in_equal_parts_whatever_the_order_of_the_rows() -> None:
    outputs = {"1": [("no", "yes", "yes"), ("no", "yes", "no")],  # the last question is tied
               "2": [("no", "yes", "yes")] * 2,
               "3": [("yes", "", ""), ("no", "yes", "yes")]}  # fmt: skip
    rows = [(n, f"r{r}", *said) for n, both in outputs.items() for r, said in enumerate(both)]
    names = ["item", "rater", "flagged", "interpretable", "attributable"]
    table = pd.DataFrame(rows, columns=names)
    first, second = (
        assay.ais_study(assay.read_ratings(one, task="ais"), draws=20).unanimity.set_index("label")
        for one in (table, table.iloc[::-1])
    )
    columns = ["n_items", "unanimous", "yes_if_unanimous", "yes_if_ambiguous"]
    assert first.loc["attributable", columns].tolist() == [2, 0.5, 1.0, 0.5]
    assert first.loc["flagged", columns].tolist() == pytest.approx([3, 2 / 3, 0.0, 0.5])
    np.testing.assert_array_equal(first[columns], second[columns])


def test_a_system_is_below_the_best_as_often_as_the_draws_say(ratings: assay.Ratings) -> None:
    many = pd.concat(
        [
            frame().assign(item=lambda f, n=n: f["item"] + f"-{n}",
                           cluster=lambda f, n=n: f["cluster"] + f"-{n}")
            for n in range(12)
        ]
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            assay.read_ratings(many, task="ais"), raters="pooled", method="map", draws=200,
            chains=2, starts=1, rng=1,
        )  # fmt: skip
    study = assay.ais_study(fit, draws=20)
    worse = study.systems.set_index(["metric", "system"])["p_worse"]
    drawn = assay.metrics(fit)["attributable_rate"]
    lower = float((drawn.sel(system="B") < drawn.sel(system="A")).mean())
    assert lower > 0.9
    assert worse["attributable_rate", "B"] == pytest.approx(lower)
    assert np.isnan(worse["attributable_rate", "A"])  # the best is not below itself
    assert worse["flag_rate"].isna().all()
    assert "P(below the best)" in str(study)
    clear = study.systems.set_index(["metric", "system"])["clearly_worse"]
    assert clear["attributable_rate", "B"] == (lower > 0.99)
    assert ("clearly below the best system" in str(study)) == clear.any()
    assert not clear["flag_rate"].any()
    assert "P(below the best)" not in str(assay.ais_study(ratings, draws=20))


def test_two_discordant_pairs_earn_no_star() -> None:
    """Of 40 inputs with the same two systems, 38 have the same answers for both."""
    rows = [
        {"item": f"{c}-{s}", "cluster": f"c{c}", "system": s, "rater": r, "flagged": "no",
         "interpretable": "yes",
         "attributable": "no" if c % 4 == 0 or (s == "B" and c in (1, 2)) else "yes"}
        for c in range(40) for s in "AB" for r in ("x", "y", "z")
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            assay.read_ratings(pd.DataFrame(rows), task="ais"), raters="pooled", method="map",
            draws=500, chains=2, starts=1, rng=1,
        )  # fmt: skip
    lines = assay.ais_study(fit, draws=20).systems.set_index(["metric", "system"])
    assert 0.5 < lines.loc[("attributable_rate", "B"), "p_worse"] < 0.99
    assert not lines["clearly_worse"].any()


def test_the_command_prints_and_writes_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    frame().to_csv(path, index=False)
    done = CliRunner().invoke(app, ["ais", str(path), "-o", str(tmp_path / "tables")])
    assert done.exit_code == 0, done.output
    assert "Outputs on which all raters agree" in done.stdout
    assert "--audit" in done.stderr
    written = {p.name for p in (tmp_path / "tables").iterdir()}
    assert written == {"systems.csv", "agreement.csv", "unanimity.csv"}
    done = CliRunner().invoke(app, ["ais", str(path), "--json"])
    assert len(json.loads(done.stdout)["unanimity"]) == 9
