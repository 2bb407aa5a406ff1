"""Blocks between messages: dividers about changes to the history, and blocks of Markdown."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QWidget

from app.sessions.transcript import SummaryItem
from context.exam import ChangedFact, ChatFact, FoundFact, SummaryExam
from context.report.report import Compaction
from ui.chat.message.fold_head import FoldHead
from ui.icons import begin_painting
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, IconButton, PressedByEnter, make_button, paint_row
from ui.widgets.controls import ElidedLabel, IconLabel, escape_tooltip, label, one_line
from ui.widgets.formatting import count, plural
from ui.widgets.geometry import Scaled, keep_place
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.surfaces import AccessibleFrame, Hairline

__all__ = ["ONLY_HERE", "Divider", "HookDivider", "NoteBlock", "SummaryDivider", "describe_tokens"]

_ROOM = "Dropped: history over its budget"
_REASONS = {
    "tail": "Left out this once, for a long message or many passages",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}
ONLY_HERE = "shown here only, neither stored nor sent"
_BEFORE = ButtonText(
    "Continue from before", "Go on in a new chat, with the messages before the summary"
)


_KEEP = ButtonText("Keep", "Add this to the summary, so that the model receives it again")
_STRIKE = ButtonText("Take out", "Take the sentences with this out of the summary")
_ROW_INSET = 4  # of the text of a row, which has a ground below the pointer
_RECEIVED = "What the model still receives of the facts above, or can find in the notes"
_UNSEARCHED = f"{_RECEIVED}.\nNot checked: the notes were not searched for these facts."


class _Line(Scaled, QWidget):
    """A horizontal line with an icon, a sentence, numbers and buttons in the middle."""

    def __init__(self, icon: str, sentence: str, figures: str, *actions: QPushButton) -> None:
        super().__init__()
        self._sentence, self._figures = ElidedLabel(sentence), ElidedLabel(figures)
        dress(self._sentence, "ui", "secondary")
        dress(self._figures, "caption", "tertiary", numbers=True)
        for shown in (self._sentence, self._figures):
            shown.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        make_row(
            grow(Hairline()),
            IconLabel(icon, "text.tertiary"),
            self._sentence,
            self._figures,
            *actions,
            grow(Hairline()),
            margins=0,
            spacing=10,
            parent=self,
        )
        self._fit()

    def set_texts(self, sentence: str, figures: str) -> None:
        """Show another sentence with its numbers."""
        self._sentence.set_text(sentence)
        self._figures.set_text(figures)

    def _fit(self) -> None:
        self.setFixedHeight(Theme.current().px(28))


class Divider(AccessibleFrame):
    """A divider in the chat, below turns that are no longer sent to the model.

    Args:
        turns: how many turns are no longer sent.
        tokens: the number of tokens in those turns.
        reason: a code for why the turns are not sent. The code `tail` means that they were left out
            of one request only, to make space for a long message or many passages.
        parent: the parent widget.
    """

    def __init__(self, turns: int, tokens: int, reason: str, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Separator, parent)
        verb = "is" if turns == 1 else "are"
        title = f"{plural(turns, 'oldest turn')} {verb} not sent any more"
        figures = f"{count(tokens)} tokens · {_REASONS.get(reason, _ROOM)}"
        self.text = f"{title} · {figures}"
        self.setAccessibleName(self.text)
        make_column(_Line("arrow-line-down", title, figures), margins=0, parent=self)


class FoldedDivider(AccessibleFrame):
    """A divider with a longer Markdown text that can be expanded.

    Args:
        icon: the name of the icon.
        sentence: a description of what happened.
        counts: more text on the same line, such as token counts, or an empty string.
        noun: the noun in the button's label, such as `summary` for "Show summary".
        tip: the tooltip of the button.
        markdown: the longer text. If it is empty, there is no button.
        parent: the parent widget.
    """

    def __init__(
        self,
        icon: str,
        sentence: str,
        counts: str,
        noun: str,
        tip: str,
        markdown: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(QAccessible.Role.Separator, parent)
        self._noun, self._tip, self._markdown = noun, tip, markdown
        self.view: MarkdownView | None = None
        self._block: QWidget | None = None
        self.more = make_button(ButtonText(f"Show {noun}", tip), "link", self._on_more)
        self._column = make_column(margins=0, spacing=8, parent=self)
        actions = (*([self.more] if markdown else ()), *self._list_line_actions())
        self._line = _Line(icon, sentence, counts, *actions)
        self._column.addWidget(self._line)
        self.set_texts(sentence, counts)

    def set_texts(self, sentence: str, counts: str) -> None:
        """Show what happened, with the token counts, and leave the longer text as it is."""
        self.text = " · ".join(filter(None, (sentence, counts)))
        self.setAccessibleName(self.text)
        self._line.set_texts(sentence, counts)

    def _on_more(self) -> None:
        keep_place(self)
        if self._block is None:
            self._block = self._build_block()
            self._column.addWidget(self._block)
        self._block.setVisible(self._block.isHidden())
        if self._block.isHidden():
            self.more.set_text(ButtonText(f"Show {self._noun}", self._tip))
        else:
            self.more.set_text(ButtonText(f"Hide {self._noun}", "Fold this away again"))

    def _list_line_actions(self) -> Sequence[QPushButton]:
        """Return the buttons to show on the line, behind the one that expands the text."""
        return ()

    def _list_actions(self) -> Sequence[QPushButton]:
        """Return the buttons to show above the expandable text."""
        return ()

    def _build_block(self) -> QWidget:
        """Build a widget for the text, with a border that distinguishes the text from an answer."""
        self.view = MarkdownView()
        self.view.setAccessibleName(self._noun.capitalize())
        self.view.set_markdown(self._markdown)
        block = _QuietBlock()
        head = make_row(
            grow(label(self._noun.capitalize(), "label", "secondary")),
            *self._list_actions(),
            margins=(16, 0, 16, 0),
        )
        make_column(head, self.view, margins=(0, 10, 0, 10), spacing=6, parent=block)
        block.hide()
        return block


class SummaryFacts(AccessibleFrame):
    """A line that says what is left of what a summary replaced, and a row for each loss.

    Signals:
        mend_requested: the `ChatFact` to keep, or the `ChangedFact` to take out of the summary.
        place_chosen: the path and line range of the note that says a fact.

    Attributes:
        head: the line.

    Args:
        exam: what was found.
        can_mend: whether the summary is in use, so that it can be mended.
    """

    mend_requested = Signal(object)
    place_chosen = Signal(str, int, int)

    def __init__(self, exam: SummaryExam, *, can_mend: bool) -> None:
        super().__init__(QAccessible.Role.Grouping)
        self._exam, self._can_mend = exam, can_mend
        self.head = FoldHead("what is gone or changed")
        words, _, changed = exam.describe().rpartition(", ")
        self.head.show_words(words, changed, "amber.text" if exam.changed else "text.tertiary")
        self.head.setToolTip(_UNSEARCHED if exam.not_checked else _RECEIVED)
        self.head.setEnabled(bool(exam.gone or exam.changed or exam.new or exam.found))
        self.head.clicked.connect(self._on_head)
        self.setAccessibleName(exam.describe())
        self._list = QWidget()
        self._rows = make_column(margins=(20 - _ROW_INSET, 0, 0, 8), spacing=2, parent=self._list)
        self._list.hide()
        make_column(self.head, self._list, margins=0, spacing=0, parent=self)

    @property
    def is_open(self) -> bool:
        """Whether the rows are shown."""
        return not self._list.isHidden()

    def _on_head(self) -> None:
        keep_place(self)
        if not self._rows.count():
            self._fill()
        self._list.setVisible(self._list.isHidden())
        self.head.set_open(self.is_open)

    def _fill(self) -> None:
        for sentence, loss in self._exam.list_losses():
            fact = loss.fact if isinstance(loss, FoundFact) else loss
            parts = grow(self._make_text(sentence, loss)), self._make_button(fact)
            self._rows.addLayout(make_row(*parts, spacing=8))
        if rest := self._exam.rest:
            shown = label(rest, "caption", "tertiary")
            self._rows.addLayout(make_row(shown, margins=(_ROW_INSET, 0, 0, 0)))

    def _make_text(self, sentence: str, loss: ChatFact | ChangedFact | FoundFact) -> QWidget:
        """Return the widget with what is said of a fact. A fact that a note says opens the note."""
        is_wrong = isinstance(loss, ChangedFact) and loss.is_wrong
        shown = ElidedLabel(one_line(sentence))
        dress(shown, "ui", "amber" if is_wrong else "secondary")
        if not isinstance(loss, FoundFact):
            made = QWidget()
            make_row(grow(shown), margins=(_ROW_INSET, 0, _ROW_INSET, 0), parent=made)
            return made
        row = _FoundRow(loss, shown)
        row.place_chosen.connect(self.place_chosen)
        return row

    def _make_button(self, fact: ChatFact | ChangedFact) -> QPushButton:
        texts = _STRIKE if isinstance(fact, ChangedFact) else _KEEP
        button = make_button(texts, "link", lambda: self.mend_requested.emit(fact))
        button.setAccessibleName(f"{texts.label}: {one_line(fact.text)}")
        button.setVisible(self._can_mend)
        return button


class _FoundRow(PressedByEnter, QAbstractButton):
    """The row of a fact that a note says. A click, or Enter, opens the note at its lines.

    Args:
        found: the fact.
        shown: the label with the fact and its place.
    """

    place_chosen = Signal(str, int, int)

    def __init__(self, found: FoundFact, shown: ElidedLabel) -> None:
        super().__init__()
        self._shown = shown
        self.setText(shown.whole)
        self.setAccessibleName(f"{shown.whole}. Open the note.")
        self.setToolTip(escape_tooltip(f"{one_line(found.fact.line)}\nOpen {found.describe()}"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        shown.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        make_row(grow(shown), margins=(_ROW_INSET, 0, _ROW_INSET, 0), parent=self)
        place = found.passage
        self.clicked.connect(lambda: self.place_chosen.emit(place.path, *place.lines))

    def sizeHint(self) -> QSize:
        """Return the size of the label, and at least the height that a finger or pointer hits."""
        least = QSize(0, Theme.current().value("control.hit_min"))
        return self._shown.sizeHint().expandedTo(least)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground below the pointer, and the ring of the focus."""
        paint_row(self, begin_painting(self))


