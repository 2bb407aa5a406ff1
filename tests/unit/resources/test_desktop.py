"""The entry for desktop menus and its icon."""

import configparser
import tomllib
from pathlib import Path

import pytest
from PySide6.QtGui import QIcon, QImage
from pytestqt.qtbot import QtBot

from ui.icons import load_app_icon
from ui.theme import Theme

ROOT = Path(__file__).parents[3]
DESKTOP = ROOT / "resources" / "desktop"


@pytest.fixture
def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DESKTOP / "strata.desktop", "utf-8")
    return parser["Desktop Entry"]


def test_the_entry_starts_an_installed_command(entry: configparser.SectionProxy) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert entry["Type"] == "Application"
    command, argument = entry["Exec"].split()
    assert command in project["gui-scripts"]
    assert argument == "%f"  # a file or a folder, from a file manager
    assert (DESKTOP / f"{entry['Icon']}.svg").is_file()
    for key in ("Categories", "Keywords"):
        assert entry[key].endswith(";")


def test_the_icon_is_that_of_the_window(qtbot: QtBot) -> None:
    Theme.current().apply("light")
    size = 64
    drawn = (
        load_app_icon().pixmap(size, size).toImage().convertToFormat(QImage.Format.Format_ARGB32)
    )
    kept = QIcon(str(DESKTOP / "strata.svg")).pixmap(size, size).toImage()
    kept = kept.convertToFormat(QImage.Format.Format_ARGB32)
    assert (kept.width(), kept.height()) == (size, size)
    spots = [(x, y) for x in range(2, size, 4) for y in range(2, size, 4)]
    unlike = [
        spot
        for spot in spots
        if any(
            abs(getattr(drawn.pixelColor(*spot), part)() - getattr(kept.pixelColor(*spot), part)())
            > 40
            for part in ("red", "green", "blue", "alpha")
        )
    ]
    assert len(unlike) <= len(spots) // 50  # the edges are smoothed differently
    assert kept.pixelColor(size // 2, 4).alpha() == 255
