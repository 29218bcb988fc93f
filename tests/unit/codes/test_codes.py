"""Codes of messages: one registry, in which every code of the source stands, and no other."""

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
import assay.modelling.formula_trees  # has errors of its own
from assay._util.errors import (
    AssayError,
    FitWarning,
    ModelError,
    Note,
    Problem,
    RatingsError,
    note_from,
    notes_json,
)
from assay.checks.findings import Finding
from assay.codes import FAMILIES, MEANINGS, meaning, messages_page
from assay.inference.diagnostics import fit_warnings

SOURCE = Path(assay.__file__).parent
DOCS = Path(__file__).resolve().parents[3] / "docs"
DATA = Path(__file__).resolve().parents[2] / "data"
LONGEST = 25
COLLECTED = {"RatingsError"}
"""May be given problems, each of which has a code."""


def subclasses(kind: type) -> Iterator[str]:
    """Yield the names of a class and of all that are made of it."""
    yield kind.__name__
    for one in kind.__subclasses__():
        yield from subclasses(one)


WITH_CODES = {*subclasses(AssayError), "Problem", "Note", "Gap", "Finding", "FitWarning"}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield where a call stands, the name that is called, and the call."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", name, node


def given_code(name: str, call: ast.Call) -> ast.expr | None:
    """Return what a call gives as a code."""
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name == "problem" or (name == "of" and owner == "RatingsError"):
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "code"), None)


def texts(given: ast.expr) -> list[str]:
    """Return the texts that an expression can be."""
    match given:
        case ast.Constant(value=str(text)) if text:
            return [text]
        case ast.IfExp():
            return [*texts(given.body), *texts(given.orelse)]
        case ast.BoolOp():
            return [text for one in given.values for text in texts(one)]
        case ast.Call(func=ast.Name(id="getattr")):
            return texts(given.args[2])
    return []  # passed on


def codes_in_source() -> dict[str, list[str]]:
    """Return the codes that the source gives, and where."""
    found: dict[str, list[str]] = {}
    for place, name, call in calls():
        if (given := given_code(name, call)) is not None:
            for text in texts(given):
                found.setdefault(text, []).append(place)
    return found


def test_every_code_is_registered_and_every_registered_code_is_in_use() -> None:
    assert set(codes_in_source()) == set(MEANINGS)


def test_a_code_stands_in_one_family_and_is_in_kebab_case() -> None:
    every = [code for family in FAMILIES for code in family.codes]
    assert len(every) == len(set(every))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in every)


def test_whatever_is_told_has_a_code() -> None:
    without = [
        f"{place} {name}"
        for place, name, call in calls()
        if name in WITH_CODES
        and name not in COLLECTED
        and given_code(name, call) is None
        and not any(keyword.arg is None for keyword in call.keywords)
    ]
    # The problem of no problems, which nobody sees.
    assert [place for place in without if not place.startswith("_util/errors.py")] == []
    bare = [
        place
        for place, name, call in calls()
        if name in COLLECTED
        and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
        and given_code(name, call) is None
    ]
    assert bare == []


def test_meanings_are_short_plain_sentences() -> None:
    for code, text in MEANINGS.items():
        assert text[0].isupper() or re.match(r"`[a-z_]+=", text), code
        assert text.endswith("."), code
        assert all(len(one.split()) <= LONGEST for one in text.split(". ")), code
    assert meaning("few-clusters").startswith("There are few clusters")


def test_the_page_is_made_from_the_codes() -> None:
    shown = (DOCS / "messages.md").read_text(encoding="utf-8")
    assert shown == messages_page(), "python -m assay.codes > docs/messages.md"


def test_errors_keep_code_and_numbers_when_they_travel() -> None:
    error = ModelError("3 items", code="no-items", numbers={"items": np.int64(3), "bad": np.nan})
    for other in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(other), other.code, other.level) == ("3 items", "no-items", "problem")
        assert other.numbers == {"items": 3}
    first = Problem(what="no item", code="no-item")
    both = RatingsError([first, Problem(what="3 ranks", code="rank-words", numbers={"ranks": 3})])
    assert (both.code, [p.code for p in both.problems]) == ("no-item", ["no-item", "rank-words"])


def test_notes_are_sentences_with_a_code_that_are_stored_and_read_back() -> None:
    note = Note("2 chains differ.", code="chains-disagree", numbers={"chains": np.int64(2)})
    back = note_from(note.to_dict())
    assert (back, back.code, back.level, back.numbers) == (
        note,
        note.code,
        "warning",
        {"chains": 2},
    )
    assert notes_json([note]).startswith('[{"code": "chains-disagree", "level": "warning"')
    warning = FitWarning.of(note)
    assert (str(warning), warning.text) == ("2 chains differ. [chains-disagree]", str(note))
    assert pickle.loads(pickle.dumps(note)).code == "chains-disagree"


@pytest.mark.parametrize("path", sorted(DATA.glob("fit-0.1*.nc")), ids=lambda path: path.stem)
def test_notes_of_fits_by_earlier_versions_are_read(path: Path) -> None:
    fit = assay.load(path)
    notes = fit_warnings(fit)
    assert all(note.level in ("note", "warning") and not note.numbers for note in notes)
    fit.attrs["warnings"] = '["The effective sample size is as low as 12 (a)", "One", "Two"]'
    fit.attrs["asides"] = '["Two"]'
    assert [(n.code, n.level) for n in fit_warnings(fit)] == [
        ("low-ess", "warning"), ("", "warning"), ("", "note"),
    ]  # fmt: skip


def test_a_check_is_a_table_of_codes() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx")})
    report = assay.check(assay.read_ratings(table, task="single"))
    frame = report.to_frame()
    assert set(frame["code"]) <= set(MEANINGS)
    assert list(frame["code"]) == [finding.code for finding in report.findings]
    (shared,) = (f for f in report.findings if f.code == "shared-items")
    assert (shared.level, shared.numbers) == ("ok", {"items": 1, "of": 2})
    assert hash(shared) == hash(Finding(**{**vars(shared), "numbers": {}}))
