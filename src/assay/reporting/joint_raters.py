"""Raters who cannot be told apart: votes without names, or one set of parameters for all."""

from collections.abc import Mapping

import pandas as pd

from assay._util.text import counted
from assay.data.ratings import UNNAMED, Ratings
from assay.modelling.spec import Spec, parse_recipe

POOLED = "pooled"
"""The family whose raters share their parameters."""
NUMBERS = ("mean", "sd", "lower", "upper")
KEYS = ("label", "true_class", "reported_class")


def joint_raters(ratings: Ratings, spec: Spec, standing: pd.DataFrame) -> dict[str, str]:
    """Return what displays call raters together who cannot be told apart, by rater. They are
    numbers of nameless votes, and a pooled group if the fit gives all the same numbers.
    """
    found = dict[str, str]()
    for group, part in ratings.raters.groupby("group", sort=False):
        names = [str(name) for name in part.index]
        own = spec.raters if isinstance(spec.raters, str) else spec.raters.get(str(group), "")
        if group == UNNAMED:
            found |= dict.fromkeys(names, f"{counted(len(names), 'rater')} without names")
        elif len(names) > 1 and own and parse_recipe(own).family == POOLED:
            lines = standing[standing["rater"].isin(names)]
            if (lines.groupby("label")[list(NUMBERS)].nunique() == 1).all(axis=None):
                found |= dict.fromkeys(names, f"{len(names)} raters alike")
    return found


def merged(table: pd.DataFrame, joint: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with one line in place of those of raters who cannot be told apart."""
    if not joint:
        return table
    keys = ["rater", *(key for key in KEYS if key in table)]
    ways = {name: "first" for name in table if name not in keys}
    ways |= {name: how for name, how in (("lower", "min"), ("upper", "max")) if name in ways}
    ways |= dict.fromkeys({"mean", "agreement"} & {*ways}, "mean")
    named = table.assign(rater=[joint.get(name, name) for name in table["rater"]])
    return named.groupby(keys, sort=False, as_index=False, dropna=False).agg(ways)[list(table)]


def why_joint(ratings: Ratings) -> str:
    """State why no single rater of all can be told from the others."""
    if (ratings.raters["group"] == UNNAMED).all():
        return "the raters have no names"
    return "the model has the same error rates for all raters"
