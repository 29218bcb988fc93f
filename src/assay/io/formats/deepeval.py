"""deepeval's test runs as JSON: metrics of each test case, by evaluating model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import MODEL, unused_name
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "deepeval test run", "`testCases` with `metricsData`"

CASES = ("testCases", "conversationalTestCases", "test_results", "testResults")
METRICS = ("metricsData", "metrics_data")
MODELS = ("evaluationModel", "evaluation_model")
DEFAULT_JUDGE = "default judge"
ENDING = " [GEval]"
"""Suffix of the names of metrics with criteria in words."""


def detect(source: Source) -> str:
    """Claim test cases with metric data."""
    for record in source.first_json:
        if any(key in record for key in METRICS):
            return "test cases with `metricsData`"
        for key in CASES:
            cases = record.get(key)
            if isinstance(cases, list) and any(
                isinstance(case, Mapping) and any(m in case for m in METRICS) for case in cases
            ):
                return f"`{key}` with `metricsData`"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read each metric as a label, and evaluating models as raters."""
    study = Study(source=source, unit="test case")
    failed = 0
    cases = list(_cases(source))
    names = [str(case.get("name") or "") for case, _ in cases]
    named = all(names) and len(set(zip(names, (s for _, s in cases), strict=True))) == len(names)
    low = _reversed([case for case, _ in cases])
    several = len({system for _, system in cases}) > 1
    for place, (case, system) in enumerate(cases, start=1):
        known = names[place - 1] if named else str(place)
        item = f"{known}, {system}" if several else known
        study.describe(item, {"system": system, "cluster": known} if system else {})
        failed += _add_case(study, item, case, place, low)
    if failed:
        study.note(
            f"{counted(failed, 'metric')} failed with an error and count as missing answers",
            code="metrics-failed", metrics=failed,
        )  # fmt: skip
    return study.export("deepeval", task)


def _cases(source: Source) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the test cases, with the model of the run."""
    for _, record in source.each():
        settings = record.get("hyperparameters")
        system = str(settings.get("model") or "") if isinstance(settings, Mapping) else ""
        held = [case for key in CASES for case in record.get(key) or ()]
        for case in held if held else [record]:
            if isinstance(case, Mapping):
                yield case, system


def _add_case(study: Study, item: str, case: Mapping[str, Any], place: int, low: set[str]) -> int:
    """Add the metrics of a test case; return how many failed."""
    failed = 0
    raters: dict[str, dict[str, Mapping[str, Any]]] = {}
    for metric in _metrics(case):
        if not metric.get("name"):
            study.fault("{n} metric{s} without a name", place)
            continue
        rater = next((str(metric[key]) for key in MODELS if metric.get(key)), DEFAULT_JUDGE)
        found = raters.setdefault(rater, {})
        name = unused_name(str(metric["name"]).removesuffix(ENDING), found)
        if metric.get("error") or not isinstance(metric.get("success"), bool):
            failed += 1
            continue
        found[name] = metric
    for rater, found in raters.items():
        answers = [(name, "yes" if metric["success"] else "no") for name, metric in found.items()]
        scores = {
            name: 1 - float(metric["score"]) if str(metric["name"]) in low
            else float(metric["score"]) for name, metric in found.items()
            if isinstance(metric.get("score"), int | float)
        }  # fmt: skip
        study.add(item, rater, answers, place=place, group=MODEL, scores=scores)
    return failed


def _reversed(cases: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the metrics that pass at low scores, such as bias."""
    found = set()
    for metric in (one for case in cases for one in _metrics(case)):
        score, threshold = metric.get("score"), metric.get("threshold")
        if isinstance(score, int | float) and isinstance(threshold, int | float):
            passes = metric.get("success")
            if (passes is True and score < threshold) or (passes is False and score > threshold):
                found.add(str(metric.get("name")))
    return found


def _metrics(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held: list[Any] = next((case[key] for key in METRICS if isinstance(case.get(key), list)), [])
    return [one for one in held if isinstance(one, Mapping)]
