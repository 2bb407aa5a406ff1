"""A list with a switch for each source, turn and layer of a request."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from ui.theme import Theme, tokens
from ui.widgets.buttons import Switch
from ui.widgets.controls import ElidedLabel, label
from ui.widgets.formatting import count
from ui.widgets.geometry import clear_layout, make_scroll_area
from ui.widgets.layouts import grow, make_column, make_row
from ui.widgets.surfaces import Pane

if TYPE_CHECKING:
    from context.requests.parts import RequestPart

__all__ = ["PartSwitches"]

_MOST_ROWS: Final = 200
_KEY_PX: Final = 44


class PartSwitches(Pane):
    """A list of the parts of a request. A part is sent unless its switch, or its layer's, is off.

    The signal `changed` is emitted when the user turns a switch.

    Attributes:
        switches: the switch of each part, by its key.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("content")
        self.switches: dict[str, Switch] = {}
        self._layers: dict[str, str] = {}
        self._page = Pane("content")
        self._rows = make_column(spacing=0, margins=(0, 0, 8, 0), parent=self._page)
        area = make_scroll_area(self._page)
        area.setAccessibleName("What the model saw")
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        make_column(grow(area), margins=0, parent=self)

    def show_parts(self, parts: "Sequence[RequestPart]") -> None:
        """Fill the list. All switches are on."""
        clear_layout(self._rows)
        self.switches, self._layers = {}, {}
        for part in parts[:_MOST_ROWS]:
            self._rows.addWidget(self._make_row(part))
        if len(parts) > _MOST_ROWS:
            rest = f"{count(len(parts) - _MOST_ROWS)} more: see `strata rehearse`"
            self._rows.addWidget(label(rest, "caption", "secondary"))
        self._rows.addStretch(1)

    @property
    def left_out(self) -> list[str]:
        """The keys of the parts whose switches are off. A layer stands for all that is in it."""
        return [
            key
            for key, switch in self.switches.items()
            if not switch.isChecked() and not self._is_covered(key)
        ]

    def _is_covered(self, key: str) -> bool:
        layer = self._layers[key]
        return key != layer and layer in self.switches and not self.switches[layer].isChecked()

    def _make_row(self, part: "RequestPart") -> QWidget:
        is_layer, row = part.kind == "layer", QWidget()
        title = str(tokens()["layer_name"][part.layer]) if is_layer else part.label
        key = label(part.key, "caption", "tertiary", numbers=True)
        key.setFixedWidth(Theme.current().px(_KEY_PX))
        name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        name.set_text(_shorten(title) if part.kind == "source" else title, title)
        switch = Switch(f"Send {part.key} {title}")
        switch.setChecked(True)
        what = "this layer" if is_layer else "this part"
        switch.setToolTip(f"Send {what}. Turned off, it is left out when you ask again.")
        switch.toggled.connect(self._on_toggled)
        self.switches[part.key], self._layers[part.key] = switch, part.layer
        inset = 0 if is_layer else 12
        make_row(key, grow(name), switch, margins=(inset, 4, 0, 4), spacing=8, parent=row)
        return row

    def _on_toggled(self) -> None:
        for key, switch in self.switches.items():
            switch.setEnabled(not self._is_covered(key))
        self.changed.emit()


def _shorten(label: str) -> str:
    """Return a label without the number of a source, which stands beside it, and its folders."""
    named = label.partition("] ")[2] if label.startswith("[") else label
    return named.rpartition("/")[2] or named
