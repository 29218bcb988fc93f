"""The core install does not grow: neither in packages nor in megabytes."""

import csv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

KNOWN = """
annotated-doc annotated-types arro3-core arviz arviz-base arviz-plots arviz-stats better-optimize
cachetools charset-normalizer cloudpickle contourpy cycler donfig filelock fonttools formulae
google-crc32c h5netcdf h5py jinja2 joblib kiwisolver lark lazy-loader llvmlite markdown-it-py
markupsafe matplotlib mdurl msgspec numba numcodecs numpy nutpie obstore packaging pandas pillow
platformdirs pyarrow pydantic pydantic-core pygments pymc pyparsing pytensor python-dateutil pyyaml
rich scipy setuptools shellingham threadpoolctl typer typing-extensions typing-inspection tzdata
xarray xarray-einstats zarr
"""
"""What the requirements of the core bring, directly or not, with the versions of constraints.txt.

Add a name here if the package is worth its megabytes to everybody; else make it an extra.
"""

MOST_MEGABYTES = 820
"""Of all of these, without bytecode: 773 when this was written. LLVM, Arrow and SciPy have 460."""


def core() -> dict[str, Distribution]:
    """What is installed with the package without any extra."""
    found: dict[str, Distribution] = {}
    pending = [("assay", frozenset[str]())]
    seen = set(pending)
    while pending:
        name, extras = pending.pop()
        found[name] = distribution(name)
        asked = set(requirements(found[name], extras)) - seen
        pending += asked
        seen |= asked
    del found["assay"]
    return found


def requirements(
    package: Distribution, extras: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for line in package.requires or []:
        needed = Requirement(line)
        marker = needed.marker
        if marker is None or any(marker.evaluate({"extra": one}) for one in extras or {""}):
            yield canonicalize_name(needed.name), frozenset(needed.extras)


def megabytes(package: Distribution) -> float:
    """Size of the files of a package that came in its archive."""
    lines = csv.reader((package.read_text("RECORD") or "").splitlines())
    return sum(int(size) for name, _, size in lines if size and not name.endswith(".pyc")) / 1e6


def test_the_core_install_brings_no_new_package() -> None:
    assert set(core()) - set(KNOWN.split()) == set()


def test_the_core_install_takes_no_more_megabytes() -> None:
    sizes = {name: megabytes(package) for name, package in core().items()}
    assert sum(sizes.values()) < MOST_MEGABYTES, sorted(sizes.items(), key=lambda item: -item[1])
    assert sizes["llvmlite"] > 100
