"""Prodigy, doccano, Mechanical Turk, Appen, peerannot, qrels and AIS vote counts."""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import assay
from assay._util.errors import RatingsError
from assay.io.files.opening import open_source
from assay.io.formats import all_formats
from tests.fixtures.formats.make.study import MODEL, TOPICS, rich
from tests.refusals import refusal
from tests.studies import FIXTURES, notes_of, read

TOPICS_SAID = [
    ("prodigy_topics.jsonl", True), ("doccano_topics", False), ("doccano_topics_csv", False),
    ("mturk_rich.csv", True), ("mturk_task_answers.csv", True), ("appen_rich.csv", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "withdrawn"), TOPICS_SAID)
def test_a_choice_of_several_is_a_label_for_each_option(name: str, withdrawn: bool) -> None:
    ratings = read(name)
    columns = [ratings.task.label_names.index(topic) for topic in TOPICS]
    people = [said for said in rich()[0] if said.rater != MODEL]
    wanted = [
        [-1, -1, -1] if said.cancelled else [int(topic in said.topics) for topic in TOPICS]
        for said in people
        if withdrawn or not said.cancelled
    ]
    found = ratings.answers[:, columns].tolist()
    assert sorted(found) == sorted(wanted)
    assert ratings.abstained.sum() == (withdrawn and sum(said.cancelled for said in people))


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def prodigy(answer: str, label: str, rater: str | None, number: int, **more: Any) -> dict[str, Any]:
    named = {"_annotator_id": rater} if rater else {}
    return {"_input_hash": number, "_task_hash": hash((number, label)), "answer": answer,
            "label": label, **named, **more}  # fmt: skip


def test_prodigy_labels_of_one_text_are_one_rating(tmp_path: Path) -> None:
    records = [
        prodigy(("accept", "reject")[n % 2], label, "db-ann", n)
        for n in range(4)
        for label in ("CALM", "SAD")
    ]
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert ratings.task.label_names == ("CALM", "SAD")
    assert ratings.answers.tolist() == [[1, 1], [0, 0]] * 2


def test_prodigy_rejected_choices_and_ignored_tasks_are_abstentions(tmp_path: Path) -> None:
    choice = {"options": [{"id": "a"}, {"id": "b"}], "accept": ["a"], "_view_id": "choice"}
    records = [prodigy(answer, "", "ann", n, **choice, config={})
               for n, answer in enumerate(("accept", "reject", "ignore"))]  # fmt: skip
    records.append(prodigy("accept", "", "ann", 9, **{**choice, "accept": ["b"]}))
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert ratings.abstained.tolist() == [False, True, True, False]
    assert "(rejected 1, ignored 1)" in notes_of(ratings)["ratings-withdrawn"]


def test_prodigy_sessions_that_nobody_named_are_one_rater(tmp_path: Path) -> None:
    records = [prodigy("accept" if n else "reject", "X", f"db-2024-01-0{n + 1}_10-00-00", n)
               for n in range(3)]  # fmt: skip
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert list(ratings.raters.index) == ["annotator"]
    assert "nameless-annotators" in notes_of(ratings)


def test_prodigy_tasks_without_an_answer_are_refused_with_their_line(tmp_path: Path) -> None:
    records = [prodigy("accept", "X", "ann", 1), prodigy("maybe", "X", "ann", 2)]
    with pytest.raises(RatingsError, match="line 2", check=refusal("damaged-export", places=1)):
        assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))


def test_a_list_of_files_is_read_as_a_folder_of_them() -> None:
    files = sorted((FIXTURES / "prodigy_files").iterdir())
    ratings = assay.read_ratings(files)
    assert list(ratings.raters.index) == ["ann", "bob", "cy"]


def test_doccano_texts_without_a_label_are_no_ratings() -> None:
    notes = notes_of(read("doccano_topics"))
    assert notes["texts-without-label"].startswith("5 texts")
    assert "one-file-one-rater" in notes_of(read("doccano/ann.jsonl"))


def test_doccano_texts_without_an_id_are_refused_with_file_and_line(tmp_path: Path) -> None:
    good = {"id": 1, "text": "x", "label": ["a"], "Comments": []}
    jsonl(tmp_path / "ann.jsonl", good, {**good, "id": None})
    jsonl(tmp_path / "bob.jsonl", good)
    with pytest.raises(
        RatingsError, match=r"ann\.jsonl:2", check=refusal("damaged-export", places=1)
    ):
        assay.read_ratings(tmp_path)


