"""The dialog that judges every note by a question: price, progress, and the table of verdicts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from ui.panels.index.progress import ProgressBar
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import QuestionDialog, fit_dialog
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.lists import Cell, Index
from ui.widgets.menus import MENU_INSET, MenuButton
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.surfaces import Pane

if TYPE_CHECKING:
    from app.judge.table import JudgeProgress, JudgeRow, JudgeTable

__all__ = ["JudgeView"]

_WIDTHS: Final = (220, 110, 0, 64, 96)
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_LISTED: Final = (
    ("found", "All except no", ""),
    ("all", "All notes", ""),
)
_START: Final = (
    "Every note gets a verdict: yes with a quotation that proves it, no, or cannot tell. "
    "Rules decide what they can. You see the price before anything is sent."
)
_LOOKING: Final = "Looking at the notes…"
_STOPPING: Final = "Stopping…"
_DELETE_QUESTION: Final = (
    "Delete the stored verdicts on this question, of all models and scopes? The table is empty "
    "then, and a model has to judge the notes again."
)
_NO_SAMPLE: Final = ("", "No second model", "")
_SAMPLED: Final = QRegularExpression("[1-9][0-9]{0,4}")
_SAMPLE_WIDTH: Final = 72
_SAMPLE = ButtonText("Judge the sample", "Let the second model judge the sample")
_PRICE = ButtonText("Show the price", "Count the notes and the tokens. Nothing is sent")
_FIRST = ButtonText("Judge 10 notes first", "Then you can put the question differently")
_ALL = ButtonText("Judge all", "Judge every note that is left")
_RETRY = ButtonText("Judge failed ones again", "Ask the model again about notes that have failed")
_PAUSE = ButtonText("Pause", "Begin no more calls until you go on")
_RESUME = ButtonText("Go on", "Go on with the notes that are left")
_STOP = ButtonText("Stop", "Stop here. The verdicts so far are kept")
_SAVE = ButtonText("Save as a note", "Write the table into a new note")
_EXPORT = ButtonText("Export as CSV…", "Write all rows into a file for a spreadsheet")
_FORGET = ButtonText("Delete verdicts…", "Delete the stored verdicts on this question")
_DELETE = ButtonText("Delete", "Delete the verdicts, so that a model judges these notes anew")
_CLOSE = ButtonText("Close", "Close this dialog. A run is stopped, and its verdicts are kept")


class JudgeView(QDialog):
    """A dialog with a question, a scope, the state of judging, and the table of verdicts.

    Signals:
        price_requested: emitted when the user wants to see the price.
        run_requested: emitted with the number of notes to judge first, or None for all, and
            whether failed notes are judged again.
        pause_requested: emitted with whether to pause.
        stop_requested: emitted when the run is to stop.
        save_requested, export_requested: emitted when the table is to be written.
        forget_requested: emitted when the user has agreed to delete the verdicts.
        note_chosen: emitted with a path, and the first and last line, or 0.
        changed: emitted when the question or its scope has changed.

    Attributes:
        question, scope: the fields of the user.
        sample_model: the model that judges a sample again, or an empty value.
        sample: the field with the number of notes in the sample.
        state: the sentence that says what is known, what it costs, or what went wrong.
        model: the rows of the table.
        table: the view of the rows.
    """

    price_requested = Signal()
    run_requested = Signal(object, bool)
    pause_requested = Signal(bool)
    stop_requested = Signal()
    save_requested = Signal()
    export_requested = Signal()
    forget_requested = Signal()
    note_chosen = Signal(str, int, int)
    changed = Signal()

    def __init__(self, parent: QWidget, first: int, sample: int) -> None:
        """Create the dialog.

        Args:
            parent: the window.
            first: how many notes are judged before the others.
            sample: how many notes a second model judges again, until the user chooses otherwise.
        """
        super().__init__(parent)
        self.setWindowTitle("Judge every note")
        self._first, self._is_running, self._is_paused = first, False, False
        self._table: JudgeTable | None = None
        self.question = _make_field("Question", "What each note is judged by, such as: Did I …?")
        self.scope = _make_field("Notes", "All notes, or a filter such as folder:Journal")
        self._usual_sample = sample
        self.sample_model = MenuButton("Second model")
        self.sample_model.set_choices((_NO_SAMPLE,))
        self.sample_model.set_value("")
        self.sample = _make_field("Notes in the sample", "How many notes the second model judges")
        self.sample.setText(str(sample))
        self.sample.setValidator(QRegularExpressionValidator(_SAMPLED, self.sample))
        self.sample.setFixedWidth(Theme.current().px(_SAMPLE_WIDTH))
        self.state = make_wrapped_label(_START, "ui", "secondary")
        self.bar = ProgressBar()
        self.model: RowsModel[JudgeRow] = RowsModel(
            self._list_columns(), lambda row: row.path, self
        )
        self.table = _VerdictTable(self.model)
        self.which = MenuButton("Which notes are listed")
        self.which.set_choices(_LISTED)
        self.which.set_value("found")
        self.price = make_button(_PRICE, "", self.price_requested.emit)
        self.first = make_button(_FIRST, "", lambda: self.run_requested.emit(self._first, False))
        self.all = make_button(_ALL, "primary", lambda: self.run_requested.emit(None, False))
        self.retry = make_button(_RETRY, "", lambda: self.run_requested.emit(None, True))
        self.pause = make_button(_PAUSE, "", self._on_pause)
        self.stop = make_button(_STOP, "", self._on_stop)
        self.save = make_button(_SAVE, "", self.save_requested.emit)
        self.export = make_button(_EXPORT, "", self.export_requested.emit)
        self.delete = make_button(_FORGET, "", self._on_delete)
        self.close_button = make_button(_CLOSE, "", self.close)
        self.which.chosen.connect(self._show_rows)
        self.table.row_chosen.connect(self._on_row)
        for field in (self.question, self.scope, self.sample):
            field.textChanged.connect(self.forget)
            field.returnPressed.connect(self.price_requested)
        self.sample_model.chosen.connect(self._on_sample_model)
        self._lay_out()
        self.forget()

    def begin(self, question: str) -> None:
        """Open the dialog. A question that is given takes the place of the one before."""
        if question and not self._is_running:
            self.question.setText(" ".join(question.split()))
        self.show()
        self.raise_()
        self.activateWindow()
        self.question.setFocus()
        self.question.selectAll()

    @property
    def sampled(self) -> int:
        """The number of notes in the sample. The usual one if the field is empty."""
        return int(self.sample.text() or 0) or self._usual_sample

    def show_models(self, models: Sequence[tuple[str, str, str]]) -> None:
        """Offer models for the sample.

        Args:
            models: the name, the label and an additional text of each.
        """
        self.sample_model.set_choices((_NO_SAMPLE, *models))

    def forget(self) -> None:
        """Show no verdicts, because the question or its scope has changed."""
        self._table = None
        self._show_rows()
        self.state.setText(_START)
        self._show_buttons(is_known=False)
        self.changed.emit()

    def begin_looking(self) -> None:
        """Say that the price is being found out."""
        self.state.setText(_LOOKING)
        self._show_buttons(is_known=False)

    def begin_run(self) -> None:
        """Show that notes are being judged."""
        self._is_running, self._is_paused = True, False
        self.bar.show_fraction(None)
        self.pause.set_text(_PAUSE)
        self._show_buttons(is_known=True)
        self.stop.setFocus()

    def show_progress(self, progress: "JudgeProgress") -> None:
        """Show how far the run is."""
        self.bar.show_fraction(progress.done / max(1, progress.total))
        self.state.setText(f"{progress.sentence}.")

    def show_table(self, table: "JudgeTable") -> None:
        """Show the verdicts that are known, and what the others take."""
        rest = f" {table.cost.sentence}" if table.cost.notes else ""
        self.state.setText(f"{table.coverage}{rest}")
        self._table = table
        self._show_rows()
        self.all.set_text(_ALL if table.sample is None else _SAMPLE)
        self._show_buttons(
            is_known=True,
            is_left=table.cost.notes > 0,
            has_failed=table.counts.failed > 0,
            has_rows=table.counts.judged > 0,
            is_many=table.cost.notes > self._first and table.sample is None,
            has_stored=table.counts.by_model + table.counts.failed > 0,
        )
        if self.focusWidget() in (None, self.close_button, self.stop, self.price):
            if table.cost.notes:
                self.all.setFocus()
            else:
                self.table.setCurrentIndex(self.model.index(0, 0))
                self.table.setFocus()

    def end_run(self) -> None:
        """Show that no notes are being judged any more."""
        self._is_running = False
        self._show_buttons(is_known=False)

    def show_failure(self, sentence: str) -> None:
        """Say why the notes cannot be judged."""
        self.state.setText(sentence)
        self._show_buttons(is_known=False)

    def reject(self) -> None:
        """Stop a run and close the dialog, on Esc and by any button. The verdicts are kept."""
        self.stop_requested.emit()
        super().reject()

    def _on_sample_model(self) -> None:
        """Show the verdicts that are known with the other sample, if any were shown."""
        was_shown = self._is_known
        self.forget()
        if was_shown:
            self.price_requested.emit()

    def _show_rows(self) -> None:
        """List the verdicts, without those that are no unless the user wants to see them."""
        rows = () if self._table is None else self._table.rows
        hidden = () if self.which.value == "all" else ("no", "waiting")
        self.model.set_rows([row for row in rows if row.verdict not in hidden])

    def _list_columns(self) -> "list[RowColumn[JudgeRow]]":
        return [
            RowColumn(
                lambda row: _describe(row, row.path.removesuffix(".md")),
                "Note",
                lambda row: row.path.casefold(),
            ),
            RowColumn(
                lambda row: _describe(row, row.shown_verdict), "Verdict", lambda row: row.order
            ),
            RowColumn(
                lambda row: _describe(row, _show_grounds(row)),
                "Quotation or reason",
                lambda row: (row.quote or row.reason).casefold(),
            ),
            RowColumn(
                lambda row: _describe(row, row.shown_lines),
                "Lines",
                lambda row: row.lines or (0, 0),
                is_number=True,
            ),
            RowColumn(lambda row: _describe(row, self._name_judge(row)), "By", lambda row: row.by),
        ]

    def _name_judge(self, row: "JudgeRow") -> str:
        return "" if self._table is None else self._table.name_judge(row)

    def _on_pause(self) -> None:
        self._is_paused = not self._is_paused
        self.pause.set_text(_RESUME if self._is_paused else _PAUSE)
        self.pause_requested.emit(self._is_paused)

    def _on_stop(self) -> None:
        self.state.setText(_STOPPING)
        self.stop_requested.emit()

    def _on_delete(self) -> None:
        question = QuestionDialog(self, _DELETE_QUESTION, _DELETE)
        question.accepted.connect(self.forget_requested)
        question.open()

    def _on_row(self, number: int) -> None:
        row = self.model.rows[number]
        first, last = row.lines or (0, 0)
        self.note_chosen.emit(row.path, first, last)

    def _show_buttons(
        self,
        *,
        is_known: bool,
        is_left: bool = False,
        has_failed: bool = False,
        has_rows: bool = False,
        is_many: bool = False,
        has_stored: bool = False,
    ) -> None:
        is_running, self._is_known = self._is_running, is_known
        has_sample = bool(self.sample_model.value)
        for widget, is_shown in (
            (self.price, not is_known and not is_running),
            (self.first, is_left and is_many and not is_running),
            (self.all, is_left and not is_running),
            (self.retry, has_failed and not is_running),
            (self.pause, is_running),
            (self.stop, is_running),
            (self.bar, is_running),
            (self.save, has_rows and not is_running),
            (self.export, has_rows and not is_running),
            (self.delete, has_stored and not is_running),
            (self.table, has_rows),
            (self.which, has_rows),
            (self.sample, has_sample),
            (self._sample_label, has_sample),
        ):
            widget.setVisible(is_shown)
        self._rest.setVisible(not has_rows)
        for field in (self.question, self.scope):
            field.setReadOnly(is_running)
        self.sample_model.setEnabled(not is_running)
        self.sample.setReadOnly(is_running)

    def _lay_out(self) -> None:
        ground = Pane("content")
        make_column(ground, margins=0, parent=self)
        self._rest = QWidget()
        self._sample_label = label("judges this many notes again:", "ui", "secondary")
        sample = make_row(
            -MENU_INSET,
            self.sample_model,
            self._sample_label,
            self.sample,
            stretch(),
            margins=0,
            spacing=8,
        )
        named = (
            ("Question", self.question),
            ("Notes", self.scope),
            ("Second opinion on a sample, once all notes are judged", sample),
        )
        fields = make_column(
            *(
                make_column(label(name, "caption", "secondary"), part, spacing=4)
                for name, part in named
            ),
            spacing=12,
        )
        acts = make_row(
            -MENU_INSET,
            self.which,
            stretch(),
            self.price,
            self.retry,
            self.first,
            self.all,
            spacing=8,
        )
        acts.addWidget(self.pause)
        acts.addWidget(self.stop)
        foot = make_row(self.save, self.export, self.delete, stretch(), spacing=8)
        foot.addWidget(self.close_button)
        head = label("Judge every note", "h2")
        body = (head, fields, self.state, self.bar, acts, grow(self.table), grow(self._rest), foot)
        make_column(*body, margins=24, spacing=12, parent=ground)
        fit_dialog(self)


class _VerdictDelegate(QStyledItemDelegate):
    """Draws the cells of a row alike. The selection shows where the focus is, not a single cell."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Fill in how a cell is drawn, without the frame of the focus."""
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus


