"""check speaks of departures from raters who err independently, and of nothing else."""

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks import Check, check
from assay.checks.departures import report
from assay.checks.departures.null_model import LabelRows, fit_null
from assay.checks.departures.remedies import found_copies
from assay.checks.departures.report import MEANINGS
from assay.checks.departures.search import BY_SYSTEM, Departure, holm, label_rows, search
from assay.checks.departures.teams import separate_teams
from assay.data.ratings import Ratings, take_ratings
from assay.data.states import identifies_halo
from assay.data.task import Label, Task
from assay.display.notes import parts_from_data
from assay.fits.simulate import simulate
from assay.modelling.spec import raters_for, recipe_of
from benchmarks.worlds.departure_worlds import (
    FAULTLESS,
    FAULTS,
    Study,
    favour,
    labelled,
    study,
    trust,
)

SEED = 5


@cache
def world(name: str, seed: int = SEED) -> Ratings:
    """Return one of the worlds; what is searched for in it is searched for once."""
    draw = FAULTLESS[name] if name in FAULTLESS else FAULTS[name][1]
    return draw(np.random.default_rng(seed))


def spoken(found: Check) -> set[str]:
    return {f.code for f in found.findings} & {*MEANINGS, "separate-teams"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_what_mends_it(name: str) -> None:
    code, _ = FAULTS[name]
    found = check(world(name))
    (one,) = [f for f in found.findings if f.code == code]
    # The default of these three labels models halo.
    assert one.level == ("note" if code == "halo" else "warning")
    by_default = {"halo": "layer halo", **dict.fromkeys(BY_SYSTEM, "layer system_bias")}
    assert by_default.get(code, "`") in one.text
    assert "learnable-reliability" not in {
        f.code for f in found.at_least("ok") if f.level == "ok"
    } or (code == "separate-teams")


def test_raters_are_told_apart_by_kind_if_one_follows_what_mends_it() -> None:
    found = world("languages")
    assert raters_for(found.task, None) == recipe_of(found, None)
    (one,) = [f for f in check(found).findings if f.code == "rater-by-kind"]
    assert "`session='language'`" in one.text
    frame = found.to_frame()
    places = found.panels.assign(item=found.items.index[found.panels["item"]])
    language = found.items["language"]
    places["language"] = language.loc[places["item"]].to_numpy()
    again = assay.read_ratings(
        frame.merge(places.drop(columns="panel"), on="item"),
        task=found.task, session="language", cluster="cluster", system="system", rank="rank",
        panel=["cluster", "system"],
    )  # fmt: skip
    assert "drift" in recipe_of(again, None)
    assert "rater-by-kind" not in spoken(check(again))


def test_halo_of_two_labels_is_a_warning_since_the_default_has_no_layer_for_it() -> None:
    ratings, _ = labelled(np.random.default_rng(SEED), halo=2.5)
    labels = ratings.task.labels[:2]
    frame = ratings.to_frame().drop(columns=ratings.task.labels[2].name)
    less = assay.read_ratings(frame, task=Task(name="two", labels=labels))
    (one,) = [f for f in check(less).findings if f.code == "halo"]
    assert one.level == "warning"
    assert "+ halo'`" in one.text


def test_check_says_that_the_default_models_halo_only_where_it_has_the_layer() -> None:
    labels = [Label(name=name, classes=("no", "yes")) for name in "abc"]
    assert raters_for(Task(name="binary", labels=tuple(labels)), None).endswith("+ halo")
    more = Task(name="more", labels=(*labels, Label(name="d", classes=("x", "y", "z"))))
    assert "halo" not in raters_for(more, None)
    assert not identifies_halo(more)


@pytest.mark.parametrize("name", FAULTLESS)
def test_nothing_is_said_of_raters_who_are_only_unequal(name: str) -> None:
    found = check(world(name))
    assert spoken(found) == set()
    tested = set(found.tables["departures"]["code"])
    assert ("no-departures" in {f.code for f in found.findings}) == bool(tested)
    assert ("rater-by-system" in tested) == (name != "disputes_settled")


@pytest.mark.parametrize(
    ("name", "level"), [("no_fault", "ok"), ("favourites", None), ("teams", None)]
)
def test_systems_can_be_compared_only_if_a_test_could_refute_it(
    name: str, level: str | None
) -> None:
    levels = [f.level for f in check(world(name)).findings if f.code == "comparable-systems"]
    assert levels == [level] * (level is not None)


def test_without_enough_data_what_is_assumed_is_no_finding_that_all_is_well() -> None:
    ratings = world("no_fault")
    few = take_ratings(ratings, ratings.item < 30)
    found = {f.code: f for f in check(few).findings}
    assert found["comparable-systems"].level == "note"
    assert "favour a system" in found["untested-departures"].text
    assert search(few).tests == {}


def test_labels_of_many_classes_are_not_tested_since_that_takes_minutes() -> None:
    table = pd.DataFrame({"item": np.repeat(np.arange(80), 3), "rater": list("abc") * 80})
    few, many = (
        assay.read_ratings(table.assign(mark=[(7 * n) % size for n in range(240)]), labels="mark")
        for size in (3, 101)
    )
    assert list(label_rows(few, np.random.default_rng(1))) == [0]
    assert label_rows(many, np.random.default_rng(1)) == {}


def test_three_raters_show_that_two_err_together_only_by_other_items_of_a_cluster() -> None:
    ratings = world("judge_of_one")
    (one,) = search(ratings).found
    assert (one.code, one.who) == ("dependent-raters", ("r0", "r2"))
    assert found_copies(ratings) == {}
    assert "`copies={'r2': 'r0'}`" in report.warning(one, ratings)
    alone = assay.read_ratings(ratings.to_frame()[["item", "rater", "label"]], task="single")
    found = {f.code: f for f in check(alone).findings}
    assert "two raters err together" in found["untested-departures"].text
    assert found["learnable-reliability"].level == "note"


def test_copies_of_one_of_three_raters_end_the_doubt() -> None:
    ratings, metric = world("judge_of_one"), "prevalence[label=yes]"
    options = {"method": "laplace", "draws": 50}
    plain = fitted(ratings, **options)
    assert "dependent raters" in assay.metrics(plain, metric=metric)[metric].attrs["doubt"]
    mended = fitted(ratings, copies={"r2": "r0"}, **options)
    assert "dependent raters" not in assay.metrics(mended, metric=metric)[metric].attrs["doubt"]


def test_an_ok_for_reliability_does_not_rest_on_three_raters() -> None:
    found = check(world("three_raters"))
    assert "dependent-raters" in set(found.tables["departures"]["code"])
    (one,) = [f for f in found.findings if f.code == "learnable-reliability"]
    assert one.level == "note"


def test_an_adjudicator_who_sees_the_answers_is_named_alone() -> None:
    ratings = world("adjudicator")
    (one,) = search(ratings).found
    assert (one.who, one.pairs) == (("r4",), ())
    text = report.warning(one, ratings)
    assert one.code == "dependent-raters"
    assert "r4 agrees" in text
    assert "leave those of r4 out" in text


def test_holm_bounds_the_chance_of_any_false_alarm() -> None:
    tests = [
        Departure(code="halo", p=0.003, size=1.0),
        Departure(code="graded-items", p=0.006, size=1.0),
        Departure(code="rater-by-rank", p=0.03, size=1.0),
    ]  # fmt: skip
    assert [one.code for one in holm(tests)] == ["halo"]
    small = [Departure(code="halo", p=0.0, size=0.001)]
    assert list(holm(small)) == []


def test_raters_who_all_follow_the_rank_are_found_over_all_labels() -> None:
    ratings = world("anchored")
    (one,) = [one for one in search(ratings).found if one.code == "anchored-on-rank"]
    assert len(one.labels) == 3
    assert "`session='rank'`" in report.warning(one, ratings)
    assert "anchored-on-rank" in search(world("no_fault")).tests
    assert "anchored-on-rank" not in search(world("one_answer_a_query")).tests


def test_raters_who_all_judge_a_system_otherwise_are_told_from_a_harder_system() -> None:
    ratings = world("trusted")
    (one,) = [one for one in search(ratings).found if one.code == "all-raters-by-system"]
    assert one.who[0] in ratings.systems
    assert one.who[0] in report.warning(one, ratings)
    assert "comparable-systems" not in {f.code for f in check(ratings).findings}
    harder = world("harder_system")
    assert "all-raters-by-system" in search(harder).tests
    assert "all-raters-by-system" not in {one.code for one in search(harder).found}


def test_systems_of_unequal_shares_in_telling_clusters_are_no_shift_of_all_raters() -> None:
    """A class that is rare with one system, and clusters whose items are mostly of one class."""
    ratings = simulate(
        "single", classes=["a", "b"], n_items=240, n_raters=4, n_systems=2, n_clusters=120, rng=1007
    )
    assert search(ratings).tests["all-raters-by-system"] > 0.05


def test_two_answers_an_item_do_not_tell_whether_all_raters_judge_a_system_otherwise() -> None:
    rng = np.random.default_rng(SEED)
    found = study(rng, each=2)
    ratings = found.ratings(found.answers(rng, shift=trust(found)))
    assert "all-raters-by-system" not in search(ratings).tests
    assert "rater-by-system" in search(ratings).tests
    (one,) = [f for f in check(ratings).findings if f.code == "comparable-systems"]
    assert one.level == "note"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_bias_by_system_mends_a_system_that_all_trust(seed: int) -> None:
    """The default has the layer, and its interval of the difference holds the true one."""
    rng = np.random.default_rng(seed)
    found = study(rng, each=4, right=(0.8, 0.95))
    ratings = found.ratings(found.answers(rng, shift=trust(found)))
    shares = [found.truth[found.system == n].mean() for n in (0, 1)]
    metric = "prevalence[label=yes]"
    holds = []
    for raters in (None, "hierarchical + item_difficulty"):
        tree = fitted(ratings, method="laplace", raters=raters)
        pair = assay.compare(tree, metric=metric, estimand="finite").pairs.iloc[0]
        lower, upper = pair[["difference_lower", "difference_upper"]].astype(float)
        holds.append(lower <= shares[0] - shares[1] <= upper)
    assert holds == [True, False]


@pytest.mark.slow
def test_p_values_are_spread_evenly_where_nothing_is_wrong() -> None:
    """Of 12 sets, a test of level 0.2 speaks in 7 or more with a chance of 0.004."""
    found = [search(world("no_fault", seed)).tests for seed in range(20, 32)]
    for code in ("rater-by-cluster", "rater-by-system", "rater-by-rank"):
        assert sum(tests.get(code, 1) < 0.2 for tests in found) < 7
        assert len({round(tests[code], 6) for tests in found if code in tests}) > 6


def test_the_quick_model_finds_what_raters_are_like() -> None:
    rng = np.random.default_rng(3)
    found = study(rng, each=6, right=(0.7, 0.95))
    answers = found.answers(rng)
    item, rater = np.nonzero(found.who)
    rows = LabelRows(
        place=np.arange(len(item)), item=item, rater=rater, answer=answers[item, rater][:, None],
        truth=np.full(len(answers), -1), classes=2, n_raters=6, system=found.system,
        rank=found.rank, stratum=found.system, cluster=found.query,
    )  # fmt: skip
    chance = fit_null(rows).chance
    assert chance.sum(axis=1) == pytest.approx(1.0)
    right = np.stack([chance[:, 0, 0, 0], chance[:, 1, 0, 1]], axis=-1)
    assert np.abs(right - found.right).max() < 0.12


def teams() -> tuple[Study, np.ndarray]:
    rng = np.random.default_rng(SEED)
    found = study(rng)
    found.who = (np.arange(6) < 3)[None] == (found.system == 0)[:, None]
    shift = np.where(found.system == 0, 1, -1)[:, None]
    return found, found.answers(rng, shift=shift)


def test_teams_are_connected_by_raters_by_items_and_by_truth() -> None:
    found, answers = teams()
    assert separate_teams(found.ratings(answers)) == [("A",), ("B",)]
    found.who[np.flatnonzero(found.system == 0)[:10], 5] = True
    assert separate_teams(found.ratings(answers)) == []
    found.who[:, 5] = found.system == 1
    every = np.array(["", "no", "yes"])
    known = np.where(np.arange(len(answers)) < 60, 1 + found.truth, 0)
    assert separate_teams(found.ratings(answers, truth=every[known])) == []
    ratings = found.ratings(answers)
    both = ratings.panels[ratings.panels["system"] == "A"].assign(system="B", panel="more")
    panels = pd.concat([ratings.panels, both], ignore_index=True)
    assert separate_teams(replace(ratings, panels=panels)) == []


def fitted(ratings: Ratings, **options: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return assay.fit(
            ratings, **{"method": "map", "draws": 40, "chains": 2, "starts": 2, "rng": 1} | options
        )  # type: ignore[arg-type]


def codes(tree: object) -> set[str]:
    return {note["code"] for note in json.loads(tree.attrs["warnings"])}  # type: ignore[attr-defined]


def test_a_difference_of_separate_teams_supports_no_conclusion() -> None:
    tree = fitted(world("teams"))
    assert "separate-teams" in codes(tree)
    metric = "prevalence[label=yes]"
    found = assay.compare(tree, metric=metric)
    assert found.pairs["doubt"].str.contains("separate teams").all()
    assert "No conclusion rests on it" in str(found)
    claim = assay.check_claim(tree, f"A > B on {metric}")
    assert claim.verdict == "undecided"
    assert "separate teams" in claim.sentence
    assert assay.check_claim(tree, f"{metric} of A < 1.1").verdict == "supported"
    assert assay.metrics(tree, metric=metric)[metric].attrs["doubt"] == ""


def test_a_fit_repeats_a_departure_at_its_numbers_unless_it_models_it() -> None:
    metric = "prevalence[label=yes]"
    options = {"method": "laplace", "draws": 50}
    tree = fitted(world("favourites"), **options)
    assert json.loads(tree.attrs["spec"])["raters"].endswith("+ system_bias")
    assert "rater-by-system" in codes(tree)
    assert assay.compare(tree, metric=metric).pairs["doubt"].str.contains("favour").all()
    (said,) = [n for n in json.loads(tree.attrs["warnings"]) if n["code"] == "rater-by-system"]
    assert "has the layer system_bias" in said["text"]
    assert "The truth of" in said["text"]
    assert "favour" not in assay.metrics(tree, metric=metric)[metric].attrs["doubt"]
    plain = fitted(world("favourites"), raters="hierarchical", **options)
    assert "favour" in assay.metrics(plain, metric=metric)[metric].attrs["doubt"]
    assert assay.compare(plain, metric=metric).pairs["doubt"].str.contains("favour").all()
    tree = fitted(world("misread"), **options)
    assert json.loads(tree.attrs["spec"])["raters"].endswith("+ misreading")
    assert "misread" not in assay.metrics(tree, metric=metric)[metric].attrs["doubt"]
    assert "rater-by-cluster" not in codes(tree)
    assert "raters misread clusters (misreading)" in parts_from_data(tree)
    tree = fitted(world("misread"), raters="hierarchical + item_difficulty", **options)
    assert "misread" in assay.metrics(tree, metric=metric)[metric].attrs["doubt"]


def test_the_warning_names_labels_and_raters() -> None:
    ratings = world("no_fault")
    one = Departure(code="halo", p=0.0, size=0.2, labels=("clear", "wrong"))
    assert "(clear and wrong)" in report.warning(one, ratings)
    pair = ("r1", "r4")
    two = Departure(code="dependent-raters", p=0.0, size=0.2, who=pair, pairs=(pair,))
    assert "r1 and r4" in report.warning(two, ratings)
    assert "`copies={'r4': 'r1'}`" in report.warning(two, ratings)
    fewer = take_ratings(ratings, ratings.rater < 2)
    assert "`reference='gold'`" in report.warning(two, fewer)


def loss(tree: object, truth: np.ndarray, items: np.ndarray, label: int = 0) -> float:
    """Log loss of the labels of some items, by their place in the study."""
    found = assay.label_probabilities(tree)  # type: ignore[arg-type]
    place = found["item"].to_numpy().astype(int)
    yes = np.clip(found.to_numpy()[:, label, -1], 1e-4, 1 - 1e-4)
    kept = np.isin(place, items)
    said = np.where(truth[place] == 1, yes, 1 - yes)[kept]
    return float(-np.log(said).mean())


def some_truth(found: Study, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the truth of some items as a column, and the items without."""
    order = rng.permutation(len(found.truth))
    column = np.full(len(order), "", object)
    column[order[:count]] = np.array(["no", "yes"], object)[found.truth[order[:count]]]
    return column, order[count:]


@pytest.mark.slow
def test_truth_of_some_items_and_the_layer_end_the_doubt_of_favourites() -> None:
    rng = np.random.default_rng(SEED)
    found = study(rng, raters=4)
    column, _ = some_truth(found, rng, 60)
    ratings = found.ratings(found.answers(rng, shift=favour(found)), truth=column)
    assert "rater-by-system" in {one.code for one in search(ratings).found}
    tree = fitted(ratings, method="laplace", draws=50)
    assert json.loads(tree.attrs["spec"])["raters"].endswith("+ system_bias")
    assert "rater-by-system" not in codes(tree)
    tree = fitted(ratings, method="laplace", draws=50, reference="gold")
    assert json.loads(tree.attrs["spec"])["raters"].endswith("+ system_bias")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_truth_and_a_bias_by_system_mend_favourites(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng, raters=4)
    answers = found.answers(rng, shift=favour(found))
    column, others = some_truth(found, rng, 60)
    plain = loss(fitted(found.ratings(answers)), found.truth, others)
    mended = fitted(found.ratings(answers, truth=column), raters="hierarchical + system_bias")
    assert loss(mended, found.truth, others) < plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_number_of_answers_mends_skipping(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng)
    found.who = rng.random(found.shape) < np.where(found.truth == 1, 0.35, 0.7)[:, None]
    ratings = found.ratings(found.answers(rng))
    every = np.arange(len(found.truth))
    plain = loss(fitted(ratings), found.truth, every)
    assert loss(fitted(ratings, formula="~ n_answers"), found.truth, every) < plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_layer_that_the_default_takes_mends_misread_queries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng)
    lost = rng.random((60, 6)) < 0.15
    said = rng.random(lost.shape) < 0.5
    answers = np.where(lost[found.query], said[found.query], found.answers(rng))
    ratings, every = found.ratings(answers), np.arange(len(answers))
    plain, default = (
        loss(fitted(ratings, method="laplace", raters=raters), found.truth, every)
        for raters in ("hierarchical + item_difficulty", None)
    )
    assert default < plain - 0.03


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_ratings_across_teams_mend_their_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng, right=(0.8, 0.9))
    found.who = (np.arange(6) < 3)[None] == (found.system == 0)[:, None]
    strict = np.where(np.arange(6) < 3, 1.5, -1.5)
    answers = found.answers(rng, shift=strict)
    metric = "prevalence[label=yes]"
    real = found.truth[found.system == 0].mean() - found.truth[found.system == 1].mean()

    def error() -> float:
        tree = fitted(found.ratings(answers))
        pairs = assay.compare(tree, metric=metric, estimand="finite").pairs
        return abs(float(pairs["difference"].iloc[0]) - real)

    plain = error()
    crossed = np.concatenate([np.flatnonzero(found.system == s)[:90] for s in (0, 1)])
    found.who[crossed] = True
    assert separate_teams(found.ratings(answers)) == []
    assert error() < plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_truth_mends_answers_that_follow_the_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng, raters=5)
    strength = np.array([0, 0, 0.5, 1.0, 1.0])
    answers = found.answers(rng, shift=(2 - found.rank)[:, None] * strength)
    column, others = some_truth(found, rng, 60)
    plain = loss(fitted(found.ratings(answers)), found.truth, others)
    assert loss(fitted(found.ratings(answers, truth=column)), found.truth, others) < plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_gold_mends_graded_items(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = study(rng, each=4)
    place = rng.normal(0, 1, len(found.truth)) + 0.3 * (found.system - 0.5)
    found.truth = (place > 0).astype(int)
    seen = place[:, None] + rng.normal(0, 0.6, found.shape)
    answers = (seen > rng.normal(0, 0.6, found.shape[1])).astype(int)
    column, others = some_truth(found, rng, 60)
    plain = loss(fitted(found.ratings(answers)), found.truth, others)
    mended = fitted(found.ratings(answers, truth=column), reference="gold")
    assert loss(mended, found.truth, others) < plain
