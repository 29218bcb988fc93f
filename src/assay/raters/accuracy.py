"""How often each rater is right, and who is right more often than whom."""

from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.validation import require_choice
from assay.fits.datatree import require_fit
from assay.inference.fit_arguments import MODES_ALONE
from assay.inference.label_doubts import doubts_by_label
from assay.raters.reliability import KINDS, class_shares, rater_reliability

Floats = NDArray[np.float64]
TIE = 1e-12
"""Accuracies that differ by less are the same: sums in another order differ by as much."""


def rater_accuracy(
    fit: xr.DataTree, *, kind: Literal["recorded", "raw"] = "recorded"
) -> xr.DataArray:
    r"""Chance that each rater's answer is right.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        Of the confusions, as for :func:`assay.rater_reliability`.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label), in [0, 1].

    Raises
    ------
    ModelError
        If ``kind`` is none of the two.

    Notes
    -----
    :math:`A_{jl} = \sum_k \pi_{lk} \theta_{jlkk}`, with :math:`\pi` the prevalence of the classes
    where the label applies: of all raters on the same mix of items, whichever they rated.
    """
    table, shares = rater_reliability(fit, kind=kind), class_shares(fit).to_numpy()
    hits = np.nan_to_num(np.einsum("cdrlkk->cdrlk", table.to_numpy()))
    return xr.DataArray(
        np.einsum("cdlk,cdrlk->cdrl", shares, hits),
        dims=("chain", "draw", "rater", "label"),
        coords={dim: table[dim] for dim in ("chain", "draw", "rater", "label")},
        name="accuracy",
        attrs=table.attrs,
    )


def compare_raters(
    fit: xr.DataTree, *, kind: Literal["recorded", "raw"] = "recorded"
) -> xr.DataArray:
    r"""Probability that one rater is right more often than another.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit` by ``nuts`` or ``laplace``.
    kind : {"recorded", "raw"}
        Of the confusions, as for :func:`assay.rater_reliability`.

    Returns
    -------
    xarray.DataArray
        (rater, other, label), in [0, 1]: P(accuracy of ``rater`` > that of ``other``), a tie
        counted half. That of two raters and that of the same two the other way round add up to 1;
        a rater beside itself has 0.5. NaN on labels whose classes may not be what their names say;
        the coordinate ``doubt`` says why (:func:`assay.label_doubts`).

    Raises
    ------
    FitError
        If the fit is a mode alone (``map``, ``em``), which does not know how sure it is.
    ModelError
        If ``kind`` is none of the two.

    Notes
    -----
    With :math:`A_{jl}^{(d)} = \sum_k \pi_{lk}^{(d)} \theta_{jlkk}^{(d)}` the chance that an answer
    of rater :math:`j` is right in draw :math:`d`, on the same mix of items for all raters,

    .. math:: P_{jj'l} = \frac1D \sum_d \left( [A_{jl}^{(d)} > A_{j'l}^{(d)}]
                         + \tfrac12 [A_{jl}^{(d)} = A_{j'l}^{(d)}] \right).

    Both accuracies are of the same draw: intervals of two raters that overlap can leave no doubt
    which is the better. Under the prior of the fit these probabilities are so as often as they
    say (benchmark ``claims``). A rater with few ratings has nearly the accuracy of its group.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=200, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, raters="pooled", method="laplace", draws=50, chains=1, rng=1)
    >>> found = compare_raters(tree)  # of a family that takes all raters for alike
    >>> found.dims, float(found.sel(rater="rater_1", other="rater_2").item())
    (('rater', 'other', 'label'), 0.5)
    """
    require_fit(fit)
    require_choice("kind", kind, KINDS)
    if fit.attrs["method"] in MODES_ALONE:
        raise FitError(
            f"a fit with method={fit.attrs['method']!r} is a mode without draws of the raters: it "
            "cannot tell how sure it is which of two is better; fit with method='nuts' or "
            "method='laplace'",
            code="mode-alone",
        )
    accuracy = rater_accuracy(fit, kind=kind)
    drawn = accuracy.stack(sample=("chain", "draw")).transpose("rater", "label", "sample")
    names = accuracy["rater"].to_numpy()
    doubted, labels = doubts_by_label(fit), accuracy["label"].to_numpy()
    doubts = [doubted.get(name, "") for name in labels]
    better = np.stack([_better(one, drawn.to_numpy()) for one in drawn.to_numpy()])
    better[..., [doubt != "" for doubt in doubts]] = np.nan
    return xr.DataArray(
        better,
        dims=("rater", "other", "label"),
        coords={"rater": names, "other": names, "label": labels, "doubt": ("label", doubts)},
        name="p_better",
        attrs=accuracy.attrs,
    )


def _better(one: Floats, others: Floats) -> Floats:
    """P(one > each other), ties half: (other, label) of draws (label, sample), (other, ...)."""
    gaps = one - others
    gaps[np.abs(gaps) < TIE] = 0.0
    return np.asarray((1 + np.sign(gaps).mean(axis=-1)) / 2)
