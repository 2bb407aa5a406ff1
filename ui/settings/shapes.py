"""The section that shows how requests to models differ, because servers refused the usual ones."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.assistant import Assistant
from app.config.learned import LearnedShape
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.formatting import name_day
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row

__all__ = ["ShapeSection"]

_FORGET = ButtonText("Forget", "Send the usual request next time")
_TAB = Qt.FocusPolicy.TabFocus
_NOTHING = "No server has refused the usual request."
_ABOUT = (
    "What these servers refused is left out or written otherwise. After 30 days the usual request "
    "is tried again."
)


class ShapeSection(QWidget):
    """The section that lists the models whose requests differ, each with a button to forget it.

    The signal `listed` is emitted when the buttons have been created anew.
    """

    listed = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant = assistant
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self.show_shapes)
        self._forgets = LatestOnly(runner, 0, self)
        self._forgets.answered.connect(self._on_forgotten)
        self._buttons: list[QPushButton] = []
        self.state = make_wrapped_label("", "caption", "secondary")
        self._rows = make_column(spacing=8)
        make_column(
            label("Learned from servers", "ui_strong"),
            self.state,
            6,
            self._rows,
            margins=(0, 10, 0, 10),
            spacing=2,
            parent=self,
        )

    def refresh(self) -> None:
        """Reload the list of models."""
        self._lists.ask(self._assistant.model_setup.list_shapes, now=True)

    def show_shapes(self, shapes: Sequence[LearnedShape]) -> None:
        """Show the models whose requests differ, or that there are none."""
        self._buttons = []
        clear_layout(self._rows)
        for shape in shapes:
            self._rows.addWidget(self._make_line(shape))
        self.state.setText(_ABOUT if shapes else _NOTHING)
        self.listed.emit()

    def _on_forgotten(self, shapes: Sequence[LearnedShape]) -> None:
        """Show the rest, and keep the focus near: on the button that took the place, or before."""
        focused = [at for at, button in enumerate(self._buttons) if button.hasFocus()]
        before = self._find_control_before()
        self.show_shapes(shapes)
        if focused:
            near: QWidget = self._buttons[: focused[0] + 1][-1] if self._buttons else before
            near.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find_control_before(self) -> QWidget:
        """Return the last control before the section that Tab reaches, or the section itself."""
        before = self.previousInFocusChain()
        while before is not None and before is not self:
            if before.isVisible() and before.isEnabled() and before.focusPolicy() & _TAB:
                return before
            before = before.previousInFocusChain()
        return self

    def _make_line(self, found: LearnedShape) -> QWidget:
        name = one_line(f"{found.model} at {found.place}")
        changes = ", ".join(found.shape.texts)
        changes_text = f"Sent with {changes}. Until {name_day(found.ends.astimezone().date())}."
        texts = make_column(
            make_wrapped_label(name, "ui"),
            make_wrapped_label(changes_text, "caption", "secondary"),
            spacing=2,
        )
        forget = make_button(_FORGET, "", partial(self._on_forget, found.owner))
        forget.setAccessibleName(f"Forget what was learned about {name}")
        self._buttons.append(forget)
        line = QWidget()
        make_row(
            grow(texts), align(forget, Qt.AlignmentFlag.AlignTop), margins=0, spacing=8, parent=line
        )
        return line

    def _on_forget(self, owner: str) -> None:
        self._forgets.ask(lambda: self._forget(owner), now=True)

    def _forget(self, owner: str) -> tuple[LearnedShape, ...]:
        setup = self._assistant.model_setup
        setup.forget_shape(owner)
        return setup.list_shapes()
