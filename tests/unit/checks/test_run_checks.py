import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.checks import Check, check
from assay.checks.findings import Finding
from assay.checks.items import FEW_CLUSTERS
from assay.checks.raters import family_of
from assay.data.overlap import LAYER_ITEMS
from assay.data.task import Label, Task
from assay.evaluation.estimands import MIN_CLUSTERS
from assay.io import read_ratings
from assay.modelling.layers.reference import check_reference
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure


def single(rows: list[tuple[Any, str, str]], **columns: Any) -> Check:
    table = pd.DataFrame(rows, columns=["item", "rater", "label"]).assign(**columns)
    return check(read_ratings(table, task="single"))


def finding(report: Check, code: str, level: str) -> Finding:
    """Return the one finding of a code, which has a level."""
    (found,) = (f for f in report.findings if (f.code, f.level) == (code, level))
    return found


def numbers(report: Check, code: str, level: str) -> dict[str, float]:
    return dict(finding(report, code, level).numbers)


def codes(report: Check, level: str) -> set[str]:
    return {f.code for f in report.findings if f.level == level}


BALANCED = [(n, r, "xy"[(n + (r == "c" and n == 0)) % 2]) for n in range(30) for r in "abc"]


def test_well_designed_ratings_have_no_problem_and_no_warning_about_raters() -> None:
    rows = [(n, r, "xy"[(n // (1 + "abc".index(r))) % 2]) for n in range(40) for r in "abc"]
    report = single(rows)
    assert report.at_least("warning") == ()
    assert numbers(report, "connected-raters", "ok") == {"raters": 3}


def test_ratings_without_an_answer_are_one_problem() -> None:
    found = assay.check(assay.simulate("single", n_items=10, n_raters=3, missing=1, rng=1))
    assert [f.code for f in found.findings if f.level == "problem"] == ["no-answer-given"]


def test_systems_that_share_no_cluster_are_told_how_to_be_paired() -> None:
    rows = [(f"{s} {n}", r, "xy"[n % 2]) for n in range(20) for s in "AB" for r in "ab"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    table = table.assign(system=table["item"].str[0], asked=table["item"].str[2:])
    apart = check(read_ratings(table, task="single"))
    told = finding(apart, "paired-systems", "warning")
    assert told.numbers == {"systems": 2, "paired": 0, "clusters": 40}
    assert "cluster=" in told.text
    paired = check(read_ratings(table, task="single", cluster="asked"))
    told = finding(paired, "paired-systems", "ok")
    assert told.numbers == {"systems": 2, "paired": 20, "clusters": 20}
    assert "cluster=" not in told.text
    alone = table[table["system"] == "A"].assign(system="C", asked=table["asked"] + "z")
    alone["item"] = "C" + alone["item"]
    three = check(read_ratings(pd.concat([table, alone]), task="single", cluster="asked"))
    told = finding(three, "paired-systems", "warning")
    assert told.numbers == {"systems": 3, "paired": 0, "clusters": 40}
    assert "20 have several" in told.text


def test_a_system_that_nobody_rated_is_named() -> None:
    rows = [(f"A{n}", r, "xy"[n % 2]) for n in range(20) for r in "ab"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    places = pd.DataFrame(
        [(s, f"q{n}", 1, f"{s}{n}") for s in "AB" for n in range(20)],
        columns=["system", "query", "rank", "item"],
    )
    silent = check(read_ratings(table, task="single", panels=places))
    assert "no item of B" in finding(silent, "unrated-systems", "warning").text
    truth = pd.DataFrame({"item": ["B0"], "label": ["x"]})
    known = read_ratings(table, task="single", panels=places, truth=truth)
    assert "unrated-systems" not in codes(check(known), "warning")


def test_many_answers_that_no_blocking_interface_records_are_a_warning() -> None:
    rows = [(n, r, 1, int(r != "c" or n % 10 > 0)) for n in range(30) for r in "abc"]
    table = pd.DataFrame(
        rows, columns=["chunk_id", "annotator", "evidence_sufficient", "topically_relevant"]
    )
    report = check(read_ratings(table, task="retrieval", item="chunk_id"))
    assert numbers(report, "rule-not-blocked", "warning") == {"broken": 3, "rows": 90}
    said = finding(report, "rule-not-blocked", "warning").text
    assert "(by c 3)" in said
    start = said.index("response=") + len("response=")
    strength = json.loads(said[start : said.index("}", start) + 1])
    kept = read_ratings(table, task="retrieval", item="chunk_id", response=strength)
    assert kept.accounting.reasons == {}


def test_a_slip_in_the_records_of_a_blocking_interface_is_none() -> None:
    rows = [(n, r, 1, int(r != "c" or n > 0)) for n in range(40) for r in "abc"]
    table = pd.DataFrame(
        rows, columns=["chunk_id", "annotator", "evidence_sufficient", "topically_relevant"]
    )
    report = check(read_ratings(table, task="retrieval", item="chunk_id"))
    assert numbers(report, "rows-set-aside", "note") == {"rows": 1}
    assert "rule-not-blocked" not in codes(report, "warning")


@pytest.mark.parametrize(
    ("classes", "ordered", "told"),
    [("xyz", True, True), ("xyz", False, False), ("xy", True, False)],
)
def test_who_has_ordered_classes_hears_of_a_recipe_for_them(
    classes: str, ordered: bool, told: bool
) -> None:
    task = Task(
        name="grades", labels=(Label(name="grade", classes=tuple(classes), ordered=ordered),)
    )
    table = pd.DataFrame(BALANCED, columns=["item", "rater", "grade"])
    assert ("ordered-classes" in codes(check(read_ratings(table, task=task)), "note")) is told


def test_a_recipe_that_reads_answers_is_not_named_to_raters_of_scores_alone() -> None:
    task = Task(name="grades", labels=(Label(name="grade", classes=("x", "y", "z"), ordered=True),))
    table = pd.DataFrame({"item": [1, 2, 3], "rater": "a", "grade_score": [0.1, 0.5, 0.9]})
    report = check(read_ratings(table, task=task))
    assert "ordered-classes" not in codes(report, "note")


def test_one_rating_an_item_is_counted() -> None:
    report = single([(1, "a", "x"), (1, "b", "y"), (2, "a", "x"), (3, "b", "y")])
    once = numbers(report, "single-rating-items", "warning")
    assert once == pytest.approx({"items": 2, "of": 3, "share": 2 / 3, "telling": 1})
    assert report.tables["ratings_per_item"].to_dict("list") == {"ratings": [1, 2], "items": [2, 1]}


def test_items_that_nobody_shares_are_a_problem() -> None:
    report = single([(1, "a", "x"), (2, "b", "y")])
    assert numbers(report, "no-shared-items", "problem") == {"items": 0, "of": 2}


def test_one_rater_is_a_problem_even_with_replicates() -> None:
    report = single([(1, "a", "x"), (1, "a", "y")], replicate=[1, 2])
    assert "one-rater" in codes(report, "problem")
    assert numbers(report, "no-shared-items", "problem") == {"items": 0, "of": 1}
    assert numbers(report, "replicates", "note") == {"replicates": 1}


def test_raters_without_a_chain_of_items_are_told_apart() -> None:
    rows = [
        (1, "a", "x"),
        (1, "b", "y"),
        (2, "c", "x"),
        (2, "d", "y"),
        (3, "d", "x"),
        (3, "e", "x"),
    ]
    report = single(rows)
    parts = numbers(report, "unconnected-raters", "warning")
    assert parts == {"parts": 2, "largest": 3, "raters": 5}
    assert report.tables["raters"]["component"].tolist() == [0, 0, 1, 1, 1]


def test_near_duplicates_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(1)
    said = rng.choice(["x", "y"], (120, 2))
    rows = [(n, r, said[n, c]) for n in range(120) for r, c in (("a", 0), ("b", 0), ("c", 1))]
    pairs = single(rows).tables["near_duplicate_raters"]
    assert pairs[["rater", "other", "items", "agreement"]].to_numpy().tolist() == [
        ["a", "b", 120, 1.0]
    ]


def test_near_duplicates_are_not_sought_where_all_answers_are_alike() -> None:
    rows = [(n, r, "x" if n else "y") for n in range(40) for r in "abc"]
    report = single(rows)
    assert "near_duplicate_raters" not in report.tables
    assert "near-duplicates-untold" in codes(report, "note")


def test_models_of_one_family_may_not_be_independent() -> None:
    raters = ["openai/gpt-4o", "gpt-4o-mini", "o3-mini", "claude-3-opus", "Claudette", "Ann"]
    rng = np.random.default_rng(3)
    rows = [(n, r, str(rng.choice(["x", "y"]))) for n in range(30) for r in raters]
    report = single(rows)
    said = finding(report, "model-families", "note")
    assert said.numbers == {"families": 1}
    assert "GPT (gpt-4o-mini, o3-mini, openai/gpt-4o)" in said.text
    assert set(report.tables["model_families"]["rater"]) == set(raters[:3])
    people = single([row for row in rows if row[1] in {"claude-3-opus", "Ann"}])
    assert "model-families" not in codes(people, "note")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt4", "GPT"),
        ("ChatGPT", "GPT"),
        ("anthropic.claude-v2", "Claude"),
        ("Claudette", ""),
        ("meta-llama/Llama-3-8b", "Llama"),
        ("Mixtral-8x7B", "Mistral"),
        ("phi-3", "Phi"),
        ("Philip", ""),
        ("deepseek-r1-distill-qwen-7b", ""),
        ("o1", ""),
        ("o3-mini-2025-01-31", "GPT"),
        ("Claude", ""),
        ("gemma", ""),
        ("gemma2-9b", "Gemini"),
        ("claude sonnet 4", "Claude"),
        ("supernova", ""),
        ("command-r-plus", "Command"),
        ("commander", ""),
    ],
)
def test_names_of_models(name: str, family: str) -> None:
    assert family_of(name) == family


def test_a_constant_rater_is_named() -> None:
    rows = [(n, r, "x" if r == "b" else "xy"[n % 2]) for n in range(12) for r in "ab"]
    constant = finding(single(rows), "constant-raters", "warning")
    assert constant.numbers == {"raters": 1}
    assert constant.text.endswith(": b")


def test_a_constant_label_is_a_warning() -> None:
    report = single([(n, r, "5") for n in range(3) for r in "ab"])
    assert "single-class-answers" in codes(report, "warning")


def test_classes_that_nobody_reported_and_labels_without_answers() -> None:
    table = pd.DataFrame(
        {"item": [1, 1, 2], "rater": list("aba"), "relevance": ["no", "yes", "no"]}
    )
    report = check(read_ratings(table, task="relevance"))
    assert finding(report, "unreported-classes", "note").text.endswith("partially")
    table = table.rename(columns={"relevance": "misleading"})
    report = check(read_ratings(table, task="retrieval"))
    silent = [f.text for f in report.findings if f.code == "label-unanswered"]
    assert any("evidence_sufficient" in text for text in silent)


def test_answers_missing_and_not_asked_are_counted() -> None:
    table = pd.DataFrame(
        {
            "item": [1, 2, 3], "rater": "a", "flagged": ["yes", "no", "no"],
            "interpretable": ["", "yes", ""], "attributable": ["", "", ""],
        }
    )  # fmt: skip
    labels = check(read_ratings(table, task="ais")).tables["labels"].set_index("label")
    assert labels.loc["interpretable", ["answered", "missing", "not_asked"]].tolist() == [1, 1, 1]
    assert labels.loc["attributable", "share_not_asked"] == pytest.approx(1 / 3)


def test_breaks_of_a_rule_that_only_warns_are_counted() -> None:
    table = pd.DataFrame(
        {
            "item": [1, 2], "rater": "a", "topically_relevant": "yes",
            "evidence_sufficient": "yes", "misleading": ["yes", "no"],
        }
    )  # fmt: skip
    ratings = read_ratings(
        table, task="retrieval", response={"sufficient_is_not_misleading": "warn"}
    )
    assert numbers(check(ratings), "rule-broken", "note") == {"broken": 1, "ratings": 2}


def ranked(**columns: Any) -> pd.DataFrame:
    size = 24
    table = pd.DataFrame(
        {"item": range(size), "rater": "a", "misleading": ["no", "yes"] * (size // 2)}
    )
    return table.assign(**columns)


def test_what_would_unlock_metrics_and_comparisons_is_said() -> None:
    report = check(read_ratings(ranked(), task="retrieval"))
    assert "no-comparison" in codes(report, "note")
    assert "no-ranked-lists" in codes(report, "warning")
    clustered = ranked(query=np.arange(24) // 2)
    report = check(read_ratings(clustered, task="retrieval"))
    assert "no-ranks" in codes(report, "warning")
    assert numbers(report, "few-clusters", "warning") == {"clusters": 12}
    complete = clustered.assign(
        query=np.arange(24) // 4, rank=np.arange(24) % 2 + 1, system=["s", "s", "t", "t"] * 6
    )
    report = check(read_ratings(complete, task="retrieval"))
    assert numbers(report, "comparable-systems", "note") == {"systems": 2}
    assert "ranked-lists" in codes(report, "ok")


def test_systems_that_lack_clusters_are_a_warning() -> None:
    table = ranked(query=np.arange(24) // 2, system=["s", "t"] * 11 + ["s", "s"])
    said = finding(check(read_ratings(table, task="retrieval")), "paired-systems", "warning")
    assert said.numbers == {"systems": 2, "paired": 11, "clusters": 12}
    assert "cluster=" not in said.text
    few = ranked(query=["q", "q", *range(22)], system=["s", "t"] * 12)
    said = finding(check(read_ratings(few, task="retrieval")), "paired-systems", "warning")
    assert said.numbers == {"systems": 2, "paired": 1, "clusters": 23}
    assert "cluster=" in said.text


def test_rows_set_aside_and_columns_are_reported() -> None:
    table = pd.DataFrame(
        {
            "item": [1, 1, ""],
            "rater": ["a", "b", "a"],
            "worker": "w",
            "label": list("xyx"),
            "text": "t",
        }
    )
    report = check(read_ratings(table, task="single"))
    assert numbers(report, "rows-used", "warning") == {"read": 3, "used": 2, "aside": 1}
    assert finding(report, "rows-set-aside", "note").text.endswith("no item (first: 2)")
    assert "worker" in finding(report, "ambiguous-column", "note").text
    assert finding(report, "unused-columns", "note").text.endswith(": worker, text")


def test_the_report_reads_and_survives_json() -> None:
    report = single(BALANCED)
    text = str(report)
    assert text.startswith("Task single: ")
    assert all(finding.text in text for finding in report.findings)
    back = json.loads(report.to_json())
    assert len(back["findings"]) == len(report.findings)
    assert back["tables"]["classes"][0]["class"] == "x"


def test_a_language_model_is_never_taken_for_a_person() -> None:
    report = single([(1, "gpt4", "x"), (1, "human_1", "y")])
    assert numbers(report, "rater-groups", "note") == {"raters": 2, "groups": 1}
    assert set(report.tables["raters"]["group"]) == {"all"}


def test_the_export_of_the_protocol(shared_data: Path) -> None:
    report = check(read_ratings(shared_data / "protocol_export", task="retrieval"))
    paired = {"systems": 2, "paired": 160, "clusters": 160}
    assert numbers(report, "paired-systems", "ok") == paired
    assert numbers(report, "rule-broken", "note") == {"broken": 8, "ratings": 1971}
    assert report.tables["raters"]["abstained"].sum() == 41
    assert (report.tables["incomplete_panels"]["unrated"] > 0).all()


def scored(size: int = 40) -> pd.DataFrame:
    """Two raters: m gives answers with scores that heap, n scores alone."""
    return pd.DataFrame(
        {
            "item": np.repeat(np.arange(size), 2), "rater": ["m", "n"] * size,
            "misleading": ["no", "", "yes", ""] * (size // 2),
            "misleading_score": np.tile([0.1, 0.25, 0.9, 0.5], size // 2),
        }
    )  # fmt: skip


class TestScores:
    def test_who_gives_scores_and_where_they_heap(self) -> None:
        table = scored()
        table.loc[:3, "misleading_score"] = [0.11, 0.12, 0.93, 0.14]
        report = check(read_ratings(table, task="retrieval"))
        values = finding(report, "score-values", "note")
        assert values.numbers == {"scores": 80, "raters": 2, "values": 8}
        assert "heaped at 0.1 (24%)" in values.text
        assert numbers(report, "scores-without-answers", "note") == {"ratings": 40}
        lines = report.tables["scores"].set_index("rater")
        assert lines.loc["m", ["scores", "values", "commonest"]].tolist() == [40, 4, 0.1]
        assert lines.loc["m", "share_commonest"] == pytest.approx(19 / 40)

    def test_a_constant_scorer_and_one_of_few_values_are_named(self) -> None:
        table = scored()
        table.loc[table["rater"] == "n", "misleading_score"] = 0.9
        report = check(read_ratings(table, task="retrieval"))
        assert finding(report, "constant-scores", "warning").text.endswith(": n")
        few = finding(report, "few-score-values", "note")
        assert few.numbers == {"raters": 1, "values": 5}
        assert few.text.endswith(": m")
        assert "raters='scored'" in finding(report, "scores-reader", "note").text

    def test_ends_are_counted(self) -> None:
        table = scored().replace({"misleading_score": {0.25: 0, 0.5: 1}})
        lines = check(read_ratings(table, task="retrieval")).tables["scores"].set_index("rater")
        assert lines.loc["n", ["zeros", "ones"]].tolist() == [20, 20]

    def test_scores_against_the_answer_are_counted(self) -> None:
        table = scored()
        table.loc[0, "misleading_score"] = 0.9
        report = check(read_ratings(table, task="retrieval"))
        assert numbers(report, "scores-against-answers", "note") == {"scores": 1, "of": 40}

    def test_raters_of_scores_alone_are_neither_silent_nor_constant_nor_twins(self) -> None:
        table = pd.concat([scored(), scored().query("rater == 'n'").assign(rater="o")])
        report = check(read_ratings(table, task="retrieval"))
        raters = report.tables["raters"].set_index("rater")
        assert raters.loc[["n", "o"], "ratings"].tolist() == [40, 40]
        assert not raters.loc["n", "constant"]
        assert "near_duplicate_raters" not in report.tables
        assert "silent-raters" not in codes(report, "warning")

    def test_a_label_with_scores_alone_is_no_gap(self) -> None:
        table = scored().drop(columns="misleading").assign(topically_relevant="yes")
        report = check(read_ratings(table, task="retrieval"))
        assert "misleading" in finding(report, "label-scores-only", "note").text
        silent = [f.text for f in report.findings if f.code == "label-unanswered"]
        assert not any("misleading" in text for text in silent)

    def test_the_family_that_reads_them_is_proposed_for_the_group_that_gives_them(self) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 1, 2, 2], "rater": ["m", "p"] * 2, "rater_group": ["llm", "people"] * 2,
                "misleading": ["no", "yes"] * 2, "misleading_score": [0.2, None, 0.4, None],
            }
        )  # fmt: skip
        report = check(read_ratings(table, task="retrieval"))
        said = 'raters={"llm": "scored", "people": "hierarchical"}'
        assert said in finding(report, "scores-reader", "note").text

    def test_the_family_is_not_proposed_for_classes_without_order(self) -> None:
        kind = Label(name="kind", classes=("x", "y", "z"))
        task = Task(name="both", labels=(Label(name="safe"), kind))
        table = scored().rename(columns=lambda name: name.replace("misleading", "safe"))
        for kinds, level in ((["x", "y"], "warning"), ([None, None], "note")):
            report = check(read_ratings(table.assign(kind=kinds * 40), task=task))
            assert ("scores-reader" in codes(report, level)) == (level == "note")
            assert ("scores-unread" in codes(report, "warning")) == (level == "warning")

    def test_without_scores_nothing_is_said(self) -> None:
        report = single(BALANCED)
        assert "scores" not in report.tables
        topics = {f.topic for f in report.findings}
        assert not topics & {"scores", "sessions", "times", "audits", "replicates"}


def test_a_group_that_a_fit_takes_for_the_reference_is_offered() -> None:
    """What check offers a fit takes, and nothing else."""
    table = pd.DataFrame(BALANCED, columns=["item", "rater", "label"])
    table["group"] = table["rater"].map({"a": "person", "b": "person", "c": "llm"})
    ratings = read_ratings(table, task="single")
    able = finding(check(ratings), "joint-errors-askable", "note")
    assert able.numbers == {"groups": 1, "items": LAYER_ITEMS}
    assert "`reference='person'` (30 items)" in able.text
    check_reference(ratings, "person")
    few = read_ratings(table[table["item"] > 0], task="single")
    unable = numbers(check(few), "joint-errors-not-askable", "note")
    assert unable == {"groups": 0, "items": LAYER_ITEMS}
    for group in ("person", "llm"):
        with pytest.raises(
            ModelError, match="needs at least", check=refusal("reference-too-few-items")
        ):
            check_reference(few, group)


class TestSessions:
    def test_sessions_of_one_size_have_one_number(self) -> None:
        report = single(BALANCED, session=["s1"] * 45 + ["s2"] * 45)
        sizes = finding(report, "session-sizes", "note")
        assert sizes.numbers == {"sessions": 2, "fewest": 45, "most": 45}
        assert "from s1 to s2, with 45 ratings each: s1 45, s2 45" in sizes.text

    def test_sizes_and_drift(self) -> None:
        report = single(BALANCED, session=["s1"] * 60 + ["s2"] * 30)
        sizes = {"sessions": 2, "fewest": 30, "most": 60}
        assert numbers(report, "session-sizes", "note") == sizes
        able = {"able": 3, "raters": 3, "ratings": 10}
        assert numbers(report, "drift-raters", "note") == able
        table = report.tables["sessions"]
        assert table.to_dict("list") == {
            "session": ["s1", "s2"], "ratings": [60, 30], "raters": [3, 3], "items": [20, 10],
        }  # fmt: skip

    def test_too_little_for_drift_is_a_warning(self) -> None:
        report = single(BALANCED, session=["s1"] * 80 + ["s2"] * 5 + [""] * 5)
        able = {"able": 0, "raters": 3, "ratings": 10}
        assert numbers(report, "drift-raters", "warning") == able
        assert numbers(report, "unknown-sessions", "note") == {"ratings": 5}

    def test_times(self) -> None:
        report = single(BALANCED, seconds=[*range(1, 90), ""])
        times = {"timed": 89, "ratings": 90, "median": 45, "lower": 5.4, "upper": 84.6}
        assert numbers(report, "rating-times", "note") == pytest.approx(times)


class TestAudits:
    def test_counts_and_shares(self) -> None:
        report = single(BALANCED, audit=["right", "wrong", "right"] + [""] * 87)
        audited = finding(report, "audited-ratings", "note")
        assert audited.numbers == {"audited": 3, "ratings": 90, "right": 2, "judged": 3}
        assert "right (66.7%)" in audited.text
        assert numbers(report, "audit-choice", "note") == {"raters": 3, "of": 3}
        assert "audits" in finding(report, "no-known-truth", "note").text
        line = report.tables["audits"].to_dict("records")[0]
        assert (line["right"], line["wrong"]) == (2, 1)
        assert line["share_right"] == pytest.approx(2 / 3)

    def test_wrong_without_saying_where_is_a_warning(self) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 2, 3], "rater": "a", "topically_relevant": "yes",
                "misleading": ["no", "yes", "no"], "audit": ["wrong", "right", ""],
            }
        )  # fmt: skip
        report = check(read_ratings(table, task="retrieval"))
        assert numbers(report, "vague-audits", "warning") == {"ratings": 1}
        shares = finding(report, "audit-shares", "note").text
        assert shares.endswith(": topically_relevant 1 of 1, misleading 1 of 1")
        assert report.tables["audits"]["wrong_somewhere"].tolist() == [1, 0, 1]

    @pytest.mark.parametrize(
        ("audit", "gold", "said"),
        [
            (
                ["wrong", "", ""],
                ["yes", "yes"],
                "topically_relevant 'yes' by rater b on item 2 is wrong",
            ),
            (["", "right", ""], ["yes", "yes"], "misleading 'no' by rater b on item 2 is right"),
            (
                ["", "", "wrong"],
                ["yes", "no"],
                "'yes', misleading 'no' by rater b on item 2 is wrong",
            ),
            (["right", "wrong", ""], ["yes", "yes"], ""),
            (["", "", "right"], ["", "no"], ""),
            (["", "", "wrong"], ["yes", ""], ""),
        ],
    )
    def test_audits_that_contradict_the_known_truth(
        self, audit: list[str], gold: list[str], said: str
    ) -> None:
        """Rater b on item 2: relevant and not misleading. The model refuses what check names."""
        count = 40
        table = pd.DataFrame(
            {
                "item": np.repeat(np.arange(count), 2), "rater": ["a", "b"] * count,
                "topically_relevant": "yes", "misleading": "no",
            }
        )  # fmt: skip
        names = ["audit_t", "audit_m", "audit"]
        row = table.index == 5
        marks = {n: np.where(row, mark, "") for n, mark in zip(names, audit, strict=True) if mark}
        table = table.assign(**marks)
        for name, truth in zip(("gold_t", "gold_m"), gold, strict=True):
            table[name] = np.where(table["item"] == 2, truth, "")
        columns = dict(zip(("topically_relevant", "misleading"), names[:2], strict=True))
        ratings = read_ratings(
            table,
            task="retrieval",
            truth={"topically_relevant": "gold_t", "misleading": "gold_m"},
            audit="audit" if audit[2] else {k: v for k, v in columns.items() if v in marks},
        )
        report = check(ratings)
        assert ("audit-contradiction" in codes(report, "problem")) == bool(said)
        if not said:
            build_structure(ratings, make_spec())
            return
        against = finding(report, "audit-contradiction", "problem").text
        assert "rater b on item 2" in against
        assert said in against
        with pytest.raises(ModelError) as refused:
            build_structure(ratings, make_spec())
        assert refused.value.code == "audit-contradiction"


class TestReplicates:
    @pytest.mark.parametrize(
        ("gold", "slip"), [("yess", True), ("Yes ", False), ("perhaps", False), ("no", False)]
    )
    def test_a_slip_in_the_truth_makes_no_class_in_silence(self, gold: str, slip: bool) -> None:
        rows = [(n, r, ("no", "yes")[(n + (r == "c")) % 2]) for n in range(30) for r in "abc"]
        table = pd.DataFrame(rows, columns=["item", "rater", "label"])
        table["truth"] = np.select([table["item"] == 1, table["item"] == 2], [gold, "no"], "")
        report = check(read_ratings(table, task="single", truth="truth"))
        assert ("truth-class-slip" in codes(report, "warning")) == slip
        if slip:
            said = finding(report, "truth-class-slip", "warning").text
            assert said.index("'yess'") < said.index("'yes'")

    def test_classes_that_differ_by_a_number_are_no_slips(self) -> None:
        rows = [(n, r, f"class {(n + (r == 'c')) % 2}") for n in range(30) for r in "abc"]
        table = pd.DataFrame(rows, columns=["item", "rater", "label"])
        known = [table["item"] == 1, table["item"] == 2]
        table["truth"] = np.select(known, ["class 2", "class 0"], "")
        report = check(read_ratings(table, task="single", truth="truth"))
        assert "truth-class-slip" not in codes(report, "warning")

    def test_audits_that_contradict_each_other(self) -> None:
        """Two answers that differ cannot both be right: check says so, with whose they are."""
        table = pd.DataFrame(BALANCED, columns=["item", "rater", "label"])
        first = table["item"] == 0  # where c says what a and b do not
        table["audit"] = np.where(first, "right", "")
        ratings = read_ratings(table, task="single")
        against = finding(check(ratings), "audit-contradiction", "problem").text
        assert "The audits of 0 are of a, b, c." in against
        with pytest.raises(ModelError) as refused:
            build_structure(ratings, make_spec())
        assert refused.value.code == "audit-contradiction"

    def test_pairs_that_agree(self) -> None:
        rows = [(1, "a", "x"), (1, "a", "x"), (1, "a", "y"), (2, "a", "y"), (2, "a", "y")]
        rows += [(1, "b", "x"), (2, "b", "x")]
        report = single(rows, replicate=[1, 2, 3, 1, 2, 1, 1])
        agreement = {"pairs": 4, "raters": 1, "same": 2, "share": 0.5}
        assert numbers(report, "replicate-agreement", "note") == agreement
        table = report.tables["replicates"]
        assert table[["rater", "items", "pairs", "same"]].to_numpy().tolist() == [["a", 2, 4, 2]]

    def test_the_anaesthetist(self, shared_data: Path) -> None:
        path = shared_data / "anesthesia" / "annotations.csv"
        table = pd.read_csv(path).query("rater == 1").pivot(
            index="item", columns="replicate", values="label"
        )  # fmt: skip
        expected = sum(int((table[i] == table[j]).sum()) for i, j in ((1, 2), (1, 3), (2, 3)))
        found = check(read_ratings(path, task="single")).tables["replicates"]
        assert found[["pairs", "same"]].to_numpy().tolist() == [[135, expected]]


class TestSlots:
    def rows(self, names: list[str], rng: int, *, ordered: bool) -> list[tuple[Any, str, str]]:
        said = np.random.default_rng(rng).choice(list("xyz"), (40, len(names)))
        said = np.sort(said, axis=1) if ordered else said
        return [(n, r, said[n, c]) for n in range(40) for c, r in enumerate(names)]

    @pytest.mark.parametrize("names", [["rater1", "rater2", "rater3"], ["wid_2", "wid_0", "wid_1"]])
    def test_numbered_raters_of_every_item_may_be_slots(self, names: list[str]) -> None:
        report = single(self.rows(names, 1, ordered=False))
        slots = finding(report, "slot-raters", "note")
        assert slots.numbers == {"raters": 3}
        assert f"{min(names)} to {max(names)}" in slots.text

    def test_sorted_answers_are_a_warning(self) -> None:
        names = ["rater10", *(f"rater{n}" for n in range(1, 10))]
        in_order = sorted(names, key=lambda name: int(name[5:]))
        report = single(self.rows(in_order, 2, ordered=True))
        assert "slot-raters" in codes(report, "warning")

    @pytest.mark.parametrize(
        "names", [["ann", "bob", "cy"], ["r1", "r3", "r4"], ["x1", "y2", "x3"], ["1", "2", "3"]]
    )
    def test_other_names_are_not(self, names: list[str]) -> None:
        report = single(self.rows(names, 3, ordered=False))
        assert "slot-raters" not in codes(report, "note") | codes(report, "warning")

    def test_raters_of_fewer_items_are_not(self) -> None:
        rows = self.rows(["rater1", "rater2", "rater3"], 4, ordered=False)
        assert "slot-raters" in codes(single(rows[1:]), "note")
        fewer = [row for row in rows if row[1] != "rater2" or row[0] >= 5]
        assert "slot-raters" not in codes(single(fewer), "note")

    @pytest.mark.parametrize(
        ("folder", "label"), [("xsum_hallucination", "hallucinated"), ("fleiss_diagnoses", "label")]
    )
    def test_real_slots(self, folder: str, label: str, shared_data: Path) -> None:
        path = shared_data / folder / "annotations.csv"
        report = check(read_ratings(path, task="single", labels=label))
        assert "slot-raters" in codes(report, "warning")


class TestLeaning:
    def sparse(self, several: int, size: int = 200) -> pd.DataFrame:
        """Rate ``several`` items three times and the rest once; one in ten is misleading."""
        rng = np.random.default_rng(7)
        times = np.where(np.arange(size) < several, 3, 1)
        item = np.repeat(np.arange(size), times)
        rater = np.concatenate([rng.permutation(6)[:n] for n in times])
        bad = rng.random(size) < 0.1
        return pd.DataFrame(
            {
                "item": item, "rater": rater.astype(str), "query": item // 5,
                "system": np.where(item < size // 2, "one", "two"),
                "topically_relevant": np.where(item % 2, "yes", "no"),
                "misleading": np.where(bad[item], "yes", "no"),
            }
        )  # fmt: skip

    def test_nine_in_ten_rated_once(self) -> None:
        report = check(read_ratings(self.sparse(20), task="retrieval", cluster="query"))
        leaning = [f for f in report.findings if f.topic == "dependence on the prior"]
        once = {"items": 180, "of": 200, "share": 0.9, "telling": 20}
        assert numbers(report, "single-rating-items", "warning") == once
        classes = finding(report, "few-items-classes", "note").text
        table = report.tables["telling_items"].set_index(["label", "class"])["items"]
        assert f"sensitivity on about {table['misleading', 'yes']} items" in classes
        assert table["misleading", "yes"] < 5
        assert table["topically_relevant"].tolist() == [10, 10]
        assert not any("evidence_sufficient" in f.text for f in leaning)
        systems = finding(report, "few-items-systems", "note")
        assert systems.numbers == {"systems": 1, "of": 2, "items": 20}
        assert systems.text.endswith(": two 0")
        assert {f.level for f in leaning} == {"warning", "note"}

    def test_three_ratings_of_every_item_lean_on_nothing(self) -> None:
        table = self.sparse(600, size=600)
        report = check(read_ratings(table, task="retrieval", cluster="query"))
        (found,) = [f for f in report.findings if f.topic == "dependence on the prior"]
        assert (found.code, found.level) == ("no-prior-leaning", "ok")
        assert "evidence_sufficient" in found.text

    def test_classes_without_a_name_of_their_reliability_are_told_by_name(self) -> None:
        rows = [(n, r, "x" if n < 25 else "yz"[n % 2]) for n in range(40) for r in "ab"]
        few = finding(single(rows), "few-items-classes", "note")
        assert few.numbers == {"labels": 1, "items": 20}
        assert "(label: y on about 7, z on about 8)" in few.text

    def test_known_truth_tells_as_a_second_rater_does(self) -> None:
        table = self.sparse(0)
        truth = table[["item", "misleading", "topically_relevant"]]
        bare = check(read_ratings(table, task="retrieval"))
        known = check(read_ratings(table, task="retrieval", truth=truth))
        assert bare.tables["telling_items"]["items"].sum() == 0
        assert bare.tables["shared_items"]["shared"].sum() == 0
        counts = known.tables["telling_items"].set_index(["label", "class"])["items"]
        assert counts["topically_relevant"].tolist() == [100, 100]
        assert known.tables["shared_items"]["shared"].sum() == 200
        assert "single-rating-items" not in codes(known, "warning")

    def test_raters_without_company_are_named(self) -> None:
        table = self.sparse(60)
        alone = table.query("item >= 60").head(30).assign(rater="lonely")
        others = table[~table["item"].isin(alone["item"])]
        report = check(read_ratings(pd.concat([others, alone]), task="retrieval"))
        few = finding(report, "few-shared-items", "note")
        assert few.numbers == {"raters": 1, "of": 7, "items": 10}
        assert ": lonely (0 of 30). Their reliability" in few.text


def test_what_a_check_promises_is_what_a_fit_asks_for() -> None:
    """A check comes before all that fits, and names its numbers without importing them."""
    assert FEW_CLUSTERS == MIN_CLUSTERS
    known = pd.DataFrame({"item": range(5), "label": ["x"] * 5})
    table = pd.DataFrame(BALANCED, columns=["item", "rater", "label"])
    told = finding(check(read_ratings(table, task="single", truth=known)), "known-truth", "note")
    assert told.numbers == {"items": 5, "of": 30}
    assert f"With {LAYER_ITEMS} such items" in told.text
