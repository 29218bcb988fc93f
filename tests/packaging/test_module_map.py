"""ARCHITECTURE.md's module map, the layers of the import contract and the tree are one list."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def map_names() -> list[str]:
    """Names of the table under the heading Modules; packages end with a slash."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text.partition("\n## Modules")[2], flags=re.MULTILINE)[0]
    return re.findall(r"^\| `([\w/]+)` \|", section, flags=re.MULTILINE)


def tree_names() -> set[str]:
    """Modules and packages (with a slash) of src/assay."""
    package = ROOT / "src" / "assay"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    packages = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    return modules | packages


def layer_names() -> set[str]:
    """Every name that the import contract gives a place to."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name for layer in layers for name in re.findall(r"\w+", layer)}


def test_map_lists_each_module_once() -> None:
    names = map_names()
    assert names
    assert sorted(names) == sorted(set(names))


def test_map_equals_tree() -> None:
    missing, extra = tree_names() - set(map_names()), set(map_names()) - tree_names()
    assert not missing, f"not in ARCHITECTURE.md's module map: {sorted(missing)}"
    assert not extra, f"in ARCHITECTURE.md's module map, not in src/assay: {sorted(extra)}"


def test_each_module_has_a_layer() -> None:
    missing = {name.rstrip("/") for name in tree_names()} - layer_names()
    assert not missing, f"no place in the layers of pyproject.toml: {sorted(missing)}"
