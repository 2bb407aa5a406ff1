"""The command line without a verb opens the window, or says why not."""

from pathlib import Path

import pytest

from app.cli.parser import run
from app.startup import Startup
from tests.support.processes.command_line import Strata


def opened(argv: list[str]) -> tuple[int, list[Path | None]]:
    """Run the command line with a window that only looks at what it was given."""
    seen: list[Path | None] = []

    def look(opening: Startup) -> int:
        seen.append(opening.open().vault)
        return 7

    return run(argv, look), seen


def test_without_a_verb_the_window_opens_on_the_chosen_folder(small_vault: Path) -> None:
    assert opened(["--vault", str(small_vault)]) == (7, [small_vault.resolve()])
    assert opened([]) == (7, [None])


def test_a_window_opens_though_the_folder_of_the_last_time_is_gone(
    strata: Strata, tmp_path: Path
) -> None:
    strata("settings", "set", "vault.path", str(tmp_path / "gone"))
    assert opened([]) == (7, [None])


def test_a_window_opens_though_the_settings_are_damaged(strata_home: Path) -> None:
    (strata_home / "config").mkdir(parents=True)
    (strata_home / "config" / "settings.toml").write_text("[\n")
    assert opened([]) == (7, [None])


def test_a_folder_that_was_named_and_is_not_there_opens_no_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opened(["--vault", str(tmp_path / "gone")]) == (1, [])
    assert "There is no folder" in capsys.readouterr().err


def test_without_a_display_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert opened([]) == (1, [])
    assert "no display" in capsys.readouterr().err
