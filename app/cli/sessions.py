"""Run the verbs that list, show and change chats, or show their requests."""

import argparse
import html
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine, can_ask, complain, confirm, readable
from app.cli.past import show_passages, show_past
from app.errors import AppError, InvalidRequest, NotFound, SessionMissing, storage_errors
from app.hidden_characters import escape_text
from app.sessions.abandoned_memory import find_abandoned_memories
from app.sessions.bin import BinnedChat
from app.sessions.file import LoadedLog
from app.sessions.request_history import NO_ENTRY_NEXT
from app.sessions.search import MOST_HITS, ChatHit, search_chats
from app.sessions.session_info import ARCHIVED, PINNED, ChatMark
from app.wiring import open_vault
from chains.events import CompactionEnded, CompactionStarted
from context.exam import SummaryExam
from context.history.memory import read_memory
from context.report.markdown import format_envelope, report_markdown
from vault.errors import VaultError

_log = logging.getLogger(__name__)


def run_sessions(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata sessions`, and return the exit code."""
    return _ACTIONS[args.action](args, assistant, output) or 0


def _list(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    if args.bin:
        binned = assistant.sessions.bin.list_chats()
        found = [chat.to_dict() for chat in binned]
        output.show(lambda: {"sessions": found}, cli_text.list_bin(binned))
        return
    chats = [chat for chat in assistant.list_sessions() if chat.archived == args.archived]
    if (folder := _find_project(args, assistant)) is not None:
        chats = [chat for chat in chats if chat.project_folder == folder]
    output.show(
        lambda: {"sessions": [chat.to_dict() for chat in chats]},
        cli_text.chats(chats, args.archived),
    )


def _search(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    project = _find_project(args, assistant)
    hits = search_chats(assistant.sessions, readable(args.text), project=project)
    output.show(lambda: {"hits": [hit.to_dict() for hit in hits]}, _list_hits(hits))
    if len(hits) == MOST_HITS:
        complain(f"These are the newest {MOST_HITS}; more words find fewer.")


def _move(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session, named = args.session, args.project
    vault = assistant.sessions.read(session).header.vault
    open_vault(assistant, args.vault, session)
    project = None if named is None else assistant.projects.name_for_chat(named, vault)
    if named is not None:
        assistant.projects.add(named)
    assistant.branches.move_to_project(session, project)
    info = assistant.sessions.info(session)
    output.show(info.to_dict, cli_text.chats([info]))


def _find_project(args: argparse.Namespace, assistant: Assistant) -> Path | None:
    """Return the folder of the project whose chats are meant, or None for all chats."""
    if args.project is None:
        return None
    open_vault(assistant, args.vault)
    return assistant.projects.find_folder(assistant.projects.find_name(args.project))


def _list_hits(hits: Sequence[ChatHit]) -> Iterator[str]:
    if not hits:
        yield "No chat contains this."
    for hit in hits:
        when = hit.at[:16].replace("T", " ")
        yield f"{hit.session}  {when}  {hit.role:<9}  {escape_text(hit.text)}"


def _show(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    chat = assistant.sessions.read(args.session)
    for sentence in _list_problems(chat.log):
        complain(sentence)
    _open_notes_to_search(args, assistant)
    if output.is_json:
        entries = [entry.to_dict() for entry in chat.log.entries]
        problems = list(chat.problems)
        shown = {"session": chat.id, "leaf": chat.tree.leaf, "entries": entries}
        changed = assistant.history.list_changed_sources(chat.id)
        claims = assistant.history.list_claims(chat.id)
        exams = assistant.history.list_exams(chat.id)
        findings = {"problems": problems, "changed": changed, "claims": claims, "exams": exams}
        output.print_document(shown | findings)
    else:
        output.print_lines(cli_text.transcript(assistant.history.search_lost_facts(chat.id)))


def _list_problems(log: LoadedLog) -> Iterator[str]:
    """Yield one sentence for each problem in a chat's file."""
    yield from log.problems
    if log.why_read_only is not None:
        yield log.why_read_only
    elif log.is_outdated:
        yield "This chat is of an older version; it is brought up to date when it is continued."


def _fork(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session = args.session
    copy = assistant.branches.fork(session, args.at)
    output.show(lambda: {"session": copy, "branchedFrom": session}, [copy])


def _rename(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session = args.session
    assistant.branches.rename(session, readable(args.title))
    title = assistant.sessions.info(session).title
    output.show(lambda: {"session": session}, [f"{session}  {escape_text(title)}"])


def _mark(
    mark: ChatMark, on: bool, args: argparse.Namespace, assistant: Assistant, output: Output
) -> None:
    session = args.session
    assistant.branches.mark(session, mark, on)
    info = assistant.sessions.info(session)
    output.show(info.to_dict, cli_text.chats([info]))


def _restore(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    """Put an archived chat, or one in the bin, back on the list."""
    session, sessions = args.session, assistant.sessions
    if not sessions.bin.holds(session):
        _mark(ARCHIVED, False, args, assistant, output)
        return
    sessions.bin.restore(session)
    info = sessions.info(session)
    output.show(info.to_dict, cli_text.chats([info]))


def _delete(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    session, sessions = args.session, assistant.sessions
    if not args.now:
        binned = sessions.delete(session)
        until = None if binned is None else binned.until
        output.show(
            lambda: {"session": session, "until": until}, _describe_deletion(binned, session)
        )
        return 0
    if not _confirm(args, output, f"Delete the chat “{_find_title(assistant, session)}” for good?"):
        complain(f"The chat {session} is kept.")
        return FAILED
    sessions.delete_for_good(session)
    output.show(lambda: {"session": session, "until": None}, _describe_deletion(None, session))
    return 0


def _describe_deletion(binned: BinnedChat | None, session: str) -> Iterator[str]:
    if binned is None:
        yield f"The chat {session} is deleted."
    else:
        yield f"The chat {session} is in the bin until {binned.until[:10]}."
        yield f"`strata sessions restore {session}` brings it back."


def _empty_bin(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    is_listed = assistant.sessions.is_stored  # a chat that is also on the list is not deleted
    binned = assistant.sessions.bin.list_chats()
    chats = [chat for chat in binned if not is_listed(chat.info.session)]
    count = cli_text.format_count(len(chats), "chat")
    if chats and not _confirm(args, output, f"Delete {count} in the bin for good?"):
        complain("The bin is kept.")
        return FAILED
    gone = assistant.sessions.bin.empty()
    message = (
        f"{cli_text.format_count(len(gone), 'chat')} deleted." if gone else "The bin is empty."
    )
    output.show(lambda: {"sessions": list(gone)}, [message])
    return 0


def _find_title(assistant: Assistant, session: str) -> str:
    binned = (
        chat.info for chat in assistant.sessions.bin.list_chats() if chat.info.session == session
    )
    chat = next(binned, None) or assistant.sessions.info(session)
    return escape_text(chat.title) or session


def _confirm(args: argparse.Namespace, output: Output, question: str) -> bool:
    """Ask a question, unless nobody can be asked. Any answer except yes means no."""
    return args.yes or output.is_json or not can_ask() or confirm(question)


def _open_notes(args: argparse.Namespace, assistant: Assistant) -> None:
    """Open the notes of a chat, if they are there."""
    try:
        open_vault(assistant, args.vault, args.session)
    except (AppError, VaultError) as error:
        _log.info("The notes of the chat are not open: %s", error)


def _open_notes_to_search(args: argparse.Namespace, assistant: Assistant) -> None:
    """Open the notes of a chat whose summary lost facts that they may say."""
    if assistant.compaction.can_search_facts(args.session):
        _open_notes(args, assistant)


def _export(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    _open_notes_to_search(args, assistant)
    _title, text = assistant.history.export(args.session, "json" if output.is_json else args.format)
    output.write(text if args.format == "json" or output.is_json else escape_text(text))


def _save_note(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    open_vault(assistant, args.vault, args.session)
    saved = assistant.save_note(args.session, args.entry, args.path)
    output.show(saved.to_dict, [escape_text(f"Saved as {saved.path}.")])


def _change_memory(args: argparse.Namespace, assistant: Assistant, output: Output) -> None:
    session = args.session
    chat = assistant.sessions.read(session)
    memory, left = read_memory(chat.path()), find_abandoned_memories(chat, assistant.customization)
    steps = {
        "currentObjective": args.objective,
        "currentPhase": args.phase,
        "completedSteps": args.done,
        "pendingSteps": args.to_do,
    }
    given = {name: value for name, value in steps.items() if value is not None}
    changed = memory.with_parts(args.scratchpad, given or None, args.fact)
    if changed != memory:
        assistant.branches.set_memory(session, changed)
    shown = html.unescape(changed.render()) or "The memory of this chat is empty."
    abandoned = [memory.to_dict() for memory in left]
    output.show(
        lambda: {"session": session, "memory": changed.to_dict(), "abandoned": abandoned},
        [escape_text(line) for line in (shown, *(memory.offer for memory in left))],
    )


def compact(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata compact`, and return the exit code."""
    _open_notes(args, assistant)
    if args.check:
        return _check_summary(args.session, assistant, output)
    if (mended := _mend_summary(args, assistant)) is not None:
        output.show(lambda: mended, cli_text.format_summary_mend(mended, args.session))
        return 0
    line = ProgressLine()
    with Interruptible() as run:
        for event in assistant.compact(args.session, run.cancel, readable(args.instructions)):
            match event:
                case CompactionStarted():
                    line.show("Summing up…")
                case CompactionEnded(result):
                    line.clear()
                    output.show(partial(dict, result), cli_text.compaction(result))
    return run.exit_code or 0


def _check_summary(session: str, assistant: Assistant, output: Output) -> int:
    """Say what the summary of a chat lost, after a search of the notes."""
    with Interruptible() as run:
        result = assistant.compaction.check_summary(session, cancel=run.cancel)
        exam = SummaryExam.read(result["exam"])
        output.show(lambda: result, cli_text.list_exam(exam))
    return run.exit_code or 0


def _mend_summary(args: argparse.Namespace, assistant: Assistant) -> dict[str, Any] | None:
    """Change the last summary of a chat as asked, or return None if a new one is asked for."""
    mender, session = assistant.mender, args.session
    if args.keep is not None:
        done = mender.keep(session, readable(args.keep))
    elif args.take_out is not None:
        done = mender.take_out(session, readable(args.take_out))
    elif args.edit is not None:
        file = Path(args.edit)
        with storage_errors(file):
            text = file.read_text("utf-8", "replace")
        done = mender.edit(session, text)
    elif args.undo:
        done = mender.undo_last(session)
    else:
        return None
    return mender.describe(session, done)


def show_context(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata context`, and return the exit code.

    This verb shows a chat's last or next request.
    """
    session = args.session or assistant.sessions.newest()
    if args.at_the_time or args.today or args.diff:
        return show_past(args, assistant, session, output)
    if args.next and args.entry is not None:
        raise InvalidRequest(NO_ENTRY_NEXT)
    if args.next:
        open_vault(assistant, args.vault, session)
        found: Mapping[str, Any] | None = assistant.preview(session, full=args.full)
    elif session is None:
        raise SessionMissing("There is no chat yet.", hint='Begin one with strata ask "…".')
    else:
        found = assistant.history.read_last_context(session, args.full, args.entry)
    if found is None:
        raise NotFound(f"Nothing has been asked in the chat {session} yet.")
    output.show(lambda: found, _context_text(found))
    return 0


def _context_text(found: Mapping[str, Any]) -> Iterator[str]:
    if found["rebuilt"]:
        yield "(rebuilt: the request itself is not kept any more)\n"
    body = found.get("request_body")
    text = report_markdown(found) if body is None else format_envelope(found, body)
    yield escape_text(text)


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int | None]] = {
    "list": _list,
    "search": _search,
    "show": _show,
    "fork": _fork,
    "rename": _rename,
    "pin": partial(_mark, PINNED, True),
    "unpin": partial(_mark, PINNED, False),
    "archive": partial(_mark, ARCHIVED, True),
    "restore": _restore,
    "delete": _delete,
    "empty-bin": _empty_bin,
    "export": _export,
    "move": _move,
    "save-note": _save_note,
    "memory": _change_memory,
}


SESSION_VERBS: Final[Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int]]] = {
    "compact": compact,
    "context": show_context,
    "passages": show_passages,
    "sessions": run_sessions,
}
