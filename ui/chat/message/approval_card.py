"""The card that asks the user to approve a tool call, in the chat or in a dialog."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from chains.tool import ApprovalRequest, Decision, KeptHunks, Verdict
from context.messages import thaw
from ui.chat.message.code import CodeBox
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, PushButton, make_button
from ui.widgets.controls import ElidedLabel, IconLabel, make_wrapped_label, one_line
from ui.widgets.diff import DiffView, HunkList
from ui.widgets.geometry import OUTDENT, make_scroll_area
from ui.widgets.layouts import align, grow, make_column, make_row, stretch
from ui.widgets.surfaces import AccessibleFrame, Pane, StickyFoot, StickyRow
from ui.widgets.texts import from_left

__all__ = ["ApprovalCard", "ApprovalDialog", "ApprovalWords", "choose_words"]

_INERT_MS: Final = 500
_NARROW: Final = 480
_DIALOG_WIDTH, _DIALOG_HEIGHT, _DIALOG_MARGIN = 640, 480, 48
_SEPARATOR: Final = "__"  # between a server's name and the name of its tool
_FETCH: Final = "fetch_url"
# Proposed by the user and not by a tool.
_OWN_EDIT: Final = "insert_link"
_OWN_BLOCK: Final = "write_pinned_answer"
_OWN_FIX: Final = "fix_finding"
_OWN: Final = frozenset({_OWN_EDIT, _OWN_BLOCK, _OWN_FIX})
_LONG_WORD: Final = re.compile(r"\S{40,}")
_UNDONE: Final = "Only this change. It can be undone."


@dataclass(frozen=True)
class ApprovalWords:
    """The texts of an approval card.

    Attributes:
        question: the question that names what the tool wants to do.
        refuse: the texts of the button that refuses.
        approve: the texts of the button that approves this call.
        approve_all: the texts of the button that approves all calls of this kind in this chat, or
            None if only this call can be approved.
        note: a sentence about the consequences of an approval.
    """

    question: str
    refuse: ButtonText
    approve: ButtonText
    approve_all: ButtonText | None
    note: str


_WORDS: Final[Mapping[str, ApprovalWords]] = {
    "create_note": ApprovalWords(
        "Create a note?",
        ButtonText("Don't create", "Leave the notes as they are, and tell the model"),
        ButtonText("Create the note", "Write the note as it is shown"),
        None,
        _UNDONE,
    ),
    "edit_note": ApprovalWords(
        "Change a note?",
        ButtonText("Don't change", "Leave the note as it is, and tell the model"),
        ButtonText("Change the note", "Write the change as it is shown"),
        None,
        _UNDONE,
    ),
    "append_to_note": ApprovalWords(
        "Add to a note?",
        ButtonText("Don't change", "Leave the note as it is, and tell the model"),
        ButtonText("Add to the note", "Write the lines as they are shown"),
        None,
        _UNDONE,
    ),
    _OWN_EDIT: ApprovalWords(
        "Add a link?",
        ButtonText("Don't add", "Leave the note as it is"),
        ButtonText("Add the link", "Write the link as it is shown"),
        None,
        _UNDONE,
    ),
    _OWN_BLOCK: ApprovalWords(
        "Write the pinned answer?",
        ButtonText("Don't write", "Leave the notes as they are"),
        ButtonText("Write it", "Write the change as it is shown"),
        None,
        _UNDONE,
    ),
    _OWN_FIX: ApprovalWords(
        "Fix this?",
        ButtonText("Don't fix", "Leave the notes as they are"),
        ButtonText("Fix it", "Write the change as it is shown"),
        None,
        _UNDONE,
    ),
    "move_note": ApprovalWords(
        "Move a note?",
        ButtonText("Don't move", "Leave the note where it is, and tell the model"),
        ButtonText("Move the note", "Move it, and change the links to it"),
        None,
        _UNDONE,
    ),
    "remember": ApprovalWords(
        "Remember this?",
        ButtonText("Don't remember", "Store nothing, and tell the model"),
        ButtonText("Remember it", "Send it in all chats from now on"),
        None,
        "Every later request begins with it. The settings list, edit and forget it.",
    ),
    _FETCH: ApprovalWords(
        "Open a web page?",
        ButtonText("Don't open", "Fetch nothing, and tell the model"),
        ButtonText("Open the page", "Fetch the page, this once"),
        ButtonText(
            "Open {scope} in this chat", "Fetch pages of this host without asking, in this chat"
        ),
        "The address is sent to {host}.",
    ),
    "start_server": ApprovalWords(
        "Use an MCP server?",
        ButtonText("Don't use", "Start and send nothing, and tell the model"),
        ButtonText("Use the server", "Start or connect it, now and in later chats"),
        None,
        "A command runs on this computer with your rights. You are asked once.",
    ),
    "change_server": ApprovalWords(
        "Use changed tools of an MCP server?",
        ButtonText("Don't use", "Start and send nothing, and tell the model"),
        ButtonText("Use the changed tools", "Let the model see the tools as they are now"),
        None,
        "They differ from the tools that you approved.",
    ),
}
_OF_A_SERVER: Final = ApprovalWords(
    "Use a tool of {server}?",
    ButtonText("Don't use", "Start and send nothing, and tell the model"),
    ButtonText("Use it once", "Run the tool with these arguments, this once"),
    ButtonText("Use it in this chat", "Run it, and do not ask again in this chat"),
    "The arguments are sent to this server, which decides what it does.",
)
_OTHER: Final = ApprovalWords(
    "Allow this?",
    ButtonText("Don't allow", "Run nothing, and tell the model"),
    ButtonText("Allow once", "Run it with these arguments, this once"),
    ButtonText("Allow in this chat", "Run it, and do not ask again in this chat"),
    "",
)


class ApprovalDialog(QDialog):
    """A dialog with the card of a change that no chat and no open note can show.

    It is accepted if the user approves the change.

    Attributes:
        card: the card with the change and the buttons.
    """

    def __init__(self, request: ApprovalRequest, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.card = ApprovalCard(request)
        self.setWindowTitle(self.card.accessibleName())
        self.card.decided.connect(self._on_decided)
        page = Pane("content")
        make_column(self.card, stretch(), margins=(24, 20, 24, 20), parent=page)
        make_column(make_scroll_area(page), margins=0, parent=self)
        room = parent.window().size()
        theme = Theme.current()
        self.resize(
            min(theme.px(_DIALOG_WIDTH), room.width() - _DIALOG_MARGIN),
            min(theme.px(_DIALOG_HEIGHT), room.height() - _DIALOG_MARGIN),
        )
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_decided(self, _id: str, decision: object) -> None:
        if decision == "reject":
            self.reject()
        else:
            self.accept()


def choose_words(tool: str, scope: str) -> ApprovalWords:
    """Return the texts of the approval card for a tool.

    Args:
        tool: the name of the tool.
        scope: which calls an approval for the whole chat covers, or an empty string if only this
            call can be approved.
    """
    server, separator, _ = tool.partition(_SEPARATOR)
    words = _WORDS.get(tool, _OF_A_SERVER if separator else _OTHER)
    approve_all = words.approve_all if scope else None
    if approve_all is not None:
        label = approve_all.label.replace("{scope}", one_line(scope))
        approve_all = replace(approve_all, label=label)
    return ApprovalWords(
        words.question.replace("{server}", one_line(server)),
        words.refuse,
        words.approve,
        approve_all,
        words.note.replace("{host}", one_line(scope) or "its server"),
    )


class ApprovalCard(AccessibleFrame):
    """A card that asks the user to approve or refuse one tool call.

    If the call changes a note in several places (hunks), the user can switch off each hunk before
    approving the others.

    During the first half second, the buttons have no effect, so that a click meant for another
    widget is not taken as a decision. Enter refuses. Only a click or the space bar approves. The
    signal `decided` is emitted with the request's ID and the verdict.

    Attributes:
        request: the approval request to be decided.
        refuse: the button that refuses, which is the default.
        approve: the button that approves this call.
        approve_all: the button that approves all calls of this kind in this chat, or None if only
            this call can be approved.
        is_armed: whether the buttons have an effect, which is the case after half a second.
        hunks: the list of hunks that can be switched off, or None if the change is not shown in
            hunks.
        foot: the row with the buttons, which stays in sight while the card is scrolled.
    """

    decided = Signal(str, object)

    def __init__(self, request: ApprovalRequest, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.AlertMessage, parent)
        self.request = request
        self.is_armed = False
        self.hunks: HunkList | None = None
        words = choose_words(request.tool, request.proposal.session_scope)
        self.title = make_wrapped_label(words.question, "ui_strong")
        self.refuse = self._make_button(words.refuse, "reject")
        self.approve = self._make_button(words.approve, "once")
        self.approve_all: QPushButton | None = None
        if words.approve_all:
            self.approve_all = self._make_button(words.approve_all, "session")
        self.setAccessibleName(_describe(request, words))
        self._lay_out(words)
        self.setFocusProxy(self.refuse)
        self._timer = QTimer(self, singleShot=True, interval=_INERT_MS)
        self._timer.timeout.connect(self._arm)
        self._timer.start()

    def decide(self, decision: Decision) -> None:
        """Emit `decided` with the user's decision.

        Do nothing during the first half second, so that a click meant for another widget has no
        effect.

        Args:
            decision: `once`, `session` (all calls of this kind in this chat) or `reject`.
        """
        if not self.is_armed:
            return
        verdict: Verdict = decision
        if decision != "reject" and self.hunks is not None and not self.hunks.is_whole:
            verdict = KeptHunks(frozenset(self.hunks.find_kept()))
        self.decided.emit(self.request.id, verdict)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Refuse the request on Enter."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.decide("reject")
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Refuse the request on Enter before the focused button handles the key."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if is_enter:
            self.decide("reject")
        return is_enter

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab through the hunk switches and buttons of the card.

        Return whether a widget received the focus.
        """
        switches = [] if self.hunks is None else self.hunks.switches
        stops = [stop for stop in (*switches, *self._buttons) if stop.isEnabled()]
        focus = QApplication.focusWidget()
        places = [at for at, one in enumerate(stops) if one is focus]
        following = places[0] + (1 if forward else -1) if places else -1
        if not 0 <= following < len(stops):
            return super().focusNextPrevChild(forward)
        stops[following].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons below the explanation if the card is narrow, and next to it otherwise."""
        super().resizeEvent(event)
        self._fold()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background and border of the approval card."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.strong"))
        painter.setBrush(theme.color("bg.content"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))

    @property
    def _buttons(self) -> Sequence[QPushButton]:
        made = (self.refuse, self.approve, self.approve_all)
        return [one for one in made if one is not None]

    def _arm(self) -> None:
        self.is_armed = True

    def _make_button(self, text: ButtonText, decision: Decision) -> PushButton:
        made = make_button(text, "", partial(self.decide, decision))
        made.installEventFilter(self)
        return made

    def _lay_out(self, words: ApprovalWords) -> None:
        head = QWidget()
        top = make_column(self._head(), margins=0, spacing=8, parent=head)
        column = make_column(head, margins=(OUTDENT, 12, OUTDENT, 1), spacing=0, parent=self)
        proposal = self.request.proposal
        if proposal.summary and self.request.tool != _FETCH:  # a fetch shows its address below
            top.addWidget(_wrap(proposal.summary, "secondary"))
        for warning in proposal.warnings:
            top.addLayout(_warn(warning))
        if body := self._body():
            column.addSpacing(8)
            column.addWidget(body)
        foot = StickyRow("content")
        self._lay_out_foot(words, foot)
        self.foot = StickyFoot(foot, head, self)
        column.addWidget(self.foot)

    def _head(self) -> QHBoxLayout:
        tool = ElidedLabel(self.request.tool, Qt.TextElideMode.ElideMiddle)
        tool.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(tool, "code", "tertiary")
        head = make_row(IconLabel("shield-warning", "accent.base"), grow(self.title), spacing=8)
        if self.request.tool not in _OWN:
            head.addWidget(tool)
        return head

    def _body(self) -> QWidget | None:
        """Build the widget that shows what the tool call would do.

        This is a list of hunks, a diff of the note, or otherwise the arguments of the call. Return
        None if the call has no arguments.
        """
        if self.request.proposal.hunks:
            self.hunks = HunkList(self.request.proposal.hunks)
            self.hunks.changed.connect(self._on_hunks_changed)
            return self.hunks
        if self.request.proposal.diff:
            return DiffView(self.request.proposal.diff)
        text = _show_arguments(self.request.arguments)
        return CodeBox(text, "Arguments") if text else None

    def _on_hunks_changed(self) -> None:
        """Update the approve button's label with the number of changes that it approves."""
        if self.hunks is None:
            return
        kept, total = len(self.hunks.find_kept()), len(self.request.proposal.hunks)
        words = choose_words(self.request.tool, "")
        some = ButtonText(
            f"Make {kept} of {total} changes", "Write the changes that are switched on"
        )
        self.approve.set_text(words.approve if kept == total else some)
        self.approve.setEnabled(kept > 0)
        self.approve.setToolTip("" if kept else "Every change is switched off.")
        self._fold()

    def _lay_out_foot(self, words: ApprovalWords, foot: QWidget) -> None:
        note = make_wrapped_label(words.note, "caption", "secondary")
        actions = make_row(stretch(), *self._buttons, spacing=8)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        self._row.addWidget(note, 1)
        self._row.addLayout(actions)
        make_column(self._row, margins=(0, 8, 0, 11), parent=foot)

    def _fold(self) -> None:
        width = sum(one.sizeHint().width() + 8 for one in self._buttons)
        is_narrow = self.width() < max(Theme.current().px(_NARROW), 2 * width)
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(way)


