"""Whose truth is meant: which groups have a perception layer, and what data a reference needs."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning, ModelError
from assay.data.overlap import LAYER_ITEMS, groups_identify_truth
from assay.data.ratings import Ratings
from assay.fits.view import FitView
from assay.inference import assumptions
from assay.inference.assumptions import group_error_warnings, stated_assumptions
from assay.inference.data_counts import count_data
from assay.inference.diagnostics import fit_warnings
from assay.modelling.layers.reference import check_reference, layered_groups, telling_items
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from assay.reporting.material import Material
from assay.reporting.misfits import misfit_section
from assay.reporting.page import Gap
from assay.reporting.provenance import limits_section
from assay.reporting.sensitivity import wrong_section
from assay.validation.posterior_predictive import ACROSS, WITHIN

GROUPS = ("crowd", "expert")
MEETING = {"crowd"}


@pytest.mark.parametrize(
    ("reference", "named", "groups"),
    [
        (None, set(), ()),
        ("gold", set(), ("crowd", "expert")),
        ("gold", {"crowd"}, ("crowd", "expert")),
        ("expert", set(), ("crowd",)),
        ("groups", set(), ("crowd",)),
        ("groups", {"crowd"}, ("crowd",)),
    ],
)
def test_which_groups_have_a_layer(reference: str | None, named: set[str], groups: tuple):
    assert layered_groups(reference, named, GROUPS, MEETING) == groups


@pytest.mark.parametrize(
    ("reference", "named", "words"),
    [
        (None, {"crowd"}, "perception-without-reference"),
        ("experts", set(), "unknown-group"),
        ("expert", {"expert"}, "reference-with-perception"),
        ("groups", {"expert"}, "reference-too-few-items"),
    ],
)
def test_layers_that_data_cannot_tell_are_refused(
    reference: str | None, named: set[str], words: str
):
    with pytest.raises(ModelError, check=refusal(words)):
        layered_groups(reference, named, GROUPS, MEETING)


def test_gold_has_to_be_known_of_enough_items():
    ratings = assay.simulate("retrieval", n_items=60, gold=0.5, rng=1)
    assert LAYER_ITEMS == 30
    check_reference(ratings, "gold")
    truth = ratings.truth.copy()
    truth[np.flatnonzero((truth != -1).any(axis=1))[0]] = -1
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=29, needed=30)):
        check_reference(replace(ratings, truth=truth), "gold")


def test_a_reference_group_has_to_rate_enough_items_twice_that_others_rate():
    options = {"n_items": 30, "groups": {"human": 2, "model": 1}, "rng": 1}
    check_reference(assay.simulate("retrieval", ratings_per_item=3, **options), "human")
    fewer = assay.simulate("retrieval", ratings_per_item=[3] * 29 + [2], **options)
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=29, needed=30)):
        check_reference(fewer, "human")
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=0, needed=30)):
        check_reference(fewer, "model")
    with pytest.raises(
        ModelError,
        match=r"'Human'` is not a rater group; did you mean human\?",
        check=refusal("unknown-group"),
    ):
        check_reference(fewer, "Human")


def in_groups(sizes: dict[str, int], *, three: int = 30, n_items: int = 40) -> Ratings:
    """All raters answer the first items, and one rater the others."""
    count = sum(sizes.values())
    each = [count] * three + [1] * (n_items - three)
    return assay.simulate("single", n_items=n_items, groups=sizes, ratings_per_item=each, rng=1)


def test_three_groups_have_to_rate_enough_items():
    ratings = in_groups({"a": 2, "b": 1, "c": 1})
    assert telling_items(ratings, "groups").sum() == LAYER_ITEMS
    check_reference(ratings, "groups")
    fewer = in_groups({"a": 2, "b": 1, "c": 1}, three=29)
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=29, needed=30)):
        check_reference(fewer, "groups")
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=0, needed=30)):
        check_reference(in_groups({"a": 3, "b": 2}), "groups")
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=30, needed=30)):
        check_reference(in_groups({"a": 1, "b": 1, "c": 1}), "groups")


def test_one_group_is_counted_as_one():
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=0, needed=30)):
        check_reference(in_groups({"a": 3}), "groups")


@pytest.mark.parametrize("reference", ["gold", "groups"])
def test_a_group_that_has_the_name_of_another_reference_is_told_so(reference: str):
    ratings = in_groups({reference: 2, "b": 1})
    with pytest.raises(ModelError, check=refusal("reference-too-few-items", items=0, needed=30)):
        check_reference(ratings, reference)
    with pytest.raises(ModelError) as told:
        check_reference(ratings, f"{reference}s")
    assert str(told.value).endswith(f"did you mean {reference}?")


def test_abstentions_are_no_ratings_of_a_group():
    ratings = in_groups({"a": 2, "b": 1, "c": 1})
    mine = (ratings.raters["group"].to_numpy()[ratings.rater] == "c") & (ratings.item == 0)
    assert groups_identify_truth(ratings)
    assert not groups_identify_truth(replace(ratings, abstained=ratings.abstained | mine))


def test_groups_alone_do_not_say_what_classes_are():
    assert make_spec(reference="gold").anchored
    assert make_spec(reference="a").anchored
    assert not make_spec().anchored
    assert not make_spec(reference="groups").anchored


@pytest.mark.parametrize("together", [0, 1])
def test_raters_who_never_meet_have_no_layer_besides_their_errors(together: int):
    """Two of ``b`` share the items, as a crowd of whom one looks at each."""
    rng = np.random.default_rng(1)
    rows = [(i, rater, rater[0], rng.integers(2)) for i in range(40) for rater in ("a1", "a2", "c")]
    rows += [(i, f"b{i % 2}", "b", rng.integers(2)) for i in range(40)]
    rows += [(i, "b1", "b", 1) for i in range(together)]
    rows += [(0, "c", "c", 1)]  # again: no second rater
    table = pd.DataFrame(rows, columns=["item", "rater", "group", "label"])
    ratings = assay.read_ratings(table, task="single", group="group")
    structure = build_structure(ratings, make_spec(reference="groups"))
    assert structure.perception.groups == (("a", "b") if together else ("a",))


@pytest.fixture(scope="module")
def together() -> dict[str | None, object]:
    """Three families of judges, each of whom misreads a fifth of the items as one."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300) * rng.integers(0, 2, 300)
    raters = [f"{family}{j}" for family in "abc" for j in range(4)]
    looks = np.stack([np.where(rng.random(300) < 0.2, rng.random(300) < 0.7, truth) for _ in "abc"])
    answers = np.repeat(looks, 4, axis=0) ^ (rng.random((12, 300)) < 0.08)
    rows = [
        (item, name, name[0], int(answers[j, item]))
        for item in range(300)
        for j, name in enumerate(raters)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "group", "label"])
    ratings = assay.read_ratings(table, task="single", group="group")
    options = {"draws": 300, "tune": 300, "chains": 1, "rng": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = {ref: assay.fit(ratings, reference=ref, **options) for ref in (None, "groups")}
    return {"truth": truth, **fits}


def test_families_that_err_together_are_not_taken_for_independent(together) -> None:
    truth = together["truth"].mean()
    ends = {}
    for reference in (None, "groups"):
        share = assay.label_draws(together[reference]).isel(label=0).mean("item")
        ends[reference] = np.quantile(share, [0.025, 0.975])
    assert ends["groups"][0] < truth < ends["groups"][1]
    assert truth < ends[None][0]


def test_whose_truth_it_is_is_told(together) -> None:
    fit = together["groups"]
    assert fit.attrs["reference"] == "consensus of the rater groups"
    assert "The truth is the agreement of the rater groups" in fit.attrs["assumptions"]
    assert FitView.of(fit).spec.reference == "groups"
    table = assay.group_misperception(fit)
    assert list(table["group"]) == ["a", "b", "c"]
    assert ((table["lower"] < 0.2) & (table["upper"] > 0.2)).all()
    assert not table["prior_driven"].any()
    worth = assay.effective_number_of_raters(fit).mean(("chain", "draw", "label"))
    assert (worth < 2.5).all()


@pytest.mark.parametrize(
    ("gold", "audited", "said"),
    [
        (0, False, ". Each group is assumed to misperceive items independently. These"),
        (7, False, ", and the known truth of 7 items. Each group is assumed"),
        (1, True, ", and the known truth of 1 item and the audits of single answers. Each"),
        (0, True, ", and the audits of single answers. Each group is assumed"),
    ],
)
def test_groups_beside_known_truth_are_not_said_to_be_all_that_tells(
    gold: int, audited: bool, said: str
) -> None:
    ratings = in_groups({"a": 2, "b": 2, "c": 2})
    truth = np.where(np.arange(len(ratings.items))[:, None] < gold, 0, ratings.truth)
    audit = np.where(audited & (np.arange(len(ratings.item)) == 0)[:, None], 1, ratings.audit)
    known = replace(ratings, truth=truth, audit=audit.astype(ratings.audit.dtype))
    structure = build_structure(known, make_spec(reference="groups"))
    assumed, *_ = stated_assumptions(structure, count_data(known, structure.parts, known.systems))
    assert assumed.startswith(f"The truth is the agreement of the rater groups{said}")
    assert ("do not identify" in assumed) == (not (gold or audited))


@pytest.mark.parametrize("gold", [0, 7])
def test_a_report_of_groups_says_of_which_items_the_truth_is_known(gold: int) -> None:
    ratings = in_groups({"a": 2, "b": 2, "c": 2})
    truth = np.where(np.arange(len(ratings.items))[:, None] < gold, 0, ratings.truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            replace(ratings, truth=truth), raters="hierarchical", reference="groups", method="map",
            draws=2, chains=1, starts=1, rng=1,
        )  # fmt: skip
    told = str(limits_section(Material(fit=fit)).blocks)
    assert ("Known truth of some items would reveal it" in told) == (not gold)
    assert (f"The truth of {gold} of {len(ratings.items)} items is known." in told) == (gold > 0)


def test_how_often_all_groups_are_wrong_can_be_varied(together) -> None:
    table = assay.sensitivity_to_consensus(together["groups"], wrong=(0.0, 0.1))
    widths = (table["upper"] - table["lower"]).groupby(table["wrong"]).mean()
    assert widths[0.1] > widths[0.0]


def test_a_model_of_one_consensus_expects_less_agreement_within_families(together) -> None:
    tails = {}
    for reference in (None, "groups"):
        table = assay.posterior_predictive_check(together[reference])
        within = table[(table["quantity"] == WITHIN) & (table["group"] == "")].iloc[0]
        tails[reference] = within["tail"]
        if reference is None:
            assert within["observed"] > within["upper"]
    assert tails[None] < 0.01 < 0.1 < tails["groups"]


def test_a_fit_of_one_consensus_says_which_families_err_together(together) -> None:
    said = [n for n in fit_warnings(together[None]) if n.code == "groups-err-together"]
    assert len(said) == 1
    assert said[0].startswith("Raters of ")
    assert "reference='groups'" in said[0]
    assert "groups-err-together" not in [note.code for note in fit_warnings(together["groups"])]


@pytest.mark.parametrize("raters", ["hierarchical", "hierarchical + item_difficulty"])
def test_groups_whose_raters_err_alone_are_not_said_to_err_together(raters: str) -> None:
    """Items that are hard for all are no sign of it either."""
    ratings = assay.simulate(
        "single",
        raters="hierarchical + item_difficulty",
        n_items=200,
        groups={"a": 3, "b": 3},
        ratings_per_item=6,
        values={"hard_share": 0.3, "difficulty_rate": np.full((2, 1), 2.0)},
        rng=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, raters=raters, draws=200, tune=200, chains=1, rng=1)
    assert "groups-err-together" not in [note.code for note in fit_warnings(fit)]


def asked_where_others_disagree(seed: int) -> Ratings:
    """Three of a crowd rate all items, and two experts those on which the three disagree."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 250)
    answers = truth ^ (rng.random((5, 250)) < np.array([[0.15], [0.15], [0.15], [0.1], [0.1]]))
    split = answers[:3].min(axis=0) != answers[:3].max(axis=0)
    rows = [
        (item, f"r{j}", "crowd" if j < 3 else "expert", int(answers[j, item]))
        for j in range(5)
        for item in range(250)
        if j < 3 or split[item]
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "group", "label"])
    return assay.read_ratings(table, task="single", group="group")


@pytest.mark.parametrize("seed", range(4))
def test_experts_who_look_at_disagreements_are_no_sign_of_errors_together(seed: int) -> None:
    """They agree with the crowd seldom on such items, and no oftener than expected themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            asked_where_others_disagree(seed),
            draws=200, tune=200, chains=1, rng=seed, progress=False,
        )  # fmt: skip
    assert "groups-err-together" not in [note.code for note in fit_warnings(fit)]


