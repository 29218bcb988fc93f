"""Chains of NUTS: the same bits again, checkpoints, and what an interruption leaves."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from scipy.sparse import csr_array

import assay
from assay._util.errors import FitError, FitWarning
from assay.inference import nutpie
from assay.inference.coordinates import Start
from assay.inference.density import Density, make_density
from assay.inference.nutpie import sample_nuts
from assay.inference.settings import SamplerSettings
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

EFFORT = SamplerSettings(draws=30, tune=40, chains=3, target_accept=0.8)


@pytest.fixture(scope="module")
def density() -> Density:
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    return make_density(build_structure(ratings, make_spec("pooled", "dirichlet")))


def run(density: Density, seed: int = 1, **options: object) -> tuple[np.ndarray, dict]:
    start = Start(centre=np.zeros(density.size), root=csr_array(0.5 * np.eye(density.size)))
    return sample_nuts(density, start, replace(EFFORT, **options), seed)


def test_the_same_seed_gives_the_same_bits(density, monkeypatch):
    x, stats = run(density)
    monkeypatch.setattr(nutpie, "cores", lambda: 1)
    again, also = run(density)
    np.testing.assert_array_equal(x, again)
    np.testing.assert_array_equal(stats["lp"], also["lp"])
    assert x.shape == (3, 30, density.size)
    assert not np.array_equal(x[0], x[1])
    assert not np.array_equal(x, run(density, seed=2)[0])


def test_trajectories_are_made_of_rotations(density, monkeypatch):
    """Where nutpie calls the setting otherwise, or takes no notice of it, this is to be seen."""
    from nutpie.compile_pymc import CompiledPyMCModel

    found, make = [], CompiledPyMCModel._make_sampler

    def look(self, settings, *others):
        found.append(settings.as_dict()["settings"])
        return make(self, settings, *others)

    monkeypatch.setattr(CompiledPyMCModel, "_make_sampler", look)
    run(density)
    assert {settings["trajectory_kind"] for settings in found} == {"ExactNormal"}
    assert {(settings["num_draws"], settings["num_tune"]) for settings in found} == {(30, 40)}


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_steps_are_long_where_much_is_known():
    """A leapfrog's are 0.45 to 0.48 long (six seeds), these 0.69 to 0.79.

    After 150 steps of tuning they are still 0.58 to 0.72, as rounding has it.
    """
    rng = np.random.default_rng(1)
    truth, item = rng.integers(2, size=400), np.repeat(np.arange(400), 10)
    raters = [f"rater {n}" for _ in range(400) for n in rng.permutation(40)[:10]]
    answer = np.where(rng.random(4000) < 0.8, truth[item], 1 - truth[item])
    ratings = assay.read_ratings(
        pd.DataFrame({"item": item, "rater": raters, "label": answer}), task="single"
    )
    fit = assay.fit(
        ratings, raters="hierarchical", draws=50, tune=300, chains=2, rng=1, progress=False
    )
    assert fit["sample_stats"]["step_size"].mean() > 0.58


def test_log_density_of_the_draws_is_reported(density):
    x, stats = run(density)
    assert stats["lp"][1, 7] == pytest.approx(density(x[1, 7])[0])


def test_a_checkpoint_is_taken_up(density, tmp_path, monkeypatch):
    x, _ = run(density, checkpoint=tmp_path)
    assert len(list(tmp_path.glob("chain-*.npz"))) == 3
    next(tmp_path.glob("chain-*.npz")).unlink()
    started = []
    start = nutpie._start
    monkeypatch.setattr(nutpie, "_start", lambda *a: started.append(a) or start(*a))
    again, _ = run(density, checkpoint=tmp_path)
    assert len(started) == 1
    np.testing.assert_array_equal(x, again)


def test_a_checkpoint_of_another_run_is_not(density, tmp_path):
    run(density, checkpoint=tmp_path)
    x, _ = run(density, checkpoint=tmp_path, draws=20)
    assert x.shape[1] == 20
    assert len(list(tmp_path.glob("chain-*.npz"))) == 6


@pytest.mark.parametrize("asked", [{"checkpoint": "ck"}, {"keep_interrupted": True}])
def test_methods_without_chains_have_no_checkpoint(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    with pytest.raises(FitError, match="work with `method='nuts'", check=refusal("nuts-option")):
        assay.fit(ratings, method="laplace", progress=False, **asked)


@pytest.mark.parametrize("other", [{"rng": 2}, {"draws": 21}, {"raters": "mace"}])
def test_a_folder_of_other_runs_is_refused(tmp_path, other):
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    given = {
        "raters": "pooled", "draws": 20, "tune": 20, "chains": 2, "rng": 1, "progress": False,
        "checkpoint": tmp_path,
    }  # fmt: skip
    with pytest.warns(FitWarning):
        assay.fit(ratings, **given)
    with pytest.raises(FitError, check=refusal("checkpoint-of-other-run", chains=2)):
        assay.fit(ratings, **given | other)
    with pytest.warns(FitWarning):
        assert assay.fit(ratings, **given | {"chains": 3})["posterior"].sizes["chain"] == 3


def changed_chain(file, **arrays):
    with np.load(file) as stored:
        np.savez(file, **(dict(stored) | arrays))


DAMAGED_CHAINS = {
    "text": lambda file: file.write_bytes(b"not an archive"),
    "nothing": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-200]),
    "a flipped bit": lambda file: file.write_bytes(
        file.read_bytes()[:600] + b"\xff" + file.read_bytes()[601:]
    ),
    "other draws": lambda file: changed_chain(file, x=np.zeros((3, 2))),
    "words": lambda file: changed_chain(file, lp=np.array(["a"] * 30)),
    "objects": lambda file: changed_chain(file, lp=np.array([{}] * 30, object)),
    "more": lambda file: changed_chain(file, other=np.zeros(30)),
}


@pytest.mark.parametrize("name", DAMAGED_CHAINS)
def test_a_damaged_checkpoint_is_run_again(density, tmp_path, name):
    x, _ = run(density, checkpoint=tmp_path)
    file = next(tmp_path.glob("chain-*.npz"))
    DAMAGED_CHAINS[name](file)
    with pytest.warns(FitWarning, match=r"\[checkpoint-damaged\]$"):
        again, _ = run(density, checkpoint=tmp_path)
    np.testing.assert_array_equal(x, again)
    np.testing.assert_array_equal(x, run(density, checkpoint=tmp_path)[0])


def test_a_full_disk_loses_no_chain(density, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(FitWarning, match=r"\[checkpoint-not-written\]$"):
        x, _ = run(density, checkpoint=tmp_path)
    assert x.shape == (3, 30, density.size)
    assert list(tmp_path.iterdir()) == []


class Interrupt:
    """Ctrl-C after some looks at the chains, when they have draws."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def __call__(self, pause: float) -> None:
        if time.monotonic() > self.end:
            raise KeyboardInterrupt
        time.monotonic()


