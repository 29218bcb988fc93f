"""Students: learned from a teacher, calibrated on other queries; chats and QLoRA as text."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import assay
from assay.cli.program import app
from assay.fits.view import FitView
from assay.studies.students import train_student, training_chats, write_qlora
from assay.studies.students.teacher import certainty, read_teacher

WORDS = np.array([f"{a}{b}" for a in "bdfgklmnpr" for b in ("ana", "esto", "ilm", "orra", "unt")])


def study(queries: int = 8, documents: int = 30, seed: int = 1) -> tuple[pd.DataFrame, Any]:
    """Pairs in which a relevant document shares words with its query, and a teacher of them."""
    rng = np.random.default_rng(seed)
    rows, relevant = [], []
    for q in range(queries):
        asked = rng.choice(WORDS, 4, replace=False)
        for d in range(documents):
            yes = rng.random() < 0.3
            text = [*rng.choice(WORDS, 8), *(rng.choice(asked, 2) if yes else [])]
            rows.append((f"q{q}:d{d}", f"q{q}", f"d{d}", " ".join(asked), " ".join(text)))
            relevant.append(yes)
    columns = ["item", "query_id", "document_id", "query", "document"]
    pairs = pd.DataFrame(rows, columns=columns)
    chance = np.where(relevant, 0.9, 0.1)
    return pairs, pd.Series(chance, index=pairs["item"])


PAIRS, TEACHER = study()
OF_NEW = PAIRS["query_id"].isin(["q6", "q7"])


def test_a_student_orders_pairs_of_new_queries_and_is_calibrated() -> None:
    student = train_student(PAIRS[~OF_NEW], TEACHER)
    assert (student.n_pairs, student.n_queries) == (180, 6)
    scores = student.scores(PAIRS[OF_NEW]).set_index("item")["score"]
    new = TEACHER[scores.index]
    assert roc_auc_score(new > 0.5, scores) > 0.85
    # Its mean is that of the teacher, who is never certain.
    assert scores.mean() == pytest.approx(new.mean(), abs=0.08)
    assert scores.min() > 0.02
    assert scores.max() < 0.98


def test_scores_are_ratings_of_a_scored_rater() -> None:
    found = train_student(PAIRS, TEACHER).scores(PAIRS)
    assert "document" not in found
    assert ((found["score"] >= 0.5) == (found["relevance"] == "yes")).all()
    ratings = assay.read_ratings(found, task="relevance")
    assert list(ratings.raters.index) == ["student"]
    assert np.isfinite(ratings.scores).all()


def test_uncertain_judgements_count_less() -> None:
    """Judgements of one half are reversed, and hardly certain: the other half prevails."""
    half = PAIRS["query_id"].isin(["q0", "q1", "q2"]).to_numpy()
    wrong = pd.Series(np.where(half, 0.5 + 0.02 * (TEACHER < 0.5) - 0.01, TEACHER), TEACHER.index)
    scores = train_student(PAIRS[~OF_NEW], wrong).scores(PAIRS[OF_NEW]).set_index("item")["score"]
    assert roc_auc_score(TEACHER[scores.index] > 0.5, scores) > 0.85
    assert certainty(pd.Series([0.0, 0.5, 0.75, 1.0])).tolist() == [1, 0, 0.5, 1]


def test_numbers_and_embeddings_are_features_too() -> None:
    rng = np.random.default_rng(2)
    told = PAIRS.assign(retriever_score=(TEACHER.to_numpy() > 0.5) + rng.normal(0, 0.1, len(PAIRS)))
    blank = told.assign(document=rng.permutation(told["document"]))
    student = train_student(blank[~OF_NEW], TEACHER, numbers=["retriever_score"])
    scores = student.scores(blank[OF_NEW]).set_index("item")["score"]
    assert roc_auc_score(TEACHER[scores.index] > 0.5, scores) > 0.95
    asked: list[int] = []

    def embed(texts: list[str]) -> np.ndarray:
        asked.append(len(texts))
        return np.array([[word in text for word in WORDS] for text in texts], float)

    embedded = train_student(PAIRS[~OF_NEW], TEACHER, embed=embed).scores(PAIRS[OF_NEW])
    assert roc_auc_score(TEACHER[embedded["item"]] > 0.5, embedded["score"]) > 0.85
    assert max(asked) <= PAIRS["document"].nunique()


def test_the_mean_of_several_raters_and_the_posterior_of_a_fit_teach(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "score": [0.2, 0.6, 1]}
    )
    table.to_csv(tmp_path / "llm.csv", index=False)
    assert read_teacher(tmp_path / "llm.csv").to_dict() == pytest.approx({"a": 0.4, "b": 1.0})
    ratings = assay.simulate("generation", n_items=20, n_raters=3, ratings_per_item=2, rng=1)
    fit = assay.fit(ratings, raters="one_coin", method="map", draws=40, chains=1, starts=1, rng=1,
                    progress=False)  # fmt: skip
    label = ratings.task.label_names[0]
    shares = assay.label_draws(fit).sel(label=label).mean(dim=("chain", "draw"))
    for one in (fit, FitView.of(fit)):  # a command hands on a view
        found = read_teacher(one, label=label)
        assert found.to_numpy() == pytest.approx(shares.to_numpy())


@pytest.mark.parametrize(
    ("pairs", "teacher", "code"),
    [
        (PAIRS, TEACHER * 3, "teacher-scores"),
        (PAIRS[PAIRS["query_id"] == "q0"], TEACHER, "student-pairs"),
        (PAIRS, TEACHER * 0, "student-pairs"),
        (PAIRS, pd.DataFrame({"item": ["a"]}), "texts-column"),
        (PAIRS.assign(document="? !"), TEACHER, "texts-without-words"),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(pairs: Any, teacher: Any, code: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        train_student(pairs, teacher)


def test_definitions_of_training_are_needed_for_scores() -> None:
    told = PAIRS[["query_id", "query"]].drop_duplicates().rename(columns={"query": "definition"})
    vague = PAIRS.assign(query="?")
    student = train_student(vague[~OF_NEW], TEACHER, definitions=told)
    scores = student.scores(vague[OF_NEW], definitions=told).set_index("item")["score"]
    assert roc_auc_score(TEACHER[scores.index] > 0.5, scores) > 0.85
    with pytest.raises(assay.AssayError, check=refusal("definitions-missing")):
        student.scores(vague[OF_NEW])


def test_a_number_that_is_no_column_or_no_number_is_refused() -> None:
    for numbers, code in (("nope", "texts-column"), ("document_id", "no-number")):
        with pytest.raises(assay.AssayError, check=refusal(code)):
            train_student(PAIRS, TEACHER, numbers=numbers)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(
        assay.AssayError, match=r"assay\[student\]", check=refusal("extra-not-installed")
    ):
        train_student(PAIRS, TEACHER)


def test_chats_ask_as_the_runner_asks_and_answer_as_it_reads() -> None:
    from assay.data.task_files import load_task
    from assay.studies.judges.parsing import parse_answer
    from assay.studies.judges.prompts import load_prompt

    task = load_task("relevance")
    chats = training_chats(PAIRS, TEACHER, prompt="relevance")
    assert len(chats) == len(PAIRS)
    first = chats.iloc[0]
    assert [message["role"] for message in first["prompt"]] == ["system", "user"]
    assert PAIRS["document"][0] in first["prompt"][1]["content"]
    prompt = load_prompt("relevance", task)
    for _, line in chats.iterrows():
        ((said,),) = [parse_answer(line["completion"][0]["content"], task, prompt).guesses]
        assert said.word == ("yes" if TEACHER[line["item"]] > 0.5 else "no")
        assert said.confidence == pytest.approx(0.9)
        assert line["weight"] == pytest.approx(0.8)


def test_qlora_is_written_as_text_and_draws_chats_by_certainty(tmp_path: Path) -> None:
    doubt = TEACHER.where(TEACHER > 0.5, 0.5)
    chats = training_chats(PAIRS, doubt, prompt="relevance")
    words = write_qlora(chats, tmp_path / "out", model="org/model")
    assert words == f"trl sft --config {tmp_path / 'out' / 'qlora.yaml'}"
    lines = [json.loads(line) for line in (tmp_path / "out/train.jsonl").read_text().splitlines()]
    assert len(lines) == len(chats)
    # Pairs of which the teacher knows nothing are never drawn.
    assert {line["completion"][0]["content"].split()[1] for line in lines} == {"yes"}
    config = dict(
        line.split(": ", 1) for line in (tmp_path / "out/qlora.yaml").read_text().splitlines()
    )
    assert json.loads(config["model_name_or_path"]) == "org/model"
    assert config["load_in_4bit"] == config["use_peft"] == "true"
    assert json.loads(config["dataset_name"]) == str(tmp_path / "out")
    assert float(config["learning_rate"]) == 2e-4


def test_the_commands_train_score_and_write(tmp_path: Path) -> None:
    PAIRS[~OF_NEW].to_csv(tmp_path / "pairs.csv", index=False)
    PAIRS.to_csv(tmp_path / "all.csv", index=False)
    rated = TEACHER.rename_axis("item").rename("score").reset_index().assign(rater="llm")
    rated.to_csv(tmp_path / "llm.csv", index=False)

    def run(*given: object) -> Any:
        return CliRunner().invoke(app, [str(word) for word in given])

    start = ["diras", "train", tmp_path / "pairs.csv", "--teacher", tmp_path / "llm.csv"]
    done = run(*start, "--score", tmp_path / "all.csv", "-o", tmp_path / "student.csv")
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "student.csv")) == len(PAIRS)
    yes = np.where(TEACHER > 0.5, "yes", "no")
    rated.drop(columns="score").assign(relevant=yes).to_csv(tmp_path / "people.csv", index=False)
    ratings = assay.read_ratings(tmp_path / "people.csv", task="single", labels=["relevant"])
    fit = assay.fit(ratings, raters="pooled", method="map", draws=20, chains=1, starts=1,
                    progress=False)  # fmt: skip
    assay.save(fit, tmp_path / "fit.nc")
    of_fit = [*start[:-1], tmp_path / "fit.nc"]
    done = run(*of_fit, "--score", tmp_path / "all.csv", "-o", tmp_path / "of_fit.csv")
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "of_fit.csv")) == len(PAIRS)
    start[1] = "tune"
    done = run(*start, "--model", "org/model", "-o", tmp_path / "tuned")
    assert done.exit_code == 0, done.output
    assert "trl sft --config" in done.output.replace("\n", "")
    done = run(*start, "--model", "org/model", "-o", tmp_path / "tuned")
    assert done.exit_code == 1
    assert "[file-exists]" in done.output
