"""What is fuzzed: every place at which assay reads what somebody else has written."""

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import fuzz_inputs as inputs
import numpy as np
import pandas as pd
import xarray as xr
from fuzz_watch import Tally, look

import assay
from assay.cli.arguments import in_options
from assay.comparison.claims import parse_claim
from assay.data.rules import parse
from assay.data.states import state_space
from assay.data.task_files import load_task
from assay.inference.nutpie import read_chain
from assay.likelihood.machine_code import CheckedFiles
from assay.modelling.prevalence.design import find_covariates
from assay.modelling.priors import override, parse_prior, read_priors
from assay.modelling.spec import check_formula

Attempt = Callable[[Any], bool]
Target = Callable[[Random, Path], tuple[Iterator[Any], Attempt]]


def _mutations(corpus: list[bytes], rng: Random) -> Iterator[bytes]:
    yield from corpus
    while True:
        yield inputs.mutated(rng.choice(corpus), rng, corpus)


def ratings(rng: Random, folder: Path) -> tuple[Iterator[bytes], Attempt]:
    """Tables of ratings: CSV and TSV, under three tasks."""
    files = sorted((inputs.CORPUS / "ratings").iterdir())
    tasks = cycle(("single", "retrieval", "ais"))

    def attempt(data: bytes) -> bool:
        path = folder / "ratings.csv"
        path.write_bytes(data)
        assay.read_ratings(path, task=next(tasks))
        return True

    return _mutations([file.read_bytes() for file in files], rng), attempt


def _toml(folder: str, rng: Random, made: Iterator[str]) -> Iterator[bytes]:
    files = sorted((inputs.CORPUS / folder).iterdir())
    corpus = [file.read_text(encoding="utf-8") for file in files]
    return (text.encode() for text in inputs.texts(corpus, rng, made))


def tasks(rng: Random, folder: Path) -> tuple[Iterator[bytes], Attempt]:
    """Task files, up to the states of the task."""
    keys = ("name", "classes", "ordered", "description", "asked_if", "expression", "truth",
            "response", "metrics", "max_states", "item", "cluster")  # fmt: skip
    tables = ("[[labels]]", "[[rules]]", "[columns]", "[[labels]]\nname = 'a'")

    def attempt(data: bytes) -> bool:
        path = folder / "task.toml"
        path.write_bytes(data)
        task = load_task(path)
        if all(label.classes for label in task.labels):
            state_space(task)
        return True

    return _toml("tasks", rng, inputs.tomls(rng, keys, tables)), attempt


def prior_files(rng: Random, folder: Path) -> tuple[Iterator[bytes], Attempt]:
    """TOML files of priors."""
    keys = ("main", "sd", "accuracy", "confusion", "expert.accuracy", "a.b.c")
    tables = ("[priors]", "[priors.expert]", "[prior]")

    def attempt(data: bytes) -> bool:
        path = folder / "priors.toml"
        path.write_bytes(data)
        read_priors(path)
        return True

    return _toml("priors", rng, inputs.tomls(rng, keys, tables)), attempt


def prior_texts(rng: Random, _: Path) -> tuple[Iterator[str], Attempt]:
    """Priors as text, put in the place of others."""
    defaults = {
        "mean_binary": parse_prior("Normal(1, 1)"), "share": parse_prior("Beta(2, 1)"),
        "confusion": parse_prior("Confusion(0.7, 4)"), "sd": parse_prior("HalfNormal(1)"),
    }  # fmt: skip
    names = cycle(defaults)

    def attempt(text: str) -> bool:
        override(defaults, {next(names): text}, owner="model")
        return True

    found = inputs.texts(inputs.lines("prior_texts.txt"), rng, inputs.python_values(rng))
    return found, attempt


def formulas(rng: Random, _: Path) -> tuple[Iterator[str], Attempt]:
    """Formulas, evaluated on items."""
    size = np.random.default_rng(1)
    items = pd.DataFrame(
        {
            "length": size.integers(1, 9, 40).astype(float), "answer length": np.arange(40.0),
            "language": size.choice(["de", "en", "fr"], 40),
        }
    )  # fmt: skip

    def attempt(text: str) -> bool:
        find_covariates(check_formula(text), items)
        return True

    return inputs.texts(inputs.lines("formulas.txt"), rng, inputs.formulas(rng)), attempt


def rules(rng: Random, _: Path) -> tuple[Iterator[str], Attempt]:
    """Rules, evaluated on codes."""
    classes = {"a": ("no", "yes"), "b": ("no", "yes"), "c": ("low", "mid", "high")}
    codes = {name: np.array([-2, 0, 1]) for name in classes}

    def attempt(text: str) -> bool:
        parse(text, classes)(codes)
        return True

    return inputs.texts(inputs.lines("rules.txt"), rng, inputs.rules(rng)), attempt


def claims(rng: Random, _: Path) -> tuple[Iterator[str], Attempt]:
    """Claims."""

    def attempt(text: str) -> bool:
        parse_claim(text)
        return True

    return inputs.texts(inputs.lines("claims.txt"), rng, inputs.claims(rng)), attempt


