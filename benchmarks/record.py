"""What the package computes today, as hashes: did a change of the code change a number?

    python benchmarks/record.py write before.json
    python benchmarks/record.py compare before.json

``write`` keeps the hashes of small fits (tasks x families x layers x methods), of their metrics, of
what ``check`` finds, of what every command prints and writes, and of both reports of the demo.
``compare`` computes them again and names each that differs; its status is 1 if one does. Equal on
one machine means equal in every bit; another machine rounds differently, so a record is not kept in
git.
Either takes about two minutes on one core (``--only TEXT`` takes the cases that have it).
"""

import argparse
import contextlib
import hashlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import assay

Record = dict[str, str]
Case = Callable[[], Record]

NOT_NUMBERS = {"versions"}
"""Attributes of a fit that tell of the machine."""
LAYERED = {
    "difficulty": {"raters": "hierarchical + item_difficulty"},
    "difficulty_continuous": {"raters": "hierarchical + item_difficulty_continuous"},
    "difficulty_by_class": {"raters": "hierarchical + item_difficulty_by_class"},
    "difficulty_by_rater": {"raters": "hierarchical + item_difficulty_by_rater"},
    "drift": {"raters": "hierarchical + drift"},
    "lapses": {"raters": "hierarchical + lapses"},
    "system_bias": {"raters": "hierarchical + system_bias"},
    "perception": {"raters": "hierarchical + perception + item_difficulty", "reference": "gold"},
    "halo": {"raters": "hierarchical + halo"},
    "copies": {"raters": "hierarchical", "copies": {"rater_2": "rater_1"}},
}
NO_PART_OF_TRUTH = ("copies",)
"""What a fit is given about raters, and a simulation is not."""
FAMILIES = (
    "ability_bias", "class_conditional", "dawid_skene", "hierarchical", "joint", "mace",
    "one_coin", "ordinal", "pooled", "scored",
)  # fmt: skip
NOT_FOR = {"joint": ("relevance", "single"), "ordinal": ("single",), "scored": ("single",)}
CLOSED_FORM = ("class_conditional", "dawid_skene", "one_coin", "pooled")
TASK_OF = {"difficulty_by_class": "relevance", "halo": "generation"}
"""Tasks of layers that the labels of retrieval do not identify."""
SHORT = {"draws": 30, "tune": 30, "chains": 2, "starts": 2}
"""Draws too few to conclude from: the record asks for the same bits, not for good ones."""


def hash_of(value: Any) -> str:
    """Return the SHA-256 of an array (with its shape and type) or of anything that has a text."""
    digest = hashlib.sha256()
    if isinstance(value, bytes):
        digest.update(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "OUT":
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, np.ndarray):
        digest.update(json.dumps(value.tolist(), default=str).encode())
    else:
        digest.update(str(value).encode())
    return digest.hexdigest()


def hashes_of_dataset(data: xr.Dataset) -> Record:
    """Return a hash per variable and coordinate."""
    return {str(name): hash_of(data[name].values) for name in sorted(data.variables, key=str)}


def hashes_of_fit(fit: xr.DataTree) -> Record:
    """Return a hash per array and per attribute of a fit."""
    found = {
        f"{group}/{name}": value
        for group in sorted(fit.children)
        for name, value in hashes_of_dataset(fit[group].to_dataset()).items()
    }
    attributes = {k: v for k, v in fit.attrs.items() if k not in NOT_NUMBERS}
    return found | {f"attribute {k}": hash_of(v) for k, v in sorted(attributes.items())}


def hashes_of_check(check: Any) -> Record:
    """Return code, level, topic and numbers of each finding: its wording may change."""
    found = {}
    for place, finding in enumerate(check.findings):
        numbers = re.findall(r"\d+(?:\.\d+)?", finding.text)
        found[f"finding {place}"] = " ".join([finding.code, finding.level, finding.topic, *numbers])
    tables = {f"table {k}": hash_of(v.to_csv(index=False)) for k, v in check.tables.items()}
    return found | tables


