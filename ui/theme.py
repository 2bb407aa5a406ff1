"""The theme: colours, fonts, sizes and the Qt style sheet, derived from the design tokens.

Widgets read colours and fonts from `Theme.current()`, and are repainted when its signal `changed`
is emitted. No other module of `ui` defines a colour. Adjacent surfaces have slightly different
background colours and are separated by a hairline.
"""

import json
import re
from functools import cache
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QStyle, QStyleFactory, QWidget

from resources import read_text

__all__ = ["Mode", "Theme", "dress", "redress", "tokens"]

Mode = Literal["system", "light", "dark"]

_TOKEN = re.compile(r"@([a-z_]+(?:\.[A-Za-z0-9_]+)+)")
_SCALED_LENGTH = re.compile(r"@px\((\d+)\)")
_ARABIC = ("Noto Sans Arabic", "Noto Naskh Arabic", "Noto Kufi Arabic")
_MONO = ("DejaVu Sans Mono", "Menlo", "Consolas")
_WEIGHTS = {400: QFont.Weight.Normal, 500: QFont.Weight.Medium, 600: QFont.Weight.DemiBold}
_NUMBERS = QFont.Tag("tnum")
# Ligatures would draw other characters than a command, an address or a diff has.
_LIGATURES = QFont.Tag("calt")


@cache
def tokens() -> dict[str, Any]:
    """Return the design tokens that are part of Strata. Callers must not change them."""
    loaded: dict[str, Any] = json.loads(read_text("tokens.json"))
    return loaded


class Theme(QObject):
    """The current theme: light or dark mode, and the font scale.

    The signal `changed` is emitted after the application's palette, style sheet and fonts have been
    replaced.
    """

    changed = Signal()
    _current: "Theme | None" = None

    def __init__(self) -> None:
        super().__init__()
        self.mode: Mode = "system"
        self.scale = 1.0
        self.is_dark = False
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[tuple[str, bool, int, bool], QFont] = {}
        self._load_colors()

    @classmethod
    def current(cls) -> "Theme":
        """Return the theme of the application. The first call creates it."""
        if Theme._current is None:
            Theme._current = cls()
        return Theme._current

    def apply(self, mode: Mode | None = None, scale: float | None = None) -> None:
        """Set the mode and the font scale. Update the application's palette, fonts and style sheet.

        Args:
            mode: `light`, `dark`, or `system` to follow the desktop, including later changes. None
                keeps the mode.
            scale: the factor for text, rows and icons, but not hairlines. None keeps the scale.
        """
        app = _application()
        before = self.is_dark, self.scale
        self.mode = mode or self.mode
        self.scale = scale or self.scale
        self._follow_system()
        self.is_dark = self._wants_dark()
        if before == (self.is_dark, self.scale) and app.styleSheet():
            return  # nothing has changed, and restyling takes some time
        self._fonts.clear()
        self._load_colors()
        # Qt restyles a widget once for each of its ancestors when one style sheet replaces another,
        # but only once when a style sheet is set anew.
        app.setStyleSheet("")
        if app.style().objectName().lower() != "fusion":
            app.setStyle(QStyleFactory.create("Fusion"))
        app.setPalette(self._palette())
        app.setFont(self.font("ui"))
        app.setStyleSheet(self.fill(read_text("styles/app.qss")))
        for widget in app.allWidgets():
            _set_dressed_font(widget)
        self.changed.emit()

    def color(self, name: str) -> QColor:
        """Return a colour of the current mode by its name, such as `text.primary`."""
        return QColor(self._colors[name])

    def css(self, name: str) -> str:
        """Return a colour by its name, as text for style sheets and rich text."""
        color = self._colors[name]
        if color.alpha() == 255:
            return color.name()
        return f"rgba({color.red()}, {color.green()}, {color.blue()}, {color.alpha()})"

    def font(
        self, kind: str = "ui", *, numbers: bool = False, weight: int = 0, italic: bool = False
    ) -> QFont:
        """Return the scaled font of a type role.

        Args:
            kind: a type role of the design tokens, such as `body` or `caption`.
            numbers: whether all digits have the same width, for counts, percentages and times.
            weight: 400, 500 or 600, or 0 for the type role's own weight.
            italic: whether the font is italic.
        """
        key = (kind, numbers, weight, italic)
        if key not in self._fonts:
            self._fonts[key] = self._make_font(*key)
        return QFont(self._fonts[key])

    def line(self, kind: str) -> int:
        """Return the scaled line height of a type role, in pixels.

        Args:
            kind: a type role of the design tokens, such as `body` or `caption`.
        """
        return self.px(tokens()["type"][kind]["line"])

    def px(self, length: float) -> int:
        """Return a length multiplied by the font scale, in pixels, for rows, icons and controls."""
        return round(length * self.scale)

    def space(self, step: int) -> int:
        """Return a spacing in pixels by its number in the design tokens: 1 is 4 pixels, 2 is 8."""
        return int(tokens()["space"][str(step)])

    def radius(self, name: str) -> int:
        """Return a corner radius in pixels by its name: `xs`, `sm`, `md`, `lg`, `xl` or `bar`."""
        return int(tokens()["radius"][name])

    def duration(self, name: str) -> int:
        """Return a duration in milliseconds by its name in the design tokens.

        The durations of animations are 0 if the desktop disables animations.
        """
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        moves = name in {"fast", "base", "slow"}
        if moves and _application().style().styleHint(hint) == 0:
            return 0
        return int(tokens()["motion"][name])

    def value(self, path: str) -> Any:
        """Return the unscaled value of a design token by its path, such as `layout.sidebar.min`."""
        found: Any = tokens()
        for part in path.split("."):
            found = found[part]
        return found

    def fill(self, template: str) -> str:
        """Fill in a style sheet template.

        Each `@token.path` is replaced with the value of the design token, and each `@px(length)`
        with the scaled length.
        """
        scaled = _SCALED_LENGTH.sub(lambda match: f"{self.px(int(match.group(1)))}px", template)
        return _TOKEN.sub(lambda match: self._css_value(match.group(1)), scaled)

    def _css_value(self, path: str) -> str:
        return self.css(path) if path in self._colors else f"{self.value(path)}px"

    def _load_colors(self) -> None:
        groups = tokens()["color"]["dark" if self.is_dark else "light"]
        self._colors = {
            f"{group}.{name}": _parse(value)
            for group, members in groups.items()
            for name, value in members.items()
        }

    def _make_font(self, kind: str, numbers: bool, weight: int, italic: bool) -> QFont:
        role = tokens()["type"][kind]
        font = QFont()
        font.setFamilies(_families(kind.startswith("code")))
        font.setPixelSize(self.px(role["px"]))
        font.setWeight(_WEIGHTS[weight or role["weight"]])
        font.setItalic(italic)
        if numbers:
            font.setFeature(_NUMBERS, 1)
        if kind.startswith("code"):
            font.setFeature(_LIGATURES, 0)
        return font

    def _palette(self) -> QPalette:
        palette = QPalette()
        for role, name in _ROLES.items():
            palette.setColor(role, self.color(name))
        for role in _TEXT_ROLES:
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text.disabled"))
        return palette

    def _wants_dark(self) -> bool:
        if self.mode == "system":
            return _application().styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self.mode == "dark"

    def _follow_system(self) -> None:
        hints = _application().styleHints()
        hints.colorSchemeChanged.connect(
            self._on_system_changed, Qt.ConnectionType.UniqueConnection
        )
        if self.mode == "system":
            hints.unsetColorScheme()
        else:
            dark = self.mode == "dark"
            hints.setColorScheme(Qt.ColorScheme.Dark if dark else Qt.ColorScheme.Light)

    def _on_system_changed(self) -> None:
        if self.mode == "system" and self._wants_dark() != self.is_dark:
            self.apply()