def messages(rng: Random, _: Path) -> tuple[Iterator[str], Attempt]:
    """Messages that repeat what users wrote, in the words of the command line."""
    made = (f"say `formula={text!r}` or `raters={{'{text}': [{text}]}}`" for text in
            inputs.formulas(rng))  # fmt: skip

    def attempt(text: str) -> bool:
        return bool(in_options(text)) or not text

    return inputs.texts(["Use `draws=5, chains=2`", "`score_range=(0, 100)`"], rng, made), attempt


@cache
def _fit() -> xr.DataTree:
    """Make a small fit; what is written of it has no draws of more than a few bytes."""
    ratings = assay.simulate(
        "retrieval", n_items=12, n_raters=3, n_systems=2, n_clusters=4, missing=0.05, rng=1
    )
    return assay.fit(ratings, method="map", draws=4, chains=2, starts=1, rng=1, progress=False)


def _use(path: Path) -> bool:
    """Load a fit, and use what is let through."""
    fit = assay.load(path)
    assay.rater_reliability(fit)
    assay.label_probabilities(fit)
    return True


def netcdf(rng: Random, folder: Path) -> tuple[Iterator[bytes], Attempt]:
    """Stored fits in netCDF."""
    path = folder / "fit.nc"

    def attempt(data: bytes) -> bool:
        path.write_bytes(data)
        return _use(path)

    whole = assay.save(_fit(), path).read_bytes()
    _use(path)  # the first time much is imported

    def made() -> Iterator[bytes]:
        yield whole
        while True:
            data = bytearray(inputs.mutated(whole, rng) if rng.random() < 0.3 else whole)
            for _ in range(rng.choice((1, 1, 10, 300))):
                if data:
                    data[rng.randrange(len(data))] = rng.randrange(256)
            yield bytes(data)

    return made(), attempt


def zarr_stores(rng: Random, folder: Path) -> tuple[Iterator[tuple[str, bytes]], Attempt]:
    """Stored fits in Zarr: one file of the store is changed."""
    whole, store = folder / "whole.zarr", folder / "fit.zarr"
    assay.save(_fit(), whole)
    _use(whole)
    files = sorted(str(f.relative_to(whole)) for f in whole.rglob("*") if f.is_file())
    shutil.copytree(whole, store)

    def made() -> Iterator[tuple[str, bytes]]:
        while True:
            name = rng.choice(files)
            yield name, inputs.mutated((whole / name).read_bytes(), rng)

    def attempt(given: tuple[str, bytes]) -> bool:
        name, data = given
        (store / name).write_bytes(data)
        try:
            return _use(store)
        finally:
            (store / name).write_bytes((whole / name).read_bytes())

    return made(), attempt


def checkpoints(rng: Random, folder: Path) -> tuple[Iterator[bytes], Attempt]:
    """Finished chains of a checkpoint."""
    file, walk = folder / "chain-1.npz", SimpleNamespace(draws=20, density=SimpleNamespace(size=3))
    np.savez(file, x=np.ones((20, 3)), lp=np.zeros(20))
    whole = file.read_bytes()

    def attempt(data: bytes) -> bool:
        file.write_bytes(data)
        found: Any = walk
        return read_chain(file, found, ["lp"]) is not None

    return _mutations([whole], rng), attempt


def caches(rng: Random, folder: Path) -> tuple[Iterator[tuple[str, bytes]], Attempt]:
    """Machine code kept on disk."""
    kept = CheckedFiles(str(folder), "f", "stamp")
    kept.save("key", {"code": b"machine" * 100})
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}

    def made() -> Iterator[tuple[str, bytes]]:
        while True:
            name = rng.choice(sorted(whole))
            yield name, inputs.mutated(whole[name], rng)

    def attempt(given: tuple[str, bytes]) -> bool:
        name, data = given
        (folder / name).write_bytes(data)
        try:
            return kept.load("key") is not None
        finally:
            (folder / name).write_bytes(whole[name])

    return made(), attempt


TARGETS: dict[str, Target] = {
    "ratings": ratings, "task files": tasks, "prior files": prior_files,
    "prior texts": prior_texts, "formulas": formulas, "rules": rules, "claims": claims,
    "messages": messages, "netCDF fits": netcdf, "Zarr fits": zarr_stores,
    "checkpoints": checkpoints, "caches": caches,
}  # fmt: skip
SECONDS: dict[str, float] = {"ratings": 4, "formulas": 4, "netCDF fits": 4, "Zarr fits": 4}
"""Of a quick run; others have :data:`USUAL`. All together: less than 35 seconds."""
USUAL = 2.0


@contextmanager
def quiet() -> Iterator[None]:
    """Let no warning be an error: what is read may be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fuzz(name: str, seed: int, *, most: int, seconds: float) -> Tally:
    """Try inputs of one kind, until there are enough or the processor time is over.

    On a machine with other work it takes longer, but not without end.
    """
    tally, folder = Tally(), Path(tempfile.mkdtemp(prefix="assay-fuzz-"))
    try:
        with quiet():
            made, attempt = TARGETS[name](Random(f"{seed} {name}"), folder)
            end, late = time.process_time() + seconds, time.monotonic() + 5 * seconds
            while (
                sum(tally.counts.values()) < most
                and time.process_time() < end
                and time.monotonic() < late
            ):
                look(tally, attempt, next(made))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally
