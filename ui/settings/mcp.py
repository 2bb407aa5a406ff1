"""The section on the page "MCP servers", in which the user adds, tests and removes servers."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.assistant import Assistant
from app.errors import describe
from app.sessions.mcp import parse_entry
from chains.cancel import CancelToken
from chains.errors import LedgerFailed, McpFailed
from chains.mcp.server import McpServer, McpTool
from ui.settings.writer import SettingsWriter
from ui.tasks import LatestOnly, Task, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import escape_tooltip, label, make_wrapped_label
from ui.widgets.formatting import plural
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row

__all__ = ["ServerRow", "ServersSection"]

_SERVERS = "mcp.servers"
_HELP = "Programs and addresses that give the agent more tools. Each tool asks before it is used."
_NEW = "Not approved yet. Strata shows it and asks before its first start."
_APPROVED = "Approved."
_START = "Start this program? It runs with your rights."
_CONNECT = "Connect to this address? What the agent sends to its tools goes there."
_STARTING = "Starting…"
_START_IT = ButtonText("Start", "Run this command on this computer")
_REFUSE_START = ButtonText("Don't start", "Run nothing")
_CONNECT_IT = ButtonText("Connect", "Connect to this address")
_REFUSE_CONNECT = ButtonText("Don't connect", "Send nothing to this address")
_TOOLS_NAMED = 8


class ServersSection(QWidget):
    """The list of MCP servers, and a form to add a server."""

    def __init__(self, assistant: Assistant, runner: TaskRunner, writer: SettingsWriter) -> None:
        super().__init__()
        self._mcp, self._runner, self._writer = assistant.agents.mcp, runner, writer
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self._show_servers)
        self._lists.failed.connect(self._on_failed)
        self.rows: list[ServerRow] = []
        self._rows = make_column(spacing=0)
        self.problem = make_wrapped_label("", "caption", "danger")
        self.problem.hide()
        self.name, self.command = QLineEdit(), QLineEdit()
        self.add = make_button(
            ButtonText("Add the server", "Add it to the list; it is started only after a question"),
            "",
            self._on_add,
        )
        self._lay_out()
        writer.changed.connect(self._on_changed)
        writer.refused.connect(self._on_refused)

    def refresh(self) -> None:
        """Reload the list of servers."""
        self._lists.ask(self._mcp.list_servers, now=True)

    def _show_servers(self, servers: Sequence[tuple[McpServer, bool]]) -> None:
        if [row.server for row in self.rows] == [server for server, _ in servers]:
            for row, (_, is_approved) in zip(self.rows, servers, strict=True):
                row.show_approval(is_approved)  # a row that shows the result of a test keeps it
            return
        clear_layout(self._rows)
        self.rows = [ServerRow(server, is_approved) for server, is_approved in servers]
        for row in self.rows:
            row.test_requested.connect(self._on_test)
            row.removed.connect(self._on_remove)
            self._rows.addWidget(row)

    def _on_test(self) -> None:
        row = self.sender()
        assert isinstance(row, ServerRow)
        server, mcp = row.server, self._mcp

        def test(cancel: CancelToken) -> "list[tuple[McpTool, ...]]":
            mcp.approve(server)
            return [mcp.test(server, cancel)]

        row.begin_test(self._runner.stream(lambda cancel: iter(test(cancel))))

    def _on_remove(self) -> None:
        row = self.sender()
        assert isinstance(row, ServerRow)
        name = row.server.name
        self._runner.call(lambda: self._mcp.forget(row.server)).start()
        self._writer.update(_SERVERS, lambda value: _without(value, name))
        self.name.setFocus()

    def _on_add(self) -> None:
        name, text = self.name.text().strip(), self.command.text().strip()
        known = self._writer.value(_SERVERS)
        if not name or not text:
            self._say("Enter a name, and a command or an address.")
        elif isinstance(known, dict) and name in known:
            self._say(f"There is already a server named {name}.")
        else:
            self._store(name, text)

    def _store(self, name: str, text: str) -> None:
        try:
            entry = parse_entry(name, text)
        except ValueError as error:
            self._say(f"The server was not added: {error}.")
            return
        self._say("")
        self._writer.update(_SERVERS, lambda value: {**_without(value, name), name: entry})
        self.name.clear()
        self.command.clear()
        self.name.setFocus()

    def _say(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def _on_changed(self, key: str) -> None:
        if key == _SERVERS:
            self.refresh()

    def _on_refused(self, key: str, problem: str) -> None:
        if key == _SERVERS:
            self._say(problem)

    def _on_failed(self, error: Exception) -> None:
        self._say(describe(error).message)

    def _lay_out(self) -> None:
        for field, name, example in (
            (self.name, "Name of the server", "Name of a server, such as files"),
            (self.command, "Command or address", "Its command or address"),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText(example)
            field.returnPressed.connect(self._on_add)
            dress(field, "ui", "")
        form = make_row(grow(self.command), self.add, spacing=8)
        make_column(
            label("Your servers", "ui_strong"),
            make_wrapped_label(_HELP, "caption", "secondary"),
            self._rows,
            self.name,
            form,
            self.problem,
            margins=(0, 10, 0, 10),
            spacing=6,
            parent=self,
        )


class ServerRow(QWidget):
    """The row of an MCP server: its command or address, its state, and the buttons of the server.

    Before the first test, the user is asked for permission to start or contact the server.

    Signals:
        test_requested: emitted when the user wants to test the server and has given permission.
        removed: emitted when the user wants to remove the server.
    """

    test_requested = Signal()
    removed = Signal()

    def __init__(self, server: McpServer, is_approved: bool) -> None:
        super().__init__()
        self.server, self._is_approved = server, is_approved
        self._task: Task | None = None
        self.state = make_wrapped_label(_APPROVED if is_approved else _NEW, "caption", "secondary")
        is_program = bool(server.command)
        name = server.name
        self.test = make_button(
            ButtonText("Test", "Start or connect the server, and list its tools"), "", self._on_test
        )
        self.remove = make_button(
            ButtonText("Remove", "Remove the server from the list"), "text", self.removed.emit
        )
        refuse, start = (_REFUSE_START, _START_IT) if is_program else (_REFUSE_CONNECT, _CONNECT_IT)
        self.refuse = make_button(refuse, "", self._on_refused)
        self.start = make_button(start, "text", self._on_started)
        for made in (self.test, self.remove, self.start):
            made.setAccessibleName(f"{made.text()} {name}")
        self._lay_out()
        self._ask(False)

    def show_approval(self, is_approved: bool) -> None:
        """Show whether the user has approved the server, unless a test result is shown."""
        self._is_approved = is_approved
        if self.state.text() in (_NEW, _APPROVED):
            self._say(_APPROVED if is_approved else _NEW)

    def begin_test(self, task: Task) -> None:
        """Start a task that tests the server, and show its progress and result.

        Args:
            task: the task, which has not been started.
        """
        self._is_approved, self._task = True, task
        self._say(_STARTING)
        task.yielded.connect(self._on_tested)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    @property
    def is_testing(self) -> bool:
        """Whether a test of the server is running."""
        return self._task is not None

    def _on_test(self) -> None:
        if self.is_testing:
            return
        if self._is_approved:
            self.test_requested.emit()
        else:
            self._ask(True)

    def _ask(self, is_asked: bool) -> None:
        """Show or hide the question of whether to start or contact the server for the first time.

        Args:
            is_asked: whether to show the question. The buttons "Test" and "Remove" are then hidden.
        """
        for made in (self.refuse, self.start):
            made.setVisible(is_asked)
        for made in (self.test, self.remove):
            made.setVisible(not is_asked)
        if is_asked:
            self._say(_START if self.server.command else _CONNECT, "amber")
            self.refuse.setFocus()

    def _on_refused(self) -> None:
        self._ask(False)
        self._say(_NEW)
        self.test.setFocus()

    def _on_started(self) -> None:
        self._ask(False)
        self.test.setFocus()
        self.test_requested.emit()

    def _on_tested(self, tools: Sequence[McpTool]) -> None:
        named = ", ".join(tool.name for tool in tools[:_TOOLS_NAMED])
        more = f" and {len(tools) - _TOOLS_NAMED} more" if len(tools) > _TOOLS_NAMED else ""
        listed = f": {named}{more}" if tools else ""
        self._say(f"It works, with {plural(len(tools), 'tool')}{listed}.", "success")

    def _on_failed(self, error: Exception) -> None:
        is_known = isinstance(error, McpFailed | LedgerFailed)
        self._say(str(error) if is_known else describe(error).message, "danger")

    def _on_finished(self) -> None:
        self._task = None

    def _say(self, text: str, tone: str = "secondary") -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        command = make_wrapped_label(self.server.shown, "code", "secondary")
        command.setToolTip(escape_tooltip(self.server.shown))
        texts = make_column(label(self.server.name, "ui_strong"), command, self.state, spacing=2)
        make_row(
            grow(texts),
            align(self.remove, Qt.AlignmentFlag.AlignTop),
            align(self.test, Qt.AlignmentFlag.AlignTop),
            align(self.start, Qt.AlignmentFlag.AlignTop),
            align(self.refuse, Qt.AlignmentFlag.AlignTop),
            margins=(0, 6, 0, 6),
            spacing=8,
            parent=self,
        )


def _without(value: object, name: str) -> dict[str, object]:
    """Return a copy of the setting `mcp.servers` without one server.

    Args:
        value: the value of the setting.
        name: the name of the server to omit.
    """
    assert isinstance(value, dict)
    return {known: entry for known, entry in value.items() if known != name}
