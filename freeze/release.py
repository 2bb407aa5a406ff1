"""Build everything that is passed on to users, into the folder dist: `make release`.

    strata_notes-VERSION-py3-none-any.whl   for pip, pipx and uv, with the embedding model
    strata-VERSION-linux-MACHINE.tar.xz     the program, which needs no Python
    strata_VERSION_MACHINE.deb              the same for Debian, with a menu entry
    strata-VERSION.cdx.json                 the packages that the program consists of (CycloneDX)
    strata-release.json                     what `strata updates` reads, to be put beside them
    SHA256SUMS                              the checksums of these files

It refuses a checkout with changes, a version that has a tag, tests that fail, and a wheel whose
bytes differ when it is built twice. Each release runs all tests of the commit that it builds. For a
trial, the variable RELEASE_TESTS is a command to run in place of `make test`. The file TRIAL then
says so, and what was built is not to be passed on.
"""

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from freeze.contents import check_contents, write_bill_of_materials, write_licences, write_sizes

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TESTS = "make --no-print-directory test"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
# What Qt loads from the system. The names are those of Debian 12; Debian 13 has two under others.
DEBIAN_LIBRARIES = (
    *("libc6", "libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgl1"),
    *("libglib2.0-0 | libglib2.0-0t64", "libxcb-cursor0", "libxcb-icccm4", "libxcb-image0"),
    *("libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0", "libxcb-shape0", "libxcb-sync1"),
    *("libxcb-xfixes0", "libxcb-xinerama0", "libxcb-xkb1", "libxkbcommon0", "libxkbcommon-x11-0"),
)
CONTROL = """\
Package: strata
Version: {version}
Architecture: {machine}
Maintainer: The Strata developers <strata@localhost>
Section: editors
Priority: optional
Depends: {libraries}
Installed-Size: {kibibytes}
Description: Note assistant that shows exactly what the model saw
 A desktop chat over a folder of Markdown notes. Every answer names its
 sources, and every request can be looked at. Removing the package leaves
 the notes and the chats where they are.
"""


def main() -> None:
    """Check, build and sum up. The first thing that fails ends the program with a sentence."""
    check_state()
    tests = os.environ.get("RELEASE_TESTS") or TESTS
    run_tests(tests)
    check_state()  # tests may have left files
    shutil.rmtree(DIST, ignore_errors=True)
    built = [build_wheel()]
    subprocess.run(["make", "--no-print-directory", "frozen"], cwd=ROOT, check=True)
    check_contents(DIST / "strata")
    add_licences()
    with ThreadPoolExecutor() as pool:  # each takes minutes of one processor
        built += pool.map(lambda build: build(), (build_archive, build_debian_package))
    built.append(DIST / f"strata-{VERSION}.cdx.json")
    write_bill_of_materials(built[-1], DIST / "strata")
    built.append(write_release_document(built))
    sums = [f"{_hash(file)}  {file.name}\n" for file in built]
    (DIST / "SHA256SUMS").write_text("".join(sums), "ascii")
    write_sizes(DIST / "strata", sys.stdout)
    for file in built:
        sys.stdout.write(f"{file.stat().st_size / 1e6:8.1f} MB  {_hash(file)}  {file.name}\n")
    if tests != TESTS:
        said = f"This is a trial: “{tests}” was run in place of the tests.\n"
        (DIST / "TRIAL").write_text(said, "utf-8")
        sys.stdout.write(said)


def check_state() -> None:
    """Refuse a checkout from which nobody could build the same again.

    Raises:
        SystemExit: there are changes that are not committed, or the version has a tag.
    """
    if _git("status", "--porcelain", "--untracked-files=all") or _list_hidden_changes():
        raise SystemExit("There are changes that are not committed; commit them first.")
    if _git("tag", "--list", f"v{VERSION}"):
        raise SystemExit(f"The version {VERSION} has a tag; raise it in pyproject.toml.")


