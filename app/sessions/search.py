"""Search the text of all chats: titles, questions, answers and other messages.

There is no index: all logs are read, including inactive branches. Tool results are not searched,
because they repeat the text of notes.
"""

import logging
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Final

from app.errors import InvalidRequest
from app.sessions.file import LoadedLog
from app.sessions.session_info import find_title, one_line
from app.sessions.store import SessionStore
from context.history.turns import is_continuation
from context.json_codec import Record
from context.log.entries import CustomMessageEntry, Entry, MessageEntry
from vault.notes.text.markup import remove_markup

__all__ = ["MOST_HITS", "ChatHit", "read_terms", "search_chats"]

MOST_HITS: Final = 200
_CHARS_BEFORE: Final = 60
_EXCERPT_CHARS: Final = 200
_SEARCHED_ROLES: Final = ("user", "assistant")
_TERM: Final = re.compile(r'"([^"]*)"|(\S+)')
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChatHit(Record):
    """A title or message of a chat that matches a query.

    Attributes:
        session: the chat id.
        entry: the log entry id.
        role: `user`, `assistant`, or `title`.
        text: an excerpt around the match, on one line.
        at: the time of the entry, in ISO 8601 and UTC.
    """

    session: str
    entry: str
    role: str
    text: str
    at: str


def search_chats(
    sessions: SessionStore,
    query: str,
    chars_before: int = _CHARS_BEFORE,
    project: Path | None = None,
) -> tuple[ChatHit, ...]:
    """Return the texts in all chats that contain all words of a query, newest first.

    Case is ignored, and words may be parts of longer words. Words in double quotes must be
    adjacent. At most `MOST_HITS` texts are returned. Unreadable chats are skipped.

    Args:
        chars_before: the most characters of an excerpt before the match. A narrow list passes a
            small number, so that the match itself is visible.
        project: the folder of a project whose chats alone are searched, or None for all chats.

    Raises:
        InvalidRequest: the query is blank.
        StorageFailed: the folder of chats cannot be read.
    """
    terms = read_terms(query)
    if not terms:
        raise InvalidRequest("There is nothing to search for.")
    found: list[ChatHit] = []
    for info in sessions.list():
        if project is not None and info.project_folder != project:
            continue
        try:
            log = sessions.read(info.session).log
            found += _search_log(log, terms)
        except Exception as error:  # noqa: BLE001 - one bad chat never breaks the search
            _log.warning("The chat %s cannot be searched: %s", info.session, error)
    found.sort(key=lambda hit: (hit.at, hit.session, hit.entry), reverse=True)
    shown = found[:MOST_HITS]
    return tuple(replace(hit, text=_cut_excerpt(hit.text, terms, chars_before)) for hit in shown)


def read_terms(query: str) -> tuple[str, ...]:
    """Parse a search query into case-folded words and quoted phrases."""
    terms = (_fold(" ".join(phrase.split()) or word) for phrase, word in _TERM.findall(query))
    return tuple(filter(None, (term.strip() for term in terms)))


def _search_log(log: LoadedLog, terms: Sequence[str]) -> Iterator[ChatHit]:
    """Yield the texts in a chat that contain all search terms."""
    for entry, role, text in _list_texts(log):
        line = unicodedata.normalize("NFC", " ".join(text.split()))
        folded = _fold(line)
        if all(term in folded for term in terms):
            yield ChatHit(log.header.id, entry.id, role, line, entry.timestamp)


def _list_texts(log: LoadedLog) -> Iterator[tuple[Entry, str, str]]:
    named, title = find_title(log)
    if named is not None:
        yield named, "title", title
    for entry in log.entries:
        if not isinstance(entry, MessageEntry | CustomMessageEntry) or is_continuation(entry):
            continue
        if entry.message.role in _SEARCHED_ROLES:
            yield entry, entry.message.role, entry.message.text


def _cut_excerpt(line: str, terms: Sequence[str], chars_before: int) -> str:
    at = _find_place(line, max(terms, key=len))
    start = max(0, at - chars_before)
    if start:
        start = line.find(" ", start, at) + 1 or start
    words = remove_markup(line[start : start + 2 * _EXCERPT_CHARS])
    return ("…" if start else "") + one_line(words, _EXCERPT_CHARS)


def _find_place(line: str, term: str) -> int:
    """Return the position of a case-folded term in text that is not case-folded."""
    ends = list(accumulate(len(char.casefold()) for char in line))
    return bisect_right(ends, _fold(line).index(term))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
