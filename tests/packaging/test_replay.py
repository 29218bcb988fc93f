"""Pages with transcripts show what the code prints today (docs/replay.py)."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path for path in DOCS.glob("*.md") if "```pycon" in path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def replaying() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay", DOCS / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_the_code_prints(
    page: Path, replaying: ModuleType, fits_once: None
) -> None:
    differ = [
        f"{step[0]}shows\n{step[1]}prints\n{found}"
        for _, step, found in replaying.replay(page.read_text(encoding="utf-8"))
        if not replaying.same(step[1], found)
    ]
    assert differ == []


def test_the_pages_with_transcripts_are_there() -> None:
    assert {page.stem for page in PAGES} >= {"index", "tutorial", "three_studies"}


SHOWN = """```pycon
>>> for n in range(2):
...     print(n)
0
1
>>> x = 3
>>> print("a", x / 7)
a 0.42857
```

```console
$ assay --version
assay 0
```
"""


def test_replay_runs_python_and_commands_in_order(replaying: ModuleType) -> None:
    found = list(replaying.replay(SHOWN))
    assert [kind for kind, _, _ in found] == ["pycon"] * 3 + ["console"]
    assert [said for _, _, said in found[:3]] == ["0\n1\n", "", "a 0.42857142857142855\n"]
    assert found[3][2].startswith("assay ")


@pytest.mark.parametrize(
    ("shown", "printed", "alike"),
    [
        ("a 0.42857\n", "a 0.4286\n", True),
        ("a 0.43\n", "a 0.53\n", False),
        ("a 0.43\n", "b 0.43\n", False),
        ("one 1\n...\n", "one 1\ntwo 2\n", True),
        ("1 rater\n", "2 raters\n", False),
        ("x  y\n", "x y\n\n", True),
        (
            "smallest effective sample size 1312 of the parameters and 9 of it\n",
            "smallest effective sample size 900 of the parameters and 8 of it\n",
            True,
        ),
        ("about 90 more clusters\n", "about 150 more clusters\n", True),
        ("about 90 more items\n", "about 150 more items\n", False),
    ],
)
def test_numbers_may_differ_in_their_last_digits(
    replaying: ModuleType, shown: str, printed: str, alike: bool
) -> None:
    assert replaying.same(shown, printed) is alike


def test_rewriting_puts_in_what_is_printed_and_keeps_what_is_cut(replaying: ModuleType) -> None:
    text = '```pycon\n>>> print("a\\nb\\nc")\nold\n...\n>>> 1 + 1\n```\n'
    assert replaying.rewritten(text) == (
        '```pycon\n>>> print("a\\nb\\nc")\na\n...\n>>> 1 + 1\n2\n```\n'
    )
