"""The installation: pip's settings in uv's words, and pip wherever uv cannot do it."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests import installation
from tests.installation import (
    LOCKED,
    LOCKED_TORCH,
    install_with_uv,
    parse_settings,
    plan_steps,
    read_requirement,
    translate_settings,
)

Call = tuple[tuple[str, ...], Mapping[str, str]]
LISTED = """\
:env:.index-url='https://variable.example/simple'
download.index-url='https://other.example/simple'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.index-url='https://all.example/simple'
global.trusted-host='one.example two.example'
install.cert='/etc/my certificates.pem'
install.index-url='https://install.example/simple'
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """The calls of installers, none of which is made."""
    made: list[Call] = []

    def call(*arguments: str, variables: Mapping[str, str] | None = None) -> None:
        made.append((arguments, variables or {}))

    monkeypatch.setattr(installation, "call", call)
    monkeypatch.setattr(installation, "VENV", tmp_path)
    monkeypatch.setattr(installation, "read_pip_settings", dict)
    monkeypatch.setattr(installation, "compile_all", lambda: None)
    return made


def fail_for(module: str, calls: list[Call]) -> Callable[..., None]:
    """Return a call that fails for one installer and notes what it was asked."""

    def call(*arguments: str, variables: Mapping[str, str] | None = None) -> None:
        calls.append((arguments, variables or {}))
        if module in (arguments[0], Path(arguments[-1]).name):
            raise subprocess.CalledProcessError(1, arguments)

    return call


def test_a_variable_comes_before_settings_of_install_and_those_before_settings_of_all() -> None:
    settings = parse_settings(LISTED)
    assert settings["index-url"] == "https://variable.example/simple"
    without_variable = parse_settings("\n".join(LISTED.splitlines()[1:]))
    assert without_variable["index-url"] == "https://install.example/simple"
    without_both = parse_settings("\n".join(LISTED.splitlines()[1:-1]))
    assert without_both["index-url"] == "https://all.example/simple"


def test_uv_gets_the_indexes_hosts_and_certificate_of_pip() -> None:
    assert translate_settings(parse_settings(LISTED)) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://variable.example/simple",
        "UV_EXTRA_INDEX_URL": "https://one.example/simple https://two.example/simple",
        "UV_INSECURE_HOST": "one.example two.example",
        "SSL_CERT_FILE": "/etc/my certificates.pem",
    }


def test_folders_with_wheels_are_divided_as_uv_reads_them() -> None:
    assert translate_settings({"find-links": "/one /two"}) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/one,/two",
    }


@pytest.mark.parametrize("name", ["no-index", "only-binary", "keyring-provider", "target", "pre"])
def test_pip_installs_where_a_setting_has_no_translation(
    name: str, calls: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "read_pip_settings", lambda: {name: "1"})
    assert not install_with_uv(plan_steps(""))
    assert calls == []


def test_settings_of_what_pip_prints_are_no_reason_against_uv() -> None:
    settings = {"disable-pip-version-check": "1", "progress-bar": "off", "no-input": "true"}
    assert translate_settings(settings) == translate_settings({})


@pytest.mark.parametrize("failing", ["uv", "uv.txt"])
def test_pip_installs_the_same_where_uv_fails_or_cannot_be_installed(
    failing: str,
    calls: list[Call],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(installation, "call", fail_for(failing, calls))
    monkeypatch.setenv("TORCH_INDEX", "https://torch.example")
    installation.install()
    rest = (tmp_path / "locked.txt").read_text("utf-8")
    assert "\nuv==" not in rest
    assert len(rest) + len((tmp_path / "uv.txt").read_text("utf-8")) == LOCKED.stat().st_size
    by_pip = calls[-3:]
    assert [arguments[:2] for arguments, _ in by_pip] == [("pip", "install")] * 3
    for (arguments, variables), step in zip(
        by_pip, plan_steps("https://torch.example"), strict=True
    ):
        assert arguments[-len(step.arguments) :] == step.arguments
        assert variables == step.variables
    assert "so pip does" in capsys.readouterr().err


def test_uv_itself_is_installed_with_its_locked_hashes(calls: list[Call], tmp_path: Path) -> None:
    installation.install()
    arguments, _ = calls[0]
    assert arguments[0] == "pip"
    assert "--require-hashes" in arguments
    locked = Path(arguments[-1]).read_text("utf-8")
    assert locked.startswith("uv==")
    assert "--hash=sha256:" in locked
    assert locked in LOCKED.read_text("utf-8")


def test_the_lines_of_one_package_end_with_its_last_hash() -> None:
    locked = "uv==1 \\\n    --hash=a \\\n    --hash=b\nuvicorn==2 \\\n    --hash=c\n"
    assert read_requirement("uv", locked) == "uv==1 \\\n    --hash=a \\\n    --hash=b\n"
    assert read_requirement("uvicorn", locked) == "uvicorn==2 \\\n    --hash=c\n"


def test_the_index_of_torch_is_for_torch_alone_and_comes_before_that_of_pip(
    calls: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"index-url": "https://mine.example/simple", "constraint": "/c.txt"}
    monkeypatch.setattr(installation, "read_pip_settings", lambda: settings)
    assert install_with_uv(plan_steps("https://torch.example"))
    (torch, for_torch), (locked, for_locked), (_, for_strata) = calls[1:]
    assert str(LOCKED_TORCH) in torch
    assert for_torch["UV_DEFAULT_INDEX"] == "https://torch.example"
    assert for_torch["UV_CONSTRAINT"] == "/c.txt"
    assert "--require-hashes" in locked
    for variables in (for_locked, for_strata):
        assert variables["UV_DEFAULT_INDEX"] == "https://mine.example/simple"
        assert variables["UV_CONSTRAINT"] == ""
