"""Names of raters that nobody takes for classes: a rater called 2 is shown as ``rater 2``."""

import re
from collections.abc import Mapping
from dataclasses import replace

from assay.data.ratings import Ratings
from assay.display.table import Table
from assay.fits.view import Fit, FitView
from assay.reporting.page import Block, Page
from assay.reporting.pseudonyms import renamed

NUMBER = re.compile(r"[\d.,+-]+")


def shown_names(ratings: Ratings) -> dict[str, str]:
    """Return what displays call each rater: new names for all, if one is called like a number, a
    class, a label or a system; else empty.

    >>> import assay
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": ["x", "x"], "rater": [1, 2], "label": ["no", "yes"]})
    >>> shown_names(assay.read_ratings(table))
    {'1': 'rater 1', '2': 'rater 2'}
    """
    names = list(map(str, ratings.raters.index))
    labels = ratings.task.labels
    taken = {*ratings.systems, *ratings.task.label_names, *(c for x in labels for c in x.classes)}
    others = {word.casefold() for word in taken}
    if not any(NUMBER.fullmatch(name) or name.casefold() in others for name in names):
        return {}
    return {name: f"rater {name}" for name in names}


def with_shown_names(fit: Fit) -> tuple[FitView, dict[str, str]]:
    """Return a fit in which raters have the names of displays, and these names by their own."""
    view = FitView.of(fit)
    names = shown_names(view.ratings)
    return (FitView(renamed(view.tree, names), view.results) if names else view), names


def with_own_names(page: Page, names: Mapping[str, str]) -> Page:
    """Return a page whose exported tables have the raters' own names."""
    if not names:
        return page
    own = {shown: name for name, shown in names.items()}
    sections = tuple(
        replace(one, blocks=tuple(_with_own(block, own) for block in one.blocks))
        for one in page.sections
    )
    return replace(page, sections=sections)


def _with_own(block: Block, own: Mapping[str, str]) -> Block:
    if not isinstance(block, Table):
        return block
    columns = [name for name in block.frame if str(name).startswith("rater")]
    frame = block.frame.assign(**{str(c): block.frame[c].replace(own) for c in columns})
    return replace(block, frame=frame)
