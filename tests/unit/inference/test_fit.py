import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning, ModelError, UnknownNameError
from assay.data.ratings import Ratings
from assay.inference.diagnostics import fit_warnings


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return assay.simulate("single", n_items=40, n_raters=4, ratings_per_item=3, rng=11)


def quiet(ratings: Ratings, **options: object) -> xr.DataTree:
    settings = {"method": "map", "draws": 20, "chains": 2, "rng": 5, "progress": False, "starts": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(ratings, **{**settings, **options})


def same(first: xr.DataTree, second: xr.DataTree) -> None:
    for group in first.children:
        xr.testing.assert_identical(first[group].to_dataset(), second[group].to_dataset())
    assert first.attrs == second.attrs


@pytest.mark.parametrize("method", ["em", "map", "laplace", "nuts"])
def test_the_same_seed_gives_the_same_bits(ratings: Ratings, method: str):
    options = {"method": method, "draws": 30, "tune": 60, "raters": "one_coin"}
    first = quiet(ratings, **options)
    same(first, quiet(ratings, **options))
    other = quiet(ratings, **options, **{"rng": 6})
    assert (first["labels"]["state"].values != other["labels"]["state"].values).any()


def test_a_generator_gives_its_next_numbers(ratings: Ratings):
    first, second = (quiet(ratings, rng=np.random.default_rng(1)) for _ in range(2))
    same(first, second)
    generator = np.random.default_rng(1)
    quiet(ratings, rng=generator)
    assert quiet(ratings, rng=generator).attrs["seed"] != first.attrs["seed"]


@pytest.mark.parametrize("method", ["em", "map", "laplace", "nuts"])
def test_groups_and_dims(ratings: Ratings, method: str):
    fit = quiet(ratings, method=method, draws=30, tune=60, raters="one_coin")
    assert set(fit.children) == {
        "posterior",
        "sample_stats",
        "labels",
        "observed_data",
        "constant_data",
        "log_likelihood",
    }
    assert dict(fit["posterior"].sizes)["draw"] == 30
    assert fit["posterior"]["prevalence"].dims == ("chain", "draw", "state")
    np.testing.assert_allclose(fit["posterior"]["prevalence"].sum("state"), 1, atol=1e-9)
    assert fit["posterior"]["accuracy"].dims == ("chain", "draw", "rater")
    assert fit["log_likelihood"]["ratings"].dims == ("chain", "draw", "item")
    assert "lp" in fit["sample_stats"]
    assert json.loads(fit.attrs["spec"])["raters"] == "one_coin"
    assert fit.attrs["method"] == method


def test_log_likelihood_is_by_cluster_where_there_are_any():
    ratings = assay.simulate("retrieval", n_items=20, n_clusters=5, n_systems=2, rng=1)
    for prevalence in ("loglinear", "dirichlet"):
        fit = quiet(ratings, prevalence=prevalence)
        assert fit["log_likelihood"]["ratings"].dims == ("chain", "draw", "cluster")
        assert fit["log_likelihood"].sizes["cluster"] == 5
        assert fit["posterior"]["prevalence"].dims == ("chain", "draw", "system", "state")


def test_methods_agree_where_data_are_plenty():
    """Posterior means of NUTS and Laplace within a fifth of a posterior SD of each other."""
    ratings = assay.simulate("single", classes=("a", "b"), n_items=300, n_raters=4, rng=3)
    options = {"raters": "one_coin", "prevalence": "dirichlet", "draws": 500, "tune": 300}
    nuts, laplace = (
        quiet(ratings, method=m, **options)["posterior"]["accuracy"] for m in ("nuts", "laplace")
    )
    spread = nuts.std(("chain", "draw"))
    gap = np.abs(nuts.mean(("chain", "draw")) - laplace.mean(("chain", "draw")))
    assert (gap < 0.35 * spread).all()
    assert (np.abs(np.log(laplace.std(("chain", "draw")) / spread)) < 0.3).all()


@pytest.mark.parametrize(
    ("options", "optimiser"),
    [
        ({"raters": "dawid_skene", "prevalence": "dirichlet"}, "em"),
        ({"raters": "hierarchical", "prevalence": "dirichlet"}, "climb"),
        ({"raters": "dawid_skene", "prevalence": "loglinear"}, "climb"),
    ],
)
def test_em_and_map_make_the_same_fit(ratings: Ratings, options: dict[str, str], optimiser: str):
    by_em, by_map = (quiet(ratings, method=method, **options) for method in ("em", "map"))
    assert json.loads(by_em.attrs["diagnostics"]) == {"optimiser": optimiser}
    for group in by_map.children:
        first, second = by_em[group].to_dataset(), by_map[group].to_dataset()
        xr.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-3)


