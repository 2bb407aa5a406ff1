"""Export a chat as a Markdown document, and choose the file for it.

The document holds what was said, with the attachments of each question and the sources of each
answer. It is text for people; `strata sessions show ID --json` prints the log itself.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.durable import write_atomically
from app.errors import storage_errors
from app.paths import make_private_folder
from app.sessions.transcript import (
    AnswerItem,
    ChatTranscript,
    CustomItem,
    HookChangeItem,
    SummaryItem,
    TranscriptItem,
    UserItem,
)
from context.layers import name_lines

__all__ = ["export_markdown", "write_export"]

_MOST_NAME_CHARS: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^\w .-]+")


def export_markdown(chat: ChatTranscript) -> str:
    """Return a chat as Markdown: a heading, and a section for each message."""
    sections = (section for item in chat.items for section in _list_lines(item))
    return "\n".join((f"# {chat.title or 'Chat'}", *sections)) + "\n"


def write_export(folder: Path, title: str, text: str, suffix: str = ".md") -> Path:
    """Write an export to a new file in a folder, and return its path; no file is replaced.

    Raises:
        StorageFailed: the file cannot be written.
    """
    with storage_errors(folder):
        make_private_folder(folder)
        file = _find_free(folder, title, suffix)
        write_atomically(file, text.encode("utf-8", "replace"))
    return file


def _find_free(folder: Path, title: str, suffix: str) -> Path:
    name = _NOT_IN_NAMES.sub(" ", title)[:_MOST_NAME_CHARS].strip(" .") or "Chat"
    file, number = folder / f"{name}{suffix}", 1
    while file.exists():
        number += 1
        file = folder / f"{name} {number}{suffix}"
    return file


def _list_lines(item: TranscriptItem) -> Iterator[str]:
    match item:
        case UserItem():
            yield from ("", "## You", "", item.text)
            names = [*item.attach, *(f"{s.path}:{s.first}-{s.last}" for s in item.selections)]
            if names:
                yield from ("", f"Attached: {', '.join(names)}")
        case AnswerItem():
            yield from ("", f"## {item.model}", "", item.text or f"({item.status})")
            if item.citations:
                yield from ("", "Sources:", "")
            for cited in item.citations:
                lines = f", {name_lines(cited.lines)}" if cited.lines else ""
                yield f"{cited.n}. {cited.path}{lines}"
        case CustomItem():
            yield from ("", "## A program", "", item.text)
        case SummaryItem():
            yield from ("", "---", "", "Summary of the messages above, for the model:", "")
            yield item.summary
        case HookChangeItem():
            told = ". ".join(filter(None, (item.title, item.summary)))
            yield from ("", f"The hook {item.hook} changed what is sent: {told}")
        case _:
            yield from ("", f"The {item.turns:,} turns above are not sent any more.")
