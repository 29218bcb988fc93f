"""Section: how well the model foretells gold that it has not seen."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay._util.plurals import counted
from assay.data.ratings import Ratings
from assay.data.states import vector_name
from assay.inference.diagnostics import K_HAT_LIMIT
from assay.reporting.leave_one_out import gap_of_draws
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Gap, Section, prose, table_of
from assay.validation.gold_left_out import UNTOLD, high_k_share, loo_gold

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

WHAT = "Gold left out: how well the model foretells known truth that it has not seen"
FEW = 10
"""Items with gold below which a mean over them says nothing."""
SHOWN = 5
HEADINGS = {
    "items": "Items with gold",
    "probability": "Its probability",
    "pareto_k": "Pareto k",
}


def gold_section(material: Material) -> Section | Gap | None:
    """Report leave-one-out of gold, and the gold that is foretold worst."""
    known = material.n_known
    if not known:
        return None
    gap = gap_of_draws(material.fit, WHAT)
    if gap is not None:
        return gap
    if known < FEW:
        why = f"the truth of {counted(known, 'item')} alone is known"
        return Gap(
            what=WHAT,
            why=why,
            enable=f"known truth of at least {FEW} items (truth=)",
            code="few-known-truth",
            numbers={"items": known, "needed": FEW},
        )
    found = loo_gold(material.fit)
    table = gold_table(found, material.ratings)
    unit = str(table.columns[0])
    loss, error = -found.elpd / known, found.se / known
    together = "" if unit == "item" else f" All gold of a {unit} is left out together."
    shown = table.head(SHOWN)
    words = shown.assign(**{c: shown[c].map("{:.2f}".format) for c in ("probability", "pareto_k")})
    columns = {name: HEADINGS.get(str(name), str(name).capitalize()) for name in table.columns}
    return Section(
        key="gold",
        title="Gold that the model has not seen",
        blocks=(
            prose(
                f"The known truth of each of {known} items is foretold from the ratings by the "
                f"model of all others: log loss {loss:.3f} (standard error {error:.3f}), "
                f"that of a probability of {np.exp(-loss):.2f} for what is true.{together} Other "
                "items are foretold about as well if those with gold are a random sample. Of two "
                "models of the same ratings and gold, the one with less loss knows better what is "
                "meant (assay.loo_gold, arviz.compare)."
            ),
            *_doubt(found, unit),
            table_of(
                "gold",
                f"The {len(shown)} of {counted(len(table), unit)} whose gold is foretold worst: "
                "look whether the gold, or their ratings, are right",
                words,
                columns,
                export=table,
            ),
        ),
    )


def _doubt(found: "ELPDData", unit: str) -> list[Block]:
    """Say that the score is not to be believed, by the rule of :func:`assay.stack_labels`."""
    high = high_k_share(found)
    if high <= UNTOLD:
        return []
    text = (
        f"{high:.0%} of the {unit}s with gold have a Pareto k above {K_HAT_LIMIT}: without the "
        "gold of one of these the posterior would be another, and the log loss above is not to be "
        "believed. More gold helps, or a simpler model."
    )
    return [Callout(word="Influential", text=text, level="doubt")]


def gold_table(found: "ELPDData", ratings: Ratings) -> pd.DataFrame:
    """Return a line per unit left out; the gold that is foretold worst comes first.

    An item with its ``gold``, or a cluster with the number of ``items`` that have any;
    ``probability`` of the gold of an item (of a cluster, the geometric mean), ``pareto_k``.

    Parameters
    ----------
    found : ELPDData
        Of :func:`assay.loo_gold`.
    """
    unit = str(found.elpd_i.dims[0])
    names = found.elpd_i[unit].to_numpy()
    table, elpd = pd.DataFrame({unit: names}), found.elpd_i.to_numpy()
    if unit == "item":
        told = ratings.truth[ratings.items.index.get_indexer(pd.Index(names))]
        table["gold"] = [vector_name(ratings.task, row) for row in told]
    else:
        clusters = ratings.items["cluster"].astype(str)[ratings.has_truth].value_counts()
        table["items"] = clusters.loc[names.astype(str)].to_numpy()
        elpd = elpd / table["items"]
    table["probability"] = np.exp(elpd)
    table["pareto_k"] = found.pareto_k.to_numpy()
    return table.sort_values("probability", kind="stable", ignore_index=True)
