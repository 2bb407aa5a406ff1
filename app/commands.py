"""Parse and run slash commands: messages that start with `/` and are not sent to a model.

The output of a command is shown until the chat is closed, but neither stored nor sent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from app.assistant import Assistant
from app.customize.commands import (
    MessageDraft,
    OpenPlace,
    UserCommand,
    expand_command,
)
from app.errors import InvalidRequest, NotFound
from app.sessions.export import write_export
from chains.events import Mode
from context.report.markdown import format_envelope, report_markdown

__all__ = [
    "COMMANDS",
    "CommandResult",
    "Situation",
    "SlashCommand",
    "make_command",
    "parse",
    "run",
]

# A path such as `/etc/hosts` and a comment such as `// why` are text.
_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*)(?:\s+(?P<argument>.*))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Situation:
    """The state of the window when a slash command is run.

    Attributes:
        session: the chat, or None before its first message.
        mode: the mode of the next message, or None if unknown.
        model: the model of the next message, or None for the configured one.
        place: the open note and the lines selected in it.
    """

    session: str | None
    mode: Mode | None = None
    model: str | None = None
    place: OpenPlace = field(default_factory=OpenPlace)


@dataclass(frozen=True)
class CommandResult:
    """The result of a slash command.

    Attributes:
        markdown: the text to show in the chat, which may be empty.
        begins_chat: whether to start a new chat.
        project: the project in which to start a new chat, or None.
        compacts: the user's instructions for compacting the chat, which may be an empty string, or
            None if the chat is not to be compacted.
        model: the model for the next messages, or None to keep the current one.
        mode: the mode for the next messages, or None to keep the current one.
        message: a message to send to the model, or None.
    """

    markdown: str = ""
    begins_chat: bool = False
    project: str | None = None
    compacts: str | None = None
    model: str | None = None
    mode: Mode | None = None
    message: MessageDraft | None = None


@dataclass(frozen=True)
class SlashCommand:
    """A slash command with its help text.

    Attributes:
        argument: the argument as shown in the help, such as a placeholder, or an empty string if
            the command takes none.
        help: a one-line description.
        act: runs the command, given the argument that the user typed.
    """

    name: str
    argument: str
    help: str
    act: Callable[[Assistant, Situation, str], CommandResult]


def parse(text: str, own: Sequence[UserCommand] = ()) -> tuple[SlashCommand, str] | None:
    """Return the slash command in a message and its argument, or None for a plain message.

    Args:
        text: the message.
        own: the user's own commands. Built-in commands take precedence.

    Raises:
        NotFound: the message looks like a command, but there is no such command.
    """
    match = _COMMAND.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    for command in (*COMMANDS, *map(make_command, own)):
        if command.name == name:
            return command, (match["argument"] or "").strip()
    raise NotFound(f"There is no command /{match['name']}.", hint="/help lists the commands.")


def run(
    assistant: Assistant, situation: Situation, command: SlashCommand, argument: str
) -> CommandResult:
    """Run a slash command.

    Raises:
        InvalidRequest: the command does not accept this argument.
    """
    if argument and not command.argument:
        raise InvalidRequest(f"/{command.name} takes nothing behind it.")
    return command.act(assistant, situation, argument)


def make_command(own: UserCommand) -> SlashCommand:
    """Convert a user's command to a slash command."""

    def act(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
        library = assistant.library
        resolve = library.vault.build_link_resolver().resolve if library else lambda _name: None
        return CommandResult(message=expand_command(own, argument, situation.place, resolve))

    return SlashCommand(own.name, "[text]", own.help, act)


def _context(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    words = set(argument.lower().split())
    if words - {"last", "full"}:
        raise InvalidRequest("/context takes the words last and full, and nothing else.")
    is_full = "full" in words
    if "last" in words:
        found = _last(assistant, situation.session, is_full)
    else:
        session, mode, model = situation.session, situation.mode, situation.model
        found = assistant.preview(session, "", mode, model, full=is_full)
    body = found.get("request_body")
    return CommandResult(report_markdown(found) if body is None else format_envelope(found, body))


def _last(assistant: Assistant, session: str | None, is_full: bool) -> Mapping[str, Any]:
    found = None if session is None else assistant.history.read_last_context(session, is_full)
    if found is None:
        raise InvalidRequest("Nothing has been asked in this chat yet.")
    return found


def _compact(_assistant: Assistant, _situation: Situation, argument: str) -> CommandResult:
    return CommandResult(compacts=argument)


def _undo(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    if not argument and situation.session is None:
        return CommandResult("No note was changed in this chat yet.\n")
    undone = assistant.edits.undo(run=argument or None, session=situation.session)
    return CommandResult(f"{undone.describe()}\n")


def _model(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    if not argument:
        current = situation.model or assistant.settings.values.chat_model
        marks = {current: "**"}
        rows = [
            f"| {marks.get(one.name, '')}{one.name}{marks.get(one.name, '')} | {one.summary} |"
            for one in assistant.model_setup.list_choices()
        ]
        return CommandResult("\n".join(["| model | properties |", "|---|---|", *rows]) + "\n")
    assistant.model_setup.require_known(argument)
    return CommandResult(f"The model of the next messages is {argument}.\n", model=argument)


def _mode(_assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    modes: tuple[Mode, ...] = get_args(Mode)
    chosen = next((mode for mode in modes if mode == argument.lower()), None)
    if chosen is not None:
        return CommandResult(f"The mode of the next messages is {chosen}.\n", mode=chosen)
    if argument:
        raise InvalidRequest(f"/mode takes one of {', '.join(modes)}.")
    return CommandResult(f"The mode is {situation.mode}. Others: {', '.join(modes)}.\n")


def _export(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    if situation.session is None:
        return CommandResult("There is nothing to export in this chat yet.\n")
    if argument not in ("", "md", "json"):
        raise InvalidRequest("/export takes md or json.")
    title, text = assistant.history.export(situation.session, argument or "md")
    file = write_export(assistant.paths.exports, title, text, f".{argument or 'md'}")
    return CommandResult(f"Exported to `{file}`.\n")


def _new(_assistant: Assistant, _situation: Situation, _argument: str) -> CommandResult:
    return CommandResult(begins_chat=True)


def _project(assistant: Assistant, situation: Situation, argument: str) -> CommandResult:
    if argument == "refresh":
        if situation.session is None:
            raise InvalidRequest("This chat has no project.")
        assistant.branches.refresh_project(situation.session)
        return CommandResult(
            "The names and notes of the project are read again with the next message.\n"
        )
    if argument:
        return CommandResult(project=assistant.projects.add(argument))
    rows = [f"- {project.title}: `{project.folder}`" for project in assistant.projects.list()]
    return CommandResult("\n".join(rows or ["No projects yet. /project FOLDER opens one."]) + "\n")


def _help(assistant: Assistant, _situation: Situation, _argument: str) -> CommandResult:
    own = map(make_command, assistant.customization.list_commands())
    pairs = [(_usage(command), command.help) for command in (*COMMANDS, *own)]
    rows = [f"| `{_escape_cell(usage)}` | {_escape_cell(text)} |" for usage, text in pairs]
    return CommandResult("\n".join(["| command | does |", "|---|---|", *rows]) + "\n")


def _escape_cell(text: str) -> str:
    r"""Escape each `|`, which would end the cell of a table, as `\|`."""
    return text.replace("|", r"\|")


def _usage(command: SlashCommand) -> str:
    return f"/{command.name} {command.argument}".rstrip()


COMMANDS = (
    SlashCommand("context", "[last] [full]", "Shows what the next request would hold", _context),
    SlashCommand("compact", "[what to keep]", "Sums up all but the last question", _compact),
    SlashCommand("undo", "[run]", "Undoes the last edits of notes in this chat", _undo),
    SlashCommand("model", "[name]", "Lists the models, or chooses one", _model),
    SlashCommand("mode", "[mode]", "Shows the mode, or chooses another one", _mode),
    SlashCommand("export", "[md|json]", "Writes this chat to a file", _export),
    SlashCommand("project", "[folder or refresh]", "Opens a folder as a project", _project),
    SlashCommand("new", "", "Begins a new chat", _new),
    SlashCommand("help", "", "Lists the commands", _help),
)
