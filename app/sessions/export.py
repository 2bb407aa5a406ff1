"""Export a chat as Markdown, or build a note from it.

The Markdown is made for reading: it contains messages, names of attachments, and sources. `strata
sessions show ID --json` prints the log itself.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from app.config.models import name_model
from app.errors import storage_errors
from app.sessions.transcript import (
    AnswerItem,
    ChatTranscript,
    CustomItem,
    HookChangeItem,
    SummaryItem,
    TranscriptItem,
    UserItem,
)
from chains.citations.check import Citation
from context.exam import SummaryExam
from context.layers import name_lines
from resources.system.files import make_private_folder, write_atomically
from vault.coverage import name_count
from vault.notes.kinds import drop_note_suffix, note_name

__all__ = ["build_note", "export_markdown", "write_export"]

_MOST_NAME_CHARS: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^\w .-]+")
_NOT_IN_LINKS: Final = re.compile(r"[\[\]|#^<>]")
_Resolve = Callable[[str], str | None]
_Lines = tuple[int, int]
# Names or links the source of a citation, and returns its lines where the name does not say them.
_ShowSource = Callable[[Citation], tuple[str, _Lines | None]]


def export_markdown(chat: ChatTranscript) -> str:
    """Return a chat as Markdown. Each message is a section."""
    sections = (section for item in chat.items for section in _list_lines(item, _name_source))
    return "\n".join((f"# {chat.title or 'Chat'}", *sections)) + "\n"


def build_note(
    chat: ChatTranscript, session: str, entry: str | None, resolve: _Resolve | None
) -> tuple[str, str] | None:
    """Build a note from a chat, or from a single answer and its question.

    The front matter contains the date, models and chat id. Sources become links to notes.

    Args:
        chat: the transcript.
        session: the chat id.
        entry: the id of the answer, or None for the whole chat.
        resolve: resolves a link to a note, or None if no vault is open.

    Returns:
        The note's name and text, or None if the chat has no such answer.
    """
    items = chat.items if entry is None else _find_turn(chat.items, entry)
    if not items:
        return None
    asked = next((item.text for item in items if isinstance(item, UserItem)), "")
    title = " ".join(((chat.title if entry is None else asked) or chat.title or "Chat").split())

    def link(cited: Citation) -> tuple[str, _Lines | None]:
        return _link_source(cited, resolve)

    sections = (section for item in items for section in _list_lines(item, link))
    text = "\n".join((*_list_properties(items, session), "", f"# {title}", *sections))
    return _shorten_name(title), f"{text}\n"


def _find_turn(items: Sequence[TranscriptItem], entry: str) -> Sequence[TranscriptItem]:
    """Return an answer and its question, or an empty sequence if there is no such answer."""
    for at, item in enumerate(items):
        if isinstance(item, AnswerItem) and item.entry == entry:
            asked = next((one for one in reversed(items[:at]) if isinstance(one, UserItem)), None)
            return [item] if asked is None else [asked, item]
    return []


def _list_properties(items: Sequence[TranscriptItem], session: str) -> Iterator[str]:
    times = [item.time for item in items if isinstance(item, UserItem | AnswerItem)]
    models = list(dict.fromkeys(one.answer.model for one in items if isinstance(one, AnswerItem)))
    yield "---"
    if times:
        yield f"date: {times[-1][:10]}"
    if models:
        yield f"model: {json.dumps(models if len(models) > 1 else models[0], ensure_ascii=False)}"
    yield f"chat: {json.dumps(session)}"
    yield "---"


def _link_source(cited: Citation, resolve: _Resolve | None) -> tuple[str, _Lines | None]:
    """Return a link to a source with its lines, or only its name if it cannot be linked.

    The link uses the name of the note if no other note has this name, otherwise the path.
    """
    path = cited.path
    if resolve is None or PurePath(path).is_absolute() or _NOT_IN_LINKS.search(path):
        return _name_source(cited)
    name = note_name(path)
    target = name if resolve(name) == path else drop_note_suffix(path)
    if cited.page is not None:
        return f"[[{target}#page={cited.page}]]", None
    heading = cited.heading[-1] if cited.heading else ""
    if heading and heading != name and not _NOT_IN_LINKS.search(heading):
        target = f"{target}#{heading}"
    return f"[[{target}]]", cited.lines


def write_export(folder: Path, title: str, text: str, suffix: str = ".md") -> Path:
    """Write an exported chat to a new file, and return the file's path.

    Args:
        folder: the folder of the file, which need not exist.
        title: the title of the chat, which becomes the name of the file.
        text: the exported chat.
        suffix: the suffix of the file.

    Raises:
        StorageFailed: the file cannot be written.
    """
    with storage_errors(folder):
        make_private_folder(folder)
        file = _find_free(folder, title, suffix)
        write_atomically(file, text.encode("utf-8", "replace"))
    return file


def _find_free(folder: Path, title: str, suffix: str) -> Path:
    name = _shorten_name(title)
    file, number = folder / f"{name}{suffix}", 1
    while file.exists():
        number += 1
        file = folder / f"{name} {number}{suffix}"
    return file


def _shorten_name(title: str) -> str:
    """Convert a title to a file name without a suffix. A long title is cut at the end of a word."""
    kept = " ".join(_NOT_IN_NAMES.sub(" ", title).split())
    if len(kept) > _MOST_NAME_CHARS:
        words = kept[: _MOST_NAME_CHARS + 1].rpartition(" ")[0]
        is_long = len(words) > _MOST_NAME_CHARS // 2
        kept = words if is_long else kept[:_MOST_NAME_CHARS]  # some scripts have no spaces
    return kept.strip(" .") or "Chat"


def _name_source(cited: Citation) -> tuple[str, _Lines | None]:
    return cited.path, cited.lines


def _list_lines(item: TranscriptItem, show_source: _ShowSource) -> Iterator[str]:
    match item:
        case UserItem():
            yield from ("", "## You", "", item.text)
            names = [*item.attach, *(f"{s.path}:{s.first}-{s.last}" for s in item.selections)]
            if names:
                yield from ("", f"Attached: {', '.join(names)}")
        case AnswerItem():
            yield from _list_answer_lines(item, show_source)
        case CustomItem():
            yield from ("", "## A program", "", item.text)
        case SummaryItem():
            yield from ("", "---", "", "Summary of the messages above, for the model:", "")
            yield item.summary
            yield from _list_exam_lines(item.exam)
        case HookChangeItem():
            description = ". ".join(filter(None, (item.title, item.summary)))
            yield from ("", f"The hook {item.hook} changed what is sent: {description}")
        case _:
            verb = "is" if item.turns == 1 else "are"
            turns = name_count(item.turns, "turn")
            yield from ("", f"The {turns} above {verb} not sent any more.")


def _list_exam_lines(exam: SummaryExam | None) -> Iterator[str]:
    figures, *losses = ([] if exam is None else exam.list_lines()) or [""]
    yield from ("", figures) if figures else ()
    yield from ("", *losses) if losses else ()


def _list_answer_lines(item: AnswerItem, show_source: _ShowSource) -> Iterator[str]:
    answer = item.answer
    text = answer.shown_text or answer.ending or f"({answer.end.status})"
    yield from ("", f"## {name_model(answer.model)}", "", text)
    if answer.shown_text and answer.ending:
        yield from ("", answer.ending)
    if answer.sources_sentence:
        yield from ("", answer.sources_sentence)
    if answer.checked.citations:
        yield from ("", "Sources:", "")
    yield from _list_sources(answer.checked.citations, show_source)
    if summary := answer.claims.summary:
        yield from ("", f"{summary}.")
    for changed in item.changed:
        yield from ("", changed.sentence)


def _list_sources(citations: Sequence[Citation], show_source: _ShowSource) -> Iterator[str]:
    """Yield a bullet for each cited number.

    A numbered list would be numbered anew when it is shown, and a plain `- [1]` is a task.
    """
    sources: dict[int, dict[str, dict[_Lines, None]]] = {}
    for cited in citations:
        name, lines = show_source(cited)
        found = sources.setdefault(cited.n, {}).setdefault(name, {})
        found.update({lines: None} if lines else {})
    for number, names in sources.items():
        shown = (", ".join((name, *_name_places(sorted(lines)))) for name, lines in names.items())
        yield f"- **[{number}]** {'; '.join(shown)}"


def _name_places(places: Sequence[_Lines]) -> Iterator[str]:
    """Yield the lines of all places in one phrase, such as `lines 3 and 5–9`, if there are any."""
    *others, last = map(name_lines, places) if places else ("",)
    numbers = [each.partition(" ")[2] for each in others]
    if numbers:
        yield f"lines {', '.join(numbers)} and {last.partition(' ')[2]}"
    elif last:
        yield last
