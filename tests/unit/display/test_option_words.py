"""Options that stand for arguments are those that the command line has."""

import re
from dataclasses import fields
from inspect import signature

import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.options import Fitting, Reading
from assay.display.option_words import FITTING, OPTIONS, OTHERWISE, READING, REPORTING, in_options
from assay.reporting import report


@pytest.fixture(scope="module")
def help_text() -> str:
    return CliRunner().invoke(app, ["report", "--help"], env={"COLUMNS": "200"}).stdout


@pytest.mark.parametrize("option", OPTIONS.values())
def test_each_is_an_option(option: str, help_text: str) -> None:
    assert re.search(rf"--{option}\b", help_text)


def test_the_arguments_are_those_of_the_functions() -> None:
    arguments = {
        name for f in (assay.read_ratings, assay.fit, report) for name in signature(f).parameters
    }
    assert set(OPTIONS) <= arguments
    assert set(READING) == {f.name for f in fields(Reading)} - {"word", "covariate"}
    # --seed and --prior are called otherwise; --dask names a scheduler, where client= is one.
    assert set(FITTING) == {f.name for f in fields(Fitting)} - {"seed", "prior", "dask"}
    assert not set(READING) & set(FITTING) & set(REPORTING) & set(OTHERWISE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("several: item=['query', 'chunk']", "several: --item query --item chunk"),
        ('name it: rater="..."', "name it: --rater ..."),
        ('labels={"relevant": "Is it?"}', "--labels 'relevant=Is it?'"),
        ("audit=''", "--audit ''"),
        ("stability=True, or not", "--stability, or not"),
        ("name it with read_ratings(system=...)", "name it with --system"),
        ("(target_accept=0.98)", "(--target-accept 0.98)"),
        ("method='nuts', draws=2000", "--method nuts --draws 2000"),
        ("rng=3 and mylabel= and score=x", "--seed 3 and mylabel= and score=x"),
        ("labels={no value}", "labels={no value}"),
    ],
)
def test_values_are_written_as_they_are_typed(text: str, said: str) -> None:
    assert in_options(text) == said
