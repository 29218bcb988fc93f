import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.checking import Check, check
from assay.reading import read_ratings


def single(rows: list[tuple[Any, str, str]], **columns: Any) -> Check:
    table = pd.DataFrame(rows, columns=["item", "rater", "label"]).assign(**columns)
    return check(read_ratings(table, task="single"))


def texts(report: Check, level: str) -> str:
    return "\n".join(f.text for f in report.findings if f.level == level)


BALANCED = [(n, r, "xy"[(n + (r == "c" and n == 0)) % 2]) for n in range(30) for r in "abc"]


def test_well_designed_ratings_have_no_problem_and_no_warning_about_raters() -> None:
    rows = [(n, r, "xy"[(n // (1 + "abc".index(r))) % 2]) for n in range(40) for r in "abc"]
    report = single(rows)
    assert report.at_least("warning") == ()
    assert "all 3 raters are connected" in texts(report, "ok")


def test_one_rating_an_item_is_counted() -> None:
    report = single([(1, "a", "x"), (1, "b", "y"), (2, "a", "x"), (3, "b", "y")])
    assert "2 of 3 items have one rating" in texts(report, "warning")
    assert report.tables["ratings_per_item"].to_dict("list") == {"ratings": [1, 2], "items": [2, 1]}


def test_items_that_nobody_shares_are_a_problem() -> None:
    report = single([(1, "a", "x"), (2, "b", "y")])
    assert "0 of 2 items were answered by two raters" in texts(report, "problem")


def test_one_rater_is_a_problem_even_with_replicates() -> None:
    report = single([(1, "a", "x"), (1, "a", "y")], replicate=[1, 2])
    assert "one rater" in texts(report, "problem")
    assert "0 of 1 items were answered by two raters" in texts(report, "problem")
    assert "1 ratings are replicates" in texts(report, "note")


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
    assert "2 parts" in texts(report, "warning")
    assert "1 items rated in two parts" in texts(report, "warning")
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
    assert "almost all answers are alike" in texts(report, "note")


def test_a_constant_rater_is_named() -> None:
    rows = [(n, r, "x" if r == "b" else "xy"[n % 2]) for n in range(12) for r in "ab"]
    assert "1 raters always give the same answer: b" in texts(single(rows), "warning")


def test_a_constant_label_is_a_warning() -> None:
    report = single([(n, r, "5") for n in range(3) for r in "ab"])
    assert "every answer is 5" in texts(report, "warning")


def test_classes_that_nobody_reported_and_labels_without_answers() -> None:
    table = pd.DataFrame(
        {"item": [1, 1, 2], "rater": list("aba"), "relevance": ["no", "yes", "no"]}
    )
    assert "nobody reported partially" in texts(
        check(read_ratings(table, task="relevance")), "note"
    )
    table = table.rename(columns={"relevance": "misleading"})
    report = check(read_ratings(table, task="retrieval"))
    assert "evidence_sufficient has no answer at all" in texts(report, "warning")


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
    assert "1 of 2 ratings break rule sufficient_is_not_misleading" in texts(check(ratings), "note")


def ranked(**columns: Any) -> pd.DataFrame:
    size = 24
    table = pd.DataFrame(
        {"item": range(size), "rater": "a", "misleading": ["no", "yes"] * (size // 2)}
    )
    return table.assign(**columns)


def test_what_would_unlock_metrics_and_comparisons_is_said() -> None:
    report = check(read_ratings(ranked(), task="retrieval"))
    assert "unlock it with system=" in texts(report, "note")
    assert "unlock them with cluster= or panel=, and rank=" in texts(report, "warning")
    clustered = ranked(query=np.arange(24) // 2)
    report = check(read_ratings(clustered, task="retrieval"))
    assert "unlock them with rank=" in texts(report, "warning")
    assert "12 clusters: fewer than 20" in texts(report, "warning")
    assert "8 more would unlock" in texts(report, "warning")
    complete = clustered.assign(
        query=np.arange(24) // 4, rank=np.arange(24) % 2 + 1, system=["s", "s", "t", "t"] * 6
    )
    report = check(read_ratings(complete, task="retrieval"))
    assert "2 systems can be compared: s, t" in texts(report, "ok")
    assert "ranked lists" in texts(report, "ok")


def test_systems_that_lack_clusters_are_a_warning() -> None:
    table = ranked(query=np.arange(24) // 2, system=["s", "t"] * 11 + ["s", "s"])
    assert "11 of 12 clusters have all of them" in texts(
        check(read_ratings(table, task="retrieval")), "warning"
    )


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
    assert "3 rows read, 2 used, 1 set aside" in texts(report, "warning")
    assert "1 set aside: no item (first: 2)" in texts(report, "note")
    assert "could also be worker" in texts(report, "note")
    assert "not used: worker, text" in texts(report, "note")


def test_the_report_reads_and_survives_json() -> None:
    report = single(BALANCED)
    text = str(report)
    assert text.startswith("<assay.Ratings of task single")
    assert all(finding.text in text for finding in report.findings)
    back = json.loads(report.to_json())
    assert len(back["findings"]) == len(report.findings)
    assert back["tables"]["classes"][0]["class"] == "x"


def test_a_language_model_is_never_taken_for_a_person() -> None:
    report = single([(1, "gpt4", "x"), (1, "human_1", "y")])
    assert "all 2" in texts(report, "note")
    assert set(report.tables["raters"]["group"]) == {"all"}


def test_the_export_of_the_protocol(shared_data: Path) -> None:
    report = check(read_ratings(shared_data / "protocol_export", task="retrieval"))
    assert "160 of 160 clusters have all of them" in texts(report, "ok")
    assert "8 of 1971 ratings break rule sufficient_is_not_misleading" in texts(report, "note")
    assert report.tables["raters"]["abstained"].sum() == 41
    assert (report.tables["incomplete_panels"]["unrated"] > 0).all()