class SummaryDivider(FoldedDivider):
    """A divider in the chat, below turns that are sent to the model as a summary.

    The user can expand the summary.

    Signals:
        edit_requested: the user wants to edit the summary, which is possible as long as the model
            receives it.
        continue_requested: the user wants to continue with the messages as they were before.
        mend_requested: the `ChatFact` to keep, or the `ChangedFact` to take out of the summary.
        place_chosen: the path and line range of the note that says a fact.

    Attributes:
        facts: what is left of what the summary replaced, or None if that was not examined.
    """

    edit_requested = Signal()
    mend_requested = Signal(object)
    place_chosen = Signal(str, int, int)
    continue_requested = Signal()

    def __init__(self, item: SummaryItem, parent: QWidget | None = None) -> None:
        self.item = item
        icon, tip = "arrows-in-line-vertical", "Show what stands for the older messages"
        figures = _describe_figures(item.compaction)
        super().__init__(icon, item.sentence, figures, "summary", tip, item.summary, parent)
        self.facts: SummaryFacts | None = None
        if item.compaction.exam is not None and item.compaction.exam.facts:
            self.show_exam(item.compaction.exam)

    def show_exam(self, exam: SummaryExam) -> None:
        """Show what is left of what the summary replaced. It stays open, and keeps the focus."""
        before = self.facts
        self.facts = SummaryFacts(exam, can_mend=self.item.is_in_use)
        self.facts.mend_requested.connect(self.mend_requested)
        self.facts.place_chosen.connect(self.place_chosen)
        self._column.addWidget(self.facts)
        if before is not None:
            if before.is_open:
                self.facts.head.click()
            if before.isAncestorOf(self.window().focusWidget()):
                self.facts.head.setFocus(Qt.FocusReason.OtherFocusReason)
            before.hide()
            before.deleteLater()

    def show_change(self, item: SummaryItem) -> bool:
        """Show whether the last request contained the summary, which stays open if it is open.

        Return False if the summary itself differs, so that the divider must be built again.
        """
        if replace(item, change=self.item.change) != self.item:
            return False
        self.item = item
        self.set_texts(item.sentence, _describe_figures(item.compaction))
        return True

    def _list_line_actions(self) -> Sequence[QPushButton]:
        return (make_button(_BEFORE, "link", self.continue_requested.emit),)

    def _list_actions(self) -> Sequence[QPushButton]:
        if not self.item.is_in_use:
            return ()
        return (
            make_button(
                ButtonText("Edit the summary", "Change what stands for the older messages"),
                "link",
                self.edit_requested.emit,
            ),
        )


