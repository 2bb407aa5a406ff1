"""The dialog that shows two versions of an answer side by side and lets the user keep one.

In a narrow window, the versions are shown one above the other.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QScrollArea,
    QWidget,
)

from ui.chat.message.answer import Answer
from ui.theme import Theme, dress, tokens
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import ElidedLabel, label, make_wrapped_label
from ui.widgets.geometry import OUTDENT, make_scroll_area
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.menus import MenuButton
from ui.widgets.surfaces import Hairline, Pane

__all__ = ["VersionColumn", "VersionsDialog"]

_WIDTH = 1_160
_NARROWEST_COLUMN = 400
_MARGIN = 32
_NONE_YET = "Choose which model answers too. Its answer becomes another version of this one."


class VersionColumn(Pane):
    """One version of an answer: the text, the model, and a button to keep the version.

    The signal `kept` is emitted when the user clicks that button.

    Args:
        name: the name of the column, for screen readers.

    Attributes:
        answer: the widget of the answer, or None while no answer is shown.
        keep: the button that keeps this version.
        say: a line for errors below the answer. Without an answer, it is the only text in the
            column.
    """

    kept = Signal()

    def __init__(self, name: str) -> None:
        super().__init__("content")
        self.setAccessibleName(name)
        self.answer: Answer | None = None
        self.keep = make_button(
            ButtonText("Keep this answer", "Continue the chat from this version"),
            "",
            self.kept.emit,
        )
        self.say = make_wrapped_label("", "ui", "secondary")
        self.head = make_row(margins=(24, 0, 24, 0))
        self._page = Pane("content")
        below = make_row(self.say, margins=(OUTDENT, 0, OUTDENT, 0))
        self._column = make_column(
            below, stretch(), margins=(8, 12, 8, 12), spacing=0, parent=self._page
        )
        self._lay_out()
        self.keep.setEnabled(False)

    def show_answer(self, answer: Answer) -> None:
        """Show an answer without its action buttons."""
        self.clear("")
        self.answer = answer
        answer.hide_actions()
        self._column.insertWidget(0, answer)
        answer.show()

    def clear(self, text: str) -> None:
        """Remove the answer from the column and show a sentence in its place."""
        if self.answer is not None:
            self.answer.hide()
            self.answer.deleteLater()
            self.answer = None
        self.keep.setEnabled(False)
        self.tell(text)

    def tell(self, text: str) -> None:
        """Show a message below the answer, or in its place if there is no answer.

        An empty string hides the message.
        """
        self.say.setText(text)
        self.say.setVisible(bool(text))

    def _lay_out(self) -> None:
        area: QScrollArea = make_scroll_area(self._page)
        area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        area.setAccessibleName(self.accessibleName())
        foot = make_row(stretch(), self.keep, margins=(24, 12, 24, 16))
        make_column(self.head, grow(area), foot, margins=0, spacing=0, parent=self)


class VersionsDialog(QDialog):
    """A dialog that shows two versions of an answer side by side.

    The signal `chosen` is emitted with the value of the item that the user chose in the menu.

    Attributes:
        left: the column of the answer that the dialog was opened for.
        right: the column of the other version.
        menu: the menu of the right column, with the other versions and the models.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._below = parent.window()
        self._below.installEventFilter(self)
        self.setWindowTitle("Compare answers")
        self.setModal(True)
        self.left, self.right = VersionColumn("This answer"), VersionColumn("Other answer")
        self._name = ElidedLabel("")
        self._is_just_open = False
        self.menu = MenuButton("Other answer", "", "ui_strong")
        self.menu.chosen.connect(self.chosen)
        self._lay_out()
        Theme.current().changed.connect(self._fit)
        self._fit()

    def open_for(self, name: str, answer: Answer) -> None:
        """Open the dialog with an answer and the name of its model on the left."""
        self._fit()
        self.set_name(name)
        self.left.show_answer(answer)
        self.left.keep.setEnabled(True)
        self.right.clear(_NONE_YET)
        self.menu.set_value("")
        self.show()
        self._is_just_open = True
        self.menu.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_name(self, name: str) -> None:
        """Set the title of the answer on the left."""
        self._name.set_text(name)

    def set_choices(
        self, versions: Sequence[tuple[str, str]], models: Mapping[str, tuple[str, str]]
    ) -> None:
        """Fill the menu with the other versions, and with the models that can write another one.

        Args:
            versions: the menu value and the label of each other version.
            models: the label and a short description of each model, by menu value.
        """
        rows = [(value, word, "") for value, word in versions]
        rows += [(value, f"Answer with {word}", about) for value, (word, about) in models.items()]
        self.menu.set_choices(rows)
        self.menu.setEnabled(bool(rows))
        if rows and self._is_just_open:  # a menu without choices cannot have the focus
            self._is_just_open = False
            self.menu.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self.menu.value:
            self.menu.setText("Choose a model" if rows else "Loading…")

    def show_other(self, choice: str, answer: Answer) -> None:
        """Show an existing version of the answer on the right, and select it in the menu.

        Args:
            choice: the menu value of the version.
            answer: the widget of the version.
        """
        self.menu.set_value(choice)
        self.right.show_answer(answer)
        self.right.keep.setEnabled(True)

    def show_asked(self, choice: str, answer: Answer) -> None:
        """Show another model's unfinished answer on the right, and select the model in the menu.

        The answer cannot be kept yet.

        Args:
            choice: the menu value of the model.
            answer: the widget of the answer, which may still be empty.
        """
        self.menu.set_value(choice)
        self.right.show_answer(answer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the dialog within the main window when the main window is resized."""
        if event.type() == QEvent.Type.Resize and watched is self._below and self.isVisible():
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the versions one above the other if the dialog is too narrow for two columns."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        is_narrow = self.width() < 2 * Theme.current().px(_NARROWEST_COLUMN)
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._both.setDirection(way)
        self._upright.setVisible(not is_narrow)
        self._level.setVisible(is_narrow)

    def _fit(self) -> None:
        """Resize the dialog for the font scale, within the screen and the main window."""
        self._name.setMinimumHeight(self.menu.sizeHint().height())
        theme, usual = Theme.current(), tokens()["layout"]["dialog_settings"]
        room = self.screen().availableSize().boundedTo(self._below.size())
        wanted = QSize(theme.px(_WIDTH), theme.px(usual[1]))
        self.resize(wanted.boundedTo(room - QSize(2 * _MARGIN, 2 * _MARGIN)))
        self._arrange()

    def _lay_out(self) -> None:
        title = label("Compare answers", "h2")
        title.setContentsMargins(24, 16, 24, 8)
        dress(self._name, "ui_strong", "secondary")
        self.left.head.addWidget(self._name, 1)
        self.right.head.setContentsMargins(16, 0, 16, 0)
        self.right.head.addWidget(self.menu)
        self.right.head.addStretch(1)
        self._upright, self._level = Hairline(is_vertical=True), Hairline()
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(0)
        self._both.addWidget(self.left, 1)
        for line in (self._upright, self._level):
            self._both.addWidget(line)
        self._both.addWidget(self.right, 1)
        ground = Pane("content")  # as below the answers, whose code is set off from it
        make_column(ground, margins=0, parent=self)
        make_column(title, grow(self._both), margins=0, spacing=0, parent=ground)
