"""What people call metrics."""

from collections import Counter

import xarray as xr


def metric_titles(draws: xr.Dataset) -> dict[str, str]:
    """Return what figures and tables call each metric, by its name; the name, where titles are the
    same.

    >>> metric_titles(xr.Dataset({"mrr[ok]": ((), 0.5, {"title": "MRR of ok"}), "own": ((), 1.0)}))
    {'mrr[ok]': 'MRR of ok', 'own': 'own'}
    """
    titles = {str(name): str(one.attrs.get("title") or name) for name, one in draws.items()}
    uses = Counter(titles.values())
    return {name: title if uses[title] == 1 else name for name, title in titles.items()}


def titles_with_names(draws: xr.Dataset) -> dict[str, str]:
    """Return the titles, each with the name by which options and arguments call the metric.

    >>> titles_with_names(xr.Dataset({"mrr[ok]": ((), 0.5, {"title": "MRR of ok"})}))
    {'mrr[ok]': 'MRR of ok (mrr[ok])'}
    """
    titles = metric_titles(draws)
    return {name: name if title == name else f"{title} ({name})" for name, title in titles.items()}
