"""The section on the page "Ledger" that lists the network calls of Strata."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.assistant import Assistant
from app.errors import describe
from app.ledger import CallGroup, RecordedCall, group_calls
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import ElidedLabel, escape_tooltip, label, make_wrapped_label, one_line
from ui.widgets.formatting import count, plural
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row

__all__ = ["LedgerSection"]

MOST_SHOWN: Final = 100
_STRETCHES: Final = (0, 18, 26)  # of the columns time, destination and size
_MOST_NAMES: Final = 3
_KINDS: Final[Mapping[str, str]] = {
    "model": "model",
    "embedding": "embedding server",
    "web": "web page",
    "mcp": "MCP server",
    "vectorstore": "vector server",
}


class LedgerSection(QWidget):
    """A list of the latest network calls: time, destination, purpose, size, and notes sent."""

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._ledger = assistant.ledger
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self.show_calls)
        self._reads.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        self._lines: list[QWidget] = []
        self._rows = make_column(spacing=2)
        texts = make_column(label("Calls", "ui_strong"), self.state, spacing=2)
        self.again = make_button(
            ButtonText("Show new calls", "Read the list of calls again"), "", self.refresh
        )
        head = make_row(grow(texts), align(self.again, Qt.AlignmentFlag.AlignTop))
        make_column(head, self._rows, margins=(0, 10, 0, 10), spacing=8, parent=self)

    def refresh(self) -> None:
        """Reload the list of network calls."""
        self._reads.ask(self._ledger.list_records, now=True)

    def texts(self) -> list[str]:
        """Return the text of each listed call, latest first."""
        return [line.accessibleName() for line in self._lines]

    def show_calls(self, calls: Sequence[RecordedCall]) -> None:
        """List the latest network calls, and show the number of calls to each host.

        Args:
            calls: all recorded calls, oldest first.
        """
        clear_layout(self._rows)
        dress(self.state, "caption", "secondary")
        self._lines = [_make_line(group) for group in group_calls(calls)[:MOST_SHOWN]]
        for line in self._lines:
            self._rows.addWidget(line)
        if not calls:
            self.state.setText("No call has left Strata yet.")
            return
        hosts: dict[str, int] = {}
        for call in calls:
            hosts[call.call.host] = hosts.get(call.call.host, 0) + 1
        listed = ", ".join(f"{host} ({count(number)})" for host, number in hosts.items())
        if len(hosts) == 1:
            listed = next(iter(hosts))
        self.state.setText(
            f"{plural(len(calls), 'call')} to {listed}. Each is recorded before it is made."
        )

    def _on_failed(self, error: Exception) -> None:
        self.state.setText(describe(error).message)
        dress(self.state, "caption", "danger")


def _make_line(group: CallGroup) -> QWidget:
    newest = group.records[0]
    notes = newest.call.notes
    row = make_row(margins=0, spacing=8)
    texts = (_format_time(newest.at), _describe_place(group), _describe_size(group))
    for at, (text, stretch) in enumerate(zip(texts, _STRETCHES, strict=True)):
        shown = ElidedLabel(text) if stretch else label(text)
        dress(shown, "caption", "primary" if at == 1 else "secondary", numbers=at != 1)
        row.addWidget(shown, stretch)
    line = QWidget()
    column = make_column(row, margins=(0, 2, 0, 2), spacing=0, parent=line)
    line.setAccessibleName(" · ".join(filter(None, (*texts, _name(notes)))))
    if notes:
        named = ElidedLabel(f"with {_name(notes)}")
        dress(named, "caption", "secondary")
        column.addWidget(named)
        line.setToolTip(escape_tooltip("\n".join(notes)))
    return line


def _describe_place(group: CallGroup) -> str:
    """Return what was called, such as `web page at HOST`, or how many servers were asked."""
    hosts, number = ", ".join(group.hosts), len(group.records)
    if group.is_probes:
        asked = "question" if number == 1 else f"{count(number)} questions"
        return f"{asked} for models at {hosts}"
    kind = group.records[0].call.kind
    return f"{_KINDS.get(kind, kind)} at {hosts}"


def _describe_size(group: CallGroup) -> str:
    """Return the size of a call as text, such as `1,200 bytes out, 300 in, 450 tokens`."""
    came = "no answer" if group.bytes_in is None else f"{count(group.bytes_in)} in"
    parts = [f"{count(group.bytes_out)} bytes out", came]
    if (tokens := group.records[0].call.tokens) is not None:
        parts.append(f"{count(tokens)} tokens")
    return ", ".join(parts)


def _name(notes: Sequence[str]) -> str:
    """Return the names of the first notes that were sent, and how many more there were."""
    names = [PurePosixPath(note).name.removesuffix(".md") for note in notes[:_MOST_NAMES]]
    more = len(notes) - len(names)
    return one_line(", ".join([*names, *([f"{count(more)} more"] if more else [])]))


def _format_time(at: str) -> str:
    try:
        return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return at
