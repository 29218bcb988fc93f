"""Agreement between raters beside what the fitted model expects."""

from typing import TYPE_CHECKING

from assay._util.errors import ModelError
from assay._util.words import percent
from assay.plots.forest import Series, forest
from assay.plots.style import WIDTH
from assay.raters.agreements import Agreement

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_agreement(found: Agreement, *, width: float = WIDTH) -> "Figure":
    """Draw the coefficients of agreement with their intervals.

    Parameters
    ----------
    found : Agreement
        From :func:`assay.agreement`; with ``fit=`` the model's expectation stands beside it.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ModelError
        If it is given anything else.
    """
    if not isinstance(found, Agreement):
        raise ModelError(
            f"plot_agreement takes an Agreement, not {type(found).__name__}; make it with "
            "assay.agreement(ratings, fit=fit)",
            code="argument-type",
        )
    table = found.table.set_index(["label", "statistic"])
    observed = table[["value", "lower", "upper"]].set_axis(["mean", "lower", "upper"], axis=1)
    series = [Series(name="observed", values=observed)]
    if table["expected"].notna().any():
        model = table[["expected", "expected_lower", "expected_upper"]]
        expected = model.set_axis(["mean", "lower", "upper"], axis=1)
        series.append(Series(name="expected by the model", values=expected))
    label = f"coefficient, {percent(found.level)} interval"
    return forest(series, label=label, reference=0.0, width=width)
