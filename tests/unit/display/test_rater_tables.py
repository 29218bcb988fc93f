"""Tables of raters: how often each is right, and what it takes for what."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from rich.console import Console

import assay
from assay import plots
from assay.data.states import state_space
from assay.display.frames import accuracy_frame, reliability_frame, session_frames
from assay.display.rater_tables import (
    binary_tables,
    class_tables,
    drift_table,
    kinds_said,
    misperceived_said,
    rater_tables,
    worth_tables,
)
from assay.fits.datatree import ratings_of
from assay.fits.simulate import simulate


def lines(tables: list[Any], width: int = 80) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as caught:
        console.print(*tables, sep="\n")
    return caught.get().splitlines()


def fit_of(task: str, **design: Any) -> xr.DataTree:
    ratings = simulate(task, rng=1, **design)
    return assay.fit(ratings, method="map", draws=20, chains=2, starts=1, rng=1)


@pytest.fixture(scope="module")
def animals() -> xr.DataTree:
    classes = ["cat", "dog", "horse", "some other animal"]
    return fit_of("single", n_items=60, n_raters=8, classes=classes)


@pytest.fixture(scope="module")
def gated() -> xr.DataTree:
    return fit_of("ais", n_items=60, n_raters=4, ratings_per_item=3)


def by_hand(fit: xr.DataTree, rater: str, label: str) -> tuple[np.ndarray, dict[Any, np.ndarray]]:
    """Chance of a right answer (chain, draw), and of each mistake before its class is known."""
    task = ratings_of(fit).task
    n = task.label_names.index(label)
    codes, classes = state_space(task).states[:, n], task.labels[n].classes
    prevalence = fit["posterior"]["prevalence"].to_numpy()
    asked = prevalence[..., codes >= 0].sum(axis=-1)
    theta = assay.rater_reliability(fit).sel(label=label, rater=rater)
    right, wrong = np.zeros(asked.shape), {}
    for k, true in enumerate(classes):
        share = prevalence[..., codes == k].sum(axis=-1) / asked
        for said in classes:
            joint = share * theta.sel(true_class=true, reported_class=said).to_numpy()
            if said == true:
                right += joint
            else:
                wrong[true, said] = joint
    return right, wrong


@pytest.mark.parametrize("name", ["animals", "gated"])
def test_accuracy_weighs_the_classes_by_their_prevalence(
    name: str, request: pytest.FixtureRequest
) -> None:
    fit = request.getfixturevalue(name)
    table = assay.rater_reliability(fit).mean(("chain", "draw"))
    found = accuracy_frame(fit)
    assert len(found) == table.sizes["rater"] * table.sizes["label"]
    for line in found.to_dict("records"):
        right, wrong = by_hand(fit, line["rater"], line["label"])
        assert line["mean"] == pytest.approx(right.mean())
        assert line["upper"] == pytest.approx(np.quantile(right, 0.975))
        pair = max(wrong, key=lambda pair: wrong[pair].mean())
        assert (line["true_class"], line["reported_class"]) == pair
        place = {k: line[k] for k in ("rater", "label", "true_class", "reported_class")}
        assert line["mistake"] == pytest.approx(table.sel(place).item())


def test_a_line_for_each_rater_the_worst_first_fits_80_columns(animals: xr.DataTree) -> None:
    task, accuracy = ratings_of(animals).task, accuracy_frame(animals)
    shown = lines(rater_tables(reliability_frame(animals), accuracy, task))
    assert max(map(len, shown)) <= 80
    worst = accuracy.sort_values("mean")
    below = [line for line in shown if line.startswith("  ")]
    assert [line.split()[0] for line in below] == worst["rater"].tolist()
    for text, line in zip(below, worst.to_dict("records"), strict=True):
        mistake = f"{line['true_class']} as {line['reported_class']}: {line['mistake']:.2f}"
        assert text.rstrip().endswith(mistake)


def test_each_true_class_has_its_lines_by_themselves(animals: xr.DataTree) -> None:
    frame = reliability_frame(animals)
    assert frame.groupby(["rater", "true_class"])["mean"].sum().to_numpy() == pytest.approx(1)
    shown = lines(class_tables(frame, ratings_of(animals).task))
    heads = [n for n, line in enumerate(shown) if line.startswith("true class ")]
    assert len(heads) == 4
    for start in heads:
        true = shown[start].removeprefix("true class ").rstrip()
        part = frame[frame["true_class"] == true]
        right = part[part["reported_class"] == true].sort_values("mean")
        below = shown[start + 1 : start + 9]
        assert [line.split()[0] for line in below] == right["rater"].tolist()
        for text, rater in zip(below, right["rater"], strict=True):
            others = part[(part["rater"] == rater) & (part["reported_class"] != true)]
            said = others.nlargest(1, "mean").iloc[0]
            assert text.rstrip().endswith(f"{said['reported_class']}: {said['mean']:.2f}")


def test_binary_labels_have_sensitivity_and_specificity_the_lowest_first(
    gated: xr.DataTree,
) -> None:
    frame, task = reliability_frame(gated), ratings_of(gated).task
    shown = lines(rater_tables(frame, accuracy_frame(gated), task))
    right = frame[frame["true_class"] == frame["reported_class"]]
    for label in task.label_names:
        part = right[right["label"] == label]
        expected = part.groupby("rater")["mean"].mean().sort_values().index
        start = [line.rstrip() for line in shown].index(label) + 1
        below = [line.split() for line in shown[start : start + 4]]
        assert [words[0] for words in below] == expected.tolist()
        for column, true in ((1, "yes"), (5, "no")):
            means = part[part["true_class"] == true].set_index("rater")["mean"]
            assert [float(w[column]) for w in below] == pytest.approx(means[expected], abs=0.006)


def test_sensitivity_of_two_named_classes_says_of_which() -> None:
    fit = fit_of("single", n_items=30, n_raters=3, classes=["ham", "spam"])
    shown = lines(binary_tables(reliability_frame(fit), ratings_of(fit).task))
    assert any(line.startswith("label (positive: spam)") for line in shown)
    texts = [text.get_text() for text in plots.plot_raters(fit).texts]
    assert "label (positive: spam)" in texts


def test_without_binary_labels_there_is_no_table_of_them(animals: xr.DataTree) -> None:
    assert binary_tables(pd.DataFrame(), ratings_of(animals).task) == []


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.3, "(0.07 to 0.23)."),
        (0.7, "(0.07 to 0.23), mostly from the prior (SD 0.70 of the prior's)."),
        (0.85, "(0.07 to 0.23), from the prior alone."),
    ],
)
def test_what_groups_are_worth_stands_below_the_raters(share: float, words: str) -> None:
    line = {"group": "llm", "label": "a", "raters": 3, "mean": 2.28, "lower": 2.03, "upper": 2.52}
    worth = pd.DataFrame([line]).assign(sd=0.1, level=0.95, reference="consensus of person")
    chance = {"group": "llm", "mean": 0.13, "lower": 0.07, "upper": 0.23, "prior_share": share}
    said = " ".join(" ".join(lines(worth_tables(worth), 200)).split())
    assert "llm 3 2.28 (2.03 to 2.52)" in said
    (told,) = misperceived_said(pd.DataFrame([chance]))
    assert "Probability that llm misperceives an item: 0.13 (0.07 to 0.23)" in told
    assert told.endswith(words)
    assert "Reference: consensus of person." in said
    two = pd.concat([worth, worth.assign(label="b")])
    assert [row.cells[0] for row in worth_tables(two)[0].rows] == ["a", "llm", "b", "llm"]
    assert worth_tables(worth[:0]) == []


def test_who_is_turned_round_is_said() -> None:
    kinds = pd.DataFrame(
        {"rater": ["u", "v"], "label": "a", "behaviour": ["", "adversarial"],
         "given_mode": ["", "adversarial"], "mode_weight": 0.999, "p_adversarial": [0, 0.99],
         "informedness": -0.5, "lower": -0.7, "upper": -0.3}
    )  # fmt: skip
    (said,) = kinds_said(kinds)
    assert said == "Rater v on a: adversarial (P = 0.99; informedness -0.50 (-0.70 to -0.30))."
    (said,) = kinds_said(kinds.assign(behaviour="", mode_weight=0.58))
    assert "(P = 0.99 in the reported mode, which has weight 0.58; informed" in said
    (said,) = kinds_said(kinds, mode_alone=True)
    assert "adversarial (posterior mode only, probability unknown; informedness -0.50" in said
    assert "P =" not in said
    many = pd.concat([kinds.assign(informedness=-0.1 * n) for n in range(5)])
    said, *_, last = kinds_said(many, 3)
    assert "informedness -0.4" in said
    assert last == "2 more lines of adversarial raters or spammers: --json"
    assert kinds_said(many, 4)[-1] == "1 more line of adversarial raters or spammers: --json"
    assert len(kinds_said(many, 5)) == len(kinds_said(many)) == 5


def test_how_raters_changed_stands_with_its_probability() -> None:
    ratings = simulate("single", n_items=60, n_raters=3, sessions=3, raters="hierarchical + drift")
    raters = "hierarchical + drift"
    fit = assay.fit(ratings, raters=raters, method="map", draws=20, chains=1, starts=1, rng=1)
    frames = session_frames(fit, 0.9)
    changes = assay.rater_drift(fit, level=0.9)
    pd.testing.assert_frame_equal(frames["drift"][[*changes.columns]], changes)
    assert set(frames["drift"]["reference"]) == {fit.attrs["reference"]}
    by_session = assay.summarize(assay.reliability_by_session(fit), level=0.9)
    assert frames["sessions"]["upper"].tolist() == by_session["upper"].tolist()
    said = lines(
        [
            drift_table(
                frames["drift"], ratings.sessions, level=0.9, reference="gold", export=changes
            )
        ],
        120,
    )
    assert said[0].startswith(f"Reliability from {ratings.sessions[0]} to {ratings.sessions[-1]}")
    shown = [line.split()[0] for line in said if line.startswith("  rater_")]
    assert shown == changes.sort_values("change")["rater"].tolist()
    for _, line in changes.iterrows():
        (row,) = (text for text in said if text.strip().startswith(line["rater"]))
        assert row.split()[1:3] == [f"{line['first']:.2f}", f"{line['last']:.2f}"]
        assert row.split()[-1] == f"{line['p_better']:.2f}"


def test_raters_without_drift_have_no_sessions(animals: xr.DataTree) -> None:
    assert session_frames(animals) == {}
