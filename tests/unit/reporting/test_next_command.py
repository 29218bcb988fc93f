"""The command of the next fit keeps what was typed, however it was typed."""

import shlex

import pytest
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

import assay.cli.program
from assay.cli.application import app
from assay.reporting.next_command import FLAGS, NextFit, drafting, typed_again, value_of, words_of

assert assay.cli.program  # it registers the commands


def options_of(*path: str) -> list[TyperOption]:
    program = get_command(app)
    for name in path:
        assert isinstance(program, TyperGroup)
        program = program.commands[name]
    return [one for one in program.params if isinstance(one, TyperOption)]


def spellings(options: list[TyperOption]) -> set[str]:
    return {name for one in options for name in [*one.opts, *one.secondary_opts]}


def test_flags_are_those_of_the_commands_that_fit() -> None:
    options = [*options_of("run"), *options_of("fit")]
    assert spellings([one for one in options if one.is_flag]) == FLAGS


def test_a_draft_has_every_option_of_reading_and_no_other() -> None:
    """What both commands take is kept, but the task, which the draft replaces, and its place."""
    both = spellings(options_of("task", "init")) & spellings(options_of("run"))
    for one in options_of("run"):
        for name in {*one.opts, *one.secondary_opts}:
            words = [name] if one.is_flag else [name, "x"]
            typed = drafting(["assay", "run", *words, "a.csv"])
            kept = words if name in both - {"-o", "--output"} else []
            expected = ["assay", "task", "init", *kept, "a.csv", "-o", "TASK.toml"]
            assert shlex.split(typed) == expected


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("assay run a.csv", "assay run a.csv --draws 9 -o a-results-2"),
        (
            "assay run --unordered a.csv --draws 5",
            "assay run --unordered a.csv --draws 9 -o a-results-2",
        ),
        ("assay fit a.csv --draws=5 --output=f.nc", "assay fit a.csv --draws 9 -o f-2.nc"),
        ("assay fit --wide A B --draws 5 a.csv", "assay fit --wide A B a.csv --draws 9"),
        ("assay fit a.csv --score-range 0 5 -q", "assay fit a.csv --score-range 0 5 -q --draws 9"),
    ],
)
def test_the_command_is_typed_again_with_another_value(typed: str, again: str) -> None:
    assert typed_again(words_of(typed), NextFit(fitting={"draws": 9}), "a") == again


def test_the_value_of_an_option_follows_it() -> None:
    words = words_of("assay run a.csv --task x.toml -o=out -q")
    assert [value_of(words, *n) for n in (["--task"], ["-o", "--output"], ["-q"], ["--item"])] == [
        "x.toml", "out", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["", "assay demo --seed 1", "assay run 'a", "python run a.csv"])
def test_other_commands_are_not_typed_again(typed: str) -> None:
    assert words_of(typed) == []
