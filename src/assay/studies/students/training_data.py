"""Training data in chat format for a language model as student, and its QLoRA configuration."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError
from assay._util.files import require_place
from assay._util.random import generator_of
from assay._util.validation import path_given
from assay.data.task_files import load_task
from assay.studies.judges.items import read_items
from assay.studies.judges.prompts import load_prompt
from assay.studies.judges.questions import CONFIDENCE, GUESS
from assay.studies.judges.requests import Settings, make_request
from assay.studies.students.teacher import Teacher, certainty, read_teacher

DATA, CONFIG = "train.jsonl", "qlora.yaml"
QLORA: Mapping[str, Any] = {
    "dataset_train_split": "train",
    "load_in_4bit": True,
    "bnb_4bit_quant_type": "nf4",
    "use_bnb_nested_quant": True,
    "use_peft": True,
    "lora_r": 64,
    "lora_alpha": 16,
    "lora_dropout": 0.1,
    "lora_target_modules": "all-linear",
    "completion_only_loss": True,
    "learning_rate": 2.0e-4,
    "num_train_epochs": 2,
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 4,
    "gradient_checkpointing": True,
    "warmup_ratio": 0.03,
    "max_length": 2048,
    "bf16": True,
    "seed": 1,
}
"""Settings of ``trl sft``: 4-bit weights and low-rank adapters (Dettmers et al. 2023)."""


def training_chats(
    pairs: object,
    teacher: Teacher,
    *,
    prompt: str | Path = "relevance_definition",
    definitions: object = None,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Write each judged pair as a chat: what the model is asked, and the teacher's answer.

    Parameters
    ----------
    pairs, teacher, definitions, label, positive
        As for :func:`train_student`.
    prompt : str or path
        What the student is asked; the same as later with :func:`assay.ask_model`.

    Returns
    -------
    pandas.DataFrame
        ``item``, ``prompt`` and ``completion`` (lists of messages with ``role`` and ``content``),
        ``weight`` (the teacher's certainty, from 0 to 1).

    Raises
    ------
    RatingsError
        If tables cannot be used, or the teacher judged none of the pairs.
    """
    task = load_task("relevance")
    chosen = load_prompt(str(path_given("prompt", prompt)), task)
    items = read_items(pairs, task, chosen, definitions=definitions)
    chance = read_teacher(teacher, label=label, positive=positive)
    sure = certainty(chance)
    settings = Settings(model="student", url="")
    lines = [
        {
            "item": name,
            "prompt": make_request(name, values, task, chosen, settings).body["messages"],
            "completion": [{"role": "assistant", "content": _answer(float(chance[name]))}],
            "weight": float(sure[name]),
        }
        for name, values in zip(items.names, items.values, strict=True)
        if name in chance.index
    ]
    if not lines:
        raise RatingsError.of(
            "student-pairs",
            "the teacher judged none of the pairs",
            "the teacher",
            mend="give ratings of these pairs, with the same names in the column item",
        )
    return pd.DataFrame(lines)


def _answer(chance: float) -> str:
    """Write a judgement in the format that prompts ask for."""
    guess, confidence = ("yes", chance) if chance >= 0.5 else ("no", 1 - chance)
    return f"[{GUESS}]: {guess}\n[{CONFIDENCE}]: {confidence:.2f}"


def write_qlora(
    chats: pd.DataFrame, folder: str | Path, *, model: str, rng: int | np.random.Generator = 1
) -> str:
    """Write training data and configuration of QLoRA (Dettmers et al. 2023, NeurIPS 36) in a
    folder; return the command to run.

    ``trl`` takes no weights, so chats are drawn with replacement in proportion to theirs.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    require_place(target / DATA, example=DATA)
    shares = chats["weight"].to_numpy(float)
    if not shares.sum():
        raise RatingsError.of(
            "student-pairs", "the teacher is certain of no pair", "the teacher",
            mend="give a teacher with confidences other than 0.5",
        )  # fmt: skip
    drawn = generator_of(rng).choice(len(chats), size=len(chats), p=shares / shares.sum())
    lines = [
        json.dumps({name: chats[name].iloc[n] for name in ("prompt", "completion")},
                   ensure_ascii=False)
        for n in drawn
    ]  # fmt: skip
    (target / DATA).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    places = {
        "model_name_or_path": model,
        "dataset_name": str(target),
        "output_dir": str(target / "adapter"),
    }
    # Every JSON value is a YAML value.
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in {**places, **QLORA}.items())
    (target / CONFIG).write_text(text, encoding="utf-8")
    return f"trl sft --config {target / CONFIG}"