def describe_tokens(compaction: Compaction) -> str:
    """Return the token counts before and after a compaction, such as `900 → 90 tokens`."""
    after = "" if compaction.after_tokens is None else f" → {count(compaction.after_tokens)}"
    return f"{count(compaction.before_tokens or 0)}{after} tokens"


def _describe_figures(compaction: Compaction) -> str:
    edited = " · edited" if compaction.edited else ""
    return f"{describe_tokens(compaction)}{edited}"


class HookDivider(FoldedDivider):
    """A divider that shows how a hook changed what the model receives.

    Args:
        hook: the name of the hook.
        title: a short description of the change. Defaults to "Changed for the model".
        summary: a summary of the change in one line.
        markdown: the full description, which can be expanded.
        parent: the parent widget.
    """

    def __init__(
        self, hook: str, title: str, summary: str, markdown: str, parent: QWidget | None = None
    ) -> None:
        by = f"by the hook {hook}"
        heading = title if title.strip() else "Changed for the model"
        figures = " · ".join(filter(None, (one_line(summary), one_line(by))))
        icon, tip = "puzzle-piece", "Show what the hook changed"
        super().__init__(icon, one_line(heading), figures, "details", tip, markdown, parent)


class _QuietBlock(QWidget):
    """A rounded border around text that is not a message."""

    def paintEvent(self, event: QPaintEvent) -> None:
        _paint_edge(self)


