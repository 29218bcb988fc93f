"""Priors in a file of the user's own."""

from pathlib import Path

import pytest
from refusals import refusal

from assay._util.errors import ModelError
from assay.data.task_files import catalogue_names, catalogue_path
from assay.modelling.priors import parse_prior, read_priors

GOOD = """
[priors]
main = "Normal(0, 1)"
accuracy = "about 85 %, 90 % between 70 and 95"
confusion = [[8, 2], [1, 9]]
expert.mean_binary = "Normal(3, 0.3)"
"gpt-4.1".accuracy = "Beta(9, 1)"

[priors.rater_7]
confusion = {a = [[8, 2], [1, 9]], b = [[5, 1], [1, 5]]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_priors_are_read_by_name_and_owner(tmp_path: Path):
    found = read_priors(written(tmp_path, GOOD))
    assert found == {
        "main": "Normal(0, 1)",
        "accuracy": "about 85 %, 90 % between 70 and 95",
        "confusion": "Counts([[8, 2], [1, 9]])",
        "expert.mean_binary": "Normal(3, 0.3)",
        "gpt-4.1.accuracy": "Beta(9, 1)",
        "rater_7.confusion": "Counts({'a': [[8, 2], [1, 9]], 'b': [[5, 1], [1, 5]]})",
    }
    for text in found.values():
        assert str(parse_prior(text)) == text


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path):
    lines = ["[priors]", 'main = "Norml(0, 1)"', "sd = 3", 'ok = "Beta(1, 1)"']
    path = written(tmp_path, "\n".join([*lines, 'expert.accuracy = "about 85 %"']))
    with pytest.raises(ModelError) as caught:
        read_priors(path)
    message = str(caught.value)
    for words in (
        str(path),
        "main: no distribution 'Norml'",
        "sd: 3 is not a prior",
        "expert.accuracy:",
    ):
        assert words in message
    assert "ok" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('main = "Normal(0, 1)"', "has main. Write all priors"),
        (
            '[priors]\na = "Beta(1, 1)"\n[fit]\ndraws = 3',
            "has fit. Write all priors",
        ),
        ("", "has no table"),
        ("[priors\n", "mine.toml: .*line 1"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, words: str):
    with pytest.raises(ModelError, match=words, check=refusal("prior-file")):
        read_priors(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(ModelError, match="there is no", check=refusal("prior-file")):
        read_priors(tmp_path / "none.toml")


@pytest.mark.parametrize("name", catalogue_names("raters"))
def test_priors_of_the_catalogue_come_back(tmp_path: Path, name: str):
    text = catalogue_path("raters", f"{name}.toml").read_text(encoding="utf-8")
    table = text[text.index("[priors]") :]
    found = read_priors(written(tmp_path, table))
    assert found
    assert all(str(parse_prior(prior)) == prior for prior in found.values())
