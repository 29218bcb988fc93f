"""read_ratings on real ratings: counts as their documentation states them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.states import MISSING
from assay.io import read_ratings
from assay.io.skip_logic import CLOSED

SINGLE = {
    "anesthesia": (315, 45, 5), "carcinoma": (826, 118, 7), "caries": (19345, 3869, 5),
    "dices_350": (43050, 350, 123), "diras_chatreport": (12003, 660, 19), "dogs": (8070, 807, 109),
    "fleiss_diagnoses": (180, 30, 6), "hiv_tests": (1712, 428, 4), "pandalm": (4970, 999, 5),
    "product_er": (24945, 8315, 176), "sentiment_sp_amt": (10000, 500, 143),
    "snow_rte": (8000, 800, 164), "web_relevance": (15567, 2665, 177), "xstest": (8989, 2250, 4),
}  # fmt: skip
BY_ROW = {
    "adult_content2": (92721, 11040, 825),
    "weather_amt": (6030, 300, 110),
    "zencrowd": (21855, 2040, 78),
}


def source(folder: Path) -> Path:
    return next(iter(sorted(folder.glob("annotations.csv*"))))


@pytest.mark.parametrize("name", [*SINGLE, *BY_ROW])
def test_counts(name: str, shared_data: Path) -> None:
    folder = shared_data / name
    gold = folder / "gold.csv"
    ratings = read_ratings(
        source(folder),
        task="single",
        truth=gold if gold.exists() else None,
        replicate="row" if name in BY_ROW else None,
    )
    sizes = (len(ratings.answers), len(ratings.items), len(ratings.raters))
    assert sizes == (SINGLE | BY_ROW)[name]
    assert not ratings.accounting.reasons
    if gold.exists():
        keys = pd.read_csv(gold, dtype=str, keep_default_na=False)["item"]
        known = (ratings.truth[:, 0] != MISSING).sum()
        assert known == len(set(keys) & set(ratings.items.index))


def test_replicates_of_the_anaesthetist(shared_data: Path) -> None:
    ratings = read_ratings(shared_data / "anesthesia" / "annotations.csv", task="single")
    assert np.bincount(ratings.replicate).tolist() == [225, 45, 45]


def test_repeats_that_differ_are_refused_with_the_way_out(shared_data: Path) -> None:
    with pytest.raises(
        RatingsError, match='replicate="row"', check=refusal("repeated-ratings", rows=494)
    ):
        read_ratings(shared_data / "zencrowd" / "annotations.csv.gz", task="single")


def test_systems_and_clusters_of_xstest(shared_data: Path) -> None:
    ratings = read_ratings(shared_data / "xstest" / "annotations.csv", task="single")
    assert len(ratings.systems) == 5
    assert ratings.items["cluster"].nunique() == 450


def test_gates_and_contradictions_of_convabuse(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "convabuse" / "annotations.csv"
    table = pd.read_csv(path)
    gated = [c for c in table.columns if c.startswith(("type_", "target_", "direction_"))]
    labels = '[[labels]]\nname = "abusive"\n'
    labels += "".join(f'[[labels]]\nname = "{c}"\nasked_if = "abusive"\n' for c in gated)
    (tmp_path / "abuse.toml").write_text("max_states = 5000\n" + labels)
    ratings = read_ratings(path, task=tmp_path / "abuse.toml")
    assert ratings.accounting.reasons == {CLOSED: 24}
    wrong = (table["abusive"] == 0) & (table[gated].sum(axis=1) > 0)
    assert ratings.accounting.set_aside["line"].tolist() == (np.flatnonzero(wrong) + 2).tolist()
    assert len(ratings.answers) == 12768 - 24
    assert ratings.replicate.max() == table.groupby(["item", "rater"]).size().max() - 1


DIRAS_WORDS = dict.fromkeys(("partially yes", "partially no", "partially helpful"), "partially")


def test_graded_answers_of_diras_read_with_the_words_that_the_error_proposes(
    shared_data: Path,
) -> None:
    path = shared_data / "diras_chatreport" / "annotations.csv"
    with pytest.raises(
        RatingsError, match="'partially yes' is", check=refusal("unknown-class")
    ) as caught:
        read_ratings(path, task="relevance")
    words = ", ".join(f'"{word}": "partially"' for word in DIRAS_WORDS)
    assert f'classes={{"relevance": {{{words}}}}}' in str(caught.value)
    ratings = read_ratings(path, task="relevance", classes={"relevance": DIRAS_WORDS})
    assert (len(ratings.answers), ratings.items["cluster"].nunique()) == (12003, 11)
    grades = pd.read_csv(path)["grade"].to_numpy()
    np.testing.assert_array_equal(ratings.answers[:, 0], grades)


def test_scores_and_confidences_of_diras(shared_data: Path) -> None:
    path = shared_data / "diras_chatreport" / "annotations.csv"
    table = pd.read_csv(path)
    words = {"relevance": DIRAS_WORDS}
    scored = read_ratings(path, task="relevance", classes=words)
    np.testing.assert_allclose(scored.scores[:, 0], table["score"])
    sure = read_ratings(path, task="relevance", classes=words, score="")
    expected = np.select(
        [table["grade"] == 2, table["grade"] == 0],
        [(2 + table["confidence"]) / 3, (1 - table["confidence"]) / 3],
        np.where(table["confidence"].notna(), 0.5, np.nan),
    )
    np.testing.assert_allclose(sure.scores[:, 0], expected)
    with_score = sure.raters.index[np.unique(sure.rater[np.isfinite(sure.scores[:, 0])])]
    assert len(with_score) == 16
    assert not any(name.startswith("expert") for name in with_score)


def test_rounds_of_llm_rubric_are_sessions_that_tell_repeats_apart(shared_data: Path) -> None:
    path = shared_data / "llm_rubric" / "annotations.csv"
    ratings = read_ratings(path, task="single", labels="Q0")
    assert ratings.sessions == ("round1", "round2", "round3")
    assert np.bincount(ratings.replicate).tolist() == [957, 9]


def test_a_second_round_of_varierr_reads_as_an_audit_or_as_a_session(shared_data: Path) -> None:
    table = pd.read_csv(shared_data / "varierr_nli" / "annotations.csv")
    given = table["entailment"] == 1
    audited = table.assign(held=table["entailment_r2"].where(given))
    one = read_ratings(audited, task="single", labels="entailment", audit="held")
    assert (one.audit == 1).sum() == table["entailment_r2"].sum()
    assert (one.audit >= 0).sum() == given.sum()
    again = table.assign(round=2, entailment=table["entailment_r2"])
    rounds = pd.concat([table.assign(round=1), again], ignore_index=True)
    two = read_ratings(rounds, task="single", labels="entailment")
    assert two.sessions == ("1", "2")
    assert np.bincount(two.replicate).tolist() == [1991, 1991]


EXPORT = {"retrieval": (2012, 1604, 41), "grounding": (390, 320, 3), "generation": (404, 320, 3)}


class TestProtocolExport:
    @pytest.mark.parametrize("task", EXPORT)
    def test_folder_with_systems_and_truth(self, task: str, shared_data: Path) -> None:
        folder = shared_data / "protocol_export"
        ratings = read_ratings(folder, task=task, truth=folder / f"truth_{task}.csv")
        sizes = (len(ratings.answers), len(ratings.items), int(ratings.abstained.sum()))
        assert sizes == EXPORT[task]
        assert ratings.systems == ["baseline", "reranked"]
        assert ratings.items["cluster"].nunique() == 160
        assert ratings.panels["panel"].nunique() == 320
        assert (ratings.truth >= 0).all()

    @pytest.mark.parametrize("task", EXPORT)
    def test_file_without_systems(self, task: str, shared_data: Path) -> None:
        ratings = read_ratings(shared_data / "protocol_export" / f"{task}.csv", task=task)
        assert ratings.systems == []
        assert ratings.items["cluster"].nunique() == 320

    def test_panels_give_the_same_as_the_folder(self, shared_data: Path) -> None:
        folder = shared_data / "protocol_export"
        one = read_ratings(folder, task="retrieval")
        two = read_ratings(
            folder / "retrieval.csv", task="retrieval", panels=folder / "systems.csv"
        )
        pd.testing.assert_frame_equal(one.panels, two.panels)
        pd.testing.assert_frame_equal(one.items, two.items)

    def test_the_tool_warns_on_one_rule_unless_the_caller_knows(self, shared_data: Path) -> None:
        path = shared_data / "protocol_export" / "retrieval.csv"
        warned = read_ratings(path, task="retrieval")
        assert [r.response for r in warned.task.rules] == ["block", "warn"]
        assert not warned.accounting.reasons
        blocked = read_ratings(
            path, task="retrieval", response={"sufficient_is_not_misleading": "block"}
        )
        reason = "breaks the blocked rule sufficient_is_not_misleading"
        assert blocked.accounting.reasons == {reason: 8}

    def test_traps(self, shared_data: Path) -> None:
        table = pd.read_csv(
            shared_data / "protocol_export" / "retrieval.csv", dtype=str, keep_default_na=False
        ).head(40)
        table.loc[0, "record_uuid"] = ""
        table.loc[1, "response_status"] = "draft"
        table.loc[2, "response_status"] = "pending"
        table["n_retrieved_chunks"] = "-1"
        ratings = read_ratings(table, task="retrieval")
        assert ratings.accounting.reasons == {"not submitted": 2, "no item": 1}
        assert {"panels-of-unknown-size", "times-of-records"} <= set(note_codes(ratings))

    def test_discarded_ratings_are_abstentions_without_answers(self, shared_data: Path) -> None:
        table = pd.read_csv(
            shared_data / "protocol_export" / "generation.csv", dtype=str, keep_default_na=False
        ).head(5)
        table.loc[0, ["response_status", "discard_reason"]] = ["discarded", "unclear"]
        ratings = read_ratings(table, task="generation")
        assert ratings.abstained.tolist() == [True, False, False, False, False]
        assert (ratings.answers[0] == MISSING).all()
        discarded = note_of(ratings, "ratings-withdrawn")
        assert discarded.numbers == {"ratings": 1}
        assert "unclear 1" in discarded
        assert "discarded-answers" in note_codes(ratings)

    def test_panels_that_list_fewer_chunks_than_retrieved_are_noted(
        self, shared_data: Path
    ) -> None:
        table = pd.read_csv(shared_data / "protocol_export" / "retrieval.csv", dtype=str)
        first = table["record_uuid"].iloc[0]
        fewer = table.drop(table.index[(table["record_uuid"] == first)][:1])
        ratings = read_ratings(fewer, task="retrieval")
        assert note_of(ratings, "panels-incomplete").numbers == {"panels": 1}
