"""The chats from the command line: listed, read, copied."""

import argparse
from collections.abc import Iterator

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.output import Output, complain
from app.sessions.file import LoadedLog


def run(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Do what `strata sessions` was told to do, and return the exit code."""
    _ACTIONS[args.action](args, assistant, output)
    return 0


def _list(_args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    chats = assistant.list_sessions()
    output.show(lambda: {"sessions": [chat.to_dict() for chat in chats]}, cli_text.chats(chats))


def _show(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    chat = assistant.sessions.read(args.session)
    for sentence in _remarks(chat.log):
        complain(sentence)
    if output.is_json:
        entries = [entry.to_dict() for entry in chat.log.entries]
        problems = list(chat.problems)
        shown = {"session": chat.id, "leaf": chat.tree.leaf, "entries": entries}
        output.document(shown | {"problems": problems})
    else:
        output.lines(cli_text.transcript(assistant.transcript(chat.id)))


def _remarks(log: LoadedLog) -> Iterator[str]:
    """Return what there is to say of a chat's file."""
    yield from log.problems
    if log.why_read_only is not None:
        yield log.why_read_only
    elif log.is_outdated:
        yield "This chat is of an older version; it is brought up to date when it is continued."


def _fork(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session = args.session
    copy = assistant.fork(session, args.at)
    output.show(lambda: {"session": copy, "branchedFrom": session}, [copy])


_ACTIONS = {"list": _list, "show": _show, "fork": _fork}
