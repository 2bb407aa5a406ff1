"""A user message: plain text, folded when it is long, and an editor to change it."""

from collections.abc import Mapping, Sequence
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QEnterEvent,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QSizePolicy,
    QTextEdit,
    QWidget,
)

from context.layers import ImageData
from ui.actions import Keymap
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.chips import ChipRow
from ui.chat.composer.text import ComposerText
from ui.chat.message.tools import MessageAction
from ui.chat.message.user_tools import UserTools
from ui.markdown.page.formats import AT_LEAST, FIXED
from ui.theme import Theme, dress
from ui.widgets.buttons import CANCEL, SHOW_ALL, SHOW_LESS, ButtonText, make_button
from ui.widgets.controls import ElidedLabel, wrap_for
from ui.widgets.formatting import format_minutes
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.surfaces import AccessibleFrame
from ui.widgets.texts import has_tall_letters, read_selection

__all__ = ["MessageEditor", "UserMessage"]

_FOLD_LINES = 12
# A folded message lays out at most this many characters. Unfolding it lays out the others.
_FOLD_CHARS = 2_000
_EDGE_ACROSS, _EDGE_DOWN = 7.5, 5.5  # from the text of the editor to its edge, in pixels
_HINT = "{} asks again, Esc cancels. The present answer is kept."


class UserMessage(AccessibleFrame):
    """The widget of one user message, including its attachments, tools and versions.

    Signals:
        action_requested: a `MessageAction`.
        attachment_opened: the clicked `Attachment`.
        edit_closed: the editor was closed, by sending or cancelling.

    Attributes:
        attached: the attachments that were sent with the message.
        editor: the editor of the text, or None while the message is not being edited.

    Args:
        text: the text that was sent.
        time: when it was sent, in ISO 8601, or an empty string if it is unknown.
        attached: the attachments that were sent with the message.
        parent: the parent widget.
    """

    action_requested = Signal(object)
    attachment_opened = Signal(object)
    edit_closed = Signal()

    def __init__(
        self,
        text: str,
        time: str = "",
        attached: Sequence[Attachment] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self._text = text
        self.attached = tuple(attached)
        self._entry = ""
        clock = format_minutes(time) if time else ""
        self.setAccessibleName(f"You, {clock}" if clock else "You")
        self.body = _Body()
        self.body.setAccessibleName(self.accessibleName())
        self.more = make_button(SHOW_ALL, "link", self.toggle)
        self.chips = ChipRow()
        self.chips.show_sent(attached)
        self.chips.opened.connect(self.attachment_opened)
        self.tools = UserTools()
        self.tools.action_requested.connect(self._on_wished)
        self.tools.copied.connect(self._on_copy)
        self.editor: MessageEditor | None = None
        self._is_folded = True
        self._lay_out()
        self.body.cut_changed.connect(self._show_more)
        self._show_text()
        Theme.current().changed.connect(self._show_text)

    @property
    def text(self) -> str:
        """The full text of the message, even if it is folded."""
        return self._text

    @property
    def entry(self) -> str:
        """The ID of the message's entry in the log, or an empty string until it is stored."""
        return self._entry

    def set_entry(self, entry: str, siblings: Sequence[str] = (), label: str = "") -> None:
        """Set the message's log entry ID, the entry IDs of its versions, and the user's label.

        Without an entry ID, the message can only be copied.
        """
        self._entry = entry
        self.tools.set_entry(entry, siblings, label)

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the message is pinned."""
        self.tools.show_pin(is_pinned)

    def show_uses(
        self, uses: Mapping[Attachment, str], images: Mapping[Attachment, ImageData]
    ) -> None:
        """Show the attached images, and how each large attachment was used.

        Args:
            uses: how each large attachment was used, such as `3 passages used`.
            images: the images that were sent, by attachment.
        """
        if uses or images:
            self.chips.show_sent(self.attached, uses, images)

    def toggle(self) -> None:
        """Unfold a long message, or fold it again."""
        keep_place(self)
        self._is_folded = not self._is_folded
        self.more.set_text(SHOW_ALL if self._is_folded else SHOW_LESS)
        self._show_text()

    def edit(self, text: str = "") -> None:
        """Open the editor with a new text, or with the message's own text by default."""
        if self.editor is not None or not self._entry:
            return
        self.editor = MessageEditor(text or self._text)
        self.editor.sent.connect(self._on_edited)
        self.editor.cancelled.connect(self.close_editor)
        self._block.set_editor(self.editor)
        self._texts.insertWidget(1, self.editor)
        self.body.hide()
        self.more.hide()
        self.editor.show()
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_editor(self) -> None:
        """Close the editor and show the message again, without changing it."""
        if self.editor is None:
            return
        self._texts.removeWidget(self.editor)
        self.edit_closed.emit()  # before the editor is hidden, so that the focus is passed on
        self.editor.hide()
        self.editor.deleteLater()
        self.editor = None
        self._block.set_editor(None)
        self.body.show()
        self._show_more()

    def set_current(self, is_current: bool) -> None:
        """Set whether the message is the current one for the keyboard, which shows its buttons."""
        self.tools.set_current(is_current)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the message's buttons. The layout does not change, as their space is reserved."""
        self.tools.set_seen(True)

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the message's buttons."""
        self.tools.set_seen(False)

    def _lay_out(self) -> None:
        self._block = _Block()
        self._texts = make_column(
            self.chips,
            self.body,
            align(self.more, Qt.AlignmentFlag.AlignLeft),
            margins=(OUTDENT, 10, OUTDENT, 10),
            spacing=6,
            parent=self._block,
        )
        make_column(self._block, self.tools, margins=0, spacing=0, parent=self)

    def _show_text(self) -> None:
        is_long = self._is_folded and len(self._text) > _FOLD_CHARS
        self.body.show_text(self._text[:_FOLD_CHARS] if is_long else self._text)
        self.body.set_most_lines(_FOLD_LINES if self._is_folded else 0)
        self._show_more()

    def _show_more(self) -> None:
        is_long = len(self._text) > _FOLD_CHARS or self.body.is_cut
        is_shown = is_long or not self._is_folded
        self.more.setVisible(is_shown and self.editor is None)

    def _on_wished(self, wish: MessageAction) -> None:
        if wish.kind == "edit":
            self.edit()
        else:
            self.action_requested.emit(wish)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)

    def _on_edited(self, text: str) -> None:
        self.close_editor()
        is_same = text == self._text
        regenerate, edit = (
            MessageAction("again", self._entry),
            MessageAction("edit", self._entry, text),
        )
        self.action_requested.emit(regenerate if is_same else edit)