def hashes_of_fitted(fit: xr.DataTree) -> Record:
    """Return the hashes of what is read off a fit: metrics, raters, labels."""
    found = {}
    for estimand in ("finite", "population"):
        for name, draws in assay.metrics(fit, estimand=estimand).data_vars.items():
            found[f"metric {estimand} {name}"] = hash_of(draws.values)
    tables: dict[str, Any] = {
        "reliability": assay.rater_reliability(fit),
        "probabilities": assay.label_probabilities(fit),
    }
    for name, table in tables.items():
        whole = table if isinstance(table, xr.Dataset) else table.to_dataset(name="value")
        found |= {f"{name} {k}": v for k, v in hashes_of_dataset(whole).items()}
    return found


def ratings_of(task: str, recipe: Mapping[str, Any], **options: Any) -> assay.Ratings:
    """Simulate a small study in which each layer has something to say."""
    sizes: dict[str, Any] = {
        "n_items": 40, "groups": {"human": 2, "model": 2}, "ratings_per_item": 2,
        "n_systems": 2, "n_clusters": 10, "sessions": 2, "rng": 3,
        "gold": 0.8 if recipe.get("reference") == "gold" else 0.0,
    }  # fmt: skip
    simulated = {k: v for k, v in recipe.items() if k not in NO_PART_OF_TRUTH}
    return assay.simulate(task, **simulated, **{**sizes, **options})


def fit_case(task: str, recipe: Mapping[str, Any], method: str, **options: Any) -> Case:
    """Return the case of one fit: the tree, the metrics and the check of its ratings."""

    def run() -> Record:
        of_fit = {k: v for k, v in options.items() if k == "formula"}
        ratings = ratings_of(task, recipe, **{k: v for k, v in options.items() if k not in of_fit})
        fit = assay.fit(ratings, **recipe, **of_fit, method=method, **SHORT, progress=False)
        return {
            **{f"fit {k}": v for k, v in hashes_of_fit(fit).items()},
            **hashes_of_fitted(fit),
            **{f"check {k}": v for k, v in hashes_of_check(assay.check(ratings)).items()},
        }

    return run


def fit_cases() -> Iterator[tuple[str, Case]]:
    """Return the small fits by name."""
    for family in FAMILIES:
        for task in ("retrieval", "relevance", "single"):
            if task in NOT_FOR.get(family, ()):
                continue
            yield f"{task} {family} map", fit_case(task, {"raters": family}, "map")
        yield f"ais {family} laplace", fit_case("ais", {"raters": family}, "laplace")
    for family in CLOSED_FORM:
        recipe = {"raters": family, "prevalence": "dirichlet"}
        yield f"grounding {family} dirichlet em", fit_case("grounding", recipe, "em")
    for name, recipe in LAYERED.items():
        task = TASK_OF.get(name, "retrieval")
        yield f"{task} {name} laplace", fit_case(task, recipe, "laplace")
    for name in ("difficulty", "drift", "perception"):
        yield f"generation {name} map", fit_case("generation", LAYERED[name], "map")
    for family in ("hierarchical", "class_conditional"):
        yield f"retrieval {family} nuts", fit_case("retrieval", {"raters": family}, "nuts")
    yield "retrieval lapses nuts", fit_case("retrieval", LAYERED["lapses"], "nuts")
    plain = {"raters": "hierarchical"}
    yield "retrieval replicates map", fit_case("retrieval", plain, "map", replicates=2, n_items=30)
    yield "retrieval partial map", fit_case("retrieval", plain, "map", missing=0.2, partial="draft")


def written_ratings(folder: Path) -> Path:
    """Write a small file of ratings, as a user has it."""
    ratings = ratings_of("retrieval", {"raters": "class_conditional"}, rng=5, sessions=1)
    places = ratings.panels.set_index("item").loc[ratings.item]
    table = pd.DataFrame(
        {
            "item": ratings.items.index[ratings.item],
            "rater": ratings.raters.index[ratings.rater],
            "query": places["cluster"].to_numpy(),
            "system": places["system"].to_numpy(),
            "rank": places["rank"].to_numpy(),
        }
    )
    for place, label in enumerate(ratings.task.labels):
        words = np.array([*label.classes, "", ""], dtype=object)
        table[label.name] = words[ratings.answers[:, place]]
    path = folder / "ratings.csv"
    table.to_csv(path, index=False)
    return path


