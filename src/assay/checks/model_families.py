"""Language models of one family: raters that may err together, by their names."""

import re

import numpy as np
import pandas as pd

from assay._util.plurals import some
from assay.checks.findings import Finding, Part
from assay.data.ratings import Ratings
from assay.data.witnesses import ENOUGH

FAMILIES = {
    "GPT": r"(?:chat)?gpt|(?:text|code)-davinci|o[134]-(?:mini|pro|preview|\d)",
    "Claude": r"claude[- _.]?(?:v?\d|opus|sonnet|haiku|instant)",
    "Gemini": r"gemini|gemma[- _]?\d|text-bison|chat-bison",
    "Llama": r"(?:code|meta)?llama|vicuna|nemotron",
    "Mistral": r"mistral|mixtral|ministral|magistral|codestral",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Phi": r"phi[- _]?\d",
    "Command": r"command[- _]?(?:r|a|light|nightly)\b",
    "Grok": r"grok",
    "Nova": r"nova[- _](?:micro|lite|pro|premier)",
}
"""What the names of language models begin with, by who trained them on much the same texts.

Claude and Gemma are people's names too, and o1 to o4 those of observers.
"""
PATTERNS = {
    family: re.compile(rf"(?<![a-z0-9])(?:{start})", re.IGNORECASE)
    for family, start in FAMILIES.items()
}


def family_of(name: str) -> str:
    """Return the model family that a rater's name speaks of; empty if none, or more than one.

    Examples
    --------
    >>> [family_of(name) for name in ("openai/gpt-4o-mini", "claude-3-opus", "Ann", "egpt")]
    ['GPT', 'Claude', '', '']
    >>> family_of("deepseek-r1-distill-llama-70b")
    ''
    """
    found = [family for family, pattern in PATTERNS.items() if pattern.search(name)]
    return found[0] if len(found) == 1 else ""


def check_model_families(ratings: Ratings) -> Part:
    """Say which raters are models of one family by their names, and may not be independent."""
    rated = np.isin(np.arange(len(ratings.raters)), ratings.rater[~ratings.abstained])
    names = pd.Series(sorted(ratings.raters.index[rated].astype(str)))
    families = names.map(family_of)
    table = pd.DataFrame({"family": families, "rater": names})[families != ""]
    table = table[table.groupby("family")["rater"].transform("size") > 1]
    if table.empty:
        return Part()
    told = [
        f"{family} ({some(list(part['rater']))})"
        for family, part in table.groupby("family", sort=False)
    ]
    text = (
        f"raters whose names are those of one family of language models: {'; '.join(told)}: models "
        "of one family err together, and may not be independent witnesses; agreement between them "
        f"cannot show it. The known truth of {ENOUGH} items or more can, a group of people whose "
        "consensus is the truth, or a rater group for each family where there are three (group=)"
    )
    table = table.sort_values("family", kind="stable", ignore_index=True)
    finding = Finding(
        level="note",
        topic="raters",
        text=text,
        code="model-families",
        numbers={"families": len(told)},
    )
    return Part(findings=(finding,), tables={"model_families": table})
