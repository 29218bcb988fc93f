"""Page one: the best system, how sure, the weakest rater, what is unknown, what to do."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pages import trusted

import assay
from assay._util.errors import Note
from assay.checks.findings import Check
from assay.checks.findings import Finding as CheckFinding
from assay.comparison.claim_tests import Deciding
from assay.display.table import Table
from assay.evaluation.generic import generic_metric
from assay.evaluation.prevalence import prevalence_metrics
from assay.reporting.advice import OUT_OF_REACH, _deciding, _get, _undecided, next_step, not_known
from assay.reporting.answers import MOST_WORDS
from assay.reporting.fit import _finding as finding_on
from assay.reporting.front import _cautions
from assay.reporting.material import Material
from assay.reporting.page import Bullets, Callout, Finding, Page, page_html
from assay.reporting.rater_feedback import Talk
from assay.reporting.raters import raters_section
from assay.reporting.remedies import TRUTH_FILE, Remedy
from assay.reporting.weak_raters import weakest_rater
from assay.reporting.writing import make_page

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
ROWS = ["Answer", "How sure", "Weakest rater", "Not known", "What to do next"]


def grades(names: tuple[object, ...]) -> pd.DataFrame:
    """Grades 1 to 3 of 40 items by raters of whom the second one guesses."""
    rng = np.random.default_rng(4)
    rows = []
    for item in range(40):
        truth = item % 3 + 1
        for place, name in enumerate(names):
            right = rng.random() < (0.4 if place == 1 else 0.95)
            rows.append((f"t{item}", name, truth if right else int(rng.integers(1, 4))))
    return pd.DataFrame(rows, columns=["item", "rater", "grade"])


@pytest.fixture(scope="module")
def numbered() -> Material:
    ratings = assay.read_ratings(grades((1, 2, 3, 4)))
    fit = assay.fit(ratings, method="map", draws=30, chains=1, starts=1, rng=1)
    return Material(fit=fit, budget=False, short=True, human=("1", "3"))


@pytest.fixture(scope="module")
def page(numbered: Material) -> Page:
    return make_page(numbered)


def test_page_one_has_a_row_for_each_question(page: Page) -> None:
    assert page.front is not None
    assert [head for head, _ in page.front.sentences] == ROWS
    said = dict(page.front.sentences)
    assert said["Answer"].endswith("95% interval; no systems are compared.")
    assert "all raters" in said["Not known"]
    assert "the box" in said["What to do next"]


def test_a_rater_called_like_a_class_is_shown_as_a_rater(page: Page, numbered: Material) -> None:
    assert page.front is not None
    assert dict(page.front.sentences)["Weakest rater"].startswith("Rater 2 ")
    assert page.front.picture is not None
    assert re.findall(r">(rater \d)<", page.front.picture.svg)
    tables = [b for s in page.sections for b in s.blocks if isinstance(b, Table)]
    (standing,) = [table for table in tables if table.key == "standing"]
    assert {row.cells[0] for row in standing.rows} == {f"rater {n}" for n in range(1, 5)}
    # Files keep the names of the source, by which they are joined.
    assert set(page.tables["standing"]["rater"]) == set("1234")
    assert "ater rater" not in page_html(page)
    assert numbered.human == ("1", "3")  # in the user's words


def test_raters_whose_names_are_words_keep_them() -> None:
    ratings = assay.read_ratings(grades(("ann", "bo", "cy")))
    fit = assay.fit(ratings, method="map", draws=10, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    assert material.rater_names == {}
    assert material.view.tree is fit
    assert "rater ann" not in str(raters_section(material).blocks)


def test_sheets_call_such_raters_alike_and_warn_of_the_fit(numbered: Material) -> None:
    from assay.reporting.rater_sheets import sheets_page

    sheets = sheets_page(
        numbered.fit, threshold=0.8, sure=0.95, refit=False, level=0.95, progress=False
    )
    assert {s.title for s in sheets.sections[1:]} == {f"Rater {n}" for n in range(1, 5)}
    # The decisions stand below the warning of the fit.
    (warning, *_) = sheets.sections[0].blocks
    assert isinstance(warning, Callout)
    assert warning.text.startswith("All intervals are too narrow")
    assert "ater rater" not in page_html(sheets)


def standing(*rows: tuple[str, float, float], doubt: str = "") -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["rater", "mean", "p_worse"])
    return table.assign(label="l", doubt=doubt)


def material(**more: Any) -> Any:
    """What the rows read, of a study in which two raters answered each of four items."""
    ratings = SimpleNamespace(
        raters=pd.DataFrame(index=list("abc")), item=np.arange(8) // 2, rater=np.arange(8) % 2,
        answered=np.ones(8, bool), systems=[], items=pd.DataFrame({"cluster": list("xxyy")}),
        answers=np.zeros((8, 1)), task=SimpleNamespace(labels=["l"], label_names=["l"]),
    )  # fmt: skip
    given: dict[str, Any] = {
        "ratings": ratings, "n_known": 0, "level": 0.95, "verdicts": (), "claims": (), "talks": [],
        "budget": False, "reference": "consensus of all raters", "lacks_direction": False,
        "view": SimpleNamespace(attrs={"method": "nuts"}), "data_check": checked(), "mark": "",
        "joint": {}, "misses": {}, "would_decide": lambda *_: None,
    }  # fmt: skip
    return SimpleNamespace(**given | more)


def checked(*found: CheckFinding) -> Check:
    return Check(findings=found, tables={})


def finding(code: str, **numbers: float) -> CheckFinding:
    return CheckFinding(level="warning", topic="items", text="", code=code, numbers=numbers)


def error(rater: str, label: str, rate: float, others: float, probability: float = 0.99) -> Talk:
    return Talk(
        rater=rater, label=label, true_class="1", reported_class="0", rate=rate, others=others,
        probability=probability, wrong=9, items=(),
    )  # fmt: skip


def test_the_weakest_rater_is_named_as_far_as_the_data_tell() -> None:
    clear = standing(("a", 0.9, 0.1), ("b", 0.61, 0.999), ("c", 0.7, 0.98))
    text = weakest_rater(material(standing=clear))
    assert text.startswith("b ")
    assert "61%" in text
    assert "0.99" in text
    assert "c also errs" in text
    close = standing(("a", 0.9, 0.3), ("b", 0.88, 0.7))
    text = weakest_rater(material(standing=close))
    assert text.startswith("No rater ")
    assert "lowest is b" in text
    assert all(number in text for number in ("88%", "0.70"))
    mode = SimpleNamespace(attrs={"method": "map"})
    assert "no probability" in weakest_rater(material(standing=clear, view=mode))
    doubted = standing(("a", 0.9, 0.1), ("b", 0.6, 0.9), doubt="class drift: of l")
    assert weakest_rater(material(standing=doubted)) == (
        "Unknown: the labels are in doubt, as the box says."
    )
    once = material().ratings
    once.item = np.arange(8)
    assert weakest_rater(material(ratings=once, standing=clear)).startswith("Unknown: no item has")
    assert not_known(material(ratings=once)).startswith("How often each rater errs")
    assert next_step(material(ratings=once), []).startswith("Collect second ratings of some items;")
    once.raters = once.raters.head(1)
    assert weakest_rater(material(ratings=once)) == "There is only one rater."


def test_the_weakest_rater_is_the_lowest_and_the_largest_error_is_named_second() -> None:
    table = standing(("a", 0.97, 0.01), ("b", 0.88, 0.999), ("c", 0.9, 0.999), ("d", 0.9, 0.999))
    errors = [error("c", "l", 0.59, 0.13), error("b", "l", 0.14, 0.02)]
    text = weakest_rater(material(standing=table, talks=errors))
    assert text.startswith("b is right in 88%")
    assert re.search(
        r"The largest error: c answers 0 for 59% of the items with l = 1; .* 13%", text
    )
    assert text.endswith("d also errs more than average.")
    assert next_step(material(talks=errors), []).startswith("Look at the errors of c;")
    unsure = [error("c", "l", 0.59, 0.13, probability=0.95)]
    assert "largest error" not in weakest_rater(material(standing=table, talks=unsure))
    # No rater is clearly weak in all, but one error is clear.
    close = standing(("a", 0.9, 0.3), ("b", 0.88, 0.7))
    text = weakest_rater(material(standing=close, talks=errors))
    assert text.startswith("The lowest is b, ")
    assert "No rater" not in text


RIGHT = {
    "rare class": ({"x": (0.97, 0.95, 0.2), "y": (0.97, 0.97, 0.97), "z": (0.8, 0.8, 0.8)}, 1),
    "one label": ({"x": (0.75, 0.75, 0.75), "y": (0.96, 0.96, 0.96), "z": (0.9, 0.9, 0.9)}, 2),
    "equal": ({"x": (0.93, 0.93, 0.93), "y": (0.92, 0.92, 0.92), "z": (0.91, 0.91, 0.91)}, 3),
    "most common class": ({"x": (0.6, 0.98, 0.9), "y": (0.9, 0.2, 0.9), "z": (0.95,) * 3}, 4),
}


@pytest.mark.parametrize("name", RIGHT)
def test_page_one_and_the_raters_table_name_the_same_weakest_rater(name: str) -> None:
    chances, seed = RIGHT[name]
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=240, p=[0.65, 0.27, 0.08])
    rows = [
        (f"i{n}", rater, "abc"[t if rng.random() < right[t] else (t + 1 + rng.integers(2)) % 3])
        for n, t in enumerate(truth)
        for rater, right in [*chances.items(), ("v", (0.97,) * 3), ("w", (0.96,) * 3)]
    ]
    ratings = assay.read_ratings(pd.DataFrame(rows, columns=["item", "rater", "class_"]))
    fit = assay.fit(ratings, raters="hierarchical", method="laplace", draws=100, chains=2,
                    starts=1, rng=1)  # fmt: skip
    found = Material(fit=fit, budget=False, short=True)
    (table, *_) = raters_section(found).blocks
    assert isinstance(table, Table)
    text = weakest_rater(found)
    first = table.rows[0].cells[0]
    assert re.match(rf"{first} is right|(No rater is clearly weak. )?The lowest is {first},", text)
    if errors := [b for b in raters_section(found).blocks if isinstance(b, Bullets)]:
        told = re.search(r"The largest error: (\w) answers (\w) .* = (\w);", text)
        assert told is None or errors[0].items[0].startswith(
            f"Rater {told[1]} answers '{told[2]}' to class_ in "
        )


def test_a_weakness_on_one_label_is_named_with_the_label() -> None:
    table = standing(("a", 0.9, 0.1), ("b", 0.84, 0.99), ("c", 0.88, 0.6))
    errors = [error("b", "l", 0.29, 0.12), error("c", "m", 0.22, 0.13)]
    given = material(standing=table, talks=errors)
    given.ratings.task.labels = ["l", "m"]
    text = weakest_rater(given)
    assert "with l = 1" in text
    assert "c (on m) also errs" in text


def test_the_class_that_a_weak_rater_misses_is_named() -> None:
    """A rater who missed 57 % of a rare class was named as weak, but not the error."""
    table = standing(("a", 0.9, 0.1), ("b", 0.84, 0.99), ("c", 0.88, 0.98))
    missed = {
        "b": {"label": "l", "true_class": "rare", "rate": 0.57, "others": 0.2},
        "c": {"label": "l", "true_class": "mild", "rate": 0.3, "others": 0.1},
    }
    text = weakest_rater(material(standing=table, misses=missed))
    assert "B misses 57% of the items with l = rare; the other raters miss 20%." in text.replace(
        "b misses", "B misses"
    )
    assert "c (misses 30% of l = mild) also errs more than average" in text
    # The largest error of all is named once.
    named = weakest_rater(material(standing=table, misses=missed, talks=[error("b", "l", 0.5, 0)]))
    assert "The largest error: b" in named
    assert "misses 57%" not in named


def test_more_data_is_out_of_reach_only_if_the_estimate_stays() -> None:
    """In a simulation 45 more prompts decided what no feasible amount would."""
    assert OUT_OF_REACH.startswith("if the estimate stays as it is, ")


def test_what_is_not_known_names_the_largest_weakness_of_the_data() -> None:
    once = finding("single-rating-items", items=1378, of=1580, share=0.872, telling=202)
    apart = finding("paired-systems", systems=2, paired=3, clusters=4052)
    few = finding("few-clusters", clusters=18)
    text = not_known(material(data_check=checked(few, apart, once)))
    assert all(number in text for number in ("87%", "1378", "1580", "202"))
    assert "4052" not in text
    assert "only 3 of 4052 clusters" in not_known(material(data_check=checked(few, apart)))
    assert "only 18 clusters" in not_known(material(data_check=checked(few)))
    paired = finding("paired-systems", systems=2, paired=60, clusters=100)
    assert "60" not in not_known(material(data_check=checked(paired)))


def test_what_is_not_known_names_the_undecided_metrics() -> None:
    pairs = pd.DataFrame(
        {"metric": ["m", "n", "o"], "better": ["higher", "lower", "neither"], "doubt": "",
         "difference": 0.1, "difference_lower": [-0.1, 0.1, -1.0], "difference_upper": 0.2}
    )  # fmt: skip
    ratings = material().ratings
    ratings.systems = ["A", "B"]
    more: dict[str, Any] = {
        "ratings": ratings, "order": ["A", "B"], "baseline": None, "titles": {"m": "M", "n": "N"},
        "comparison": SimpleNamespace(pairs=pairs),
    }  # fmt: skip
    assert not_known(material(**more)).startswith("Which system is better on M. Errors ")
    wide = pd.concat([pairs, pairs.assign(metric=["p", "q", "r"])])
    more["comparison"] = SimpleNamespace(pairs=wide)
    assert _undecided(material(**more)) == "Which system is better on 2 of 4 metrics."
    more["comparison"] = SimpleNamespace(pairs=pairs)
    pairs["difference_lower"] = -0.1
    assert _undecided(material(**more)) == "Which system is better."
    pairs["difference_lower"] = 0.1
    assert _undecided(material(**more)) == ""
    labels = pd.DataFrame({"probability": [0.99, 0.6, 0.9]})
    text = not_known(material(**more, n_known=3, **{"labels": labels}))
    assert "2 of 3 labels" in text
    assert "0.95" in text


def test_the_next_step_fits_in_a_sentence_and_keeps_what_matters_most() -> None:
    talk = error("b", "l", 0.4, 0.1)
    widths = pd.DataFrame({"binds": ["ratings"], "width": [1.0], "one_more_rating": [0.87]})
    doubt = Finding(weight=100.0, text="", section="convergence", code="laplace-rough")
    found = material(talks=[talk], **budget_of(widths))
    steps = next_step(found, []).split("; ")
    assert [bool(re.search(p, s)) for p, s in zip(("of b", "4 items", "4 ratings: .* 13%"), steps,
                                                  strict=True)] == [True] * 3  # fmt: skip
    text = next_step(found, [doubt])
    assert text.startswith("Settle the warning in the box first; look at the errors of b; find")
    assert len(text.split()) <= MOST_WORDS
    text = next_step(found, [doubt], Remedy(command=f"assay run --truth {TRUTH_FILE}"))
    assert text.startswith("Run the command in the box; ")
    assert "truth" not in text
    clusters = widths.rename(columns={"one_more_rating": "ten_more_clusters"})
    found = material(n_known=3, **budget_of(clusters.assign(binds="clusters")))
    assert "10 more clusters (about 40 ratings" in next_step(found, [])
    nothing = material(n_known=3, **budget_of(widths.assign(one_more_rating=0.999)))
    assert next_step(nothing, []).startswith("Nothing: ")


def budget_of(widths: pd.DataFrame, clusters: float = 0.0) -> dict[str, Any]:
    """What the rows read of the effect of more data; ``clusters`` is their share of variance."""
    return {
        "budget": True,
        "summaries": {"population": pd.DataFrame({"metric": ["m"], "mean": [0.5]})},
        "width_of": lambda *_: widths,
        "variance_of": lambda *_: pd.DataFrame({"variance": [1.0], "clusters": [clusters]}),
    }


@pytest.mark.parametrize(("share", "lower"), [(0.8, -0.1), (0.3, -0.1), (0.8, 0.1)])
def test_an_open_comparison_that_clusters_blur_needs_clusters(share: float, lower: float) -> None:
    pairs = pd.DataFrame(
        {"metric": ["n", "m"], "a": "A", "b": "B", "better": "higher", "doubt": "",
         "difference": 0.1, "difference_lower": [0.05, lower], "difference_upper": 0.2}
    )  # fmt: skip
    asked = []
    widths = pd.DataFrame(
        {"binds": ["ratings"], "width": [1.0], "one_more_rating": [0.8], "ten_more_clusters": [0.6]}
    )

    def width_of(*number: Any) -> pd.DataFrame:
        asked.append(number)
        return widths

    ratings = material().ratings
    ratings.systems = ["A", "B"]
    more: dict[str, Any] = budget_of(widths, share) | {
        "ratings": ratings, "order": ["A", "B"], "baseline": None, "talks": [error("b", "l", 1, 0)],
        "comparison": SimpleNamespace(pairs=pairs), "titles": {"m": "M", "n": "N"},
        "width_of": width_of,
    }  # fmt: skip
    text = next_step(material(**more), [])
    # The number is that of the comparison that is open, else of the first.
    assert set(asked) == {("m" if lower < 0 else "n", ("A", "B"))}
    if share > 0.5 and lower < 0:
        assert text.startswith("Rate 10 more clusters (about 40 ratings: interval 40% narrower);")
    else:
        assert "rate each item once more (4 ratings: interval 20% narrower)" in text
        assert text.startswith("Look at")
    # A fit that is not to be relied on has no effect of more data, and no errors to look at.
    text = next_step(material(**more, mark="doubtful fit"), [])
    assert text == "Find the truth of 4 items."  # there are no more


def test_of_many_clusters_ten_more_are_not_the_advice() -> None:
    ratings = material().ratings
    ratings.items = pd.DataFrame({"cluster": range(4000)})
    shrink = 1 - (4000 / 4010) ** 0.5
    text, more = _get(material(ratings=ratings), "clusters", shrink)
    assert text.startswith("rate 1000 more clusters")
    # All parts of the variance shrink alike.
    assert more == pytest.approx(1 - (4000 / 5000) ** 0.5)


def test_page_one_says_how_to_give_a_direction_until_the_task_has_one() -> None:
    study = assay.simulate("relevance", n_items=20, n_clusters=10, n_systems=2, n_raters=3, rng=1)
    found = {}
    for better in ("", "higher"):
        label = replace(study.task.labels[0], better=better)
        ratings = replace(study, task=replace(study.task, labels=(label,)))
        fit = assay.fit(ratings, method="map", draws=30, chains=1, starts=1, rng=1)
        front = make_page(Material(fit=fit, budget=False, short=True)).front
        assert front is not None
        found[better] = dict(front.sentences) | {"note": " ".join(front.command_notes)}
    key = '`better = "higher"`'
    assert key in found[""]["note"]
    assert "in the box" in found[""]["What to do next"]
    assert "no class is named as the good one" in found[""]["Not known"]
    assert key not in found["higher"]["note"]
    assert "no class is named" not in found["higher"]["Not known"]


def test_page_one_names_a_class_where_classes_have_no_order() -> None:
    study = assay.simulate("single", n_items=60, n_systems=2, classes=["a", "b", "c"], rng=1)
    fit = assay.fit(study, method="map", draws=30, chains=1, starts=1, rng=1)
    front = make_page(Material(fit=fit, budget=False, short=True)).front
    assert front is not None
    assert "task='TASK.toml'" in front.command
    assert any('`better = "a"` or another class' in note for note in front.command_notes)


def test_page_one_warns_without_parameters_and_references() -> None:
    rough = (
        "The effective sample size is as low as 46 (prevalence[system system_2, state yes]). Below "
        "400 (Vehtari et al. 2021), the ends of intervals are imprecise. Take more draws "
        "(`draws=3500`)."
    )
    note = Note(rough, code="low-ess", numbers={"ess": 46.2, "limit": 400})
    worst = SimpleNamespace(attrs={"diagnostics": '{"ess_min": 10}'})
    assert finding_on(worst, note).text == (
        "Do not rely on this fit yet: The effective sample size is as low as 46. Below 400, the "
        "ends of intervals are imprecise. Take more draws (`draws=3500`)."
    )
    apart = (
        "The chains disagree: R-hat is above 1.01 (Vehtari et al. 2021) for 1 of 9 parameters "
        "(largest 1.2345, logit_sd[group llm]). Take more draws (`draws=`)."
    )
    note = Note(apart, code="chains-disagree", numbers={"r_hat": 1.2345})
    assert finding_on(worst, note).text.endswith(
        "The chains disagree: the largest R-hat is 1.234, above 1.01. Take more draws (`draws=`)."
    )


def test_one_number_has_one_title() -> None:
    task = assay.read_ratings(grades(("ann", "bo"))).task
    shares = {one.name: one.title for one in prevalence_metrics(task)}
    rate = generic_metric("rate[grade=2]", task)
    assert rate is not None
    assert rate.title == shares["prevalence[grade=2]"] == "Share of grade = 2"
    two = assay.simulate("single", n_items=5, n_raters=3, classes=["no", "yes"], rng=1).task
    name = two.label_names[0]
    plain = generic_metric(f"rate[{name}]", two)
    assert plain is not None
    assert plain.title == f"Share of {name} = yes"


def sized(clusters: int, ratings: int) -> Any:
    items = pd.DataFrame({"cluster": range(clusters)})
    return SimpleNamespace(
        ratings=SimpleNamespace(items=items, answers=np.zeros((ratings, 1))), verdicts=()
    )


def deciding(clusters: int | None, ratings: int | None) -> Deciding:
    return Deciding(verdict="supported", clusters=clusters, ratings_per_item=ratings, sentence="")


def test_data_out_of_reach_are_not_advised() -> None:
    given = sized(150, 300)
    told = _deciding(given, deciding(838, None), "to tell A from B", "no amount")
    assert told == "collect about 840 more clusters (now 150), to tell A from B"
    assert _deciding(given, deciding(40_000, None), "", "no amount") == "no amount"
    assert _deciding(given, deciding(None, None), "", "no amount") == "no amount"
    told = _deciding(given, deciding(840, 3), "to tell", "no amount")
    assert told.startswith("collect about 3 more ratings of each item")


def test_an_open_comparison_says_which_data_would_decide_it() -> None:
    ratings = assay.simulate(
        "single", n_items=80, n_systems=2, n_raters=3, classes=["no", "yes"], rng=2
    )
    systems = trusted(ratings)
    given = Material(fit=systems)
    a, b = given.order
    metric = given.comparison.pairs["metric"].iloc[0]
    decides = assay.check_claim(systems, f"{a} > {b} on {metric}").would_decide
    assert decides is not None  # the sign is open
    text = next_step(given, [])
    assert f"to tell {a} from {b}" in text or f"between {a} and {b}" in text
    assert "narrower" not in text


def test_a_mark_that_the_box_explains_is_not_repeated() -> None:
    mark = "empty class: 1% of the items are '3' (l) by this fit, but 29% of the answers"
    text = "Empty class: 1% of the items are '3' by this fit (l), but 29% of the answers."
    findings = [Finding(weight=100.0, text=text, code="empty-class")]
    pairs = pd.DataFrame({"doubt": [mark]})
    given = material(
        summaries={"population": pairs}, comparison=SimpleNamespace(pairs=pairs), short=False
    )
    given.view = SimpleNamespace(attrs={"method": "nuts", "warnings": "[]"})
    told = " ".join(_cautions(given, findings, {}))
    assert told.lower().count("empty class") == 1
    assert told.endswith("This holds for all numbers with *.")
    table = standing(("a", 0.9, 0.1), ("b", 0.6, 0.9), doubt=mark)
    assert weakest_rater(material(standing=table)).startswith("Unknown: the labels are in doubt")
