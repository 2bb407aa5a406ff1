"""Install the locked dependencies and Strata into the virtual environment.

uv takes a quarter of pip's processor time, and uses all processors. It does not read the settings
of pip, so they are translated for it. Where a setting has no translation, or uv cannot be installed
or fails, pip installs instead. Both check the hashes of all locked files.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.programs import PYTHON, ROOT, VENV, call, start

LOCKED_TORCH, LOCKED = ROOT / ".ci" / "locked-torch.txt", ROOT / ".ci" / "locked.txt"
PACKAGES = ("app", "chains", "context", "resources", "tests/support", "ui", "vault")
# Few modules of these packages are ever imported. An import of torch's user compiles those.
LARGE_PACKAGES = (
    *("kubernetes", "litellm/proxy", "mypy", "networkx", "scipy", "sklearn", "sympy", "torch"),
    *("torchgen", "transformers"),
)
IMPORT = "import sentence_transformers"
_UV, _REST = "uv.txt", "locked.txt"
_QUIET = ("--quiet", "--no-compile", "--disable-pip-version-check")
# The variables by which uv takes the settings of pip that have one value, and those that may have
# several, with what stands between the values.
_SINGLE = {
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "index-url": "UV_DEFAULT_INDEX",
    "no-cache-dir": "UV_NO_CACHE",
    "proxy": "ALL_PROXY",
    "retries": "UV_HTTP_RETRIES",
    "timeout": "UV_HTTP_TIMEOUT",
}
_SEVERAL = {
    "constraint": ("UV_CONSTRAINT", " "),
    "extra-index-url": ("UV_EXTRA_INDEX_URL", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
}
# These settings change neither what is installed nor from where.
_WITHOUT_EFFECT = {
    *("cache-dir", "compile", "disable-pip-version-check", "no-color", "no-compile", "no-input"),
    *("no-python-version-warning", "no-warn-script-location", "progress-bar", "quiet"),
    *("require-virtualenv", "root-user-action", "verbose"),
}


class Step(NamedTuple):
    """One call of an installer: its arguments, and the variables in its environment."""

    arguments: Sequence[str]
    variables: Mapping[str, str]


def install() -> None:
    """Create the virtual environment, and install the locked dependencies and Strata into it."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    write_requirements(LOCKED.read_text("utf-8"))
    steps = plan_steps(os.environ.get("TORCH_INDEX", ""))
    if not install_with_uv(steps):
        for step in steps:
            call("pip", "install", *_QUIET, *step.arguments, variables=step.variables)
    compile_all()


def plan_steps(torch_index: str) -> list[Step]:
    """Return the calls that install torch, what is locked with hashes, and Strata.

    Constraints are for torch alone: the others are locked to one version, and uv takes none beside
    hashes.
    """
    chosen = {"PIP_INDEX_URL": torch_index, "UV_DEFAULT_INDEX": torch_index} if torch_index else {}
    locked = ("--require-hashes", "--no-deps", "--requirement", str(VENV / _REST))
    strata = ("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    return [
        Step(("--requirement", str(LOCKED_TORCH)), chosen),
        Step(locked, {"UV_CONSTRAINT": ""}),
        Step(strata, {"UV_CONSTRAINT": ""}),
    ]


def install_with_uv(steps: Sequence[Step]) -> bool:
    """Install with uv, as pip is set up to install; return False where pip has to do it."""
    settings = translate_settings(read_pip_settings())
    if settings is None:
        return False
    own = ("--require-hashes", "--no-deps", "--requirement", str(VENV / _UV))
    try:
        call("pip", "install", *_QUIET, *own)
        for step in steps:
            variables = {**settings, **step.variables}
            uv = ("pip", "install", "--quiet", "--python", str(PYTHON))
            call("uv", *uv, *step.arguments, variables=variables)
    except subprocess.CalledProcessError:
        print("uv could not install the dependencies, so pip does", file=sys.stderr)
        return False
    return True


def write_requirements(locked: str) -> None:
    """Write what is locked to two files: uv, and all others, which pip installs without uv too."""
    own = read_requirement("uv", locked)
    (VENV / _UV).write_text(own, "utf-8")
    (VENV / _REST).write_text(locked.replace(own, ""), "utf-8")


def read_requirement(name: str, locked: str) -> str:
    """Return the lines of a package in a lock file: its version and its hashes."""
    found = re.search(rf"^{name}==.*?(?<!\\)$", locked, re.MULTILINE | re.DOTALL)
    assert found, f"{name} is not locked"
    return found[0] + "\n"


def read_pip_settings() -> dict[str, str]:
    """Return the settings of `pip install`, from its files and the environment."""
    command = [str(PYTHON), "-m", "pip", "config", "list"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return parse_settings(listed)


def parse_settings(listed: str) -> dict[str, str]:
    """Parse what `pip config list` prints. Variables come before settings of install and of all."""
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listed.splitlines():
        place, _, value = line.partition("=")
        section, _, name = place.rpartition(".")
        if section in found and (text := ast.literal_eval(value)):
            found[section][name] = text
    return {name: text for settings in found.values() for name, text in settings.items()}


def translate_settings(settings: Mapping[str, str]) -> dict[str, str] | None:
    """Return the variables that tell uv the settings of pip, or None where it has no such setting.

    Pip takes the best version of all indexes; uv does so if it is told.
    """
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for name, value in settings.items():
        if name in _SINGLE:
            variables[_SINGLE[name]] = value
        elif name in _SEVERAL:
            variable, separator = _SEVERAL[name]
            variables[variable] = separator.join(value.split())
        elif name not in _WITHOUT_EFFECT:
            return None
    return variables


def compile_all() -> None:
    """Compile the dependencies and Strata with all processors, as neither installer does.

    Tests of dependencies are left out. Files for another Python version cannot be compiled, and no
    process imports them.
    """
    large = "|".join(LARGE_PACKAGES).replace("/", r"[\\/]")
    left_out = rf"site-packages[\\/](({large})[\\/]|.*[\\/]tests[\\/])"
    places = [str(VENV), *(str(ROOT / name) for name in PACKAGES)]
    offline = {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": ""}
    importing = start("-c", IMPORT, variables=offline)
    start("-m", "compileall", "-qq", "-j", "0", "-x", left_out, *places).wait()
    importing.wait()
