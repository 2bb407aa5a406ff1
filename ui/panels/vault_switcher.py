"""The button with the open vault's name. Its menu opens another vault."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy

from resources import sample_vault
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import PressedByEnter, paint_row
from ui.widgets.controls import escape_tooltip, one_line
from ui.widgets.formatting import count
from ui.widgets.lists import paint_text
from ui.widgets.menus import show_menu

__all__ = ["VaultSwitcher", "folder_name"]

_NONE = "No folder open"
_REVIEW = "Look after your notes"
_DETAIL_WIDTH = 240


class VaultSwitcher(PressedByEnter, QAbstractButton):
    """A button that shows the open vault's name. Its menu opens another vault.

    Signals:
        chosen: emitted with the path of a recently opened vault that the user chooses.
        folder_requested: emitted when the user wants to choose a folder.
        samples_requested: emitted when the user wants to open the sample notes.
        index_requested: emitted when the user wants to update the index.
        review_requested: emitted when the user wants to see the findings of the review.
        judge_requested: emitted when the user wants to judge every note by a question.
    """

    chosen = Signal(str)
    folder_requested = Signal()
    samples_requested = Signal()
    index_requested = Signal()
    review_requested = Signal()
    judge_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._recent: Sequence[str] = ()
        self._path, self._findings = "", 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._on_clicked)
        self.show_vault("", "")

    def show_vault(self, name: str, path: str) -> None:
        """Show the name of the open vault, or that no vault is open.

        Args:
            name: the name of the vault's folder, or an empty string if no vault is open.
            path: the path of the vault, for the tooltip.
        """
        self._path = path if name else ""
        self.setText(name or _NONE)
        self.setAccessibleName(f"Folder of notes: {name or _NONE}")
        self.setToolTip(escape_tooltip(path or "Choose a folder of notes"))
        self.update()

    def show_recent(self, folders: Sequence[str]) -> None:
        """Set the recently opened vaults that the menu lists.

        Args:
            folders: the paths of the vaults, most recent first.
        """
        self._recent = tuple(folders)

    def show_findings(self, number: int) -> None:
        """Set the number of review findings, not counting dismissed ones, that the menu shows."""
        self._findings = number

    def sizeHint(self) -> QSize:
        """Return the preferred size of the button at the current font scale."""
        return QSize(120, Theme.current().px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw an icon, the vault's name, and two arrows."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        side = theme.px(16)
        top = (self.height() - side) // 2
        paint_icon(painter, QRect(6, top, side, side), "books", "text.secondary")
        arrows = QRect(self.width() - side - 4, top, side, side)
        paint_icon(painter, arrows, "up-down", "text.tertiary")
        painter.setFont(theme.font("ui_strong"))
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, self.rect().adjusted(side + 14, 0, -side - 12, 0), self.text())

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        self._add_recent(menu)
        menu.addAction("Choose a folder…", self.folder_requested.emit)
        menu.addAction("Open the sample notes", self.samples_requested.emit)
        menu.addSeparator()
        words = f"{_REVIEW} ({count(self._findings)})" if self._findings else _REVIEW
        for action in (
            menu.addAction("Read the notes again", self.index_requested.emit),
            menu.addAction(words, self.review_requested.emit),
            menu.addAction("Judge every note…", self.judge_requested.emit),
        ):
            action.setEnabled(bool(self._path))
        show_menu(menu, self.mapToGlobal(self.rect().bottomLeft()), self)

    def _add_recent(self, menu: QMenu) -> None:
        """Add the recently opened vaults to the menu, each with the path of its parent folder."""
        metrics, middle = QFontMetrics(menu.font()), Qt.TextElideMode.ElideMiddle
        width = Theme.current().px(_DETAIL_WIDTH)
        samples = str(sample_vault().resolve())
        for path in self._recent:
            if path in (self._path, samples):
                continue
            above = metrics.elidedText(one_line(_shorten_home(Path(path).parent)), middle, width)
            text = f"{one_line(folder_name(Path(path)))}\t{above}".replace("&", "&&")
            menu.addAction(text, partial(self.chosen.emit, path))
        if not menu.isEmpty():
            menu.addSeparator()


def folder_name(folder: Path) -> str:
    """Return the display name of a vault: "Sample notes", or the name of its folder."""
    return "Sample notes" if folder == sample_vault().resolve() else folder.name or str(folder)


def _shorten_home(folder: Path) -> str:
    """Return a folder's path with `~` in place of the user's home folder."""
    home = Path.home()
    return str(Path("~", folder.relative_to(home))) if folder.is_relative_to(home) else str(folder)
