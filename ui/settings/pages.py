"""The pages of the settings dialog. Each is created when it is first shown or searched."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from app.config.settings import SECTIONS
from ui.settings.search import SettingsSearch
from ui.settings.sections import stack_separated
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.geometry import make_text_scroll_area
from ui.widgets.layouts import grow, make_column, make_row
from ui.widgets.surfaces import Pane

__all__ = ["SettingsPages"]


class SettingsPages(QStackedWidget):
    """The pages of the settings dialog: one for each section of the schema.

    If a search finds nothing, a separate page says so. The signal `page_created` is emitted when
    the widgets of a page have been created.

    Args:
        make_widgets: creates the widgets of a page, given its section. It is called once for each
            section.
    """

    page_created = Signal()

    def __init__(self, make_widgets: Callable[[str], Sequence[QWidget]]) -> None:
        super().__init__()
        self._make_widgets = make_widgets
        self._areas: dict[str, QScrollArea] = {}
        self._rows: dict[str, list[QWidget]] = {}
        self._search: SettingsSearch | None = None
        self._pages = {section: QWidget() for section in SECTIONS}
        for page in self._pages.values():
            self.addWidget(page)
        self._none = make_wrapped_label("", "ui", "secondary")
        self._none.setContentsMargins(24, 16, 24, 16)
        self._none.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.addWidget(self._none)

    @property
    def section(self) -> str:
        """The section of the open page, or an empty string if a search has found nothing."""
        return dict(enumerate(SECTIONS)).get(self.currentIndex(), "")

    def show_section(self, section: str) -> None:
        """Show the page of a section."""
        self.create_page(section)
        self.setCurrentWidget(self._pages[section])

    def show_none(self, text: str) -> None:
        """Show a page that says that no setting matches a search text."""
        self._none.setText(f"No setting matches “{one_line(text)}”.")
        self.setCurrentWidget(self._none)

    def scroll_to(self, section: str, row: QWidget) -> None:
        """Scroll the page of a section to a row."""
        # Places the rows of a page that was never shown, and handles no other event.
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self._areas[section].ensureWidgetVisible(row)

    def find_matches(self, text: str) -> list[str]:
        """Show only the rows that match a search text. Return the sections with matching rows."""
        if self._search is None:
            for section in SECTIONS:
                self.create_page(section)
            self._search = SettingsSearch({section: self._rows[section] for section in SECTIONS})
        return self._search.show_matches(text)

    def create_page(self, section: str) -> None:
        """Create the page of a section, unless it already exists."""
        if section in self._areas:
            return
        # From the outside in, because Qt restyles everything below a widget that gets a parent.
        head = make_row(grow(label(section, "h2")), margins=(24, 16, 16, 4))
        content = Pane("overlay")
        scroll = self._areas[section] = make_text_scroll_area(content)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        make_column(head, grow(scroll), margins=0, spacing=0, parent=self._pages[section])
        column = make_column(margins=(24, 0, 24, 16), spacing=0, parent=content)
        stack_separated(self._make_widgets(section), column)
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        self._rows[section] = content.findChildren(QWidget, options=direct)
        column.addStretch(1)
        self.page_created.emit()