class _Block(QWidget):
    """The raised background of a user message, and the edge of its editor."""

    def __init__(self) -> None:
        super().__init__()
        self._editor: MessageEditor | None = None

    def set_editor(self, editor: "MessageEditor | None") -> None:
        """Draw a border around the editor's text field, or no border if `editor` is None."""
        self._editor = editor
        if editor is not None:
            editor.field.focus_changed.connect(self._on_focus_changed)
        self.update()

    def _on_focus_changed(self, _has_focus: bool) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.raised"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))
        if self._editor is not None:
            field = self._editor.field
            spot = QRectF(QRect(field.mapTo(self, QPoint()), field.size()))
            painter.setPen(theme.color("line.focus" if field.hasFocus() else "line.control"))
            painter.setBrush(theme.color("bg.input"))
            edge = spot.adjusted(-_EDGE_ACROSS, -_EDGE_DOWN, _EDGE_ACROSS, _EDGE_DOWN)
            painter.drawRoundedRect(edge, theme.radius("md"), theme.radius("md"))


class _Body(QTextEdit):
    """A read-only field for plain text. It is as tall as its text, up to a maximum."""

    cut_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._most_lines = 0
        self.is_cut = False
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def show_text(self, text: str) -> None:
        theme = Theme.current()
        self.document().setDefaultFont(theme.font("body"))
        self.setWordWrapMode(wrap_for(text))
        self.setPlainText(text)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(theme.line("body"), AT_LEAST if has_tall_letters(text) else FIXED)
        cursor.mergeBlockFormat(spaced)

    def set_most_lines(self, lines: int) -> None:
        self._most_lines = lines
        self._fit()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(read_selection(self.textCursor()))
        return data

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _fit(self) -> None:
        wanted = ceil(self.document().size().height())
        most = self._most_lines * Theme.current().line("body")
        is_cut = 0 < most < wanted
        self.setFixedHeight(most if is_cut else wanted)
        if is_cut != self.is_cut:
            self.is_cut = is_cut
            self.cut_changed.emit()


class MessageEditor(QWidget):
    """An editor for a user message. It emits `sent` with the new text, or `cancelled`.

    Args:
        text: the initial text.
        parent: the parent widget.
    """

    sent = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = ComposerText()
        self.field.setAccessibleName("Edit the message")
        self.field.set_text(text)
        self.field.sent.connect(self._on_sent)
        self.field.installEventFilter(self)
        hint = ElidedLabel(_HINT.format(Keymap.current().send_key))
        dress(hint, "caption", "tertiary")
        self.send = make_button(
            ButtonText("Ask again", "Send the changed message; the old version stays"),
            "primary",
            self._on_sent,
        )
        self.cancel = make_button(CANCEL, "", self.cancelled.emit)
        tools = make_row(grow(hint), self.cancel, self.send, spacing=8)
        make_column(self.field, tools, margins=0, spacing=12, parent=self)
        self.setFocusProxy(self.field)

    @property
    def text(self) -> str:
        """The text in the editor's field."""
        return self.field.toPlainText()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cancel editing on Esc, so that Esc does not trigger a window shortcut."""
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self.cancelled.emit()
            return True
        return False

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab between the text field and the buttons of the editor.

        These widgets are not part of the chat's tab order, so Qt would not find them.
        """
        stops: list[QWidget] = [self.field, self.cancel, self.send]
        focus = QApplication.focusWidget()
        place = stops.index(focus) + (1 if forward else -1) if focus in stops else -1
        if 0 <= place < len(stops):
            stops[place].setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return super().focusNextPrevChild(forward)

    def _on_sent(self) -> None:
        if self.text.strip():
            self.sent.emit(self.text)
