"""Prompts: files of the catalogue, or a user's own."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from assay._util.errors import TaskError, UnknownNameError, suggest
from assay._util.text import counted
from assay._util.toml_files import FileError, read_toml
from assay._util.validation import written
from assay.data.task import Task
from assay.data.task_files import catalogue_names, catalogue_path, models_folder
from assay.studies.judges.templates import TemplateError, check_slots, slots_of

Kind = Literal["answers", "ranking", "text"]
KINDS = ("answers", "ranking", "text")
GIVEN = ("task", "questions", "guidelines", "texts", "definition", "answer_format")
"""Slots that the task and the definitions fill."""
LISTED = ("documents", "number")
"""Slots of a prompt that asks for an order of documents."""
LISTED_TEXT = "document"
"""Column whose texts such a prompt lists."""
NEEDED: dict[str, tuple[str, ...]] = {
    "answers": ("answer_format",), "ranking": ("documents", "answer_format"), "text": (),
}  # fmt: skip
FOR_ANY_TASK = "judge"


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt with named slots.

    task : name of its task; empty for any task
    kind : asks for the labels of an item, the order of several items, or a free text
    reason : whether a reason comes before the answers
    system, user : templates; ``user`` has the slots
    slots : names by which the column of a slot is recognised
    classes : classes asked for, where fewer than the task has
    """

    name: str
    user: str
    title: str = ""
    task: str = ""
    kind: Kind = "answers"
    reason: bool = False
    system: str = ""
    slots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def used(self) -> tuple[str, ...]:
        """Slots of both templates."""
        return tuple(dict.fromkeys((*slots_of(self.system), *slots_of(self.user))))

    @property
    def columns(self) -> tuple[str, ...]:
        """Slots that columns of the items fill."""
        listed = (LISTED_TEXT,) * (self.kind == "ranking")
        own = [name for name in self.used if name not in (*GIVEN, *LISTED)]
        return tuple(dict.fromkeys((*own, *listed)))

    @property
    def sha256(self) -> str:
        """Hash of the whole prompt."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def load_prompt(prompt: "str | Path | Prompt | None", task: Task) -> Prompt:
    """Read a prompt by name or TOML path; None gives the task's own, else the general one."""
    if isinstance(prompt, Prompt):
        return prompt
    names = catalogue_names("prompts")
    if prompt is None:
        prompt = task.name if task.name in names else FOR_ANY_TASK
    path = Path(prompt)
    if path.suffix != ".toml":
        if str(prompt) not in names:
            raise UnknownNameError(
                f"no prompt is called {str(prompt)!r}; {suggest(str(prompt), names)} (give a "
                "file of your own by its path, which ends in .toml)",
                code="unknown-prompt",
            )
        path = catalogue_path("prompts", f"{prompt}.toml")
    try:
        data = read_toml(path)
    except FileError as error:
        raise TaskError(f"prompt file {path} {error}", code="prompt-file") from None
    found, problems = _read(data, path.stem)
    if found is not None:
        problems += _class_problems(found, task)
    if found is None or problems:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise TaskError(
            f"{counted(len(problems), 'problem')} in prompt file {path}:\n{lines}",
            code="prompt-file",
            numbers={"problems": len(problems)},
        )
    return found


def _read(data: Mapping[str, Any], stem: str) -> tuple[Prompt | None, list[str]]:
    """Return the prompt of a parsed file, or its problems."""
    known = tuple(Prompt.__dataclass_fields__)
    problems = [f"{key} is no key; {suggest(key, known)}" for key in data if key not in known]
    given: dict[str, Any] = {"name": stem} | {k: v for k, v in data.items() if k in known}
    for key in ("name", "title", "task", "system", "user"):
        if not isinstance(given.get(key, ""), str):
            problems.append(f"{key} = {written(given[key])}; it must be a text in quotes")
    if not given.get("user"):
        problems.append(
            'user is missing: the template of what is asked, as in user = "{query} ..."'
        )
    if not isinstance(given.get("reason", False), bool):
        problems.append("reason is true or false")
    if given.get("kind", KINDS[0]) not in KINDS:
        problems.append(f"kind = {written(given['kind'])}; allowed: {', '.join(KINDS)}")
    for key in ("slots", "classes"):
        table = given.get(key, {})
        if isinstance(table, Mapping) and all(map(_are_texts, table.values())):
            given[key] = {name: tuple(words) for name, words in table.items()}
        else:
            problems.append(f'[{key}] must be a table of lists of texts, as in query = ["query"]')
    if problems:
        return None, problems
    prompt = Prompt(**given)
    try:
        listed = LISTED * (prompt.kind == "ranking")
        check_slots(prompt.system, (*GIVEN, *listed, *prompt.slots), ())
        check_slots(prompt.user, (*GIVEN, *listed, *prompt.slots), NEEDED[prompt.kind])
    except TemplateError as error:
        return None, [str(error)]
    if unused := [name for name in prompt.slots if name not in prompt.columns]:
        problems.append(f"[slots] names {unused[0]}, and no template has {{{unused[0]}}}")
    return prompt, problems


def _are_texts(words: object) -> bool:
    return isinstance(words, list) and bool(words) and all(isinstance(w, str) for w in words)


def _class_problems(prompt: Prompt, task: Task) -> list[str]:
    """Return the problems of the classes that a prompt asks for."""
    problems = []
    for name, classes in prompt.classes.items():
        of_label = task.classes.get(name)
        if of_label is None:
            problems.append(
                f"[classes] names {name}, which is no label of task {task.name}; "
                f"{suggest(name, task.label_names)}"
            )
        elif [c for c in of_label if c in classes] != list(classes) or len(classes) < 2:
            problems.append(
                f"[classes] {name} must be two or more of {', '.join(of_label)}, in this order"
            )
    return problems


def guidelines_of(task: Task) -> str:
    """Return the rater guidelines of a shipped task; empty for other tasks."""
    path = models_folder() / "guidelines" / f"{task.name}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
