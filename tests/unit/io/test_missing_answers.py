"""What is proposed: columns that names, numbers or files tell to be no raters, items or labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io.reader import read_ratings

MOST_STEPS = 4
Random = np.random.Generator


def followed(source: Any, **given: Any) -> tuple[dict[str, Any], Ratings]:
    """Read with the arguments that refusals end with, a few times."""
    for _ in range(MOST_STEPS):
        try:
            return given, read_ratings(source, **given)
        except RatingsError as error:
            if not error.go_on:
                raise
            given |= error.go_on
    raise AssertionError(given)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("name", ["final_code", "agreed label", "Endkodierung", "adjudicated"])
def test_what_was_agreed_in_the_end_is_no_rater(name: str, rng: Random) -> None:
    frame = pd.DataFrame({
        "article": range(25), "coder1": rng.choice(["econ", "moral", "none"], 25),
        "coder2": rng.choice(["econ", "moral", "none"], 25),
    })  # fmt: skip
    _, ratings = followed(frame.assign(**{name: frame["coder1"]}))
    assert list(ratings.raters.index) == ["coder1", "coder2"]


@pytest.mark.parametrize("column", ["criterion", "aspect"])
@pytest.mark.parametrize("score", ["score", "grade"])
def test_scores_by_criterion_are_labels_of_their_own(column: str, score: str, rng: Random) -> None:
    rows = [
        (doc, system, rater, criterion, str(rng.integers(1, 6) + (doc + len(rater)) % 2))
        for doc in range(9) for system in ("sysA", "sysB") for rater in ("R1", "R22")
        for criterion in ("fluency", "adequacy")
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "rater", column, score])
    _, ratings = followed(frame)
    assert ratings.task.label_names == ("adequacy", "fluency")
    assert (len(ratings.items), len(ratings.answers)) == (18, 36)


def test_a_constant_beside_columns_of_one_word_is_no_rater(rng: Random) -> None:
    grades = rng.integers(1, 7, (30, 2))
    frame = pd.DataFrame({
        "essay_id": range(30), "essay_set": "1", "rater1_domain1": grades[:, 0],
        "rater2_domain1": grades[:, 1],
    })  # fmt: skip
    assert len(followed(frame)[1].raters) == 2


def test_numbers_of_tokens_name_no_item(rng: Random) -> None:
    rows = [
        (f"p{prompt}", model, judge, str(rng.integers(1, 6)), 100 + 7 * prompt + len(model))
        for prompt in range(8) for model in ("a", "bb", "ccc") for judge in ("j1", "j2", "j3")
    ]  # fmt: skip
    names = ["prompt_id", "model", "judge_model", "rating", "usage.prompt_tokens"]
    given, ratings = followed(pd.DataFrame(rows, columns=names))
    assert given["item"] == ["prompt_id", "model"]
    assert len(ratings.items) == 24


@pytest.mark.parametrize("as_share", [False, True])
def test_votes_beside_a_number_of_annotators(as_share: bool, rng: Random) -> None:
    each, votes = rng.integers(5, 11, 20), rng.integers(0, 6, 20)
    told = {"toxicity": votes / each} if as_share else {"toxic_votes": votes}
    frame = pd.DataFrame(
        {"comment_id": [f"c{n}" for n in range(20)], "annotator_count": each} | told
    )
    _, ratings = followed(frame)
    assert len(ratings.answers) == each.sum()
    assert int((ratings.answers == 1).sum()) == votes.sum()


def test_a_folder_for_each_rater(tmp_path: Path) -> None:
    classes = ["negative", "neutral", "positive"]
    for k, rater in enumerate(("alice", "bob", "carol")):
        (tmp_path / "out" / rater).mkdir(parents=True)
        records = [
            {"id": f"item_{n}", "label_annotations": {"tone": {classes[(n * k) % 3]: "true"}}}
            for n in range(14)
        ]
        text = "\n".join(map(json.dumps, records))
        (tmp_path / "out" / rater / "annotated_instances.jsonl").write_text(text)
    _, ratings = followed(tmp_path / "out")
    assert sorted(ratings.raters.index) == ["alice", "bob", "carol"]
    assert len(ratings.answers) == 42


def test_raters_of_each_file_may_have_the_same_numbers(tmp_path: Path, rng: Random) -> None:
    for site in ("berlin", "madrid"):
        frame = pd.DataFrame({
            "image_id": np.repeat([f"x{n}" for n in range(12)], 3), "reader": [1, 2, 3] * 12,
            "finding": rng.choice(["normal", "not"], 36, p=[0.4, 0.6] if site > "c" else None),
        })  # fmt: skip
        frame.to_csv(tmp_path / f"{site}.csv", index=False)
    ratings = read_ratings(tmp_path, rater=["file", "reader"])
    assert (len(ratings.items), len(ratings.raters)) == (12, 6)


@pytest.mark.parametrize("sides", [("left", "right"), ("output_a", "output_b")])
def test_preferences_in_numbers_change_their_sign_with_the_sides(
    sides: tuple[str, str], rng: Random
) -> None:
    rows = []
    for prompt in range(15):
        for rater in ("u", "v", "w"):
            turned, worth = rng.random() < 0.5 if prompt == 0 else (prompt + len(rows)) % 2, 2
            pair = ("v2", "v1") if turned else ("v1", "v2")
            rows.append((f"p{prompt}", *pair, rater, worth if turned else -worth + prompt % 2))
    frame = pd.DataFrame(rows, columns=["prompt_id", *sides, "rater", "preference"])
    ratings = read_ratings(frame, item="prompt_id", labels="preference")
    label = ratings.task.labels[0]
    signs = {label.classes[code][0] for code in ratings.answers[:, 0]}
    assert signs == {"-"}  # v1 stands first now, and v2 is better throughout


def test_a_file_for_each_rater_with_an_item_for_each_key(tmp_path: Path) -> None:
    for k, rater in enumerate(("kim", "lena", "tom")):
        said = {f"claim_{n:03}": ["NEI", "YES", "NO"][n * k % 3] for n in range(15)}
        (tmp_path / f"{rater}.json").write_text(json.dumps(said))
    _, ratings = followed(tmp_path)
    assert (len(ratings.items), sorted(ratings.raters.index)) == (15, ["kim", "lena", "tom"])


def test_each_sheet_has_a_mean_of_its_own(tmp_path: Path, rng: Random) -> None:
    path = tmp_path / "grades.xlsx"
    with pd.ExcelWriter(path) as book:
        for who in ("Anna", "Ben", "Chris"):
            grades = pd.Series(rng.integers(1, 7, 18).tolist())
            frame = pd.DataFrame({"Nr": range(1, 19), "Frage": "Was?", "Bewertung": grades})
            mean = pd.DataFrame([["", "Mittelwert", grades.mean() + 0.01]], columns=frame.columns)
            pd.concat([frame, mean]).to_excel(book, sheet_name=who, index=False)
    ratings = read_ratings(path, sheet="*", rater="sheet", item="Nr", labels="Bewertung")
    assert (len(ratings.items), len(ratings.raters)) == (18, 3)
    assert ratings.task.labels[0].classes == ("1", "2", "3", "4", "5", "6")


def test_lists_of_votes_are_the_answers_and_numbers_of_captions_none() -> None:
    words = ["entailment", "neutral", "contradiction"]
    frame = pd.DataFrame({
        "annotator_labels": [[words[(n + k // 3) % 3] for k in range(5)] for n in range(18)],
        "captionID": [f"47{n // 3}.jpg#2" for n in range(18)],
        "pairID": [f"47{n // 3}.jpg#2r{n % 3}" for n in range(18)],
        "sentence1": [f"A dog {n // 3}" for n in range(18)],
    })  # fmt: skip
    _, ratings = followed(frame)
    assert ratings.task.labels[0].classes == tuple(sorted(words))
    assert (len(ratings.items), len(ratings.answers)) == (18, 90)


def test_files_of_other_raters_whose_items_start_again(tmp_path: Path, rng: Random) -> None:
    for name, raters in (("first", ["w1", "w2", "w3"]), ("second", ["w4", "w5", "w6"])):
        frame = pd.DataFrame({
            "id": np.repeat(np.arange(1, 13), 3), "annotator": raters * 12,
            "label": rng.choice(["a", "b"], 36),
        })  # fmt: skip
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    ratings = read_ratings(tmp_path)
    (note,) = (n for n in ratings.accounting.notes if getattr(n, "code", "") == "files-share-items")
    assert "item=['file', 'id']" in note
    assert len(read_ratings(tmp_path, item=["file", "id"]).items) == 24


LONG = {"item": [f"i{n // 3}" for n in range(60)], "rater": list("uvw") * 20}


@pytest.mark.parametrize("names", [["emotion", "age", "gender"], ["emotion_id"], ["price"]])
def test_what_raters_say_of_an_item_is_a_label_whatever_its_name(
    names: list[str], rng: Random
) -> None:
    said = {name: rng.choice(["1", "2", "3"], 60) for name in names}
    _, ratings = followed(pd.DataFrame(LONG | said))
    assert set(ratings.task.label_names) == set(names)


def test_two_raters_who_differ_are_no_sides(rng: Random) -> None:
    said = {f"coder_{k}": rng.choice(["pos", "neg", "neu"], 30) for k in (1, 2)}
    frame = pd.DataFrame({"item": range(30)} | said | {"polarity": rng.choice([-1, 0, 1], 30)})
    read = read_ratings(frame, wide=["coder_1", "coder_2"]).to_frame()
    for name in said:
        mine = read[read["rater"] == name]
        assert mine.set_index("item")["label"].to_dict() == {
            str(n): word for n, word in enumerate(said[name])
        }


def test_relations_of_two_names_keep_their_signs(rng: Random) -> None:
    pairs = [("x", "y") if n % 2 else ("y", "x") for n in range(20)]
    rows = [(f"i{n}", *pairs[n], r, rng.integers(-2, 3)) for n in range(20) for r in "uvw"]
    frame = pd.DataFrame(rows, columns=["item", "speaker_1", "speaker_2", "rater", "agreement"])
    ratings = read_ratings(frame, labels="agreement")
    assert "sides-ordered" not in [getattr(n, "code", "") for n in ratings.accounting.notes]


def test_a_confidence_beside_a_label_of_an_aspect_is_no_label(rng: Random) -> None:
    rows = [(f"i{n}", r, aspect, rng.choice(["pos", "neg"]), rng.integers(1, 10) / 10)
            for n in range(10) for r in "uvw" for aspect in ("food", "service")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", "aspect", "label", "score"])
    _, ratings = followed(frame)
    assert all(label.classes == ("neg", "pos") for label in ratings.task.labels)


def test_a_rater_who_always_says_no_is_a_rater(rng: Random) -> None:
    said = {f"coder{k}": rng.choice(["no", "yes"], 20) for k in (1, 2)}
    frame = pd.DataFrame({"id": range(20)} | said | {"llm": "no"})
    assert len(read_ratings(frame, wide="*").raters) == 3


@pytest.mark.parametrize("names", [["n_expert", "n_novice", "n_user"], ["ann", "ben", "cy"]])
def test_raters_beside_a_number_and_a_share_stay_raters(names: list[str], rng: Random) -> None:
    said = {name: rng.choice(["no", "yes"], 20) for name in names}
    beside = {"n_raters": 3, "difficulty": rng.choice([0, 1 / 3, 2 / 3], 20)}
    with pytest.raises(RatingsError) as caught:
        read_ratings(pd.DataFrame({"item": range(20)} | said | beside))
    assert "counts" not in caught.value.go_on


def test_truth_of_a_few_items_is_not_filled_down() -> None:
    frame = pd.DataFrame({
        "gold": ["a", *[""] * 8, "b", *[""] * 8, "c", ""],
        "item": [f"i{n // 2}" for n in range(20)],
        "rater": list("uv") * 10, "label": list("abcab") * 4,
    })  # fmt: skip
    assert int(read_ratings(frame, truth="gold").has_truth.sum()) == 3