def test_modes_that_em_found_alone_are_told_without_their_evidence(ratings: Ratings):
    fit = quiet(ratings, method="em", raters="one_coin", prevalence="dirichlet", starts=1)
    (told,) = json.loads(fit.attrs["modes"])
    assert "evidence" not in told
    assert "raters are mostly right" in told


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        ({"method": "gibbs"}, "valid: nuts, laplace, map, em", "argument-choice"),
        ({"draws": 0}, "draws=0", "argument-count"),
        ({"chains": 1.5}, r"chains=1\.5", "argument-count"),
        ({"starts": -1}, "starts=-1", "argument-count"),
        ({"tune": "many"}, "tune='many'", "argument-count"),
    ],
)
def test_bad_arguments_are_said_in_words(
    ratings: Ratings, options: dict[str, object], words: str, code: str
):
    with pytest.raises(FitError, match=words, check=refusal(code)):
        assay.fit(ratings, **options)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("prior", ["Normal(0, 1e-320)", "Normal(1e308, 1)"])
def test_priors_that_leave_nothing_to_the_data_are_named(ratings: Ratings, prior: str):
    with pytest.raises(FitError, match="Check `priors=", check=refusal("density-not-finite")):
        assay.fit(ratings, priors={"main": prior}, draws=5, tune=5, chains=1, progress=False)


@pytest.mark.parametrize("target", [0.0, 1.0, 1.5, -0.2])
def test_target_accept_is_a_share(ratings: Ratings, target: float):
    with pytest.raises(FitError, match="target_accept", check=refusal("argument-number")):
        assay.fit(ratings, draws=5, tune=5, chains=1, target_accept=target, progress=False)


@pytest.mark.parametrize(
    ("options", "error", "words", "code"),
    [
        (
            {"raters": "dawid_skeen"},
            UnknownNameError,
            "did you mean dawid_skene",
            "unknown-catalogue-name",
        ),
        ({"prevalence": "flat"}, UnknownNameError, "dirichlet", "unknown-catalogue-name"),
        ({"priors": {"mean": "Normal(0, 1)"}}, ModelError, "is not used", "prior-unknown"),
        ({"priors": {"sd": "Normal(0, 1)"}}, ModelError, "cannot replace", "prior-kind"),
        (
            {"reference": "gold"},
            ModelError,
            "known truth of at least 30 items; 0 have",
            "reference-too-few-items",
        ),
    ],
)
def test_specifications_that_do_not_exist(
    ratings: Ratings, options: dict[str, object], error: type[Exception], words: str, code: str
):
    with pytest.raises(error, match=words, check=refusal(code)):
        assay.fit(ratings, method="map", **options)


def test_what_is_no_ratings_is_said_in_words():
    with pytest.raises(FitError, check=refusal("argument-type")):
        assay.fit("ratings.csv")


def test_ratings_without_an_answer():
    empty = assay.simulate("single", n_items=5, n_raters=2, ratings_per_item=0, rng=1)
    with pytest.raises(FitError, match="no rating has", check=refusal("no-answer-given")):
        assay.fit(empty)