def _warn(text: str) -> QHBoxLayout:
    return make_row(
        align(IconLabel("warning", "amber.graphic"), Qt.AlignmentFlag.AlignTop),
        grow(_wrap(text, "amber")),
        spacing=8,
    )


def _wrap(text: str, tone: str) -> QWidget:
    """Build a label that wraps even within long words, such as web addresses.

    Args:
        text: the text of the label.
        tone: the name of the text's theme colour.
    """
    wrapped = _LONG_WORD.sub(lambda word: "\N{ZERO WIDTH SPACE}".join(word[0]), one_line(text))
    return make_wrapped_label(from_left(wrapped), "ui", tone)


def _show_arguments(arguments: Mapping[str, Any]) -> str:
    """Format a tool call's arguments: a single string unchanged, anything else as JSON."""
    if len(arguments) == 1 and isinstance(only := next(iter(arguments.values())), str):
        return one_line(only)
    if not arguments:
        return ""
    return json.dumps(thaw(arguments), ensure_ascii=False, indent=1)


def _describe(request: ApprovalRequest, words: ApprovalWords) -> str:
    """Return the card's question, summary and warnings as one text for screen readers."""
    proposal = request.proposal
    texts = (words.question, one_line(proposal.summary), *proposal.warnings)
    return " ".join(filter(None, texts))