class _VerdictTable(QTableView):
    """The table of verdicts. Enter or a double click opens a note at its quotation."""

    row_chosen = Signal(int)

    def __init__(self, model: "RowsModel[JudgeRow]") -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("Verdicts")
        self.setToolTip("Enter opens the note at the quotation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setItemDelegate(_VerdictDelegate(self))
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.sortByColumn(1, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(lambda index: self.row_chosen.emit(index.row()))
        Theme.current().changed.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the selected note with Enter."""
        index = self.currentIndex()
        if event.key() in _ENTER and index.isValid():
            self.row_chosen.emit(index.row())
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select the whole current row. Qt makes only its first cell the current one."""
        super().focusInEvent(event)
        self.selectRow(max(0, self.currentIndex().row()))

    def _fit(self) -> None:
        theme, header = Theme.current(), self.horizontalHeader()
        self.verticalHeader().setDefaultSectionSize(theme.px(28))
        for column, width in enumerate(_WIDTHS):
            if width:
                self.setColumnWidth(column, theme.px(width))
            else:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def _make_field(name: str, hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setToolTip(hint)
    field.setPlaceholderText(hint)
    dress(field, "ui", "")
    return field


def _describe(row: "JudgeRow", text: str) -> Cell:
    tone = "text.primary" if row.verdict == "yes" else "text.secondary"
    return Cell(text, text, tone=tone)


def _show_grounds(row: "JudgeRow") -> str:
    return f"“{' '.join(row.quote.split())}”" if row.quote else row.reason