def written_attributions(folder: Path) -> None:
    """Write ratings of the task ais, and texts for a model to judge."""
    ratings = assay.simulate("ais", n_items=30, n_raters=3, ratings_per_item=2, n_systems=2, rng=7)
    rows = {
        "item": ratings.items.index[ratings.item],
        "rater": ratings.raters.index[ratings.rater],
        "system": ratings.panels.set_index("item").loc[ratings.item, "system"].to_numpy(),
    }
    for place, label in enumerate(ratings.task.labels):
        words = np.array([*label.classes, "", ""], dtype=object)
        rows[label.name] = words[ratings.answers[:, place]]
    pd.DataFrame(rows).to_csv(folder / "ais.csv", index=False)
    texts = {"item": ["a", "b"], "question": "Is it warm?", "answer": ["Yes.", "No."]}
    pd.DataFrame(texts | {"source": "It is warm."}).to_csv(folder / "texts.csv", index=False)


WORDS = ("sun", "wind", "coal", "oil", "gas", "rain")


def written_documents(folder: Path) -> None:
    """Write documents, queries, and two rankings of the documents."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, 4)) for _ in range(60)]
    documents = pd.DataFrame({"id": [f"d{n}" for n in range(60)], "text": texts})
    documents.to_csv(folder / "documents.csv", index=False)
    queries = pd.DataFrame({"id": [f"q{n}" for n in range(6)], "query": WORDS})
    queries.to_csv(folder / "queries.csv", index=False)
    worth = {
        "good": lambda n, d: texts[d].split().count(WORDS[n]),
        "poor": lambda _, d: d,
    }
    for name, score in worth.items():
        lines = [f"q{n} Q0 d{d} 1 {score(n, d)} x" for n in range(6) for d in range(60)]
        (folder / f"{name}.trec").write_text("\n".join(lines), encoding="utf-8")


def written_judgements(folder: Path) -> None:
    """Write what two raters and a model say of the sampled pairs, and a fit of the raters."""
    pairs = pd.read_csv(folder / "pairs.csv")
    says = np.array([q in d for q, d in zip(pairs["query"], pairs["document"], strict=True)])
    bare = pairs.drop(columns=["query", "document", "retriever_score"])
    answers = np.where(says, "yes", "no")
    both = pd.concat([bare.assign(rater=name, relevant=answers) for name in ("Ann", "Bo")])
    both.to_csv(folder / "judged.csv", index=False)
    scores = np.where(says, 0.9, 0.2)
    model = pd.DataFrame({"item": pairs["item"], "score": scores, "rater": "llm"})
    model.to_csv(folder / "llm.csv", index=False)
    of_labels = ("--task", "single", "--labels", "relevant", "--raters", "pooled")
    said("fit", "judged.csv", *of_labels, *MAP, "-o", "pairs.nc")


def said(*words: str) -> str:
    """Return what a command prints; its status stands first."""
    from typer.testing import CliRunner

    from assay.cli import app

    before, sys.argv = sys.argv, ["assay", *words]  # a fit keeps the command that made it
    try:
        done = CliRunner().invoke(app, list(words))
    finally:
        sys.argv = before
    return f"{done.exit_code}\n{done.stdout}"


QUICK = ("--method", "laplace", "--draws", "200", "--chains", "2", "--quiet")
MAP = ("--method", "map", "--draws", "50", "--chains", "2", "--quiet")
READING = ("ratings.csv", "--task", "retrieval", "--cluster", "query", "--system", "system")
PAIRS = ("pairs.csv", "--teacher", "llm.csv")
COMMANDS: dict[str, tuple[str, ...]] = {
    "example": ("example", "caries", "-o", "example.csv"),
    "check": ("check", *READING, "--json"),
    "agreement": ("agreement", *READING, "--json"),
    "run": ("run", *READING, *QUICK, "-o", "results"),
    "fit": ("fit", *READING, *QUICK, "-o", "fit.nc", "--json"),
    "metrics": ("metrics", "fit.nc", "--json"),
    "compare": ("compare", "fit.nc", "--json"),
    "decide": ("decide", "fit.nc", "--baseline", "system_1", "--gain", "topical_precision_at_k",
               "--json"),
    "raters": ("raters", "fit.nc", "--json"),
    "sheets": ("sheets", "fit.nc", "-o", "sheets.html", "--no-refit", "--quiet"),
    "labels": ("labels", "fit.nc", "--json"),
    "export": ("export", "fit.nc", "--to", "huggingface", "-o", "labels.jsonl"),
    "export cleanlab": ("export", "fit.nc", "--to", "cleanlab", "--label", "misleading",
                        "-o", "cleanlab.csv"),
    "export qrels": ("export", "fit.nc", "--to", "qrels", "--label", "topically_relevant",
                     "-o", "labels.qrels"),
    "report": ("report", "fit.nc", "-o", "report.html", "--quiet", "--no-budget"),
    "methods": ("methods", "fit.nc", "--json"),
    "ais": ("ais", "ais.csv", "--system", "system", "--json"),
    "judge": ("judge", "texts.csv", "--task", "ais", "--model", "m", "--dry-run"),
    "task init": ("task", "init", "ais.csv", "-o", "own.toml"),
    "task show": ("task", "show", "grounding"),
    "task export": ("task", "export", "retrieval", "--to", "label-studio", "-o", "form.xml"),
    "diras sample": ("diras", "sample", "documents.csv", "queries.csv", "--per-query", "20",
                     "--top", "15", "-o", "pairs.csv", "--pool", "pool.csv"),
    "diras define": ("diras", "define", "queries.csv", "--model", "m", "--dry-run"),
    "diras rate": ("diras", "rate", "pairs.csv", "--model", "m", "--dry-run"),
    "diras rank": ("diras", "rank", "pairs.nc", "good.trec", "poor.trec", "--pairs", "pairs.csv",
                   "--pool", "pool.csv", "--json"),
    "diras train": ("diras", "train", *PAIRS, "--score", "pairs.csv", "-o", "student.csv"),
    "diras tune": ("diras", "tune", *PAIRS, "--model", "org/model", "-o", "tuned"),
}  # fmt: skip
"""Calls of every command, in order. The demo has a case of its own; no model is asked."""


def command_case() -> Record:
    """Run every command on small files, in a folder of its own."""
    with folder_of_its_own() as folder:
        written_ratings(folder)
        written_attributions(folder)
        written_documents(folder)
        found: Record = {}
        for name, words in COMMANDS.items():
            if name == "diras rank":
                written_judgements(folder)
            before = set(folder.rglob("*"))
            found[f"command {name}"] = hash_of(said(*words))
            for path in sorted(set(folder.rglob("*")) - before):
                place = path.relative_to(folder)
                if path.suffix == ".nc":
                    fit = hashes_of_fit(assay.load(path))
                    found |= {f"file {place} {k}": v for k, v in fit.items()}
                elif path.is_file():
                    found[f"file {place}"] = hash_of(path.read_bytes())
        return found


def demo_case() -> Record:
    """Run the demo with few draws: its numbers and both reports."""
    with folder_of_its_own():
        found = {"numbers": hash_of(said("demo", "--quick", "--quiet", "--json"))}
        for path in sorted(Path().glob("*.html")):
            found[f"page {path.name}"] = hash_of(path.read_bytes())
        return found


@contextlib.contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """Work in a folder that goes afterwards, whose name no output has."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def cases() -> dict[str, Case]:
    """Return all cases by name."""
    return {**dict(fit_cases()), "commands": command_case, "demo": demo_case}