def test_doccano_spans_are_no_classes_and_intents_beside_them_are(tmp_path: Path) -> None:
    text = {"id": 1, "text": "x", "label": [[0, 1, "name"]], "Comments": []}
    with pytest.raises(RatingsError, check=refusal("no-answers")):
        assay.read_ratings(jsonl(tmp_path / "ann.jsonl", text, {**text, "id": 2, "label": []}))
    both = {"id": 1, "text": "x", "cats": ["ask"], "entities": [[0, 1, "name"]], "Comments": []}
    path = jsonl(tmp_path / "ann.jsonl", both, {**both, "id": 2, "cats": ["tell"]})
    ratings = assay.read_ratings(path)
    assert ratings.task.labels[0].classes == ("ask", "tell")
    assert "regions-not-read" in notes_of(ratings)


def table(path: Path, *rows: dict[str, Any]) -> Path:
    pd.DataFrame(rows).to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    return path


def hit(number: int, worker: str, **more: Any) -> dict[str, Any]:
    return {"HITId": f"h{number}", "WorkerId": worker, "AssignmentStatus": "Approved", **more}


def test_hits_that_show_the_same_input_are_one_item(tmp_path: Path) -> None:
    rows = [hit(n, f"w{n}", **{"Input.text": "same" if n < 2 else "other", "Answer.q": "ab"[n % 2]})
            for n in range(3)]  # fmt: skip
    ratings = assay.read_ratings(table(tmp_path / "batch.csv", *rows))
    assert list(ratings.items.index) == ["h0", "h2"]
    assert "hits-are-items" in notes_of(ratings)


def test_a_hit_of_several_items_has_inputs_and_answers_that_are_numbered_alike(
    tmp_path: Path,
) -> None:
    rows = [
        hit(n, worker, **{"Input.text_1": f"t{n}", "Input.text_2": f"u{n}",
                          "Answer.tone_1": "ab"[n], "Answer.tone_2": "ba"[n]})
        for n in range(2) for worker in ("v", "w")
    ]  # fmt: skip
    ratings = assay.read_ratings(table(tmp_path / "batch.csv", *rows))
    assert list(ratings.items.index) == ["h0/1", "h0/2", "h1/1", "h1/2"]
    assert len(ratings.answers) == 8
    assert ratings.task.labels[0].classes == ("a", "b")
    assert "hits-of-several" in notes_of(ratings)


def test_turk_answers_that_are_no_json_are_refused_with_their_line(tmp_path: Path) -> None:
    packed = json.dumps([{"q": {"label": "a"}}])
    rows = [hit(1, "w", **{"Answer.taskAnswers": packed}),
            hit(2, "w", **{"Answer.taskAnswers": "[{"})]  # fmt: skip
    with pytest.raises(RatingsError, match="line 3", check=refusal("damaged-export", places=1)):
        assay.read_ratings(table(tmp_path / "batch.csv", *rows))


def test_appen_gold_is_truth_unless_it_allows_several_classes() -> None:
    ratings = read("appen_rich.csv")
    _, gold = rich()
    column = ratings.task.label_names.index("sentiment")
    known = {
        int(name) - 700000: int(code)
        for name, code in zip(ratings.items.index, ratings.truth[:, column], strict=True)
        if code >= 0
    }
    classes = ratings.task.labels[column].classes
    single = {int(i[1:]): classes.index(g.sentiment) for i, g in gold.items()
              if g.sentiment != "neg"}  # fmt: skip
    assert known == single
    assert "gold-of-several" in notes_of(ratings)
    assert (ratings.truth[:, ratings.task.label_names.index("news")] >= 0).sum() == len(gold)


def test_the_aggregated_report_is_refused() -> None:
    with pytest.raises(RatingsError, check=refusal("aggregated-report")):
        read("appen_aggregated.csv")


