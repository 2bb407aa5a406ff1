"""Slash commands: messages that begin with `/` and run a command instead of being sent.

The first word names the command. Its output is shown in the chat for a while, and is neither stored
nor sent to a model.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.assistant import Assistant
from app.errors import InvalidRequest, NotFound
from chains.events import Mode
from context.report.markdown import envelope_markdown, report_markdown

__all__ = ["COMMANDS", "CommandResult", "Situation", "SlashCommand", "parse", "run"]

# A path such as `/etc/hosts` and a comment such as `// why` are text.
_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*)(?:\s+(?P<argument>.*))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Situation:
    """The chat, the mode and the model of a command; the chat is None before its first message."""

    session: str | None
    mode: Mode | None = None
    model: str | None = None


@dataclass(frozen=True)
class CommandResult:
    """The result of a slash command.

    Attributes:
        markdown: the text to show in the chat; may be empty.
        begins_chat: whether to begin a new chat.
        compacts: the facts that a compaction should keep above all; None for no compaction.
    """

    markdown: str = ""
    begins_chat: bool = False
    compacts: str | None = None


@dataclass(frozen=True)
class SlashCommand:
    """A slash command with its help text.

    Attributes:
        argument: the argument as the help shows it; empty if the command takes none.
        help: the effect of the command, in one line.
    """

    name: str
    argument: str
    help: str
    act: Callable[[Assistant, Situation, str], CommandResult]


def parse(text: str) -> tuple[SlashCommand, str] | None:
    """Return the command of a message with its argument; None if the message is plain text.

    Raises:
        NotFound: the message looks like a command, but no command has this name.
    """
    match = _COMMAND.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    for command in COMMANDS:
        if command.name == name:
            return command, (match["argument"] or "").strip()
    raise NotFound(f"There is no command /{match['name']}.", hint="/help lists the commands.")


def run(
    assistant: Assistant, situation: Situation, command: SlashCommand, argument: str
) -> CommandResult:
    """Run a command.

    Raises:
        InvalidRequest: the command does not take this argument.
    """
    if argument and not command.argument:
        raise InvalidRequest(f"/{command.name} takes nothing behind it.")
    return command.act(assistant, situation, argument)


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
    return CommandResult(report_markdown(found) if body is None else envelope_markdown(found, body))


def _last(assistant: Assistant, session: str | None, is_full: bool) -> Mapping[str, Any]:
    found = None if session is None else assistant.history.last_context(session, is_full)
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


def _new(_assistant: Assistant, _situation: Situation, _argument: str) -> CommandResult:
    return CommandResult(begins_chat=True)


def _help(_assistant: Assistant, _situation: Situation, _argument: str) -> CommandResult:
    rows = [f"| `{_usage(command)}` | {command.help} |" for command in COMMANDS]
    return CommandResult("\n".join(["| command | does |", "|---|---|", *rows]) + "\n")


def _usage(command: SlashCommand) -> str:
    return f"/{command.name} {command.argument}".rstrip()


COMMANDS = (
    SlashCommand("context", "[last] [full]", "Shows what the next request would hold", _context),
    SlashCommand("compact", "[what to keep]", "Sums up all but the last question", _compact),
    SlashCommand("undo", "[run]", "Undoes the last edits of notes in this chat", _undo),
    SlashCommand("new", "", "Begins a new chat", _new),
    SlashCommand("help", "", "Lists the commands", _help),
)
