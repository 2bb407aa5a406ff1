"""The first-run dialog: three steps, their buttons, and the progress of indexing."""

from PySide6.QtCore import QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QFrame, QStackedWidget, QWidget

from app.config.model_setup import ModelSetup
from ui.first_run.cards import StepBar
from ui.first_run.model_page import ModelPage
from ui.first_run.pages import AskPage, NotesPage, StepPage
from ui.icons import mirror_painter
from ui.panels.index.state import IndexState
from ui.tasks import TaskRunner
from ui.theme import Theme, dress
from ui.widgets.buttons import NO_TEXT, ButtonText, make_button
from ui.widgets.controls import ElidedLabel, IconLabel
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Pane

__all__ = ["STEPS", "FirstRunDialog"]

STEPS = ("Notes", "Model", "Ask")
_SIZE = QSize(720, 560)


class FirstRunDialog(QDialog):
    """The first-run dialog with its three steps. The user can skip each step.

    Qt's signal `finished` is emitted after the last step, or when the dialog is closed.
    """

    def __init__(self, setup: ModelSetup, runner: TaskRunner, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Set up Strata")
        self.notes, self.ask = NotesPage(), AskPage()
        self.model = ModelPage(setup, runner)
        self.index = _IndexLine()
        self.line = StepBar(STEPS)
        self.pages: tuple[StepPage, ...] = (self.notes, self.model, self.ask)
        self.stack = QStackedWidget()
        self.skip = make_button(
            ButtonText("Skip", "Go on without this step; Settings has it too"),
            "text",
            self._on_skip,
        )
        self.back = make_button(ButtonText("Back", "Go back to the step before"), "", self._on_back)
        self.main = make_button(NO_TEXT, "primary", self._on_main)
        self.main.setDefault(True)
        self._is_alone = False
        for page in self.pages:
            self.stack.addWidget(page)
            page.changed.connect(self._show_buttons)
            page.done.connect(self._on_done)
        self._lay_out()
        Theme.current().changed.connect(self._fit)
        self._fit()
        self.show_step(0)

    @property
    def step(self) -> int:
        """The index of the current step: 0 for the notes, 1 for the model, 2 for the question."""
        return self.stack.currentIndex()

    def set_alone(self, is_alone: bool) -> None:
        """Set whether the dialog has only the step that is shown next, and closes after it."""
        self._is_alone = is_alone
        self.setWindowTitle("Set a model" if is_alone else "Set up Strata")
        self.line.setVisible(not is_alone)
        self.index.set_wanted(not is_alone)

    def show_step(self, step: int) -> None:
        """Show the page of a step, given its zero-based index."""
        self.stack.setCurrentIndex(step)
        self.line.show_step(step)
        page = self.pages[step]
        page.notice.hide()
        page.refresh()
        self._show_buttons()
        page.focus_first()

    def _show_buttons(self) -> None:
        page = self.pages[self.step]
        self.back.setVisible(self.step > 0 and not self._is_alone)
        self.main.set_text(page.main_text)
        self.main.setEnabled(page.is_ready)
        is_last = self._is_alone or page is self.ask
        tip = "Close" if is_last else "Go to the next step"
        self.skip.set_text(ButtonText("Cancel" if self._is_alone else "Skip", tip))

    def _on_main(self) -> None:
        self.pages[self.step].go_on()

    def _on_back(self) -> None:
        self.show_step(self.step - 1)

    def _on_skip(self) -> None:
        if self.step + 1 < len(self.pages) and not self._is_alone:
            self.show_step(self.step + 1)
        else:
            self.accept()

    def _on_done(self) -> None:
        if self.sender() is self.pages[self.step]:
            self._on_skip()

    def _lay_out(self) -> None:
        top = make_row(self.line, margins=(32, 0, 32, 0))
        foot = make_row(
            self.skip, stretch(), self.back, self.main, margins=(24, 4, 32, 0), spacing=8
        )
        middle = make_row(self.index, margins=(32, 0, 32, 0))
        ground = Pane("overlay")
        make_column(ground, margins=0, parent=self)
        make_column(
            top, grow(self.stack), middle, foot, margins=(0, 24, 0, 20), spacing=12, parent=ground
        )

    def _fit(self) -> None:
        """Resize the dialog to match the font scale, but not larger than the screen."""
        theme, room = Theme.current(), self.screen().availableSize() - QSize(64, 64)
        wanted = QSize(theme.px(_SIZE.width()), theme.px(_SIZE.height()))
        self.resize(wanted.boundedTo(room).expandedTo(_SIZE.boundedTo(room)))


class _IndexLine(QFrame):
    """The line that shows the progress of indexing. It is hidden while no vault is open."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "raised")
        self.state = IndexState()
        self._is_wanted = True
        self._text, self._rest = ElidedLabel(), ElidedLabel("You need not wait for this.")
        dress(self._text, "caption", "primary", numbers=True)
        dress(self._rest, "caption", "secondary")
        self._rest.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        make_row(
            IconLabel("books"),
            grow(self._text),
            grow(self._rest),
            margins=(12, 8, 12, 16),
            spacing=8,
            parent=self,
        )
        self.hide()

    def set_wanted(self, is_wanted: bool) -> None:
        """Set whether the dialog shows the line, as it does in the first run."""
        self._is_wanted = is_wanted
        self.setVisible(is_wanted and self.state.kind != "none")

    def show_state(self, state: IndexState) -> None:
        self.state = state
        self.setVisible(self._is_wanted and state.kind != "none")
        self._text.set_text(state.text)
        self._rest.setVisible(state.is_going_on)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the progress of indexing as a bar along the lower edge."""
        super().paintEvent(event)
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        mirror_painter(painter, self.rect(), self.layoutDirection())
        whole = QRectF(12, self.height() - 10, self.width() - 24, 3)
        shares = (("line.hairline", 1.0), ("accent.base", self.state.fraction or 0.0))
        for name, share in shares if self.state.is_going_on else ():
            painter.setBrush(theme.color(name))
            painter.drawRoundedRect(
                QRectF(whole.topLeft(), QSizeF(whole.width() * share, 3)), 1.5, 1.5
            )