def test_an_interrupted_run_is_not_a_whole_one(density, monkeypatch):
    monkeypatch.setattr(nutpie.time, "sleep", Interrupt(0.0))
    with pytest.raises(KeyboardInterrupt):
        run(density, draws=100_000)


@pytest.mark.filterwarnings("ignore:Label switching:assay.FitWarning")
def test_the_draws_so_far_are_kept_if_asked_for(monkeypatch):
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    monkeypatch.setattr(nutpie.time, "sleep", Interrupt(3.0))
    with pytest.warns(FitWarning, match=r"\[interrupted-run\]$"):
        fit = assay.fit(
            ratings,
            raters="pooled",
            draws=1_000_000,
            tune=40,
            starts=1,
            progress=False,
            keep_interrupted=True,
        )
    draws = fit["posterior"].sizes["draw"]
    assert 0 < draws < 1_000_000
    assert fit["labels"]["state"].sizes["draw"] == draws


def test_an_interruption_during_the_warm_up_leaves_nothing(density, monkeypatch):
    monkeypatch.setattr(nutpie.time, "sleep", Interrupt(0.1))
    with pytest.raises(KeyboardInterrupt):
        run(density, tune=10_000_000, keep_interrupted=True)


def test_chains_are_cut_to_a_common_length(tmp_path: Path):
    chains = [{"x": np.zeros((n, 2)), "lp": np.zeros(n)} for n in (10, 8, 3)]
    x, stats = nutpie.together(chains)
    assert x.shape == (2, 8, 2)
    assert stats["lp"].shape == (2, 8)
