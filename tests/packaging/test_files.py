"""What no file of the repository may hold, and what the constraints have to."""

import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]

# Joined here, so that this file holds none of them.
HOSTS = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org"]
FOLDERS = ["".join(("/", name, "/")) for name in ("work", "root", "home", "tmp", "Users", "opt")]
FORBIDDEN = re.compile("|".join([*map(re.escape, HOSTS), *(rf"(?<![\w.]){f}" for f in FOLDERS)]))


def files() -> list[Path]:
    """Files that are, or are about to be, under version control."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    paths = files()
    assert Path(__file__) in paths
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in paths
        for match in FORBIDDEN.finditer(path.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert not found


def test_the_pattern_finds_what_it_is_for() -> None:
    assert FORBIDDEN.search(f"https://{HOSTS[0]}/simple")
    assert FORBIDDEN.search(f"see {FOLDERS[0]}main")
    assert not FORBIDDEN.search("tests/unit" + FOLDERS[3] + "x")


def pins() -> dict[str, str]:
    """Name and version of each line of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): release for name, release in pairs}


def requirements() -> list[Requirement]:
    """What the package and its groups ask for, extras aside."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    # Peers that a benchmark is held against are not installed with the rest.
    found = (lines for name, lines in data["dependency-groups"].items() if name != "bench")
    groups = [line for lines in found for line in lines]
    lines = data["project"]["dependencies"] + [g for g in groups if isinstance(g, str)]
    return [Requirement(line) for line in lines]


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines[1:] if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.parametrize("requirement", requirements(), ids=lambda requirement: requirement.name)
def test_each_requirement_is_pinned_within_its_range(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_version_is_the_same_everywhere() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited is not None
    assert cited.group(1) == data["project"]["version"] == version("assay")