def record(only: str = "") -> Record:
    """Run the cases whose name has ``only``, and return their hashes by name."""
    found: Record = {}
    for name, case in cases().items():
        if only not in name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                hashes = case()
            except assay.AssayError as error:  # what is refused is part of the record
                hashes = {"refused": f"{type(error).__name__}: {error}"}
        found |= {f"{name}: {key}": value for key, value in hashes.items()}
        print(f"{name}: {len(hashes)}", file=sys.stderr, flush=True)  # noqa: T201
    return found


def differences(before: Record, after: Record) -> list[str]:
    """Say what differs between two records, a line each."""
    lines = [f"gone: {k}" for k in before if k not in after]
    lines += [f"new: {k}" for k in after if k not in before]
    return lines + [f"differs: {k}" for k in before if after.get(k, before[k]) != before[k]]


def main() -> int:
    """Write a record, or compare with one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="cases whose name has this text")
    given = parser.parse_args()
    now = record(given.only)
    if given.action == "write":
        given.file.write_text(json.dumps(now, indent=1), encoding="utf-8")
        return 0
    before = {
        k: v
        for k, v in json.loads(given.file.read_text(encoding="utf-8")).items()
        if given.only in k.partition(": ")[0]
    }
    told = differences(before, now)
    print("\n".join([*told, f"{len(now)} hashes, {len(told)} differ"]))  # noqa: T201
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