def test_records_of_the_same_fields_are_no_answers_by_worker(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    path.write_text(json.dumps({str(n): {"name": f"p{n}", "age": str(n)} for n in range(9)}))
    claims = [name for name, one in all_formats().items() if one.detect(open_source(path))]
    assert claims == []


def test_qrels_have_topics_as_clusters_and_minus_one_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 a d1 2\n1 b d1 -1\n2 a d2 0\n2 b d2 1\n")
    ratings = assay.read_ratings(path)
    assert ratings.task.labels[0].ordered
    assert ratings.items["cluster"].tolist() == ["1", "2"]
    assert ratings.abstained.tolist() == [False, True, False, False]
    path.write_text("1 0 d1 2\n1 0 d2 1\n2 0 d2 0\n")
    assert "one-file-one-rater" in notes_of(assay.read_ratings(path))


def test_lines_that_are_no_judgement_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 a d1 2\n" * 60 + "1 a d1\n")
    with pytest.raises(RatingsError, match="line 61", check=refusal("damaged-export", places=1)):
        assay.read_ratings(path)


def test_votes_of_ais_studies_add_up_to_the_counts(tmp_path: Path) -> None:
    rows = [
        {"example": "e1", "model": "m1", "flagged": 0, "interpretable": 1, "attributable": 1,
         "n_agree_interpretable": 4, "n_agree_attributable": 3},
        {"example": "e1", "model": "m2", "flagged": 0, "interpretable": 0, "attributable": 0,
         "n_agree_interpretable": 3, "n_agree_attributable": -1},
        {"example": "e2", "model": "m1", "flagged": 1, "interpretable": 0, "attributable": 0,
         "n_agree_interpretable": -1, "n_agree_attributable": -1},
    ]  # fmt: skip
    ratings = assay.read_ratings(table(tmp_path / "votes.csv", *rows))
    assert ratings.task.name == "ais"
    votes = [ratings.answers[ratings.item == n] for n in range(2)]
    assert [(v[:, 1] == 1).sum() for v in votes] == [4, 2]
    assert [(v[:, 2] == 1).sum() for v in votes] == [3, 0]
    assert len(ratings.items) == 2
    assert {"unnamed-raters", "votes-not-released", "votes-missing"} <= notes_of(ratings).keys()


def test_a_note_counts_the_votes_that_may_be_flags(tmp_path: Path) -> None:
    row = {"model": "m", "flagged": 0, "interpretable": 1, "attributable": 1,
           "n_agree_attributable": 2}  # fmt: skip
    counts = [("e1", 2), ("e2", 5), ("e3", 4)]
    rows = [row | {"example": name, "n_agree_interpretable": n} for name, n in counts]
    ratings = assay.read_ratings(table(tmp_path / "votes.csv", *rows))
    assert notes_of(ratings)["flags-not-released"].startswith("4 votes against the consensus")
    assert [(ratings.answers[ratings.item == n, 1] == 1).sum() for n in range(3)] == [2, 5, 4]
    ratings = assay.read_ratings(table(tmp_path / "votes.csv", rows[1]))
    assert "flags-not-released" not in notes_of(ratings)


def test_the_votes_that_were_released_are_all_read(shared_data: Path) -> None:
    ratings = assay.read_ratings(shared_data / "ais_votes" / "qrecc.csv")
    asked = ratings.answers[:, 1] == 1
    assert (ratings.answers[asked, 2] == -1).sum() == 74


def test_files_in_a_folder_that_nobody_reads_may_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "single.csv").write_text("item,rater,label\n1,a,x\n1,b,y\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert len(assay.read_ratings(tmp_path, task="single").answers) == 2


AIS = {"example": "e", "flagged": "0", "interpretable": "1", "attributable": "1",
       "n_agree_interpretable": "4", "n_agree_attributable": "3"}  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        {"n_agree_interpretable": "4.0", "n_agree_attributable": " 3.0"},
        {"interpretable": "1.0", "flagged": "0.0"},
        {"interpretable": "True", "flagged": "false", "attributable": "TRUE"},
    ],
)
def test_vote_counts_may_be_written_as_other_numbers(more: dict[str, str], tmp_path: Path) -> None:
    rows = [AIS | {"example": f"e{n}"} | more for n in range(3)]
    rows.append(AIS | more | {"example": "flagged", "flagged": more.get("interpretable", "1")})
    ratings = assay.read_ratings(table(tmp_path / "votes.csv", *rows))
    assert len(ratings.items) == 3
    for n in range(3):
        votes = ratings.answers[ratings.item == n]
        assert ((votes[:, 1] == 1).sum(), (votes[:, 2] == 1).sum()) == (4, 3)


@pytest.mark.parametrize("column", [*AIS][1:])
@pytest.mark.parametrize("word", ["many", "2.5", "-2", "1e9", "nan"])
def test_vote_counts_that_are_no_counts_are_refused(column: str, word: str, tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", AIS, AIS | {"example": "f", column: word})
    with pytest.raises(RatingsError, match="line 3", check=refusal("no-number", cells=1)):
        assay.read_ratings(path)
