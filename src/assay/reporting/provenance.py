"""Sections: how to cite and to reproduce, and the limits of the report."""

import hashlib
import re

import numpy as np
import pandas as pd

from assay import __version__
from assay._util.text import without_folders
from assay.data.overlap import LAYER_ITEMS
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.display.table import table_of
from assay.fits.view import FitView
from assay.modelling.layers.difficulty import KINDS
from assay.modelling.spec import CONSENSUS, CONSENSUS_OF_GROUPS, is_consensus, raters_for
from assay.reporting.material import Material
from assay.reporting.page import Block, Code, Section, bullets, prose

CITATION = (
    f"The assay developers. assay: metrics, rater reliability and comparisons with the uncertainty "
    f"of the labels. Version {__version__}."
)


def provenance_section(material: Material) -> Section:
    """Report the command, versions, seed and hashes behind every number."""
    fit = material.view
    made_with = fit.attrs.get("command")
    commands = [without_folders(text) for text in (made_with, material.command) if text]
    blocks: list[Block] = [
        prose(f"Cite: {CITATION} Cite also the papers that the model card lists."),
        *([Code(text="\n".join(dict.fromkeys(commands)))] if commands else []),
        _facts(material),
        _versions(material),
        prose(
            "On one machine, the same input, seed and versions give the same draws. On another "
            "machine, numbers agree within Monte Carlo error."
        ),
    ]
    return Section(key="reproduce", title="How to cite, and to reproduce", blocks=tuple(blocks))


def _facts(material: Material) -> Block:
    fit, ratings = material.view, material.ratings
    own = FitView.of(material.fit).ratings if material.rater_names else ratings
    sizes = fit["posterior"].sizes
    facts = {
        "Source": without_folders(ratings.accounting.source) or "not a file",
        "SHA-256 of the source": ratings.accounting.sha256 or "not a file",
        # By the raters' own names, whatever displays call them.
        "SHA-256 of the ratings as fitted": ratings_hash(own),
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
    return table_of("reproduce", "Input and settings of the fit", frame, shown)


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
    "This report describes differences between systems and raters. It does not show their causes, "
    "unless the data come from a randomised design."
)
OTHERS = (
    "Results hold for these raters and questions. Only the estimand population covers other "
    "items: those of clusters that are sampled in the same way."
)
KNOWN_TRUTH = "Known truth of some items would reveal it."
AT_RANDOM = (
    "Missing answers, abstentions and discarded ratings are assumed to be missing at random, given "
    "the observed data."
)


def limits_section(material: Material) -> Section:
    """State the assumptions behind the numbers, and what does not follow from them."""
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
    return Section(key="limits", title="Assumptions and limits", blocks=bullets(said))


def _truth(material: Material) -> list[str]:
    if not is_consensus(material.reference):
        return [
            f"The truth is defined by the reference ({material.reference}). Errors in the "
            "reference cannot be detected."
        ]
    items = len(material.ratings.items)
    if material.reference.startswith(CONSENSUS_OF_GROUPS):
        independent = "Groups are assumed to misperceive items independently."
        if not material.n_known:
            return [
                f"The truth is defined as the {material.reference}. {independent} An error that "
                f"several groups share cannot be detected. {KNOWN_TRUTH}"
            ]
        return [
            f"The truth of {material.n_known} of {items} items is known. For the other items, the "
            f"truth is defined as the {CONSENSUS_OF_GROUPS}. {independent} The items of known "
            "truth are not used to estimate how often several groups err together."
        ]
    if not material.n_known:
        return [
            f"The truth is defined as the {material.reference}. An error that all raters share "
            f"cannot be detected. {KNOWN_TRUTH}"
        ]
    return [
        f"The truth of {material.n_known} of {items} items is known. For the other items, the "
        f"truth is defined as the {CONSENSUS}. The items of known truth are not used to estimate "
        f"how often all raters err together (`reference='gold'` does so, from {LAYER_ITEMS} such "
        "items on)."
    ]


def _assumed(material: Material) -> list[str]:
    """Repeat the assumptions of the fit, without the reference, which comes before."""
    said = material.attribute("assumptions") or []
    return [text for text in said if not WHOSE_TRUTH.search(text)]


def _dependence(material: Material) -> list[str]:
    task = material.ratings.task
    if material.view.spec.reference:  # the model has perception layers
        return []
    if not KINDS.keys().isdisjoint(material.view.spec.rater_parts):
        return [
            "Raters are assumed to err together only on items that are hard for all raters. "
            "Raters who misread an item in the same way, such as language models of one family, "
            "count as independent. Known truth, a reference group (`reference=`) or three rater "
            "groups (`reference='groups'`) would reveal such shared errors."
        ]
    return [
        "Raters are assumed to err independently, given the truth. If items differ in difficulty, "
        "or raters are models of one family, intervals are too narrow. To model difficulty, fit "
        f"with `raters={raters_for(task, None)!r}`."
    ]


def _interface(material: Material) -> list[str]:
    strict = [r.expression for r in material.ratings.task.rules if r.response != "off"]
    if not strict:
        return []
    return [
        f"The interface is assumed to have worked as the task says for {'; '.join(strict)}. The "
        "sensitivity of raters before the interface blocks answers (kind raw) depends on this; "
        "that of recorded answers depends on it less."
    ]


def _leaning(material: Material) -> list[str]:
    return [
        f"Some numbers depend on the prior: {finding.text}."
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
    largest = f"The largest of {metrics} estimates" if metrics > 1 else "The largest estimate"
    return [
        "Probabilities are not adjusted for multiple comparisons. "
        f"{largest} is probably exaggerated."
    ]