class NoteBlock(AccessibleFrame):
    """A block of Markdown from a program or a command. The title names its origin.

    A block that is no message of the chat has a close button. The signal `dismissed` is emitted
    when the user clicks it.

    Args:
        title: the origin of the text, such as `/context`.
        text: the text in Markdown.
        note: what becomes of the text, such as `ONLY_HERE`, or an empty string if it is a message
            of the chat.
        parent: the parent widget.
    """

    dismissed = Signal()

    def __init__(
        self, title: str, text: str, *, note: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(QAccessible.Role.Note, parent)
        self._text = text
        heading = " · ".join(filter(None, (one_line(title), note)))
        self.setAccessibleName(heading)
        words = ElidedLabel(heading)
        dress(words, "caption", "secondary")
        copy = IconButton("copy", "Copy this text", size=24)
        copy.clicked.connect(lambda _checked=False: self.copy())
        icon = "terminal-window" if note else "note"
        head = make_row(
            align(IconLabel(icon, "text.tertiary", 14), Qt.AlignmentFlag.AlignVCenter),
            grow(words),
            copy,
            margins=(16, 6, 8, 0),
            spacing=8,
        )
        if note:
            close = IconButton("x", "Take this away", size=24)
            close.clicked.connect(lambda _checked=False: self.dismissed.emit())
            head.addWidget(close)
        self.view = MarkdownView()
        self.view.setAccessibleName(heading)
        self.view.set_markdown(text)
        make_column(head, self.view, margins=(0, 0, 0, 10), spacing=6, parent=self)

    def copy(self) -> None:
        """Copy the block's text to the clipboard as Markdown."""
        QGuiApplication.clipboard().setText(self._text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the block's rounded border."""
        _paint_edge(self)


def _paint_edge(widget: QWidget) -> None:
    theme, painter = Theme.current(), QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.color("line.hairline"))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    edge = widget.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
