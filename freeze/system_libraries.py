"""Find the Debian packages whose libraries the frozen program contains, with their licences.

PyInstaller copies the libraries that Qt and Python load from the system beside the program.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

__all__ = ["SystemPackage", "list_system_packages"]

# PyInstaller copies the libraries of Python packages beside the program, too. These are theirs.
_OF_PACKAGES = ("libQt6", "libicu", "libpyside6", "libshiboken6", "libgfortran-", "libquadmath-")
_OF_PACKAGES += ("libscipy_openblas",)


@dataclass(frozen=True)
class SystemPackage:
    """A package of Debian.

    Attributes:
        name: its name, such as `libfreetype6`.
        version: its version.
    """

    name: str
    version: str

    @property
    def licence_file(self) -> Path:
        """The text of its licences, which every package of Debian has."""
        return Path("/usr/share/doc", self.name, "copyright")

    @property
    def purl(self) -> str:
        """Its address in the form of a package URL."""
        return f"pkg:deb/debian/{self.name}@{quote(self.version)}"


def list_system_packages(program: Path) -> list[SystemPackage]:
    """Return the packages that the libraries beside a frozen program come from, sorted by name.

    Raises:
        SystemExit: a library is of no package, or `dpkg-query` is not installed.
    """
    names = sorted(
        file.name
        for file in (program / "_internal").glob("lib*.so*")
        if not file.name.startswith(_OF_PACKAGES)
    )
    if not names:
        return []
    owners = _find_owners(names)
    if unknown := [name for name in names if name not in owners]:
        raise SystemExit(f"No package of this system has {', '.join(unknown)}.")
    return _read_versions(sorted(set(owners.values())))


def _find_owners(names: list[str]) -> dict[str, str]:
    """Return the package of each library that a package has."""
    found = _query("--search", *(f"*/{name}" for name in names))
    owners: dict[str, str] = {}
    for line in found.splitlines():
        package, _, path = line.partition(": ")
        owners.setdefault(Path(path).name, package.partition(":")[0])
    return owners


def _read_versions(packages: list[str]) -> list[SystemPackage]:
    found = _query("--show", "--showformat=${Package}\\t${Version}\\n", *packages)
    rows = sorted({tuple(line.split("\t")) for line in found.splitlines()})
    return [SystemPackage(name, version) for name, version in rows]


def _query(*arguments: str) -> str:
    """Run `dpkg-query`, whose exit code also tells that one of several things was not found."""
    if shutil.which("dpkg-query") is None:
        raise SystemExit("A release needs dpkg-query, to name the libraries of the system.")
    done = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False)
    return done.stdout
