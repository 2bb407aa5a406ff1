"""Page object for the first run: finds cards by their titles and fields by their names."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from tests.support.window.clicks import button_named, click_button
from ui.first_run.cards import ChoiceCard
from ui.first_run.dialog import STEPS, FirstRunDialog
from ui.window import MainWindow


class FirstRunPage:
    """The dialog of the first run, which must have been opened before."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    @property
    def view(self) -> FirstRunDialog:
        """The dialog."""
        dialog = self._window.findChild(FirstRunDialog)
        assert dialog is not None
        return dialog

    @property
    def is_open(self) -> bool:
        """Whether the dialog is visible."""
        dialog = self._window.findChild(FirstRunDialog)
        return dialog is not None and dialog.isVisible()

    @property
    def step(self) -> str:
        """The name of the current step."""
        return STEPS[self.view.step]

    @property
    def cards(self) -> list[str]:
        """The titles of the visible cards, from top to bottom."""
        found = [card for card in self.view.findChildren(ChoiceCard) if card.isVisible()]
        return [card.title for card in sorted(found, key=lambda card: card.y())]

    @property
    def chosen(self) -> str:
        """The title of the card that is chosen."""
        found = (card for card in self.view.findChildren(ChoiceCard) if card.isVisible())
        return next((card.title for card in found if card.isChecked()), "")

    @property
    def main(self) -> str:
        """The label of the main button."""
        return self.view.main.text()

    @property
    def can_go_on(self) -> bool:
        """Whether the main button can be pressed."""
        return self.view.main.isEnabled()

    def texts(self) -> list[str]:
        """The texts of the visible labels."""
        return [label.text() for label in self.view.findChildren(QLabel) if label.isVisible()]

    def press(self, name: str) -> None:
        """Click a button by its label, or a card by its title."""
        QApplication.processEvents()  # lays out widgets that have just been shown
        click_button(self.view, name)

    def press_main(self) -> None:
        """Click the main button."""
        self.press(self.main)

    def type(self, name: str, text: str) -> None:
        """Click a field by its name and type a text."""
        QApplication.processEvents()
        fields = self.view.findChildren(QLineEdit)
        (field,) = (one for one in fields if one.isVisible() and one.accessibleName() == name)
        QTest.mouseClick(field, Qt.MouseButton.LeftButton)
        field.selectAll()
        QTest.keyClicks(field, text)

    def choose(self, button: str, item: str) -> None:
        """Choose an item from the menu of the button with this accessible name."""
        QApplication.processEvents()
        made = button_named(self.view, button)
        (action,) = (
            one
            for one in made.menu().actions()
            if one.text().split("\t")[0] == item  # type: ignore[attr-defined]
        )
        action.trigger()
        QApplication.processEvents()
