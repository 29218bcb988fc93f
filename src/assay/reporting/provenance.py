"""Sections: how to cite and to reproduce, and the limits of the report."""

import hashlib
import re

import numpy as np
import pandas as pd

from assay import __version__
from assay._util.text import without_folders
from assay.data.overlap import ENOUGH
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.modelling.layers.difficulty import KINDS
from assay.modelling.spec import CONSENSUS_OF_GROUPS, is_consensus, raters_for
from assay.reporting.material import Material
from assay.reporting.page import Block, Code, Section, bullets, prose, table_of

CITATION = (
    f"The assay developers. assay: metrics, rater reliability and comparisons with the uncertainty "
    f"of the labels. Version {__version__}."
)


def provenance_section(material: Material) -> Section:
    """Report the command, versions, seed and hashes behind every number."""
    fit = material.fit
    made_with = fit.attrs.get("command")
    commands = [without_folders(text) for text in (made_with, material.command) if text]
    blocks: list[Block] = [
        prose(f"Cite: {CITATION} And cite the model's papers, which the model card lists."),
        *([Code(text="\n".join(dict.fromkeys(commands)))] if commands else []),
        _facts(material),
        _versions(material),
        prose(
            "The same input, seed and versions give the same draws on one machine; on another, "
            "rounding may differ and numbers agree within Monte Carlo error."
        ),
    ]
    return Section(key="reproduce", title="How to cite, and to reproduce", blocks=tuple(blocks))


def _facts(material: Material) -> Block:
    fit, ratings = material.fit, material.ratings
    sizes = fit["posterior"].sizes
    facts = {
        "Source": without_folders(ratings.accounting.source) or "not a file",
        "SHA-256 of the source": ratings.accounting.sha256 or "not a file",
        "SHA-256 of the ratings as fitted": ratings_hash(ratings),
        "Seed": str(fit.attrs["seed"]),
        "Method": str(fit.attrs["method"]),
        "Chains × draws": f"{sizes['chain']} × {sizes['draw']}",
        "Effort": str(fit.attrs.get("effort", "not kept")),
        "Specification": str(fit.attrs["spec"]),
        "Seed of the clusters' weights": str(
            next(iter(material.draws.values())).attrs["weights_seed"]
        ),
        "Probability of the intervals": f"{material.level:g}",
    }
    frame = pd.DataFrame({"fact": list(facts), "value": list(facts.values())})
    shown = {"fact": "What", "value": "Value"}
    return table_of("reproduce", "What the numbers rest on", frame, shown)


def _versions(material: Material) -> Block:
    found = dict(material.attribute("versions"))
    frame = pd.DataFrame({"package": list(found), "version": list(found.values())})
    shown = {"package": "Package", "version": "Version"}
    return table_of("versions", "Versions that made the fit", frame, shown)


def ratings_hash(ratings: Ratings) -> str:
    """Return a SHA-256 hash of the ratings, in hexadecimal."""
    digest = hashlib.sha256()
    names = [*ratings.items.index, "", *ratings.raters.index, "", *ratings.task.label_names]
    digest.update("\x1f".join(map(str, names)).encode())
    for array in (ratings.item, ratings.rater, ratings.replicate, ratings.answers, ratings.truth):
        digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    digest.update(np.ascontiguousarray(ratings.scores, dtype=np.float64).tobytes())
    return digest.hexdigest()


WHOSE_TRUTH = re.compile(r"^The truth is|is the truth by definition\.$")
NOT_A_CAUSE = (
    "Why a system or a rater does better: differences are described, and nothing was assigned at "
    "random here unless whoever collected the ratings did so."
)
OTHERS = (
    "Anything about items, raters or questions other than those in the data, but for clusters "
    "that are sampled as these were (estimand population)."
)
AT_RANDOM = (
    "That missing answers, abstentions and discards say nothing of the truth: they are taken to "
    "be missing at random given what was observed."
)


def limits_section(material: Material) -> Section:
    """State what does not follow from the numbers."""
    said = [
        *_truth(material),
        *_assumed(material),
        *_dependence(material),
        *_interface(material),
        *_leaning(material),
        *_many(material),
        *_missing(material.ratings),
        OTHERS,
        NOT_A_CAUSE,
    ]
    return Section(key="limits", title="What this report does not establish", blocks=bullets(said))


def _truth(material: Material) -> list[str]:
    if not is_consensus(material.reference):
        return [f"That {material.reference} is right: it is the truth here by definition."]
    items = len(material.ratings.items)
    if material.reference.startswith(CONSENSUS_OF_GROUPS):
        text = "That what the rater groups agree on is right"
        if not material.n_known:
            return [
                f"{text}: each is taken to misperceive items on its own, and a misunderstanding "
                "that several share cannot be seen in their ratings. Known truth of some items "
                "would show it."
            ]
        return [
            f"{text}, but for the {material.n_known} of {items} items whose truth is known: each "
            "is taken to misperceive items on its own, and how often several are wrong together "
            "is not carried over from these to the others."
        ]
    text = "That the raters' consensus is right. The truth here is the consensus of all raters"
    if not material.n_known:
        text += (
            ": a misunderstanding that all of them share cannot be seen in their ratings. Known "
            "truth of some items would show it."
        )
    else:
        text += (
            f", but for the {material.n_known} of {items} items whose truth is known: how often "
            "all raters err together is not carried over from these to the others "
            f"(`reference='gold'` does, from {ENOUGH} known items on)."
        )
    return [text]


def _assumed(material: Material) -> list[str]:
    """Repeat the assumptions of the fit, without the reference, which comes before."""
    said = material.attribute("assumptions") or []
    return [text for text in said if not WHOSE_TRUTH.search(text)]


def _dependence(material: Material) -> list[str]:
    task = material.ratings.task
    if material.spec.reference:  # the model has perception layers
        return []
    if not KINDS.keys().isdisjoint(material.spec.rater_parts):
        return [
            "That raters err together only on items that are hard for all of them. Some who "
            "misread an item alike, such as language models of one family, count as independent "
            "witnesses of it; known truth, a group whose consensus counts as the truth "
            "(`reference=`), or three rater groups (`reference='groups'`) would show it."
        ]
    return [
        "That raters err independently of each other. The model takes their errors to be "
        "independent given the truth; where items differ in difficulty, or raters are models of "
        f"one family, it is too sure of itself (`raters={raters_for(task, None)!r}`)."
    ]


def _interface(material: Material) -> list[str]:
    strict = [r.expression for r in material.ratings.task.rules if r.response != "off"]
    if not strict:
        return []
    return [
        f"That the interface worked as assumed for {'; '.join(strict)}: a rater's own sensitivity "
        "hangs on it, while what is recorded is less sensitive to it."
    ]


def _leaning(material: Material) -> list[str]:
    return [
        f"Numbers that lean on the prior: {finding.text}."
        for finding in material.data_check.at_least("note")
        if finding.leans
    ]


def _missing(ratings: Ratings) -> list[str]:
    """State that missing answers are assumed to be missing at random, if there are any."""
    gaps = (ratings.answers == MISSING) & ~np.isfinite(ratings.scores)
    return [AT_RANDOM] if gaps.any() else []


def _many(material: Material) -> list[str]:
    systems, metrics = len(material.ratings.systems), len(material.summaries["finite"])
    if systems < 2:
        return []
    return [
        f"That the most striking of {metrics} numbers would strike again: probabilities are given "
        "one by one, and what is picked for its size is on average smaller than it looks."
    ]
