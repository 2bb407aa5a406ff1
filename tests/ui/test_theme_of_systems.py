"""The fonts and the dark mode of each system, by doubles of what Qt reports there."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui import theme as theme_module
from ui.theme import Mode, Theme

LIGHT, DARK, UNKNOWN = Qt.ColorScheme.Light, Qt.ColorScheme.Dark, Qt.ColorScheme.Unknown
# What Qt reports as the general and the fixed font of each system.
FONTS = {
    "linux": ("Cantarell", "DejaVu Sans Mono"),
    "macos": (".AppleSystemUIFont", "Menlo"),
    "windows": ("Segoe UI", "Consolas"),
}


class Hints(QObject):
    """The hints of a desktop, whose dark mode the user can switch.

    Attributes:
        chosen: what the program has chosen for its windows, or None to follow the desktop.
    """

    colorSchemeChanged = Signal(Qt.ColorScheme)  # noqa: N815

    def __init__(self, desktop: Qt.ColorScheme) -> None:
        super().__init__()
        self._desktop = desktop
        self.chosen: Qt.ColorScheme | None = None

    def colorScheme(self) -> Qt.ColorScheme:  # noqa: N802 - of Qt
        """Return the scheme of the windows of the program."""
        return self._desktop if self.chosen is None else self.chosen

    def setColorScheme(self, scheme: Qt.ColorScheme) -> None:  # noqa: N802
        """Choose a scheme, which title bars and menus of the system have too."""
        self._change(self._desktop, scheme)

    def unsetColorScheme(self) -> None:  # noqa: N802
        """Follow the desktop."""
        self._change(self._desktop, None)

    def switch(self, desktop: Qt.ColorScheme) -> None:
        """Let the user switch the desktop."""
        self._change(desktop, self.chosen)

    def _change(self, desktop: Qt.ColorScheme, chosen: Qt.ColorScheme | None) -> None:
        before = self.colorScheme()
        self._desktop, self.chosen = desktop, chosen
        if self.colorScheme() != before:
            self.colorSchemeChanged.emit(self.colorScheme())


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[Hints]:
    """A desktop in its light mode."""
    found = Hints(LIGHT)
    monkeypatch.setattr(QApplication, "styleHints", lambda *_app: found)
    yield found
    monkeypatch.undo()
    Theme.current().apply("light", 1.0)


def test_the_window_follows_the_desktop_while_it_is_open(hints: Hints) -> None:
    theme = Theme.current()
    theme.apply("system")
    assert (theme.is_dark, hints.chosen) == (False, None)
    hints.switch(DARK)
    assert theme.is_dark
    hints.switch(UNKNOWN)  # a desktop without such a mode
    assert not theme.is_dark


@pytest.mark.parametrize(("mode", "scheme"), [("light", LIGHT), ("dark", DARK)])
def test_a_chosen_mode_is_that_of_title_bars_and_dialogs_of_the_system_too(
    hints: Hints, mode: Mode, scheme: Qt.ColorScheme
) -> None:
    theme = Theme.current()
    theme.apply(mode)
    assert hints.chosen == scheme
    for desktop in (DARK, LIGHT):
        hints.switch(desktop)
        assert theme.is_dark is (mode == "dark")
    hints.switch(DARK)
    theme.apply("system")
    assert (theme.is_dark, hints.chosen) == (True, None)


@pytest.mark.parametrize("system", FONTS)
def test_text_has_the_font_of_the_system_where_our_own_is_not_installed(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    general, fixed = FONTS[system]
    names = {
        QFontDatabase.SystemFont.GeneralFont: general,
        QFontDatabase.SystemFont.FixedFont: fixed,
    }
    monkeypatch.setattr(QFontDatabase, "systemFont", lambda kind: QFont(names[kind]))
    theme_module._families.cache_clear()
    try:
        text, code = (theme_module._families(is_code) for is_code in (False, True))
    finally:
        theme_module._families.cache_clear()
    assert text[:2] == ["Inter", general]
    assert code[:2] == ["JetBrains Mono", fixed]
    assert len(code) == len(set(code))
    assert {"Menlo", "Consolas"} <= set(code)
