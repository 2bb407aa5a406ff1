"""Slash commands as they are given in the composer."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.commands import COMMANDS, Command, CommandResult, Situation, parse, run
from app.errors import AppError, describe
from ui.tasks import TaskRunner
from ui.widgets.choices import Choice

__all__ = ["Commanding", "command_choices"]


class Commanding(QObject):
    """Carries commands out.

    `shown` carries the command as it was given and Markdown, `new_chat_requested` asks for a new
    chat, `compact_requested` carries what a summary of this one should keep above all, `failed`
    what was written and what is wrong with it.
    """

    shown = Signal(str, str)
    new_chat_requested = Signal()
    compact_requested = Signal(str)
    failed = Signal(str, object)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner

    def take(self, text: str, situation: Situation) -> bool:
        """Carry out what is written; false where it is text and no command."""
        try:
            parsed = parse(text)
        except AppError as error:
            self.failed.emit(text, describe(error))
            return True
        if parsed is None:
            return False
        task = self._runner.call(partial(self._run, text, situation, *parsed))
        task.yielded.connect(self._on_done)
        task.start()
        return True

    def _run(
        self, text: str, situation: Situation, command: Command, argument: str
    ) -> tuple[str, CommandResult | Exception]:
        try:
            return text, run(self._assistant, situation, command, argument)
        except Exception as error:  # noqa: BLE001 - it is shown in words where it was written
            return text, error

    def _on_done(self, answer: tuple[str, CommandResult | Exception]) -> None:
        text, result = answer
        if isinstance(result, Exception):
            self.failed.emit(text, describe(result))
            return
        if result.markdown:
            self.shown.emit(text.strip(), result.markdown)
        if result.begins_chat:
            self.new_chat_requested.emit()
        if result.compacts is not None:
            self.compact_requested.emit(result.compacts)


def command_choices() -> list[Choice]:
    """Return the commands as the composer completes them."""
    return [
        Choice(
            command.name,
            f"/{command.name}",
            "terminal-window",
            detail=command.help,
            beside=command.argument,
        )
        for command in COMMANDS
    ]
