"""Section: how to cite, and what reproduces every number."""

import hashlib

import numpy as np
import pandas as pd

from assay import __version__
from assay.data.ratings import Ratings
from assay.reporting.material import Material
from assay.reporting.page import Block, Code, Section, prose, table_of

CITATION = (
    f"The assay developers. assay: metrics, rater reliability and comparisons with the uncertainty "
    f"of the labels. Version {__version__}."
)


def provenance_section(material: Material) -> Section:
    """Give the command, versions, seed and hashes behind every number."""
    fit = material.fit
    made_with = fit.attrs.get("command")
    commands = [text for text in (made_with, material.command) if text]
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
        "Source": ratings.accounting.source or "not a file",
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
    """Return a hash of who said what about which item: SHA-256 in hexadecimal.

    Examples
    --------
    >>> from assay.fits.simulation import simulate
    >>> len(ratings_hash(simulate("single", n_items=3, n_raters=3, rng=1)))
    64
    """
    digest = hashlib.sha256()
    names = [*ratings.items.index, "", *ratings.raters.index, "", *ratings.task.label_names]
    digest.update("\x1f".join(map(str, names)).encode())
    for array in (ratings.item, ratings.rater, ratings.replicate, ratings.answers, ratings.truth):
        digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    digest.update(np.ascontiguousarray(ratings.scores, dtype=np.float64).tobytes())
    return digest.hexdigest()
