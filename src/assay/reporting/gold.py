"""Section: how well the model foretells gold that it has not seen."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay.diagnostics import FEW_FOR_PSIS
from assay.gold_left_out import loo_gold
from assay.plurals import counted
from assay.ratings import Ratings
from assay.reporting.material import Material
from assay.reporting.page import Gap, Section, prose, table_of
from assay.states import vector_name

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

SHOWN = 5
NO_DRAWS = Gap(
    what="Gold left out: how well the model foretells known truth that it has not seen",
    why=f"it needs draws of the posterior, at least {FEW_FOR_PSIS}",
    enable="method='nuts'",
)


def gold_section(material: Material) -> Section | Gap | None:
    """Report leave-one-out of gold, and the gold that is foretold worst."""
    if not material.n_known:
        return None
    posterior = material.fit["posterior"]
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    if material.fit.attrs["method"] != "nuts" or draws < FEW_FOR_PSIS:
        return NO_DRAWS
    found = loo_gold(material.fit)
    table = gold_table(found, material.ratings)
    unit, count = str(table.columns[0]), len(table)
    loss, error = -found.elpd / count, found.se / count
    shown = table.head(SHOWN)
    words = shown.assign(**{c: shown[c].map("{:.2f}".format) for c in ("probability", "pareto_k")})
    columns = {name: name.capitalize() for name in table.columns}
    return Section(
        key="gold",
        title="Gold that the model has not seen",
        blocks=(
            prose(
                f"The known truth of each of {counted(count, unit)} is foretold from the ratings "
                f"by the model of all others: log loss {loss:.3f} (standard error {error:.3f}), "
                f"that of a probability of {np.exp(-loss):.2f} for what is true. Other items are "
                "foretold about as well if those with gold are a random sample. Of two models "
                "of the same ratings and gold, the one with less loss knows better what is meant "
                "(assay.loo_gold, arviz.compare)."
            ),
            table_of(
                "gold",
                f"The {len(shown)} of {count} whose gold is foretold worst: look whether the gold, "
                "or their ratings, are right",
                words,
                columns | {"probability": "Its probability", "pareto_k": "Pareto k"},
                export=table,
            ),
        ),
    )


def gold_table(found: "ELPDData", ratings: Ratings) -> pd.DataFrame:
    """Return a line per unit left out; the gold that is foretold worst comes first.

    Its name, its ``gold`` if it is an item, ``probability`` of the gold, ``pareto_k``.

    Parameters
    ----------
    found : ELPDData
        Of :func:`assay.loo_gold`.
    """
    unit = str(found.elpd_i.dims[0])
    names = found.elpd_i[unit].to_numpy()
    table = pd.DataFrame({unit: names})
    if unit == "item":
        told = ratings.truth[ratings.items.index.get_indexer(pd.Index(names))]
        table["gold"] = [vector_name(ratings.task, row) for row in told]
    table["probability"] = np.exp(found.elpd_i.to_numpy())
    table["pareto_k"] = found.pareto_k.to_numpy()
    return table.sort_values("probability", kind="stable", ignore_index=True)
