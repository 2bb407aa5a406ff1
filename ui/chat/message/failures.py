"""An error shown in place of an answer, with a hint and buttons to recover."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QWidget

from app.config.schema import use_labels
from app.errors import ErrorInfo
from ui.chat.message.answer_status import paint_callout
from ui.theme import Theme
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import IconLabel, make_wrapped_label, one_line
from ui.widgets.geometry import OUTDENT
from ui.widgets.layouts import align, grow, make_column, make_row, stretch
from ui.widgets.surfaces import AccessibleFrame
from ui.widgets.texts import from_left, word_hint
from vault.notes.text.sentences import split_sentences

__all__ = ["Failure"]

_NARROW_TEXT = 200  # pixels; narrower text is above the buttons
_ICON_ROOM = 30
_MOST_LINES = 2  # of the detail beside the buttons
_RETRY = (ButtonText("Try again", "Send the message again as it is"), "retry")
_CHOOSE_MODEL = (
    ButtonText("Choose a model", "Choose the model of the next messages", "choose_model"),
    "choose_model",
)
_RAISE_LIMIT = (ButtonText("Raise the limit", "Open the settings of the limit"), "raise_limit")
_LOWER_LIMIT = (ButtonText("Lower the limit", "Open the settings of the limit"), "lower_limit")
_ENTER_KEY = (ButtonText("Enter a key", "Open the settings of keys"), "enter_key")
_CHOOSE_FOLDER = (
    ButtonText("Choose a folder", "Open another folder of notes", "choose_folder"),
    "choose_folder",
)
_TURN_HOOKS_OFF = (ButtonText("Turn it off", "Run no hook files from now on"), "turn_hooks_off")
_PRIVACY = (
    ButtonText("Privacy settings", "Open the settings that keep Strata offline"),
    "privacy_settings",
)
_SPENDING = (
    ButtonText("Change the limit", "Open the settings of the spending limits"),
    "spending_settings",
)
_SEND_IMAGES = (
    ButtonText("Send images to this model", "Add it to the models that see images"),
    "send_images",
)
_COPY_DETAILS = (
    ButtonText("Copy details", "Copy the error with its details, for a report"),
    "copy_details",
)
_OPEN_LOG = (ButtonText("Open the log", "Open the file that has the details of errors"), "open_log")
# The icon and the buttons for each error code.
_WAYS_OUT = {
    "context_overflow": ("arrows-in-line-vertical", (_RAISE_LIMIT,)),
    "missing_key": ("key", (_ENTER_KEY, _RETRY)),
    "rate_limited": ("hourglass-medium", (_CHOOSE_MODEL, _RETRY)),
    "model_unavailable": ("cloud-slash", (_CHOOSE_MODEL, _RETRY)),
    "bad_request": ("prohibit", (_CHOOSE_MODEL, _RETRY)),
    "vault_missing": ("folder", (_CHOOSE_FOLDER, _RETRY)),
    "session_missing": ("file-x", ()),
    "busy": ("lock", (_RETRY,)),
    "hook_failed": ("puzzle-piece", (_TURN_HOOKS_OFF, _RETRY)),
    "spending_limit": ("currency-dollar", (_SPENDING, _CHOOSE_MODEL, _RETRY)),
    "offline": ("wifi-slash", (_PRIVACY, _RETRY)),
    "storage": ("hard-drives", (_RETRY,)),
    "not_found": ("file-x", (_RETRY,)),
    "bad_setting": ("gear", (_RETRY,)),
    "internal": ("bug", (_COPY_DETAILS, _OPEN_LOG, _RETRY)),
}
# The service accepts fewer tokens than the threshold, so a higher threshold would not help.
_TOO_LONG_FOR_SERVICE = ("arrows-in-line-vertical", (_LOWER_LIMIT, _CHOOSE_MODEL, _RETRY))
_BLIND = ("eye-slash", (_SEND_IMAGES, _CHOOSE_MODEL, _RETRY))
_OTHER = ("x-circle", (_RETRY,))


class Failure(AccessibleFrame):
    """A card that shows the error of a failed turn.

    The signal `chosen` is emitted with the name of an action, such as `retry`, when its button is
    clicked.

    Args:
        info: the error.
    """

    chosen = Signal(str)

    def __init__(self, info: ErrorInfo, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.AlertMessage, parent)
        icon_name, ways_out = _WAYS_OUT.get(info.code, _OTHER)
        if info.code == "context_overflow" and info.context is None:
            icon_name, ways_out = _TOO_LONG_FOR_SERVICE
        if info.blind_model:
            icon_name, ways_out = _BLIND
        first, *rest = split_sentences(use_labels(one_line(info.message))) or [""]
        self.title = make_wrapped_label(from_left(first.rstrip(".")), "ui_strong")
        detail = " ".join([*rest, one_line(word_hint(info.hint))]).strip()
        self.detail = make_wrapped_label(from_left(detail), "caption", "secondary")
        self.detail.setVisible(bool(detail))
        self.setAccessibleName(f"{first} {detail}".strip())
        self.buttons = [self._make_button(text, way) for text, way in ways_out]
        self._lay_out(icon_name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons next to the text if it needs few lines there, and below it otherwise."""
        super().resizeEvent(event)
        margins, theme = self._row.contentsMargins(), Theme.current()
        beside = self._actions.sizeHint().width() + self._row.spacing() + theme.px(_ICON_ROOM)
        room = self.width() - margins.left() - margins.right() - beside
        is_long = _measure(self.title) > room or _measure(self.detail) > _MOST_LINES * room
        is_narrow = is_long or room < theme.px(_NARROW_TEXT)
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(way)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the callout's background and the bar at its leading edge."""
        ground = self.rect().adjusted(OUTDENT, 0, -OUTDENT, 0)
        paint_callout(QPainter(self), QRectF(ground), "danger")

    def _lay_out(self, icon_name: str) -> None:
        texts = make_column(self.title, self.detail, spacing=2)
        place = (
            Qt.AlignmentFlag.AlignVCenter if self.detail.isHidden() else Qt.AlignmentFlag.AlignTop
        )
        message = make_row(
            align(IconLabel(icon_name, "danger.graphic"), place), grow(texts), spacing=10
        )
        self._actions = make_row(stretch(), *self.buttons, spacing=8)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(OUTDENT + 14, 10, OUTDENT + 12, 10)
        self._row.setSpacing(12)
        self._row.addLayout(message, 1)
        self._row.addLayout(self._actions)

    def _make_button(self, text: ButtonText, way: str) -> QWidget:
        role = "" if way == "retry" else "text"
        return make_button(text, role, lambda: self.chosen.emit(way))


def _measure(label: QLabel) -> int:
    """Return the width of a label's text in one line."""
    return label.fontMetrics().horizontalAdvance(label.text())