def test_where_very_many_meet_on_few_items_replicates_are_not_waited_for(monkeypatch) -> None:
    """Few ratings can have very many meetings."""
    ratings = assay.simulate(
        "single", n_items=10, groups={"a": 5, "b": 5}, ratings_per_item=10, rng=1
    )
    structure = build_structure(ratings, make_spec())
    monkeypatch.setattr(assumptions, "MOST_MEETINGS", 499)
    states = np.zeros((1, 10), np.int16)
    (said,) = group_error_warnings(structure, {}, states, np.random.default_rng(1))
    assert (said.code, said.level, said.numbers) == (
        "group-errors-unchecked",
        "note",
        {"ratings": 100},
    )


def test_check_warns_where_three_groups_could_tell() -> None:
    sizes = {"a": 2, "b": 1, "c": 1}
    code = "groups-may-err-together"
    (told,) = (f for f in assay.check(in_groups(sizes)).findings if f.code == code)
    assert told.level == "warning"
    assert told.text.startswith("30 items ")
    for fewer in (in_groups(sizes, three=29), in_groups({"a": 3, "b": 2})):
        assert not any(f.code == code for f in assay.check(fewer).findings)


GROUPS_AGREE = "agree with each other more often"


def test_the_report_says_that_a_family_errs_together(together) -> None:
    said = str(misfit_section(Material(fit=together[None])).blocks)
    assert GROUPS_AGREE in said
    assert "reference='groups'" in said
    assert GROUPS_AGREE not in str(misfit_section(Material(fit=together["groups"])).blocks)


