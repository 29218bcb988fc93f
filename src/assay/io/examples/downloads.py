"""Files of public examples: fetched once, checked by their hash, kept in a cache."""

import logging
import warnings
from collections.abc import Mapping
from os import environ
from pathlib import Path

from assay._util.errors import FitError

CACHE = "ASSAY_CACHE"


def fetch(example: str, files: Mapping[str, str]) -> list[Path]:
    """Return the paths of an example's files; fetch those that the cache lacks.

    ``files`` has the SHA-256 of each URL. A file is ``<cache>/<example>/<its own name>``.
    """
    if not files:
        return []
    try:
        with warnings.catch_warnings():  # of progress bars in notebooks
            warnings.simplefilter("ignore")
            import pooch
    except ImportError:
        raise FitError(
            f"the example {example} is fetched by the extra: pip install 'assay[examples]'",
            code="extra-not-installed",
        ) from None
    folder = Path(environ.get(CACHE) or pooch.os_cache("assay")) / example
    level = pooch.get_logger().level
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        return [
            Path(pooch.retrieve(url, known_hash=digest, fname=url.split("/")[-1], path=folder))
            for url, digest in files.items()
        ]
    except Exception as error:  # of the network, of the disk, or another hash
        shown = "\n".join(f"  {url}" for url in files)
        raise FitError(
            f"the example {example} cannot be fetched ({type(error).__name__}: {error}). "
            f"Put its files into {folder} yourself:\n{shown}",
            code="example-not-fetched",
        ) from error
    finally:
        pooch.get_logger().setLevel(level)
