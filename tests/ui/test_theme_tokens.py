"""Colours, type and sizes come from the tokens, and the tokens keep their promises."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPalette, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

import ui
from ui.icons import _glyphs, icon, pixmap
from ui.theme import Mode, Theme, dress, tokens
from ui.widgets.buttons import ButtonText, PushButton, make_button
from ui.widgets.controls import IconLabel, label, make_searchable
from ui.widgets.surfaces import Pane

UI = Path(ui.__file__).parent
HEX = re.compile(r"#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{8}\b|#[0-9A-Fa-f]{3}\b(?![\w-])")
MODES = ("light", "dark")


def all_colors(mode: str) -> set[str]:
    groups = tokens()["color"][mode].values()
    return {value[:7].lower() for members in groups for value in members.values()}


def luminance(color: str) -> float:
    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(color[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", MODES)
def test_every_colour_of_the_style_sheet_is_a_token(mode: str, qapp: QApplication) -> None:
    Theme.current().apply(mode)  # type: ignore[arg-type]
    found = {color.lower() for color in HEX.findall(qapp.styleSheet())}
    assert found
    assert found <= all_colors(mode)


@pytest.mark.parametrize("mode", MODES)
def test_every_colour_of_the_palette_is_a_token(mode: str, qapp: QApplication) -> None:
    Theme.current().apply(mode)  # type: ignore[arg-type]
    roles = (
        QPalette.ColorRole.Window,
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Base,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.Button,
        QPalette.ColorRole.Highlight,
        QPalette.ColorRole.PlaceholderText,
        QPalette.ColorRole.Link,
        QPalette.ColorRole.Mid,
    )
    palette = qapp.palette()
    assert {palette.color(role).name() for role in roles} <= all_colors(mode)


def test_no_module_but_the_theme_holds_a_colour() -> None:
    offenders = [
        f"{path.relative_to(UI)}: {match}"
        for path in UI.rglob("*.py")
        if path.name != "theme.py"
        for match in HEX.findall(path.read_text("utf-8"))
    ]
    assert not offenders


@pytest.mark.parametrize("mode", MODES)
def test_every_allowed_pair_has_its_contrast(mode: str) -> None:
    def value(name: str) -> str:
        group, _, key = name.partition(".")
        color: str = tokens()["color"][mode][group][key]
        return color[:7]

    too_low = [
        (pair["fg"], pair["bg"])
        for pair in tokens()["contrast"]
        if contrast(value(pair["fg"]), value(pair["bg"])) < pair["min"]
    ]
    assert not too_low


def test_alpha_is_read_from_the_end_of_a_token(theme: Theme) -> None:
    assert theme.color("bg.scrim") == QColor(0x1C, 0x1D, 0x1F, 0x66)


def test_text_grows_with_the_scale_and_hairlines_do_not(qapp: QApplication) -> None:
    theme = Theme.current()
    theme.apply("light", 2.0)
    assert theme.font("body").pixelSize() == 30
    assert theme.line("body") == 48
    assert "height: 1px" in qapp.styleSheet()


def test_a_dressed_label_follows_the_scale(theme: Theme) -> None:
    label = QLabel("x")
    dress(label, "caption")
    theme.apply("light", 1.5)
    assert label.font().pixelSize() == 18


def test_what_stands_for_text_in_a_field_follows_the_scale(qtbot: QtBot, theme: Theme) -> None:
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    dress(field, "code", "")
    field.show()
    theme.apply("light", 2.0)
    assert field.viewport().font().pixelSize() == theme.font("code").pixelSize()


def test_numbers_have_one_width(theme: Theme) -> None:
    font = theme.font("ui", numbers=True)
    assert [tag.toString() for tag in font.featureTags()] == [b"tnum"]
    assert theme.font("ui").featureTags() == []


def test_every_text_font_falls_back_to_cjk_and_arabic(theme: Theme) -> None:
    for kind in ("ui", "body", "code"):
        families = theme.font(kind).families()
        assert "Noto Sans CJK SC" in families
        assert "Noto Sans Arabic" in families
    assert theme.font("body").families()[0] == "Inter"
    assert theme.font("code").families()[0] == "JetBrains Mono"


def test_the_weight_of_a_role_can_be_replaced(theme: Theme) -> None:
    assert theme.font("ui", weight=600).weight() == QFont.Weight.DemiBold


def test_an_icon_is_painted_in_the_colour_of_its_token(theme: Theme) -> None:
    image = pixmap("gear", 24, "danger.text").toImage()
    opaque = {
        image.pixelColor(x, y).name()
        for x in range(24)
        for y in range(24)
        if image.pixelColor(x, y).alpha() == 255
    }
    assert opaque == {theme.color("danger.text").name()}


def test_every_icon_that_is_named_exists() -> None:
    named = set()
    for path in UI.rglob("*.py"):
        text = path.read_text("utf-8")
        named |= set(re.findall(r"(?:icon|pixmap|IconButton|IconLabel)\(\s*\"([a-z-]+)\"", text))
    own = {"panel-left", "panel-right", "up-down"}
    assert named - own <= set(_glyphs())


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_link_begins_on_the_edge_of_the_text_above_it(qtbot: QtBot, scale: float) -> None:
    Theme.current().apply("light", scale)
    page = Pane("content")
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    text, link = label("Hide it"), make_button(ButtonText("Hide it", "Hide the text"), "link")
    for widget in (text, link):
        column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)
    page.show()
    above, below = (first_ink(page.grab(it.geometry()).toImage()) for it in (text, link))
    assert abs(above - below) <= 1
    width = link.width()
    page.activateWindow()
    link.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(link.hasFocus)
    assert link.width() == link.sizeHint().width() == width


def first_ink(picture: QImage) -> int:
    """The first column that holds something dark."""
    columns = range(picture.width())
    rows = range(picture.height())
    return next(x for x in columns if any(picture.pixelColor(x, y).lightness() < 170 for y in rows))


def test_the_cross_of_a_search_field_is_drawn_like_the_other_icons(qtbot: QtBot) -> None:
    field = QLineEdit()
    qtbot.addWidget(field)
    make_searchable(field)
    clear = field.findChildren(QToolButton)[0].icon().pixmap(16, 16).toImage()
    assert clear == icon("x").pixmap(16, 16).toImage()


def test_the_focus_of_a_primary_button_is_seen(qtbot: QtBot, theme: Theme) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    row = QHBoxLayout(place)
    for word in ("Save", "Send"):
        row.addWidget(make_button(ButtonText(word, "Send the text"), "primary"))
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    first, second = place.findChildren(PushButton)
    second.setFocus()
    assert _ring(second) == theme.color("text.on_accent")
    assert _ring(first) == theme.color("accent.base")


def _ring(button: PushButton) -> QColor:
    return button.grab().toImage().pixelColor(button.width() // 2, 3)


@pytest.mark.parametrize("role", ["", "primary", "text", "link"])
def test_a_button_reached_by_tab_has_one_ring_and_no_frame_around_its_label(
    qtbot: QtBot, theme: Theme, role: str
) -> None:
    page = QWidget()
    column = QVBoxLayout(page)
    field, made = QLineEdit(), make_button(ButtonText("Look again", "Search again"), role)
    column.addWidget(field)
    column.addWidget(made)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    qtbot.waitUntil(made.hasFocus)
    image, above_the_words = made.grab().toImage(), made.height() // 2 - 8
    row = {image.pixelColor(x, above_the_words).name() for x in range(6, made.width() - 6)}
    assert len(row) == 1


def test_a_mode_that_looks_the_same_dresses_nothing_again(qapp: QApplication) -> None:
    theme = Theme.current()
    changes: list[bool] = []
    theme.changed.connect(lambda: changes.append(theme.is_dark))
    theme.apply("system")
    assert (theme.mode, changes) == ("system", [])
    theme.apply("dark")
    assert changes == [True]
    theme.apply("dark", 1.5)
    assert changes == [True, True]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_head_of_a_file_dialog_can_be_read(mode: Mode, qtbot: QtBot, theme: Theme) -> None:
    theme.apply(mode)
    dialog = QFileDialog(options=QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    dialog.setViewMode(QFileDialog.ViewMode.Detail)
    dialog.show()
    head = next(view for view in dialog.findChildren(QHeaderView) if view.isVisible())
    ground = head.grab().toImage().pixelColor(head.width() - 3, head.height() // 2)
    assert ground == theme.color("bg.raised")


class StyleChanges(QObject):
    """Counts the style changes of a widget."""

    count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def test_a_nested_widget_is_restyled_once_when_the_text_size_changes(qtbot: QtBot) -> None:
    outer = QWidget()
    qtbot.addWidget(outer)
    inner = outer
    for _ in range(5):
        inner = QWidget(inner)
    icon = IconLabel("search", parent=inner)
    outer.show()
    counter = StyleChanges()
    icon.installEventFilter(counter)
    Theme.current().apply(scale=1.25)
    restyled = counter.count
    assert 1 <= restyled <= 2  # the old style sheet is removed, and the new one set


def test_the_chosen_folder_of_the_folder_dialog_can_be_read(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    dialog = QFileDialog(None, "", str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setViewMode(QFileDialog.ViewMode.Detail)
    qtbot.addWidget(dialog)
    dialog.show()
    tree = dialog.findChild(QTreeView, "treeView")
    qtbot.waitUntil(lambda: tree.model().rowCount(tree.rootIndex()) == 1)
    row = tree.model().index(0, 0, tree.rootIndex())
    tree.setCurrentIndex(row)
    spot = tree.visualRect(row).bottomRight() - QPoint(2, 2)
    shown = tree.viewport().grab().toImage()
    assert shown.pixelColor(spot) == Theme.current().color("accent.base")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_completions_of_the_folder_dialog_can_be_read(
    mode: Mode, qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    theme.apply(mode)
    (tmp_path / "notes").mkdir()
    dialog = QFileDialog(None, "", str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    dialog.show()
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    popup = field.completer().popup()

    def is_offered() -> bool:
        field.clear()
        QTest.keyClicks(field, "no")
        return popup.isVisible()

    qtbot.waitUntil(is_offered)
    shown = popup.viewport().grab().toImage()
    assert shown.pixelColor(shown.width() - 2, shown.height() - 2) == theme.color("bg.overlay")
    popup.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_dialog_is_lighter_than_the_page_and_shows_its_raised_surfaces(
    mode: Mode, qtbot: QtBot
) -> None:
    theme = Theme.current()
    theme.apply(mode)
    dialog = QDialog()
    qtbot.addWidget(dialog)
    column, surface = QVBoxLayout(dialog), QFrame()
    surface.setProperty("surface", "raised")
    surface.setMinimumSize(80, 40)
    column.setContentsMargins(20, 20, 20, 20)
    column.addWidget(surface)
    dialog.show()
    image = dialog.grab().toImage()
    ground, raised = (image.pixelColor(5, 5), image.pixelColor(surface.geometry().center()))
    assert ground == theme.color("bg.overlay")
    assert raised != ground


@pytest.mark.parametrize("mode", MODES)
def test_a_placeholder_can_be_read(mode: Mode, qtbot: QtBot) -> None:
    theme = Theme.current()
    theme.apply(mode)
    field = QLineEdit()
    qtbot.addWidget(field)
    field.setPlaceholderText("Search settings")
    field.show()
    shown = field.palette().color(QPalette.ColorRole.PlaceholderText)
    assert shown == theme.color("text.tertiary")


@pytest.mark.parametrize("mode", MODES)
def test_bars_are_seen_on_the_boxes_of_dialogs(mode: Mode, theme: Theme, qtbot: QtBot) -> None:
    theme.apply(mode)
    dialog = QDialog()
    qtbot.addWidget(dialog)
    box = QFrame(dialog)
    box.setProperty("surface", "raised")
    box.setGeometry(0, 0, 100, 100)
    dialog.show()
    ground = dialog.grab().toImage().pixelColor(50, 50).name()
    layers = dict(tokens()["color"][mode]["layer"])
    assert contrast(layers.pop("free"), ground) >= 1.1
    assert {name for name, color in layers.items() if contrast(color, ground) < 3} == set()
    assert ground != theme.color("bg.overlay").name()


def test_fixed_width_text_has_no_ligatures(theme: Theme) -> None:
    font = theme.font("code")
    assert font.isFeatureSet(QFont.Tag("calt"))
    assert font.featureValue(QFont.Tag("calt")) == 0


@pytest.mark.parametrize("sign", ["🌱", "✅", "📎", "🚀"])
def test_signs_have_a_glyph_in_the_fonts_that_make_installs(sign: str) -> None:
    layout = QTextLayout(sign, Theme.current().font("body"))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    runs = layout.glyphRuns()
    assert runs
    assert all(index for run in runs for index in run.glyphIndexes())
