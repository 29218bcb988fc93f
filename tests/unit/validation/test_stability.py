"""Side by side, and stability: what refits and votes are made of, on small fits."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError, RatingsError, UnknownNameError
from assay.comparison import compare, compare_baselines
from assay.comparison.baselines import SideBySide
from assay.comparison.refit import rated_by, refit
from assay.evaluation import majority_metrics
from assay.fits.view import FitView
from assay.inference.diagnostics import fit_warnings
from assay.inference.settings import SamplerSettings
from assay.modelling.priors import parse_prior
from assay.validation import stability as robustness
from assay.validation.stability import (
    contrast_changes,
    sensitivity_to_assumptions,
    stability_tables,
    system_changes,
)
from assay.validation.variants import rescaled, variants_of

KINDS = ("rater", "prior", "rule", "kernel", "dependence")


def small_fit(task="generation", **arguments):
    ratings = assay.simulate(
        task, n_items=50, n_systems=2, n_clusters=25, groups={"person": 2, "llm": 2},
        ratings_per_item=3, rng=2,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        return assay.fit(
            ratings,
            **{"method": "map", "draws": 40, "chains": 2, "starts": 1, "rng": 5} | arguments,
        )


@pytest.fixture(scope="module")
def fit():
    return small_fit(raters="hierarchical")  # with a difficulty of five labels it takes seconds


@pytest.fixture(scope="module")
def retrieval_fit():
    return small_fit("retrieval", priors={"sd": "HalfNormal(0.5)"})


def kinds(*chosen):
    return {kind: kind in chosen for kind in KINDS}


def test_ratings_of_some_raters_keep_items_and_panels(fit):
    ratings = assay.fits.datatree.ratings_of(fit)
    people = rated_by(ratings, ["person"])
    assert set(people.raters["group"].iloc[people.rater]) == {"person"}
    assert len(people.answers) == (ratings.raters["group"].iloc[ratings.rater] == "person").sum()
    pd.testing.assert_frame_equal(people.items, ratings.items)
    name = str(ratings.raters.index[0])
    one = rated_by(ratings, [name])
    assert set(one.raters.index[one.rater]) == {name}
    with pytest.raises(
        UnknownNameError, match="did you mean person", check=refusal("unknown-rater")
    ):
        rated_by(ratings, ["persons"])
    with pytest.raises(RatingsError, check=refusal("no-rating-of-raters")):
        rated_by(ratings, [])


def test_refit_of_the_same_ratings_is_the_same_fit(fit):
    again, _ = refit(fit, assay.fits.datatree.ratings_of(fit), SamplerSettings(draws=40, chains=2))
    np.testing.assert_array_equal(again["labels"]["state"], fit["labels"]["state"])


def test_raters_without_a_rating_have_no_part_in_a_refit():
    ratings = assay.simulate(
        "relevance", raters={"llm": "scored", "person": "hierarchical"}, n_items=40, n_raters=4,
        ratings_per_item=4, groups={"llm": 2, "person": 2}, n_systems=2, rng=1,
    )  # fmt: skip
    priors = {"llm.strength_sd": "HalfNormal(0.3)", "person.sd": "HalfNormal(0.4)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            ratings, raters={"llm": "scored", "person": "hierarchical"}, priors=priors,
            method="map", draws=20, chains=1, starts=1, rng=1,
        )  # fmt: skip
    people = rated_by(ratings, ["person"])
    tree, _ = refit(fit, people, SamplerSettings(draws=20, chains=1))
    left = assay.fits.datatree.ratings_of(tree)
    names = ratings.raters.index[ratings.raters["group"] == "person"]
    assert list(left.raters.index) == list(names)
    np.testing.assert_array_equal(left.raters.index[left.rater], people.raters.index[people.rater])
    np.testing.assert_array_equal(left.answers, people.answers)
    spec = FitView.of(tree).spec
    assert spec.raters == {"person": "hierarchical"}
    assert spec.priors == {"person.sd": "HalfNormal(0.4)"}
    pd.testing.assert_frame_equal(left.items, ratings.items)


def test_naive_side_is_the_majority_vote(fit):
    found = compare_baselines(fit, metric="helpfulness_rate", rng=7)
    naive = found.table[found.table["approach"] == "naive"].set_index("quantity")
    vote = majority_metrics(assay.fits.datatree.ratings_of(fit), metric="helpfulness_rate", rng=7)
    vote = vote.set_index("system")
    for system in ("system_1", "system_2"):
        for mine, theirs in (("mean", "value"), ("lower", "lower"), ("upper", "upper")):
            assert naive.loc[system, mine] == pytest.approx(vote.loc[system, theirs])
    contrast = naive.loc["system_1 - system_2"]
    assert contrast["mean"] == pytest.approx(vote["value"].iloc[0] - vote["value"].iloc[1])
    assert contrast["lower"] < contrast["mean"] < contrast["upper"]


def test_corrected_side_is_the_comparison(fit):
    found = compare_baselines(fit, level=0.8, estimand="finite")
    table = found.table[found.table["approach"] == "corrected"]
    pairs = compare(fit, level=0.8, estimand="finite").pairs
    contrasts = table[table["b"] != ""]
    np.testing.assert_allclose(contrasts["mean"], pairs["difference"])
    np.testing.assert_allclose(contrasts["upper"], pairs["difference_upper"])
    assert set(table["estimand"]) == {"finite"}
    assert "human-only" not in set(found.table["approach"])


def test_people_alone_by_vote_and_by_model(fit):
    ratings = assay.fits.datatree.ratings_of(fit)
    by_vote = compare_baselines(fit, human="person", human_by="vote", metric="on_topic_rate").table
    vote = majority_metrics(rated_by(ratings, ["person"]), metric="on_topic_rate")
    people = by_vote[by_vote["approach"] == "human-only"].set_index("quantity")
    assert people.loc["system_1", "mean"] == pytest.approx(vote["value"].iloc[0])
    assert people["basis"].iloc[0] == (
        "majority vote of person, 25 ties in equal shares, cluster bootstrap"
    )
    found = compare_baselines(fit, human=["person"], metric="on_topic_rate", draws=40, chains=2)
    model = found.table[found.table["approach"] == "human-only"]
    tree, _ = refit(fit, rated_by(ratings, ["person"]), SamplerSettings(draws=40, chains=2))
    expected = compare(tree, metric="on_topic_rate").systems["mean"]
    np.testing.assert_allclose(model["mean"].iloc[:2], expected)
    assert len(found.sentences()) == 2


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_one_system_has_the_three_sides_without_a_contrast():
    ratings = assay.simulate(
        "single", n_items=60, n_raters=4, classes=("no", "yes"), groups={"person": 2, "llm": 2},
        rng=1,
    )  # fmt: skip
    alone = assay.fit(
        ratings, raters="hierarchical", method="map", draws=20, chains=1, progress=False
    )
    found = compare_baselines(alone, human="person", draws=20, chains=1)
    assert found.table["approach"].tolist() == ["naive", "corrected", "human-only"]
    vote = majority_metrics(ratings)
    assert found.table["mean"].iloc[0] == pytest.approx(vote["value"].iloc[0])
    assert found.table["mean"].iloc[1] == pytest.approx(
        float(assay.metrics(alone).to_array().mean())
    )
    assert found.sentences() == []
    assert str(found).count("human-only") == 1  # the table, where there is no contrast


def made_up(naive, corrected):
    front = {"metric": "m", "quantity": "A - B", "a": "A", "b": "B", "level": 0.95, "doubt": "",
             "basis": "votes", "estimand": "population", "reference": "gold"}  # fmt: skip
    lines = [
        {**front, "approach": name, "mean": mean, "lower": mean - half, "upper": mean + half}
        for name, (mean, half) in (("naive", naive), ("corrected", corrected))
    ]
    return SideBySide(table=pd.DataFrame(lines))


@pytest.mark.parametrize(
    ("naive", "corrected", "said"),
    [
        ((-0.06, 0.02), (0.05, 0.02), "changes, and the estimate changes sign: naive, "
         "B is higher; corrected, A is higher."),
        ((0.06, 0.02), (0.05, 0.08), "changes: naive, A is higher; corrected, the sign is open."),
        ((0.06, 0.02), (0.05, 0.02), "The conclusion is unchanged: A is higher."),
        ((-0.01, 0.05), (0.01, 0.05), "unchanged (the sign is open), although the estimate"),
        ((0.0, 0.05), (0.01, 0.05), "The conclusion is unchanged: the sign is open."),
        ((np.nan, 0.1), (0.01, 0.05), "undefined in the naive or the corrected numbers."),
    ],
)  # fmt: skip
def test_sentence_says_whether_the_conclusion_changes(naive, corrected, said):
    (sentence,) = made_up(naive, corrected).sentences()
    assert said in sentence
    assert sentence.startswith("m, A - B: ")


def test_a_doubt_does_not_hide_that_the_conclusion_changes():
    found = made_up((0.06, 0.02), (0.05, 0.08))
    doubted = SideBySide(table=found.table.assign(doubt="alike"))
    (sentence,) = doubted.sentences()
    assert (
        "changes: naive, A is higher; corrected, the sign is open. No conclusion rests" in sentence
    )


def test_choices_of_side_by_side_are_checked(fit):
    with pytest.raises(ModelError, match="did you mean vote", check=refusal("argument-choice")):
        compare_baselines(fit, human="person", human_by="votes")
    with pytest.raises(UnknownNameError, match="neither a rater", check=refusal("unknown-rater")):
        compare_baselines(fit, human="nobody")


def test_variants_of_each_kind(retrieval_fit):
    names = {
        kind: [v.name for v in variants_of(FitView.of(retrieval_fit), kinds(kind))]
        for kind in KINDS
    }
    assert names["rater"] == [
        f"without {r}" for r in retrieval_fit["constant_data"]["rater"].values
    ]
    assert len(names["prior"]) == 4
    assert len(names["rule"]) == 4
    assert names["kernel"] == ["blocked answers resolved by repair"]
    assert names["dependence"] == ["all items are equally hard"]


def test_variants_change_what_they_say(retrieval_fit):
    for variant in variants_of(FitView.of(retrieval_fit), kinds("rater")):
        left_out = variant.name.removeprefix("without ")
        seen = set(variant.ratings.raters.index[variant.ratings.rater])
        assert left_out not in seen
        assert len(seen) == 3
    (other,) = variants_of(FitView.of(retrieval_fit), kinds("kernel"))
    assert other.ratings.resolve == "repair"
    soft, off, *_ = variants_of(FitView.of(retrieval_fit), kinds("rule"))
    assert [r.truth for r in soft.ratings.task.rules] == ["soft", "hard"]
    assert [r.response for r in soft.ratings.task.rules] == ["block", "block"]
    assert [r.response for r in off.ratings.task.rules] == ["off", "block"]
    twice = variants_of(FitView.of(retrieval_fit), kinds("prior"))[0].changes["priors"]
    assert twice["sd"] == "HalfNormal(1)"
    assert twice["mean_binary"] == "Normal(1.8, 1.6)"
    assert "main" not in twice
    (dependent,) = variants_of(FitView.of(retrieval_fit), kinds("dependence"))
    assert dependent.changes == {"raters": "hierarchical"}


def test_a_refit_leaves_out_the_priors_that_its_model_does_not_know(tmp_path):
    """Those of difficulty, of all or of a group, go with it; those of a group go with the group."""
    file = tmp_path / "priors.toml"
    known = '"person.hard_share" = "Beta(1, 9)"\nhard_share = "Beta(1, 8)"\n'
    file.write_text(f'[priors]\n{known}"llm.accuracy" = "Beta(3, 2)"\n', encoding="utf-8")
    recipes = {"person": "pooled + item_difficulty", "llm": "one_coin + item_difficulty"}
    hard = small_fit("retrieval", raters=recipes, priors=file)
    (without,) = variants_of(FitView.of(hard), kinds("dependence"))
    again, _ = refit(hard, without.ratings, SamplerSettings(draws=5, chains=1), without.changes)
    assert FitView.of(again).spec.priors == {"llm.accuracy": "Beta(3, 2)"}
    people, _ = refit(
        hard, rated_by(without.ratings, ["person"]), SamplerSettings(draws=5, chains=1)
    )
    assert set(FitView.of(people).spec.priors) == {"person.hard_share"}


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
@pytest.mark.parametrize(("sizes", "told"), [((2, 1, 1), True), ((2, 2), False)])
def test_groups_that_err_together_are_a_variant_where_three_tell(sizes, told):
    groups = dict(zip("abc", sizes, strict=False))
    ratings = assay.simulate("single", n_items=40, groups=groups, ratings_per_item=4, rng=1)
    fit = assay.fit(ratings, method="map", draws=2, chains=1, rng=1)
    _, *more = variants_of(FitView.of(fit), kinds("dependence"))
    assert [variant.changes for variant in more] == [{"reference": "groups"}] * told


@pytest.mark.slow
def test_dependence_is_added_or_taken_away():
    hard = small_fit(priors={"hard_share": "Beta(1, 9)", "sd": "HalfNormal(0.5)"})
    (without,) = variants_of(FitView.of(hard), kinds("dependence"))
    assert without.changes == {"raters": "hierarchical + halo"}
    again, _ = refit(hard, without.ratings, SamplerSettings(draws=5, chains=1), without.changes)
    assert FitView.of(again).spec.priors == {"sd": "HalfNormal(0.5)"}
    groups = small_fit(raters={"person": "pooled", "llm": "one_coin"})
    (added,) = variants_of(FitView.of(groups), kinds("dependence"))
    assert added.name == "raters err together on hard items"
    assert added.changes == {
        "raters": {"person": "pooled + item_difficulty", "llm": "one_coin + item_difficulty"}
    }


def test_no_kernel_without_a_blocked_rule(fit):
    assert variants_of(FitView.of(fit), kinds("kernel", "rule")) == []


@pytest.mark.parametrize(
    "text", ["Normal(1, 2)", "HalfNormal(1)", "Exponential(3)", "Gamma(9, 2)", "Beta(40, 30)"]
)
def test_rescaled_priors_keep_their_centre(text):
    """Moments in closed form; those of Beta to the order of one over its counts."""
    moments = {
        "Normal": lambda m, s: (m, s),
        "HalfNormal": lambda s: (s * np.sqrt(2 / np.pi), s * np.sqrt(1 - 2 / np.pi)),
        "Exponential": lambda r: (1 / r, 1 / r),
        "Gamma": lambda a, b: (a / b, np.sqrt(a) / b),
        "Beta": lambda a, b: (a / (a + b), np.sqrt(a * b / (a + b) ** 2 / (a + b + 1))),
    }
    prior = parse_prior(text)
    before, after = (moments[prior.name](*p.values) for p in (prior, rescaled(prior, 2.0)))
    assert after[1] == pytest.approx(2 * before[1], rel=0.03)
    if prior.name not in {"HalfNormal", "Exponential"}:
        assert after[0] == pytest.approx(before[0])


def test_confusions_keep_their_share_right():
    assert str(rescaled(parse_prior("Confusion(0.6, 8)"), 2.0)) == "Confusion(0.6, 2)"


def test_stability_has_a_line_per_variant_and_contrast(retrieval_fit, capsys):
    names = ["ndcg_at_k", "misleading_context_rate_at_k"]
    table = sensitivity_to_assumptions(
        retrieval_fit, metric=names, raters=False, priors=False, rules=False, draws=40, chains=2
    )
    assert table["variant"].tolist() == [
        *["as fitted"] * 2,
        *["blocked answers resolved by repair"] * 2,
        *["all items are equally hard"] * 2,
    ]
    assert table["metric"].tolist() == names * 3
    pairs = compare(retrieval_fit, metric=names).pairs
    np.testing.assert_allclose(table["difference"].iloc[:2], pairs["difference"])
    assert (table["changes"].iloc[:2] == "").all()
    assert (table["changes"].iloc[2:] != "").all()
    assert table["basis"].iloc[0] == "2 chains of 40 draws"
    output = capsys.readouterr()
    assert output.out == ""
    assert "refitting" not in stability_errors(retrieval_fit, capsys)


def stability_errors(fit, capsys):
    """Standard error of a run without a progress bar."""
    chosen = {"raters": False, "priors": False, "rules": False, "dependence": False}
    sensitivity_to_assumptions(
        fit, metric="ndcg_at_k", draws=20, chains=1, progress=False, **chosen
    )
    return capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_stability_of_one_system_shows_its_metrics_under_the_other_kernel():
    """Without systems to compare there are still headline numbers, which rest on assumptions."""
    ratings = assay.simulate("retrieval", n_items=60, n_raters=3, n_clusters=12, rng=5)
    effort = {"method": "map", "draws": 100, "chains": 2, "starts": 1, "progress": False}
    alone = assay.fit(ratings, **effort)
    chosen = {"raters": False, "priors": False, "rules": False, "dependence": False}
    table = sensitivity_to_assumptions(
        alone, metric="sufficiency_rate_at_k", draws=100, progress=False, **chosen
    )
    assert table["variant"].tolist() == ["as fitted", "blocked answers resolved by repair"]
    repaired = assay.fit(replace(ratings, resolve="repair"), **effort)
    for line, tree in zip(table.itertuples(), (alone, repaired), strict=True):
        found = assay.summarize(assay.metrics(tree, metric="sufficiency_rate_at_k")).iloc[0]
        assert (line.mean, line.lower, line.upper) == (found["mean"], found.lower, found.upper)
    assert table["mean"].nunique() == 2
    assert table["changes"].iloc[1] != ""


def test_systems_and_contrasts_are_read_off_the_same_refits(retrieval_fit, monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return refit(*arguments)

    monkeypatch.setattr(robustness, "refit", counted)
    monkeypatch.setattr(robustness, "variants_of", only_the_kernel)
    tables = stability_tables(retrieval_fit, level=0.9, progress=False)
    assert len(calls) == 1
    contrasts, systems = tables["contrasts"], tables["systems"].set_index(["variant", "metric"])
    for line in contrasts.itertuples():
        means = systems.loc[(line.variant, line.metric)].set_index("system")["mean"]
        assert line.difference == pytest.approx(means[line.a] - means[line.b])
    assert (tables["systems"]["level"] == 0.9).all()


def only_the_kernel(fit, kinds):
    assert all(kinds.values())
    return variants_of(FitView.of(fit), {kind: kind == "kernel" for kind in kinds})


def test_stability_of_what_there_is_not(retrieval_fit, fit):
    with pytest.raises(
        ModelError, match="`of='system'`; did you mean systems", check=refusal("argument-choice")
    ):
        sensitivity_to_assumptions(fit, of="system")


def test_variant_that_cannot_run_says_why(fit, monkeypatch):
    def broken(fit, ratings, effort, changes):
        raise ModelError("no such model")

    monkeypatch.setattr(robustness, "refit", broken)
    table = sensitivity_to_assumptions(
        fit, metric="on_topic_rate", raters=False, priors=False, progress=False
    )
    assert table["changes"].tolist() == ["", "could not run: no such model"]
    assert np.isnan(table["difference"].iloc[1])


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ((0.2, 0.1, 0.3), "none"),
        ((0.35, 0.2, 0.5), "none, though the estimate moves by +1.5 SD"),
        ((0.2, -0.1, 0.3), "changes: the sign is open (was: A is higher)"),
        ((-0.2, -0.3, -0.1), "changes: B is higher (was: A is higher)"),
        ((np.nan, np.nan, np.nan), "undefined"),
    ],
)
def test_changes_in_words(after, said):
    def line(difference, lower, upper):
        return {"a": "A", "b": "B", "difference": difference, "difference_lower": lower,
                "difference_upper": upper, "difference_sd": 0.1}  # fmt: skip

    assert contrast_changes(line(0.2, 0.1, 0.3), line(*after)) == said


def test_warnings_of_refits_are_kept(fit):
    """NUTS of so few draws is not to be trusted, and says so."""
    short = SamplerSettings(draws=5, tune=20, chains=2)
    tree, said = refit(fit, assay.fits.datatree.ratings_of(fit), short, {"method": "nuts"})
    assert said == [str(note) for note in fit_warnings(tree)]
    assert {note.code for note in fit_warnings(tree)} & {"chains-disagree", "low-ess"}
    assert tree["posterior"].sizes["draw"] == 5


@pytest.mark.parametrize(
    ("mean", "said"),
    [
        (0.63, "changes: the estimate leaves the interval (+2.6 SD)"),
        (0.44, "none, though the estimate moves by -1.2 SD"),
        (0.52, "none"),
    ],
)
def test_a_metric_changes_if_the_estimate_leaves_the_interval(mean, said):
    old = {"mean": 0.5, "lower": 0.4, "upper": 0.6, "sd": 0.05}
    assert system_changes(old, old | {"mean": mean}) == said
