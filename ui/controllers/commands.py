"""Run slash commands such as `/new` and `/compact` that are typed into the composer."""

from functools import partial

from PySide6.QtCore import Signal

from app.assistant import Assistant
from app.commands import (
    COMMANDS,
    CommandResult,
    Situation,
    SlashCommand,
    make_command,
    parse,
    run,
)
from app.errors import AppError, describe
from ui.controllers.session import Controller
from ui.widgets.completion_list import Choice

__all__ = ["CommandController", "list_command_choices"]


class CommandController(Controller):
    """Runs slash commands and shows their output in the transcript.

    Signals:
        succeeded: emitted with the text that the user typed when its command has run.
        failed: emitted when a command has failed, with the text that the user typed and the error.
        compact_requested: emitted by `/compact`, with the user's instructions for the summary or an
            empty string.
        model_chosen: emitted when a command selects a model, with its name.
        mode_chosen: emitted when a command selects a mode, with its name.
        message_made: emitted when one of the user's own commands has produced a message to send,
            with the `MessageDraft`.
    """

    succeeded = Signal(str)
    failed = Signal(str, object)
    compact_requested = Signal(str)
    model_chosen = Signal(str)
    mode_chosen = Signal(str)
    message_made = Signal(object)

    def is_built_in(self, text: str) -> bool:
        """Return whether a text is a command of Strata, which sends no message."""
        try:
            return parse(text) is not None
        except AppError:
            return False

    def run(self, text: str, situation: Situation) -> bool:
        """Run the slash command that the text contains. Return False if it contains none.

        Args:
            text: the text that the user typed.
            situation: the open chat, its mode and model, and the open note.
        """
        try:
            parsed = parse(text, self._assistant.customization.list_commands())
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
        self, text: str, situation: Situation, command: SlashCommand, argument: str
    ) -> tuple[str, CommandResult | Exception]:
        try:
            return text, run(self._assistant, situation, command, argument)
        except Exception as error:  # noqa: BLE001 - the composer shows the error
            return text, error

    def _on_done(self, answer: tuple[str, CommandResult | Exception]) -> None:
        text, result = answer
        if isinstance(result, Exception):
            self.failed.emit(text, describe(result))
            return
        self.succeeded.emit(text)
        if result.markdown:
            self._frame.transcript.show_aside(text.strip(), result.markdown)
        if result.begins_chat:
            self._frame.navigation.open_session(None)
        if result.project is not None:
            self._frame.navigation.open_project(result.project)
        if result.compacts is not None:
            self.compact_requested.emit(result.compacts)
        if result.model is not None:
            self.model_chosen.emit(result.model)
        if result.mode is not None:
            self.mode_chosen.emit(result.mode)
        if result.message is not None:
            self.message_made.emit(result.message)


def list_command_choices(assistant: Assistant) -> list[Choice]:
    """Return the slash commands and the user's own commands as choices for completion."""
    own = map(make_command, assistant.customization.list_commands())
    return [
        Choice(
            command.name,
            f"/{command.name}",
            "terminal-window",
            detail=command.help,
            beside=command.argument,
        )
        for command in (*COMMANDS, *own)
    ]