def _list_hidden_changes() -> list[str]:
    """Return the files whose changes Git was told not to show (`assume-unchanged`, sparse)."""
    lines = _git("ls-files", "-v").splitlines()
    return [line for line in lines if line[0].islower() or line[0] == "S"]


def run_tests(command: str) -> None:
    """Run all tests of the commit that is checked out.

    Options of make and pytest in the environment are dropped: `make -i` would go on after a
    failure, and `PYTEST_ADDOPTS` could choose some of the tests.

    Raises:
        subprocess.CalledProcessError: they fail.
        SystemExit: another commit was checked out meanwhile.
    """
    commit = _git("rev-parse", "HEAD")
    dropped = ("MAKE", "MFLAGS", "PYTEST_")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    subprocess.run(shlex.split(command), cwd=ROOT, check=True, env=clean)
    if _git("rev-parse", "HEAD") != commit:
        raise SystemExit(f"{commit} was tested, but another commit is checked out now.")


def build_wheel() -> Path:
    """Build the wheel twice, and return its path.

    Raises:
        SystemExit: the two differ.
    """
    with tempfile.TemporaryDirectory() as folder:
        first, second = (_build_wheel_into(Path(folder) / name) for name in ("a", "b"))
        if first.read_bytes() != second.read_bytes():
            raise SystemExit("Two wheels of the same files differ.")
        DIST.mkdir(exist_ok=True)
        return Path(shutil.copy(first, DIST))


def _build_wheel_into(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    subprocess.run([*command, ROOT], check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def add_licences() -> None:
    """Add all licence texts to the frozen program."""
    program = DIST / "strata"
    write_licences(program / "licences", program)
    shutil.copy(ROOT / "LICENSE", program)


def build_archive() -> Path:
    """Pack the frozen program, and return the archive's path."""
    program = DIST / "strata"
    archive = DIST / f"strata-{VERSION}-linux-{platform.machine()}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=6) as packed:
        packed.add(program, f"strata-{VERSION}", filter=_own_by_root)
    return archive


def _own_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def build_debian_package() -> Path:
    """Build the package for Debian from the frozen program, and return its path."""
    machine = DEBIAN_MACHINES[platform.machine()]
    with tempfile.TemporaryDirectory(dir=DIST) as folder:
        root = Path(folder) / "strata"
        _lay_out(root)
        kibibytes = sum(f.lstat().st_size for f in root.rglob("*") if f.is_file()) // 1024
        control = CONTROL.format(
            version=VERSION,
            machine=machine,
            libraries=", ".join(DEBIAN_LIBRARIES),
            kibibytes=kibibytes,
        )
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN" / "control").write_text(control, "ascii")
        package = DIST / f"strata_{VERSION}_{machine}.deb"
        build = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", root, package]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    return package


def _lay_out(root: Path) -> None:
    """Put the program and its menu entry where Debian expects them."""
    desktop = ROOT / "resources" / "desktop"
    shutil.copytree(DIST / "strata", root / "opt" / "strata", symlinks=True)
    (root / "usr" / "bin").mkdir(parents=True)
    for name in ("strata", "strata-gui"):
        (root / "usr" / "bin" / name).symlink_to("/opt/strata/strata")
    for source, target in (
        (desktop / "strata.desktop", "applications"),
        (desktop / "strata.svg", "icons/hicolor/scalable/apps"),
        (ROOT / "LICENSE", "doc/strata"),
    ):
        folder = root / "usr" / "share" / target
        folder.mkdir(parents=True)
        name = "copyright" if source.name == "LICENSE" else source.name
        shutil.copy(source, folder / name)
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def write_release_document(files: Sequence[Path]) -> Path:
    """Write the document that `strata updates` reads, and return its path."""
    document = DIST / "strata-release.json"
    listed = [
        {"name": file.name, "size": file.stat().st_size, "sha256": _hash(file)} for file in files
    ]
    document.write_text(json.dumps({"version": VERSION, "files": listed}, indent=1), "ascii")
    return document


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"A step failed: {' '.join(map(str, error.cmd))}") from None
