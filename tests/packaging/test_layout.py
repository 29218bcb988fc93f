"""The layout: packages at the top, none of which hides a public function; the map names each."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

import assay

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "assay"
NO_PACKAGE = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}
UNIT = ROOT / "tests" / "unit"
NO_MODULE = {
    "io/test_bad_input.py": "wrong files and calls, one error each, whichever module finds them",
    "io/test_first_files.py": "files as people first hand them over, through all of reading",
    "io/test_misread.py": "files that were taken for something else, through all of reading",
    "io/test_plausible_files.py": "files that lost something, through all of reading",
    "io/test_real_files.py": "real ratings, counted as their documentation states",
    "studies/diras/test_real_models.py": "the whole procedure, with real models",
}
"""Files of unit tests about no one module or package, and why."""


def packages() -> list[Path]:
    """All packages, at any depth."""
    return sorted(file.parent for file in SOURCE.rglob("__init__.py") if file.parent != SOURCE)


def test_the_top_holds_packages_only() -> None:
    files = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert files <= NO_PACKAGE
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders == {p.name for p in packages() if p.parent == SOURCE}


@pytest.mark.parametrize("package", packages(), ids=lambda path: path.name)
def test_no_package_is_named_like_a_public_function(package: Path) -> None:
    assert package.name not in assay.__all__


@pytest.mark.parametrize("package", packages(), ids=lambda path: path.name)
def test_no_file_is_hidden_by_a_name_that_its_package_hands_on(package: Path) -> None:
    face = importlib.import_module(".".join(package.relative_to(SOURCE.parent).parts))
    files = {file.stem for file in package.glob("*.py")} & set(vars(face))
    assert not [name for name in files if not isinstance(vars(face)[name], ModuleType)]


def test_the_map_names_each_package_once() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)/` \|", text, flags=re.MULTILINE)
    assert sorted(named) == sorted(p.name for p in packages() if p.parent == SOURCE)


def test_each_folder_of_unit_tests_mirrors_a_package() -> None:
    tests = {f.parent.relative_to(UNIT).as_posix() for f in UNIT.rglob("test_*.py")}
    known = {p.relative_to(SOURCE).as_posix() for p in packages()} | {"benchmarks"}
    assert tests <= known


def has_a_module(test: Path) -> bool:
    """Return whether a file of tests has the name of a module of its package, or of the package.

    Those of the benchmarks are in one folder, whichever folder of benchmarks/ has the script.
    """
    name, folder = test.stem.removeprefix("test_"), test.parent.relative_to(UNIT)
    if folder.name == "benchmarks":
        return any((ROOT / "benchmarks").rglob(f"{name}.py"))
    return name == folder.name or (SOURCE / folder / f"{name}.py").is_file()


def test_each_file_of_unit_tests_has_the_name_of_its_module() -> None:
    nameless = {f for f in UNIT.rglob("test_*.py") if not has_a_module(f)}
    assert {f.relative_to(UNIT).as_posix() for f in nameless} == set(NO_MODULE)


def test_type_checkers_see_the_public_names_that_there_are() -> None:
    """The stub beside the package and the names that are found when it runs are one list."""
    stub = (SOURCE / "__init__.pyi").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(\w+) as \1\b", stub))
    assert named == set(assay.__all__)
    homes = re.findall(r"^from assay\.([\w.]+) import ([^(\n]+|\([^)]*\))", stub, re.MULTILINE)
    for module, names in homes:
        for name in re.findall(r"(\w+) as", names):
            assert assay._HOME[name] == module


@pytest.mark.parametrize("old", assay._RENAMED)
def test_names_of_before_warn_and_work(old: str) -> None:
    new = assay._RENAMED[old]
    with pytest.warns(FutureWarning, match=f"assay.{old} is now assay.{new}"):
        assert getattr(assay, old) is getattr(assay, new)
    assert old not in assay.__all__
