"""What a refusal proposes, tried before it is shown."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay._util.errors import AssayError, Problem, RatingsError, as_code
from assay._util.text import counted, listed
from assay.data.ratings import UNNAMED
from assay.io.arguments import BY_ROW, names_in
from assay.io.names import names_rater

MOST_STEPS = 4
CHEAP = 20_000_000
"""Bytes of files up to which a proposal is tried: seconds of reading."""


def tried(
    error: RatingsError, read: Callable[..., object], given: Mapping[str, Any], files: list[Path]
) -> RatingsError:
    """Return a refusal whose proposal reads the files, with the problems on the way. It has none if
    a problem has to be mended by hand. ``given`` are the call's arguments.
    """
    if error.first or not error.go_on or not all(map(Path.is_file, files)):
        return error
    if sum(file.stat().st_size for file in files) > CHEAP:
        return error
    problems, go_on, more = list(error.problems), dict(error.go_on), error.go_on
    call = dict(given)
    for _ in range(MOST_STEPS):
        call, before = _with(call, more), call
        if call == before:
            break
        try:
            found = read(**call)
        except AssayError as again:
            known = {str(problem) for problem in problems}
            problems += [one for one in _problems(again) if str(one) not in known]
            more = again.go_on
            go_on |= {**more, **_joined_words(go_on, more)}
        else:
            wrong = _useless(found, go_on)
            return RatingsError([*problems, *wrong], error.source, go_on={} if wrong else go_on)
    return RatingsError(problems, error.source, go_on={})


def _useless(ratings: Any, go_on: Mapping[str, Any]) -> list[Problem]:
    """Return why guessed columns give ratings that say nothing of their raters, if they do: no item
    has two raters, or a rater's name is a part of the item.
    """
    parts = [c for c in names_in(go_on.get("item")) if isinstance(c, str) and names_rater(c)]
    if parts and go_on.get("rater") == BY_ROW:
        return [
            Problem(
                what=f"I cannot tell which column is the rater: {listed(parts)} is called so, but "
                "would be a part of the item",
                mend=f"{as_code({'rater': parts[0]})} if it says who gave the answers",
                code="which-column",
                numbers={"columns": len(parts)},
            )
        ]
    guessed = go_on.get("item") or go_on.get("counts")
    rater = go_on.get("rater") != BY_ROW and set(ratings.raters["group"]) != {UNNAMED}
    rated = np.unique(np.column_stack([ratings.item, ratings.rater]), axis=0)[:, 0]
    if not guessed or not rater or len(ratings.raters) < 2 or len(np.unique(rated)) < len(rated):
        return []
    what = f"so read, none of {counted(len(ratings.items), 'item')} has two raters"
    return [
        Problem(
            what=f"I cannot tell which columns are the item: {what}",
            mend="name the columns that say what several raters rated with `item=`",
            code="which-column",
            numbers={"items": len(ratings.items)},
        )
    ]


def _problems(error: AssayError) -> list[Problem]:
    """Return the problems of an error, or one that says what it says."""
    if isinstance(error, RatingsError):
        return error.problems
    return [Problem(what=str(error), code=error.code, numbers=error.numbers)]


def _with(call: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call with these arguments; None leaves one out."""
    changed = {**call, **more, **_joined_words(call, more)}
    return {name: value for name, value in changed.items() if value is not None}


def _joined_words(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words for classes of two calls together, if the second has some."""
    if not other.get("classes"):
        return {}
    both = [call.get("classes") or {} for call in (one, other)]
    return {
        "classes": {
            label: {**both[0].get(label, {}), **both[1].get(label, {})}
            for label in {**both[0], **both[1]}
        }
    }