def dress(
    widget: QWidget, kind: str = "ui", tone: str = "primary", *, numbers: bool = False
) -> None:
    """Set the type role and text colour of a widget. Both follow later changes of the theme.

    Args:
        widget: usually a label or a button.
        kind: a type role of the design tokens, such as `body` or `caption`.
        tone: the text colour: `primary`, `secondary`, `tertiary`, `success`, `amber`, `danger`,
            `link`, or an empty string for the colour in the style sheet.
        numbers: whether all digits have the same width.
    """
    widget.setProperty("kind", kind)
    if numbers or widget.property("numbers"):
        widget.setProperty("numbers", numbers)
    _set_dressed_font(widget)
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        if widget.testAttribute(
            Qt.WidgetAttribute.WA_WState_Polished
        ):  # otherwise Qt does it later
            widget.style().unpolish(widget)
            widget.style().polish(widget)


def redress(widget: QWidget) -> None:
    """Restore the fonts of a widget's children, which Qt resets if the widget's parent changes."""
    for child in widget.findChildren(QWidget):
        _set_dressed_font(child)


def _set_dressed_font(widget: QWidget) -> None:
    kind = widget.property("kind")
    if kind:
        numbers = bool(widget.property("numbers"))
        font = Theme.current().font(kind, numbers=numbers)
        widget.setFont(font)
        if isinstance(widget, QAbstractScrollArea):
            widget.viewport().setFont(font)  # for Qt's own text, such as a placeholder


def _application() -> QApplication:
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("A theme needs a running QApplication; make one first.")
    return app


def _parse(value: str) -> QColor:
    """Parse a colour in the form `#RRGGBB` or `#RRGGBBAA`. Qt itself expects `#AARRGGBB`."""
    color = QColor(value[:7])
    if len(value) == 9:
        color.setAlpha(int(value[7:], 16))
    return color


@cache
def _families(mono: bool) -> list[str]:
    wanted = tokens()["font"]
    system = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    first = wanted["mono" if mono else "ui"][0]
    own = QFontDatabase.systemFont(system).family()
    fallbacks = [*(_MONO if mono else ()), *wanted["cjk_fallback"], *_ARABIC]
    return list(dict.fromkeys([first, own, *fallbacks]))


_ROLES = {
    QPalette.ColorRole.Window: "bg.content",
    QPalette.ColorRole.WindowText: "text.primary",
    QPalette.ColorRole.Base: "bg.input",
    QPalette.ColorRole.AlternateBase: "bg.raised",
    QPalette.ColorRole.Text: "text.primary",
    QPalette.ColorRole.PlaceholderText: "text.tertiary",
    QPalette.ColorRole.Button: "bg.raised",
    QPalette.ColorRole.ButtonText: "text.primary",
    QPalette.ColorRole.BrightText: "danger.text",
    QPalette.ColorRole.ToolTipBase: "bg.tooltip",
    QPalette.ColorRole.ToolTipText: "text.on_tooltip",
    QPalette.ColorRole.Highlight: "accent.base",
    QPalette.ColorRole.HighlightedText: "text.on_accent",
    QPalette.ColorRole.Accent: "accent.base",
    QPalette.ColorRole.Link: "text.link",
    QPalette.ColorRole.LinkVisited: "text.link",
    QPalette.ColorRole.Light: "bg.overlay",
    QPalette.ColorRole.Midlight: "line.hairline",
    QPalette.ColorRole.Mid: "line.strong",
    QPalette.ColorRole.Dark: "line.control",
    QPalette.ColorRole.Shadow: "line.control",
}
_TEXT_ROLES = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
)
