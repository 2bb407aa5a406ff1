"""The chats from the command line: listed, read, copied."""

import argparse

from app import cli_text
from app.assistant import Assistant
from app.cli_output import Output, complain


def run(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Do what `strata sessions` was told to do, and return the exit code."""
    _ACTIONS[args.action](args, assistant, output)
    return 0


def _list(_args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    chats = assistant.list_sessions()
    output.show(lambda: {"sessions": [chat.to_dict() for chat in chats]}, cli_text.chats(chats))


def _show(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    chat = assistant.sessions.read(args.session)
    for problem in chat.problems:
        complain(problem)
    shown = {
        "session": chat.id,
        "leaf": chat.tree.leaf,
        "entries": [entry.to_dict() for entry in chat.log.entries],
        "problems": list(chat.problems),
    }
    output.show(lambda: shown, cli_text.transcript(assistant.transcript(chat.id)))


def _fork(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session = args.session
    copy = assistant.fork(session, args.at)
    output.show(lambda: {"session": copy, "branchedFrom": session}, [copy])


_ACTIONS = {"list": _list, "show": _show, "fork": _fork}
