"""The demo: its data are those of the paper, its truth is known, its words say SIMULATED."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from rich.console import Console

import assay
from assay.cli import demo
from assay.cli.side_process import side_process
from assay.inference.settings import SamplerSettings
from assay.io.examples.anesthesia import anesthesia_ratings, anesthesia_table

SMALL = SamplerSettings(draws=40, tune=60, chains=4)


def test_table_has_the_counts_of_the_paper() -> None:
    table = anesthesia_table()
    assert len(table) == 315
    assert table.groupby("rater").size().to_dict() == {
        "1": 135, "2": 45, "3": 45, "4": 45, "5": 45
    }  # fmt: skip
    assert not table.duplicated(["item", "rater", "replicate"]).any()
    assert Counter(table["label"]) == {"1": 128, "2": 124, "3": 48, "4": 15}


def test_table_equals_the_shared_copy(shared_data: Path) -> None:
    there = pd.read_csv(shared_data / "anesthesia" / "annotations.csv", dtype=str)
    keys = ["item", "rater", "replicate", "label"]
    here = anesthesia_table()
    assert here.sort_values(keys)[keys].to_numpy().tolist() == (
        there.sort_values(keys)[keys].to_numpy().tolist()
    )


def test_ratings_are_replicates_with_ordered_classes() -> None:
    ratings = anesthesia_ratings()
    assert int((ratings.replicate > 0).sum()) == 90
    assert ratings.task.labels[0].ordered
    assert ratings.task.labels[0].classes == ("1", "2", "3", "4")


def test_simulation_has_the_design_that_the_text_tells() -> None:
    ratings = demo.simulated_ratings(1)
    per_item = np.bincount(ratings.item)
    assert (per_item == 3).mean() == pytest.approx(1 / 3)
    assert set(per_item) == {1, 3}
    assert len(ratings.systems) == demo.SYSTEMS
    assert set(ratings.panels.groupby("panel").size()) == {demo.CHUNKS}
    # Those rated three times are spread over the ranks.
    often = ratings.panels.loc[per_item[ratings.panels["item"]] == 3, "rank"]
    assert often.nunique() == demo.CHUNKS


def test_values_do_not_depend_on_the_seed() -> None:
    one, two = (demo.simulated_ratings(seed).simulated for seed in (1, 2))
    assert one is not None
    assert two is not None
    for name, value in demo.VALUES.items():
        assert np.array_equal(one.values[name], value)
        assert np.array_equal(two.values[name], value)
    assert not np.array_equal(one.truth, two.truth)


@dataclass(frozen=True)
class Told:
    """What the demo prints at 80 columns and what it keeps, made with few draws."""

    text: str
    folder: Path
    real: demo.RealStudy
    simulated: demo.SimulatedStudy


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("demo") / "kept"
    stream, made = StringIO(), []

    def kept(show: Callable[..., Any]) -> Callable[..., Any]:
        def run(console: Console, study: Any) -> None:
            made.append(study)
            show(console, study)

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "QUICK", SMALL)
        patch.setattr(demo, "show_real", kept(demo.show_real))
        patch.setattr(demo, "show_simulated", kept(demo.show_simulated))
        console = Console(file=stream, width=80)
        with side_process() as other:
            demo.run_demo(console, other, quick=True, keep=folder, progress=False)
    real, simulated = made
    return Told(text=stream.getvalue(), folder=folder, real=real, simulated=simulated)


@pytest.fixture(scope="module")
def output(told: Told) -> tuple[str, Path]:
    return told.text, told.folder


def test_each_simulated_table_says_so(output: tuple[str, Path]) -> None:
    text, _ = output
    second = text.partition("2. A SIMULATED STUDY")[2]
    heads = [line for line in second.splitlines() if "95% interval" in line or "estimand" in line]
    assert len(heads) == 1
    assert all(head.startswith("SIMULATED:") for head in heads)
    assert "SIMULATED" not in text.partition("2. A SIMULATED STUDY")[0]


def test_it_fits_80_columns_and_wraps_no_metric(output: tuple[str, Path]) -> None:
    lines = output[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.count("Misleading context rate@5") == 1
    assert "_at_k" not in output[0]


def test_it_says_what_is_next_and_what_is_assumed(output: tuple[str, Path]) -> None:
    text = " ".join(output[0].split())
    assert "assay check ratings.csv" in text
    assert "--task" not in text
    assert "have the rater and the form in common" in text
    assert "effective sample size" in text


def test_its_answers_fit_a_screen(told: Told) -> None:
    stream = StringIO()
    console = Console(file=stream, width=400)  # as in a pipe
    demo.show_real(console, told.real)
    demo.show_simulated(console, told.simulated)
    warned = sum(len(demo.convergence_words(one.fit)[1:]) for one in (told.real, told.simulated))
    assert len(stream.getvalue().splitlines()) - warned <= 40


def test_kept_fits_can_be_loaded(output: tuple[str, Path]) -> None:
    folder = output[1]
    names = [*demo.FILES.values(), *demo.REPORTS.values()]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    tree = assay.load(folder / demo.FILES["real"])
    assert tree["posterior"].sizes["draw"] == SMALL.draws


def test_the_reports_say_what_they_are_about(output: tuple[str, Path]) -> None:
    text, folder = output
    real, simulated = (
        (folder / name).read_text(encoding="utf-8") for name in demo.REPORTS.values()
    )
    assert "SIMULATED" not in real
    assert "SIMULATED: these ratings were drawn from a model" in simulated
    assert "assay demo --seed 1" in simulated
    unbroken = text.replace("\n", "")
    for name in demo.REPORTS.values():
        assert name in unbroken


@pytest.fixture(scope="module")
def study(told: Told) -> demo.SimulatedStudy:
    return told.simulated


def test_tally_counts_intervals_that_hold_the_truth(study: demo.SimulatedStudy) -> None:
    table = study.metrics.copy()
    table["posterior", "lower"] = table["truth", "value"] - 1
    table["posterior", "upper"] = table["truth", "value"] + 1
    table["majority vote", "lower"] = table["truth", "value"] + 0.1
    hits = demo.covered(table)
    assert hits.shape == (24, 2)
    assert hits["posterior"].all()
    assert not hits["majority vote"].any()


def test_truth_of_the_raters_is_that_of_the_simulation(study: demo.SimulatedStudy) -> None:
    lines = study.reliability.set_index(["rater", "label", "true_class"])["truth"]
    assert lines["rater_6", "misleading", "yes"] == demo.ACCURACY[5, 5]
    assert lines["rater_1", "topically_relevant", "no"] == demo.ACCURACY[0, 0]
    assert len(lines) == demo.ACCURACY.size


def test_data_of_the_demo_are_json(told: Told) -> None:
    found = json.loads(json.dumps(demo.demo_data(told.real, told.simulated)))
    assert set(found) == {"real", "SIMULATED"}
    assert len(found["SIMULATED"]["metrics"]) == 24
    assert len(found["real"]["labels"]) == 45
    shares = [line["mean"] for line in found["real"]["prevalence"] if line["estimand"] == "finite"]
    assert sum(shares) == pytest.approx(1)


def test_a_place_that_takes_no_report_is_refused_before_the_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / demo.REPORTS["simulated"]).mkdir()
    monkeypatch.setattr(demo, "real_study", lambda *_, **__: pytest.fail("it was fitted"))
    with (
        side_process() as other,
        pytest.raises(
            assay.AssayError,
            match=r"SIMULATED\.html: it is a folder",
            check=refusal("output-place"),
        ),
    ):
        demo.run_demo(Console(file=StringIO()), other, keep=tmp_path, progress=False)
