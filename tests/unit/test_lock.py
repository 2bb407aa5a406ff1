"""The lock files: every dependency in a version that fits, with hashes, and without addresses."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKED = (ROOT / ".ci" / "locked.txt").read_text("utf-8")
TORCH = (ROOT / ".ci" / "locked-torch.txt").read_text("utf-8").split()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def read_lock(text: str) -> Iterator[tuple[Requirement, list[str]]]:
    """Yield each locked requirement with its hashes."""
    for entry in text.replace("\\\n", "").splitlines():
        requirement, *hashes = entry.split(" --hash=")
        yield Requirement(requirement), [found.strip() for found in hashes]


@pytest.mark.parametrize("group", ["", *EXTRAS])
def test_each_dependency_is_locked_in_a_version_that_fits(group: str) -> None:
    locked: dict[str, list[str]] = {}
    for requirement, _ in read_lock(LOCKED):
        (pin,) = requirement.specifier
        locked.setdefault(canonicalize_name(requirement.name), []).append(pin.version)
    for line in EXTRAS[group] if group else PROJECT["dependencies"]:
        wanted = Requirement(line)
        if wanted.name == "torch":
            assert [line] == TORCH
            continue
        versions = locked[canonicalize_name(wanted.name)]
        assert all(wanted.specifier.contains(version) for version in versions), (line, versions)


def test_each_version_has_hashes_and_no_address() -> None:
    entries = list(read_lock(LOCKED))
    assert len(entries) > 150
    for requirement, hashes in entries:
        assert requirement.url is None
        assert [pin.operator for pin in requirement.specifier] == ["=="]
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", found) for found in hashes), requirement
    assert "://" not in LOCKED
