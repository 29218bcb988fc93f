"""For other tools: soft labels for training, judgements with probabilities, score reports."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import ArgumentError, UnknownNameError, suggest
from assay._util.files import require_place, write_text
from assay._util.validation import path_given, require_choice
from assay.data.ratings import Ratings
from assay.data.task import Label
from assay.display.frames import columns_of_roles, key_columns
from assay.display.score_report import score_report
from assay.fits.labels import label_probabilities, state_probabilities
from assay.fits.view import Fit, FitView

Target = Literal["huggingface", "cleanlab", "argilla", "qrels", "pragmata"]
TARGETS = ("huggingface", "cleanlab", "argilla", "qrels", "pragmata")
EXAMPLES = {
    "huggingface": "labels.jsonl", "cleanlab": "labels.csv", "argilla": "records.json",
    "qrels": "study.qrels", "pragmata": "retrieval_scores.json",
}  # fmt: skip


def export_labels(
    fit: Fit,
    path: str | Path,
    *,
    to: Target,
    label: str | None = None,
    system: str | None = None,
) -> Path:
    """Write labels with their probabilities, or scores, in the format of another tool.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` or :func:`assay.load`.
    path : str or path
        The file to write; an existing one is replaced.
    to : {"huggingface", "cleanlab", "argilla", "qrels", "pragmata"}
        ``huggingface``: JSON lines for ``datasets.load_dataset("json", ...)``, with the code and
        the name of each label's most probable class. ``<label>_soft`` has the probabilities in
        the order of the classes. ``cleanlab``: CSV with ``item``, its key columns,
        ``label`` (code), and last a column for each class (the array ``pred_probs``).
        ``argilla``: JSON of records with the labels as suggestions and their probabilities as
        scores. ``qrels``: a line ``query 0 document grade probability`` for every possible grade.
        ``pragmata``: the score report (``<task>_scores.json``) of the tasks retrieval, grounding
        and generation.
    label : str, optional
        Which label, if there are several, for ``cleanlab``, and for ``qrels`` except in the task
        retrieval.
    system : str, optional
        Whose scores, for ``pragmata``; by default all panels are pooled, as the tool does.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ArgumentError
        If ``to`` has another value, a label has to be named, or the task has no score report.
    UnknownNameError
        If there is no such label or system.
    FitError
        If the tree is no fit, or the file cannot be written.

    Notes
    -----
    A label that does not apply to an item is null, with empty probabilities.
    Grades of the task ``retrieval`` are those of nDCG: 2 for sufficient evidence, 1 for relevant
    only, else 0. The document is the item's key without the columns of its query.

    Examples
    --------
    >>> import assay
    >>> from tempfile import TemporaryDirectory
    >>> ratings = assay.simulate("retrieval", n_items=60, n_clusters=15, n_raters=4, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> with TemporaryDirectory() as folder:
    ...     path = export_labels(tree, Path(folder) / "study.qrels", to="qrels")
    ...     len(path.read_text().splitlines()[0].split())
    5
    """
    view = FitView.of(fit)
    require_choice("to", to, TARGETS)
    target = path_given("path", path)
    require_place(target, example=EXAMPLES[to])
    writers: dict[str, Callable[[FitView, str | None], str]] = {
        "huggingface": _huggingface, "cleanlab": _cleanlab, "argilla": _argilla, "qrels": _qrels,
    }  # fmt: skip
    text = score_report(view, system) if to == "pragmata" else writers[to](view, label)
    write_text(target, text)
    return target


def _of_label(ratings: Ratings, name: str | None) -> Label:
    """Return the chosen label."""
    names = list(ratings.task.label_names)
    if name is None and len(names) > 1:
        raise ArgumentError(
            f"this task has several labels; name one with `label={names[0]}`", code="label-unnamed"
        )
    if name is not None and name not in names:
        raise UnknownNameError(
            f"no label is called {name!r}; {suggest(name, names)}", code="unknown-label"
        )
    return ratings.task.labels[names.index(name or names[0])]


def _chances(view: FitView, label: Label) -> xr.DataArray:
    """Return probabilities (item, class) of a label, with its classes in order."""
    return label_probabilities(view).sel({"label": label.name, "class": list(label.classes)})


def _keys(ratings: Ratings, *taken: str) -> list[dict[str, Any]]:
    """Return the item and its key columns, for JSON; other columns have the ``taken`` names."""
    table = key_columns(ratings, ("item", *taken)).astype(object)
    lines = table.where(table.notna(), None).to_dict("records")
    names = ratings.items.index.astype(str)
    return [{"item": name} | {str(k): v for k, v in line.items()}
            for name, line in zip(names, lines, strict=True)]  # fmt: skip


def _huggingface(view: FitView, _: str | None) -> str:
    taken = (f"{name}{end}" for name in view.task.label_names for end in ("", "_text", "_soft"))
    lines = _keys(view.ratings, *taken)
    for label in view.task.labels:
        for line, chance in zip(lines, _chances(view, label).to_numpy(), strict=True):
            known = np.isfinite(chance).all()
            code = int(chance.argmax()) if known else None
            line[label.name] = code
            line[f"{label.name}_text"] = None if code is None else label.classes[code]
            line[f"{label.name}_soft"] = [round(float(p), 6) for p in chance] if known else None
    return "".join(f"{json.dumps(line, ensure_ascii=False, default=str)}\n" for line in lines)


def _cleanlab(view: FitView, name: str | None) -> str:
    label = _of_label(view.ratings, name)
    chance = _chances(view, label).to_numpy()
    known = np.isfinite(chance).all(axis=1)
    keys = key_columns(view.ratings, ("item", "label", *label.classes))[known].reset_index()
    keys["label"] = chance[known].argmax(axis=1)
    # Joined, since a class may be called like one of these columns.
    table = pd.concat([keys, pd.DataFrame(chance[known], columns=list(label.classes))], axis=1)
    return table.to_csv(index=False)


def _argilla(view: FitView, _: str | None) -> str:
    records = [
        {"id": line["item"], "fields": {"item": line["item"]},
         "metadata": {k: v for k, v in line.items() if k != "item" and v is not None},
         "suggestions": {}, "responses": {}}
        for line in _keys(view.ratings)
    ]  # fmt: skip
    for label in view.task.labels:
        for record, chance in zip(records, _chances(view, label).to_numpy(), strict=True):
            if np.isfinite(chance).all():
                best = int(chance.argmax())
                record["suggestions"][label.name] = {
                    "value": label.classes[best], "score": round(float(chance[best]), 6),
                    "agent": "assay",
                }  # fmt: skip
    return json.dumps(records, ensure_ascii=False, indent=1, default=str)


def _qrels(view: FitView, name: str | None) -> str:
    grades = _grades(view, name)
    documents = _documents(view.ratings)
    queries = view.ratings.items["cluster"].astype(str)
    lines = [
        f"{_word(query)} 0 {_word(document)} {grade} {p:.6f}\n"
        for query, document, line in zip(queries, documents, grades.to_numpy(), strict=True)
        for grade, p in zip(grades["grade"].to_numpy(), line, strict=True)
        if np.isfinite(p)
    ]
    return "".join(lines)


def _word(text: str) -> str:
    """Replace blanks, which separate the fields of a line."""
    return "_".join(text.split()) or "_"


def _grades(view: FitView, name: str | None) -> xr.DataArray:
    """Return probabilities (item, grade)."""
    if view.task.name == "retrieval" and name is None:
        chance = state_probabilities(view).to_numpy()
        states = view.codes
        labels = list(view.task.label_names)
        relevant, sufficient = (
            states[:, labels.index(one)] == 1
            for one in ("topically_relevant", "evidence_sufficient")
        )
        of_state = np.where(sufficient, 2, np.where(relevant, 1, 0))
        values = np.stack([chance[:, of_state == g].sum(axis=1) for g in range(3)], axis=1)
    else:
        values = _chances(view, _of_label(view.ratings, name)).to_numpy()
    return xr.DataArray(values, {"grade": np.arange(values.shape[1])}, ("item", "grade"))


def _documents(ratings: Ratings) -> list[str]:
    """Name each item within its query: by its key without the query's columns."""
    roles, keys = columns_of_roles(ratings), ratings.keys
    of_query = [c for c in keys if any(f": {told}".endswith(f": {c}") for told in roles["cluster"])]
    own = [c for c in roles["item"] if c in keys and c not in of_query]
    names, queries = ratings.items.index.astype(str), ratings.items["cluster"].astype(str)
    if not own or len(own) == len(roles["item"]):
        return [n.removeprefix(f"{q}/") for n, q in zip(names, queries, strict=True)]
    parts = map("/".join, keys[own].to_numpy(object))
    return [part if part else name for part, name in zip(parts, names, strict=True)]
