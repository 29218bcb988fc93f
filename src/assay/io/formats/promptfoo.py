"""promptfoo's results (JSON, JSONL): assertions of each test on each system."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay._util.text import counted, listed
from assay.data.task import Task
from assay.io.files.sources import JsonSource, Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import MODEL, unused_name
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "promptfoo results", "results with `gradingResult`"

GRADED = ("llm-rubric", "model-graded", "g-eval", "factuality", "answer-relevance", "context-",
          "search-rubric", "agent-rubric", "conversation-relevance", "trajectory:goal-success",
          "select-best", "similar", "moderation", "classifier", "pi")  # fmt: skip
"""Prefixes of types of assertions that a model decides."""
DEFAULT_JUDGE = "default judge"
FAIL, PASS = "no", "yes"


def detect(source: Source) -> str:
    """Claim results that grade a provider's output."""
    for record in source.first_json:
        if {"gradingResult", "testIdx"} <= record.keys() or {
            "gradingResult",
            "promptIdx",
        } <= record.keys():
            return "results with `gradingResult`"
        results = record.get("results")
        if not isinstance(results, Mapping) or not isinstance(results.get("results"), list):
            continue
        if {"stats", "version"} & results.keys():
            return "an evaluation with `results` and their `stats`"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read metrics as labels, judges as raters, and providers as systems."""
    study = Study(source=source, unit="result")
    results = list(_results(source))
    prompts = {result.get("promptIdx") for result in results}
    systems = {_called(result.get("provider")) for result in results}
    graded = any(_is_graded(a) for result in results for a, _ in _parts(result))
    by_model = {_metric(a) for result in results for a, _ in _parts(result) if _is_graded(a)}
    left: dict[str, int] = {}
    tests: dict[str, int] = {}
    failed = 0
    for place, result in enumerate(results, start=1):
        if not isinstance(result.get("gradingResult"), Mapping):
            failed += 1
            continue
        system = _called(result.get("provider"))
        number = result.get("testIdx")
        if not isinstance(number, int):  # older versions number no tests
            shown = json.dumps(result.get("vars"), sort_keys=True)
            number = tests.setdefault(shown, len(tests))
        test = str(number + 1)
        if len(prompts) > 2 or (len(prompts) > 1 and len(systems) == 1):
            system = f"{system}, prompt {int(result.get('promptIdx', 0)) + 1}"
        item = f"test {test}, {system}"
        study.describe(item, {"system": system, "cluster": f"test {test}"})
        _add_result(study, item, result, place, by_model if graded else None, left)
    if failed:
        study.note(
            f"{counted(failed, 'result', 'have')} no grading and are left out: the provider failed",
            code="results-without-grading", results=failed,
        )  # fmt: skip
    if left:
        study.note(
            f"assertions that no model grades are not read: {listed(sorted(left))}",
            code="assertions-not-read", assertions=sum(left.values()),
        )  # fmt: skip
    return study.export("promptfoo", task)


def _results(source: Source) -> Iterator[Mapping[str, Any]]:
    """Yield the results of a file of lines, or of one evaluation."""
    assert isinstance(source, JsonSource)
    for _, record in source.each():
        held = record.get("results")
        if isinstance(held, Mapping):
            held = held.get("results")
        if isinstance(held, list):
            yield from (one for one in held if isinstance(one, Mapping))
        else:
            yield record


def _parts(result: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each assertion of a result with its grading, also within sets."""
    grading = result.get("gradingResult")
    left = [grading] if isinstance(grading, Mapping) else []
    while left:
        part = left.pop(0)
        inner = [one for one in part.get("componentResults") or () if isinstance(one, Mapping)]
        assertion = part.get("assertion")
        if inner:
            left += inner
        elif isinstance(assertion, Mapping):
            yield assertion, part


def _add_result(
    study: Study, item: str, result: Mapping[str, Any], place: int,
    by_model: set[str] | None, left: dict[str, int],
) -> None:  # fmt: skip
    raters: dict[str, dict[str, Mapping[str, Any]]] = {}
    for assertion, part in _parts(result):
        label = _metric(assertion)
        if by_model is not None and not _is_graded(assertion) and label not in by_model:
            left[str(assertion.get("type"))] = left.get(str(assertion.get("type")), 0) + 1
            continue
        if not isinstance(part.get("pass"), bool):
            study.fault("{n} assertion{s} without `pass`", place)
            continue
        found = raters.setdefault(_judge(assertion, result), {})
        found[unused_name(label, found)] = part
    for rater, found in raters.items():
        answers = [(name, PASS if part["pass"] else FAIL) for name, part in found.items()]
        scores = {
            name: float(part["score"]) for name, part in found.items()
            if isinstance(part.get("score"), int | float)
            and float(part["score"]) != float(part["pass"])
        }  # fmt: skip
        study.add(item, rater, answers, place=place, group=MODEL, scores=scores)


def _metric(assertion: Mapping[str, Any]) -> str:
    """Return the label of an assertion: its metric, else type and content."""
    if assertion.get("metric"):
        return str(assertion["metric"])
    value = assertion.get("value")
    kind = str(assertion.get("type"))
    return f"{kind}: {value[:60]}" if isinstance(value, str) and value else kind


def _is_graded(assertion: Mapping[str, Any]) -> bool:
    return str(assertion.get("type")).removeprefix("not-").startswith(GRADED)


def _judge(assertion: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Return the judge: the grading model, or the type of the assertion."""
    if not _is_graded(assertion):
        return str(assertion.get("type"))
    case = result.get("testCase")
    options = case.get("options") if isinstance(case, Mapping) else None
    default = options.get("provider") if isinstance(options, Mapping) else None
    return _called(assertion.get("provider") or default) or DEFAULT_JUDGE


def _called(provider: object) -> str:
    """Return the name of a provider: its label, else its id."""
    if isinstance(provider, Mapping):
        named = provider.get("label") or provider.get("id")
        if named is None and len(provider) == 1:  # by kind of model, such as {"text": "openai:..."}
            return _called(next(iter(provider.values())))
        return "" if named is None else str(named)
    return "" if provider is None else str(provider)
