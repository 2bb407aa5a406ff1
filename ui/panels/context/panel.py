"""The context panel: headline, bar, layers, omissions, reuse, memory and pins."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.panels.context.bar import ContextBar
from ui.panels.context.layer_rows import layer_rows, list_part_rows, pin_rows
from ui.panels.context.layer_tree import LayerTree, PinList
from ui.panels.context.left_out import list_left_out_rows
from ui.panels.context.left_out_list import LeftOutList
from ui.panels.context.memory_view import MemoryView
from ui.panels.context.notice import ACTION_TEXTS, Act, NoticeText, build_notice
from ui.panels.context.sections import SIDE, Section
from ui.panels.context.words import (
    Counted,
    Prices,
    describe_reuse,
    describe_window,
    explain_estimate,
    price_sentence,
)
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.formatting import count, percent
from ui.widgets.geometry import make_scroll_area
from ui.widgets.layouts import align, keep_room, make_column, make_row, stretch
from ui.widgets.menus import MenuButton
from ui.widgets.surfaces import Hairline, Notice, Pane

if TYPE_CHECKING:
    from context.history.memory import Memory
    from context.report.report import ContextReport

__all__ = ["ContextPanel", "PanelState"]

_WHICH = (("next", "Next request", ""), ("last", "Last request", ""))
_CHOSEN = ("chosen", "Request of this answer", "")
_NO_MODEL = {
    "next": "No model is set. Strata answers with quoted passages.",
    "last": "No model was used, and nothing was sent.",
}


@dataclass(frozen=True)
class PanelState:
    """Information that the context panel shows in addition to the request report.

    Attributes:
        questions: the user messages by entry ID, used as names of turns and pins.
        counted: the token counts that the provider reported, or None before the turn is complete.
        prices: the model's prices, or None if unknown.
        is_estimate: whether the report is an estimate, because passages are added when the request
            is sent.
        offers: the actions that the notice may offer.
        memory: the chat's current memory, or None if it cannot be edited.
        has_model: whether the request is sent to a model. If not, token counts and prices have no
            meaning.
        spent: a sentence with the price of the chat so far, or an empty string if the price is
            unknown.
        expected: the number and the token count of the passages that an estimate counts, or None
            if it counts none.
    """

    questions: Mapping[str, str] = field(default_factory=dict)
    counted: Counted | None = None
    prices: Prices | None = None
    is_estimate: bool = False
    offers: Collection[Act] = ()
    memory: "Memory | None" = None
    has_model: bool = True
    spent: str = ""
    expected: tuple[int, int] | None = None


class ContextPanel(Pane):
    """The panel that shows the content of one request.

    Signals:
        which_chosen: emitted when the user chooses which request to show: `next`, `last`, or
            `chosen` for the request of an older answer.
        place_chosen: emitted when the user opens a note, with its path and the first and last line
            to show, or 0 and 0 for the whole note.
        pin_chosen: emitted when the user pins or unpins an item, with the item's ID and whether to
            pin it.
        action_chosen: emitted when the user chooses an action of the notice, with its name and the
            ID of the compaction that it refers to, or an empty string.
        request_requested: emitted when the user wants to see the complete request.
        past_requested: emitted when the user wants to compare the request with that of today.
        rehearsal_requested: emitted when the user wants to ask again without a part of the request.
        model_wanted: emitted when the user wants to set up a model.
    """

    which_chosen = Signal(str)
    place_chosen = Signal(str, int, int)
    pin_chosen = Signal(str, bool)
    action_chosen = Signal(str, str)
    request_requested = Signal()
    past_requested = Signal()
    rehearsal_requested = Signal()
    model_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self.which = "next"
        self.switch = MenuButton("Which request is shown")
        self.switch.chosen.connect(self._on_which)
        self._used = label("…", "h1", numbers=True)
        self._of = label("tokens", "ui", "secondary", numbers=True)
        self._percent = label("", "ui_strong", numbers=True)
        self._bar = ContextBar()
        self._window = make_wrapped_label("", "caption", "secondary")
        self._spent = make_wrapped_label("", "caption", "secondary")
        self._notice = Notice()
        self._shown_notice: tuple[NoticeText, Sequence[Act]] | None = None
        self._rows = LayerTree()
        self._left_out = LeftOutList()
        self._left_out_box = Section("Left out of this request", self._left_out)
        self._change = make_wrapped_label("", "caption", "secondary")
        self._price = make_wrapped_label("", "caption", "secondary")
        reuse = _column(self._change, self._price)
        self._reuse_box = Section("Reused from before", reuse, "lightning", "success.graphic")
        self.memory = MemoryView()
        self._memory_box = Section("Kept in mind", self.memory, "brain", "text.secondary")
        self._pins = PinList()
        self._pins_box = Section("Pinned", self._pins, "push-pin", "text.secondary")
        self._make_links()
        self._unread = make_wrapped_label(_NO_MODEL["next"], "ui", "secondary")
        self._set_model = make_button(
            ButtonText("Set a model", "Find a model on this computer, or a service with a key"),
            "link",
            self.model_wanted.emit,
        )
        self._connect()
        self._lay_out()
        self.show_which("next")
        self._show_loading()

    def _show_loading(self) -> None:
        """Show the word "Loading…" until the first report is known.

        The figures keep their room meanwhile, so that the docks have the same sizes before and
        after.
        """
        self._unread.setText("Loading…")
        self._no_model.show()
        keep_room(self._figures)
        for part in (self._figures, self._set_model, self._request):
            part.hide()

    def end_loading(self) -> None:
        """Show the figures in place of "Loading…", also if none of them became known."""
        if not self._request.isHidden():
            return
        keep_room(self._figures, is_kept=False)
        self._no_model.hide()
        for part in (self._figures, self._set_model, self._request):
            part.show()

    def show_which(self, which: str) -> None:
        """Select an entry in the menu of the panel's title, without emitting `which_chosen`.

        Args:
            which: `next` for the next request, `last` for the one sent last, or `chosen` for an
                older one.
        """
        self.which = which
        self.switch.set_choices((*_WHICH, _CHOSEN) if which == "chosen" else _WHICH)
        self.switch.set_value(which)
        for button in (self._past, self._rehearsal):
            button.setVisible(which != "next")

    def show_context(self, context: "ContextReport", beside: PanelState | None = None) -> None:
        """Show a request report. Expanded rows stay expanded.

        If no model is used, a sentence replaces the token counts and prices, unless the request
        exceeds the budget.

        Args:
            context: the request report.
            beside: information that the report does not contain, such as prices, or None if there
                is none.
        """
        beside = beside or PanelState()
        has_figures = beside.has_model or context.used > context.budget
        self.end_loading()
        self._unread.setText(_NO_MODEL[context.when])
        self._figures.setVisible(has_figures)
        self._no_model.setVisible(not has_figures)
        layers = layer_rows(context, is_estimate=beside.is_estimate)
        self._show_headline(context, beside)
        self._bar.show_context(context)
        self._window.setText(describe_window(context, beside.counted))
        self._spent.setText(beside.spent)
        self._spent.setVisible(bool(beside.spent))
        notice = build_notice(context)
        self._show_notice(notice, beside.offers)
        asked = beside.questions
        parts = {
            row.code: list_part_rows(context, row.code, asked, is_estimate=row.is_estimate)
            for row in layers
        }
        self._rows.show_rows(layers, parts)
        self._show_left_out(context, beside, "" if notice is None else notice.entry)
        self._show_reuse(context, beside)
        self._show_kept(context, beside)

    def _show_headline(self, context: "ContextReport", beside: PanelState) -> None:
        fraction, limit = context.fraction, context.policy.trim_at
        tone = "danger" if fraction > 1 else "amber" if fraction > limit else "primary"
        about = "≈\N{THIN SPACE}" if beside.is_estimate else ""
        self._used.setText(f"{about}{count(context.used)}")
        self._used.setToolTip(explain_estimate(beside.expected) if about else "")
        self._of.setText(f"of {count(context.budget)} tokens")
        self._percent.setText(percent(fraction))
        dress(self._used, "h1", tone, numbers=True)
        dress(self._percent, "ui_strong", tone, numbers=True)

    def _show_notice(self, notice: NoticeText | None, offers: Collection[Act]) -> None:
        """Show a notice above the rows, or hide it if `notice` is None.

        A notice that has not changed is not drawn again.

        Args:
            offers: the actions that are currently possible. Other actions are not offered.
        """
        if notice is None:
            self._shown_notice = None
            self._notice.hide()
            return
        acts = [act for act in notice.actions if act in offers]
        if self._shown_notice == (notice, acts):
            return
        self._shown_notice = (notice, acts)
        actions = [(ACTION_TEXTS[act], partial(self._act, act, notice.entry)) for act in acts]
        self._notice.show_notice(notice.tone, notice.title, notice.text, actions)

    def _show_left_out(self, context: "ContextReport", beside: PanelState, reported: str) -> None:
        rows = list_left_out_rows(context, beside.questions, reported)
        self._left_out.show_rows(rows)
        self._left_out_box.show_figure(count(len(rows)), is_shown=bool(rows))

    def _show_reuse(self, context: "ContextReport", beside: PanelState) -> None:
        prefix = context.prefix
        reused = prefix.tokens_reused
        price = price_sentence(context, beside.prices, beside.counted)
        change = describe_reuse(reused, context.used, prefix.reasons)
        for line, text in ((self._change, change), (self._price, price)):
            line.setText(text)
            line.setVisible(bool(text))
        figure = f"{count(reused)} of {count(context.used)}"
        self._reuse_box.show_figure(figure, is_shown=bool(reused or prefix.reasons or price))

    def _show_kept(self, context: "ContextReport", beside: PanelState) -> None:
        from context.history.pins import compute_pins_limit  # late: it delays the first paint

        is_shown = self.memory.show_memory(context.memory, beside.memory)
        self._memory_box.show_figure("", is_shown=is_shown)
        pins = pin_rows(context, beside.questions)
        taken = sum(pin.tokens or 0 for pin in pins)
        self._pins.show_rows(pins)
        figure = f"{count(taken)} of {count(compute_pins_limit(context.budget))} tokens"
        self._pins_box.show_figure(figure, is_shown=bool(pins))

    def _connect(self) -> None:
        for rows in (self._rows, self._pins):
            rows.place_chosen.connect(self.place_chosen)
            rows.pin_chosen.connect(self.pin_chosen)
        self._left_out.place_chosen.connect(self.place_chosen)
        self._left_out.summary_chosen.connect(partial(self._act, "summary"))
        self._notice.hide()

    def _make_links(self) -> None:
        """Create the buttons that show the request, compare it, and ask again."""
        self._request = make_button(
            ButtonText("Show the request", "Show what is sent, word for word", "show_request"),
            "link",
            self.request_requested.emit,
        )
        self._past = make_button(
            ButtonText(
                "Then and today",
                "Show the request as it was, and what differs with today's notes",
                "then_and_today",
            ),
            "link",
            self.past_requested.emit,
        )
        self._rehearsal = make_button(
            ButtonText(
                "Ask again without…",
                "Leave out sources, turns or layers, and compare what the model then answers",
                "rehearse",
            ),
            "link",
            self.rehearsal_requested.emit,
        )

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        content = Pane("panel")
        make_column(make_scroll_area(content), margins=0, parent=self)
        self._no_model = QWidget(content)
        make_column(
            self._unread,
            align(self._set_model, Qt.AlignmentFlag.AlignLeft),
            margins=(SIDE, 0, SIDE, 0),
            parent=self._no_model,
        )
        self._no_model.hide()
        self._figures = self._make_figures(content)
        row = make_row(self._request, self._past, stretch(), spacing=12)
        rehearsal_row = make_row(self._rehearsal, stretch())
        make_column(
            self._no_model,
            self._figures,
            self._memory_box,
            self._pins_box,
            12,
            _pad(Hairline()),
            8,
            _pad(row),
            4,
            _pad(rehearsal_row),
            stretch(),
            margins=(0, 12, 0, 16),
            spacing=0,
            parent=content,
        )

    def _make_figures(self, parent: QWidget) -> QWidget:
        """Create the widget with token counts and prices. It is hidden if no model is used."""
        figures = QWidget(parent)
        column = make_column(_pad(self._headline()), margins=0, spacing=0, parent=figures)
        lines = ((6, self._bar), (2, self._window), (0, self._spent), (8, self._notice))
        for above, widget in lines:
            column.addSpacing(above)
            column.addLayout(_pad(widget))
        column.addSpacing(4)
        column.addWidget(self._rows)
        for box in (self._left_out_box, self._reuse_box):
            column.addWidget(box)
        return figures

    def _headline(self) -> QHBoxLayout:
        baseline = Qt.AlignmentFlag.AlignBaseline
        return make_row(
            align(self._used, baseline),
            align(self._of, baseline),
            stretch(),
            align(self._percent, baseline),
            spacing=Theme.current().space(2) - 2,
        )

    def _act(self, act: Act, entry: str) -> None:
        self.action_chosen.emit(act, entry)

    def _on_which(self, which: str) -> None:
        self.show_which(which)
        self.which_chosen.emit(which)


def _column(*widgets: QWidget) -> QWidget:
    box = QWidget()
    make_column(*widgets, margins=(SIDE, 0, SIDE, 0), spacing=2, parent=box)
    return box


def _pad(inner: QWidget | QHBoxLayout) -> QVBoxLayout:
    outer = make_column(margins=(SIDE, 0, SIDE, 0))
    if isinstance(inner, QWidget):
        outer.addWidget(inner)
    else:
        outer.addLayout(inner)
    return outer
