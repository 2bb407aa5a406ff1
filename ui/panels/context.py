"""The context panel: what the next request would hold, or what the last one held.

Every figure is the report's own; the panel adds none up and rounds only shares.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from ui.kit.controls import IconLabel, button, label, wrapped
from ui.kit.figures import count, percent
from ui.kit.menu_button import MenuButton
from ui.kit.surfaces import Hairline, Notice, Pane
from ui.panels.context_bar import ContextBar
from ui.panels.context_rows import LayerTree
from ui.panels.left_out import LeftOutList, left_out_rows
from ui.theme import dress

__all__ = ["ContextPanel", "window_sentence"]

_WHICH = (("next", "Next request", ""), ("last", "Last request", ""))
_CHOSEN = ("chosen", "Request of this answer", "")
Action = tuple[str, Callable[[], object]]


class ContextPanel(Pane):
    """Headline, bar, rows, what was left out, what is reused.

    `which_chosen` carries `next`, `last` or `chosen`, the request of an older answer;
    `place_chosen` path and lines of a segment; `request_requested` asks for the request itself.
    """

    which_chosen = Signal(str)
    place_chosen = Signal(str, int, int)
    request_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self.which = "next"
        self.switch = MenuButton("Which request is shown")
        self.switch.chosen.connect(self._on_which)
        self._used = label("…", "h1", numbers=True)
        self._of = label("tokens", "ui", "secondary", numbers=True)
        self._percent = label("", "ui_strong", numbers=True)
        self._bar = ContextBar()
        self._window = wrapped("", "caption", "secondary")
        self._notice = Notice()
        self._rows = LayerTree()
        self._left_out_title = label("Left out of this request", "label", "secondary")
        self._left_out_count = label("", "caption", "secondary", numbers=True)
        self._left_out = LeftOutList()
        self._reused = label("", "caption", "secondary", numbers=True)
        self._change = wrapped("", "caption", "secondary")
        self._rows.place_chosen.connect(self.place_chosen)
        self._notice.hide()
        self._lay_out()
        self.show_which("next")

    def show_which(self, which: str) -> None:
        """Switch the title between the next, the last and a chosen older request."""
        self.which = which
        self.switch.set_choices((*_WHICH, _CHOSEN) if which == "chosen" else _WHICH)
        self.switch.set_value(which)

    def show_context(
        self,
        context: Mapping[str, Any],
        questions: Mapping[str, str],
        service_count: int | None = None,
    ) -> None:
        """Show one request.

        Args:
            context: the report.
            questions: what was asked, by the id of the entry; it names the turns left out.
            service_count: the tokens that the service itself counted, after the turn.
        """
        self._show_headline(context)
        self._bar.show_context(context)
        self._window.setText(window_sentence(context, service_count))
        self._rows.show_context(context)
        self._show_left_out(context, questions)
        self._show_reuse(context)

    def show_notice(self, tone: str, title: str, text: str, actions: Sequence[Action] = ()) -> None:
        """Say one thing above the rows."""
        self._notice.show_notice(tone, title, text, actions)

    def clear_notice(self) -> None:
        """Take the notice away."""
        self._notice.hide()

    def _show_headline(self, context: Mapping[str, Any]) -> None:
        fraction = context["fraction"]
        tone = "danger" if fraction > 1 else "amber" if fraction > 0.8 else "primary"
        self._used.setText(count(context["used"]))
        self._of.setText(f"of {count(context['budget'])} tokens")
        self._percent.setText(percent(fraction))
        dress(self._used, "h1", tone, numbers=True)
        dress(self._percent, "ui_strong", tone, numbers=True)

    def _show_left_out(self, context: Mapping[str, Any], questions: Mapping[str, str]) -> None:
        rows = left_out_rows(context, questions)
        self._left_out_count.setText(count(sum(row.things for row in rows)))
        self._left_out.show_rows(rows)
        self._left_out_box.setVisible(bool(rows))

    def _show_reuse(self, context: Mapping[str, Any]) -> None:
        prefix = context["prefix"]
        reused = prefix["tokens_reused"]
        self._reused.setText(f"{count(reused)} of {count(context['used'])}")
        self._change.setText(_what_changed(reused, prefix["reasons"]))
        self._reuse_box.setVisible(bool(reused or prefix["reasons"]))

    def _lay_out(self) -> None:
        content = Pane("panel")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 12, 0, 16)
        column.setSpacing(0)
        column.addLayout(_padded(_headline(self._used, self._of, self._percent)))
        column.addSpacing(10)
        column.addLayout(_padded(self._bar))
        column.addSpacing(4)
        column.addLayout(_padded(self._window))
        column.addSpacing(8)
        column.addLayout(_padded(self._notice))
        column.addSpacing(4)
        column.addWidget(self._rows)
        self._left_out_box = self._left_out_section()
        self._reuse_box = self._reuse_section()
        for box in (self._left_out_box, self._reuse_box):
            box.hide()
            column.addWidget(box)
        show = button("Show the request", "link", self.request_requested.emit)
        column.addSpacing(12)
        column.addLayout(_padded(Hairline()))
        column.addSpacing(8)
        column.addLayout(_padded(show))
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _left_out_section(self) -> QWidget:
        head = QHBoxLayout()
        head.addWidget(self._left_out_title)
        head.addStretch(1)
        head.addWidget(self._left_out_count)
        return _section(head, self._left_out)

    def _reuse_section(self) -> QWidget:
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(IconLabel("lightning", "success.graphic", 14))
        head.addWidget(label("Reused from before", "label", "secondary"))
        head.addStretch(1)
        head.addWidget(self._reused)
        text = QWidget()
        inner = QVBoxLayout(text)
        inner.setContentsMargins(16, 0, 16, 0)
        inner.addWidget(self._change)
        return _section(head, text)

    def _on_which(self, which: str) -> None:
        self.show_which(which)
        self.which_chosen.emit(which)


def window_sentence(context: Mapping[str, Any], service_count: int | None = None) -> str:
    """Return where the budget comes from, in one sentence."""
    parts = [f"Window {count(context['window'])}"]
    parts.append(f"less {count(context['reserve'])} kept for the answer")
    if context["factor"] > 1:
        parts.append(f"{percent(context['factor'] - 1)} held back for counting")
    if context["model_limit"] is None:
        parts.append("limit unknown")
    if service_count is not None:
        parts.append(f"the service counted {count(service_count)}")
    return ", ".join(parts)


def _what_changed(reused: int, reasons: Sequence[str]) -> str:
    if reasons:
        return f"Changed: {'; '.join(reasons)}."
    return "Only the last answer and your message are new." if reused else ""


def _headline(used: QLabel, of: QLabel, fraction: QLabel) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(6)
    baseline = Qt.AlignmentFlag.AlignBaseline
    for widget in (used, of):
        row.addWidget(widget, 0, baseline)
    row.addStretch(1)
    row.addWidget(fraction, 0, baseline)
    return row


def _padded(inner: QWidget | QHBoxLayout) -> QVBoxLayout:
    outer = QVBoxLayout()
    outer.setContentsMargins(16, 0, 16, 0)
    if isinstance(inner, QWidget):
        outer.addWidget(inner)
    else:
        outer.addLayout(inner)
    return outer


def _section(head: QHBoxLayout, body: QWidget) -> QWidget:
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 10, 0, 0)
    column.setSpacing(4)
    column.addLayout(_padded_line())
    column.addSpacing(6)
    column.addLayout(_padded(head))
    column.addWidget(body)
    return box


def _padded_line() -> QVBoxLayout:
    return _padded(Hairline())