def said_of_agreement(reference: str | None, *, across: float) -> str:
    """What the report says where raters of a group agree more than expected, and others so far."""
    lines = [("a", WITHIN, 0.9, 0.005), ("", ACROSS, across, 0.005)]
    table = pd.DataFrame(lines, columns=["group", "quantity", "observed", "tail"])
    table = table.assign(check="agreement", label="x", expected=0.8, lower=0.78, upper=0.82)
    spec = make_spec(reference=reference)
    material = SimpleNamespace(
        predictive=table, misfits=table, view=SimpleNamespace(spec=spec), level=0.95
    )
    return str(misfit_section(material).blocks)


def test_the_report_advises_no_layer_that_the_model_has_or_that_explains_nothing() -> None:
    advised = GROUPS_AGREE
    assert advised in said_of_agreement(None, across=0.7)
    assert advised not in said_of_agreement(None, across=0.9)
    assert advised not in said_of_agreement("groups", across=0.7)


@pytest.mark.parametrize(
    ("gold", "named"),
    [
        (0.0, "consensus of all raters"),
        (0.3, "consensus of all raters, with known truth of some items"),
        (1.0, "known truth"),
    ],
)
@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_numbers_name_a_consensus_only_where_truth_is_not_given(gold: float, named: str) -> None:
    ratings = assay.simulate("single", n_items=30, n_raters=3, gold=gold, rng=1)
    fit = assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1, progress=False)
    assert fit.attrs["reference"] == named
    assert assay.summarize(assay.metrics(fit))["reference"].unique().tolist() == [named]
    material = Material(fit=fit)
    limits = " ".join(str(block) for block in limits_section(material).blocks)
    assert ("truth is defined as the consensus of all raters" in limits) == (gold < 1)
    assert ("truth is defined by the reference (known truth)" in limits) == (gold == 1)
    if gold == 1:
        with pytest.raises(FitError, check=refusal("learned-truth")):
            assay.sensitivity_to_consensus(fit)
        assert isinstance(wrong_section(material), Gap)
    else:
        assert len(assay.sensitivity_to_consensus(fit, wrong=(0.1,)))
