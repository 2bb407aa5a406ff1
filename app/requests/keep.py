"""Store a request while its answer arrives, with the notes that its texts come from."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import Any, Final

from app.errors import AppError
from app.requests.pieces import VERSION_CHARS, KnownText, NoteTexts
from app.requests.record import SentTexts, build_objects
from app.requests.store import SentStore
from chains.concurrency import start_call
from chains.request.project import find_named_notes
from context.assemble.request import Request
from context.envelope import EncodedJson
from context.history.outline import QUOTING_MODEL
from context.history.read_notes import LoadResult, collect_notes, list_note_texts
from context.history.turn_list import TurnList, count_summaries
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Segment
from context.messages import compact_json, list_message_texts, list_tool_calls
from context.requests.layout import describe_layout

__all__ = ["find_note_texts", "start_keeping"]

_log = logging.getLogger(__name__)
_SOURCES: Final = "sources"  # the key of what is collected of turns
_PROJECT_CONTEXT: Final = "project_context"  # the id of the part that names a project's notes
LONGEST_WAIT_S: Final = 5.0  # a disk that stalls must not hold back an answer


def start_keeping(
    store: SentStore,
    request: Request,
    wire: Mapping[str, Any] | None,
    asked: Mapping[str, Any],
    roots: Iterable[str],
    load: LoadResult,
) -> Callable[[], str | None]:
    """Start to store a request, and return a function that waits for its reference.

    The function returns None if the request could not be stored.

    Args:
        store: where the request is stored.
        wire: the JSON that was sent, or None if nothing was sent.
        asked: fields that are stored with the layout, such as when the request was made.
        roots: the folders that paths in the request may be relative to.
        load: returns a tool result that is stored outside of the log, or None.
    """
    found: list[str] = []
    is_done = threading.Event()
    roots = tuple(roots)

    def keep() -> None:
        try:
            notes = find_note_texts(request, roots, load)
            sent = None if wire is None else _write(wire)
            layout = {**describe_layout(request), **asked}
            texts = SentTexts(request.encode_body().text, sent, layout)
            found.append(store.add(build_objects(texts, notes)))
        except AppError as error:
            _log.warning("A request is not kept: %s", error)
        except Exception:  # noqa: BLE001 - an answer never fails because of what is kept of it
            _log.exception("A request is not kept")
        finally:
            is_done.set()
        _pack(store)

    def wait() -> str | None:
        is_done.wait(LONGEST_WAIT_S)
        return found[0] if found else None

    start_call(keep)
    return wait


def _pack(store: SentStore) -> None:
    """Join the small files of a store. The answer does not wait for it."""
    try:
        store.pack()
    except AppError as error:
        _log.warning("The kept requests are not packed: %s", error)
    except Exception:  # noqa: BLE001 - the files stay as they are
        _log.exception("The kept requests are not packed")


def _write(wire: Mapping[str, Any]) -> str:
    return wire.text if isinstance(wire, EncodedJson) else compact_json(dict(wire))


@dataclass(frozen=True)
class _Sources:
    """What earlier turns say of the notes that their texts come from.

    Attributes:
        versions: the versions of the notes, by path.
        paths: the paths of the notes, by the names that models know.
        images: the images that are notes.
        quotations: the answers that only quote notes, with these.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    images: tuple[KnownText, ...] = ()
    quotations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def join(self, other: "_Sources") -> "_Sources":
        return _Sources(
            {**self.versions, **other.versions},
            {**self.paths, **other.paths},
            (*self.images, *other.images),
            {**self.quotations, **other.quotations},
        )


def _collect_sources(lists: Iterable[TurnList], current: LoggedTurn | None) -> _Sources:
    """Return what turns say of their notes. Those that an earlier request had are not read again.

    Args:
        lists: the turns that are over.
        current: the turn of the request, or None.
    """

    def extend(known: _Sources | None, more: Sequence[MeasuredTurn]) -> _Sources:
        return reduce(_Sources.join, (_read_sources(one.turn) for one in more), known or _Sources())

    found = [turns.accumulate(_SOURCES, extend) for turns in lists]
    last = _Sources() if current is None else _read_sources(current)
    return reduce(_Sources.join, [*found, last])


def _read_sources(turn: LoggedTurn) -> _Sources:
    segments, images = turn.segments, tuple(_list_images(turn.segments))
    return _Sources(_list_versions(segments), _list_names(segments), images, _list_quotations(turn))


def find_note_texts(request: Request, roots: Iterable[str], load: LoadResult) -> NoteTexts:
    """Find out which texts of a request come from which notes.

    Args:
        roots: the folders that paths in the request may be relative to.
        load: returns a tool result that is stored outside of the log, or None.
    """
    reading = request.reading
    segments = (*request.instructions, *request.segments)
    earlier = _collect_sources([reading.summarised, reading.earlier], reading.current)
    results = dict(list_note_texts(request.messages, load))
    results_with_paths = {text: paths for text, paths in results.items() if text and paths}
    return NoteTexts(
        tuple(dict.fromkeys(roots)) or ("",),
        {**earlier.versions, **_list_versions(segments)},
        {**earlier.paths, **_list_names(segments)},
        (
            *_list_instructions(request),
            *earlier.images,
            *_list_images(segments),
            *_list_summary(request, load),
        ),
        {**results_with_paths, **earlier.quotations},
        frozenset(_list_answers(request)) | (results.keys() - results_with_paths.keys()),
    )


def _list_answers(request: Request) -> Iterator[str]:
    """Yield the strings that a model wrote, which may quote notes."""
    for message in request.messages:
        if message.role == "assistant":
            yield from list_message_texts(message)
            for call in list_tool_calls(message):
                yield from _list_strings(call.arguments)


def _list_strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value, with the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from chain.from_iterable(map(_list_strings, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_list_strings, value))


def _list_instructions(request: Request) -> Iterator[KnownText]:
    """Yield the parts of the system message that come from notes."""
    notes = {one.id: one for one in request.instructions}
    for part in request.base.system.parts:
        if (note := notes.get(part.name)) is None:
            continue
        is_outline = note.id == _PROJECT_CONTEXT
        if paths := (find_named_notes(request.path) if is_outline else (note.source,)):
            yield KnownText(part.text.strip(), paths)


def _list_images(segments: Iterable[Segment]) -> Iterator[KnownText]:
    for segment in segments:
        if segment.image is not None and not os.path.isabs(segment.source):
            yield KnownText(segment.image.data, (segment.source,))


def _list_summary(request: Request, load: LoadResult) -> Iterator[KnownText]:
    """Yield the summary of earlier turns, which may quote what tools read in them."""
    reading = request.reading
    if count_summaries(reading.earlier):
        read = collect_notes([reading.summarised], load).turn_paths - reading.withheld
        yield KnownText(reading.earlier[0].messages[0].text, tuple(sorted(read)))


def _list_quotations(turn: LoggedTurn) -> dict[str, tuple[str, ...]]:
    """Return the answers that only quote notes, with the notes that they quote."""
    sources = tuple(dict.fromkeys(segment.source for segment in turn.segments))
    quoting = (entry for entry in turn.answers if entry.model == QUOTING_MODEL)
    return {entry.message.text: sources for entry in quoting if sources}


def _list_versions(segments: Iterable[Segment]) -> dict[str, str]:
    return {one.source: one.version[:VERSION_CHARS] for one in segments if one.version}


def _list_names(segments: Iterable[Segment]) -> dict[str, str]:
    return {one.shown_source: one.source for one in segments if one.shown_source != one.source}