def test_scores_that_a_group_gives_in_vain_are_told() -> None:
    """Nothing is wrong with the fit: what it did not read is said, and no reason for doubt."""
    rows = [
        (item, rater, said, None)
        for item in range(8)
        for rater, said in (("a", "yes"), ("b", "no"))
    ]
    rows += [(item, "m", None, 0.9) for item in range(8)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", "score"])
    table["group"] = np.where(table["rater"] == "m", "llm", "people")
    ratings = assay.read_ratings(table, task="single")
    options = {"method": "map", "draws": 5, "chains": 1, "starts": 1, "rng": 1, "progress": False}
    with pytest.warns(FitWarning, match=r"\[scores-unread\]$"):
        fit = assay.fit(ratings, **options)
    (unread,) = (note for note in fit_warnings(fit) if note.code == "scores-unread")
    assert (unread.level, unread.numbers) == ("note", {"ratings": 8})
    # One of the two people says no of everything, and the scores side with the other.
    with pytest.warns(FitWarning):
        read = assay.fit(ratings, raters={"people": "hierarchical", "llm": "scored"}, **options)
    codes = [note.code for note in fit_warnings(read)]
    assert "empty-class" in codes
    assert "scores-unread" not in codes


def test_scores_that_no_family_reads_are_no_ratings() -> None:
    table = pd.DataFrame({"item": [1, 2, 3] * 2, "rater": list("aaabbb"), "score": [0.1, 0.9] * 3})
    ratings = assay.read_ratings(table, task="single")
    for raters in ("hierarchical + item_difficulty", {"all": "pooled"}):
        with pytest.raises(
            FitError, match="give `raters='scored'`", check=refusal("scores-unread")
        ):
            assay.fit(ratings, raters=raters, method="map", draws=5, chains=1, rng=1)
    with pytest.warns(FitWarning, match="Nothing defines the classes"):
        fit = assay.fit(ratings, raters="scored", method="map", draws=5, chains=1, starts=1, rng=1)
    assert fit["posterior"].sizes["draw"] == 5


def test_warnings_are_sentences_and_stand_in_the_fit(ratings: Ratings):
    with pytest.warns(FitWarning) as caught:
        fit = assay.fit(
            ratings, raters="one_coin", draws=10, tune=20, chains=2, rng=1, progress=False
        )
    warned = [w.message for w in caught if isinstance(w.message, FitWarning)]
    stored, said = json.loads(fit.attrs["warnings"]), [w.text for w in warned]
    assert [note["text"] for note in stored] == said
    assert [(n["code"], n["level"], n["numbers"]) for n in stored] == [
        (w.code, w.level, w.numbers) for w in warned
    ]
    assert all(str(w) == f"{w.text} [{w.code}]" for w in warned)
    (rough,) = (w for w in warned if w.code == "low-ess" and w.level == "warning")
    assert f"as low as {rough.numbers['ess']:.0f} (" in rough.text
    assert all((text.endswith(".") and text[0].isupper()) or text[0].isdigit() for text in said)


def test_one_chain_can_be_sampled(ratings: Ratings):
    fit = quiet(ratings, method="nuts", raters="one_coin", draws=20, tune=40, chains=1)
    assert fit["posterior"].sizes["chain"] == 1


def test_whose_truth_is_meant_stands_in_the_fit():
    options = {"n_items": 40, "groups": {"human": 2, "model": 2}, "ratings_per_item": 4, "rng": 1}
    ratings = assay.simulate("retrieval", gold=1.0, **options)
    for reference, words in (
        (None, "known truth"),
        ("human", "consensus of human"),
        ("gold", "gold"),
    ):
        fit = quiet(ratings, reference=reference)
        assert fit.attrs["reference"] == words
        assert json.loads(fit.attrs["spec"])["reference"] == reference
        assert ("misperceived" in fit["posterior"]) == (reference is not None)
    assert fit["posterior"]["misperceived"].coords["layer"].values.tolist() == ["human", "model"]


def test_a_mapping_of_recipes_stands_in_the_fit():
    ratings = assay.simulate("single", groups={"human": 2, "model": 2}, n_items=30, rng=1)
    recipe = {"human": "pooled + item_difficulty", "model": "one_coin"}
    fit = quiet(ratings, raters=recipe)
    assert json.loads(fit.attrs["spec"])["raters"] == recipe
    assert fit["posterior"]["model.accuracy"].dims == ("chain", "draw", "model.rater")
    assert {"hard_share", "human.difficulty_rate"} <= set(fit["posterior"])


def test_repeated_ratings_have_a_consistency_or_are_independent():
    ratings = assay.simulate("single", n_items=30, replicates=2, rng=1)
    together, apart = (quiet(ratings, replicates=r) for r in ("together", "independent"))
    offsets = together["posterior"]["consistency_offset"]
    assert offsets.dims == ("chain", "draw", "repeating")
    assert "consistency_mean" not in apart["posterior"]
    assert json.loads(apart.attrs["spec"])["replicates"] == "independent"


def test_laplace_with_a_handful_of_draws_says_that_it_cannot_be_checked() -> None:
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    with pytest.warns(FitWarning, match=r"\[laplace-unchecked\]$"):
        assay.fit(ratings, method="laplace", draws=2, chains=1, starts=1, progress=False)


@pytest.mark.parametrize("rng", ["a", None, 1.5, -1])
def test_a_seed_is_a_whole_number_or_a_generator(ratings: Ratings, rng: object):
    with pytest.raises(FitError, check=refusal("argument-count", least=0)):
        assay.fit(ratings, method="map", draws=1, chains=1, rng=rng)


def test_items_without_a_system_are_a_level_of_their_own():
    """Two systems are compared, and other items tell of the raters."""
    ratings = assay.simulate("single", n_items=60, n_systems=3, rng=2)
    panels = ratings.panels.assign(system=ratings.panels["system"].replace("system_3", ""))
    fit = quiet(replace(ratings, panels=panels), method="map")
    posterior = fit["posterior"].to_dataset()
    assert posterior["system"].values.tolist() == ["", "system_1", "system_2"]
    assert posterior["prevalence"].sum("state").values == pytest.approx(1)
    assert assay.metrics(fit)["system"].values.tolist() == ["system_1", "system_2"]
    assert np.isfinite(assay.rater_reliability(fit)).all()
