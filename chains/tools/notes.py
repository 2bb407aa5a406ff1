"""The note tools `search_notes`, `read_note` and `list_folder`. Results have citation numbers."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from chains.errors import ToolFailed
from chains.retrieval.passages import build_passages
from chains.tool import Tool
from chains.tools.schema import build_arguments_schema, build_integer_schema, build_text_schema
from context.layers import Layer, Segment, render_segments
from context.messages import ToolDefinition
from vault.coverage import name_count
from vault.embeds import EmbeddedPart, list_embeds
from vault.notes.note import Note
from vault.options import SearchOptions
from vault.records import NoteState
from vault.search.hits import SearchResult
from vault.vault import Vault

__all__ = ["NOTE_TOOLS", "NumberedSources", "build_note_tools"]


class NumberedSources:
    """The sources of a turn, with their citation numbers. Thread-safe."""

    def __init__(self, attached: Iterable[Segment] = ()) -> None:
        self._lock = threading.Lock()
        self._known = {s.id: s for s in attached if s.number is not None}
        self._logged = set(self._known)
        self._last = max((s.number or 0 for s in self._known.values()), default=0)

    def number(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        """Assign citation numbers to segments. A segment that already has a number keeps it."""
        with self._lock:
            return tuple(self._number(segment) for segment in segments)

    @property
    def all(self) -> tuple[Segment, ...]:
        """All segments that can be cited, ordered by citation number."""
        with self._lock:
            return tuple(self._known.values())

    def take_new(self, found: str, stored: str) -> tuple[Segment, ...]:
        """Return the sources of a tool result that must be stored in the log with the result.

        Args:
            found: the text that the tool returned.
            stored: the text that the log stores. If a hook has changed the text of a source in it,
                the source is returned without text.
        """
        with self._lock:
            new = [
                segment
                for id, segment in self._known.items()
                if id not in self._logged and segment.render() in found
            ]
            for segment in new:
                self._logged.add(segment.id)
                if segment.render() not in stored:
                    self._known[segment.id] = replace(segment, content="")
            return tuple(self._known[segment.id] for segment in new)

    def _number(self, segment: Segment) -> Segment:
        known = self._known.get(segment.id)
        if known is None:
            self._last += 1
            known = self._known[segment.id] = replace(segment, number=self._last)
        return replace(segment, number=known.number)


USUAL_HITS: Final = 5
MOST_HITS: Final = 20
MOST_EMBEDDED_CHARS: Final = 12_000  # of what a note embeds, in the result of `read_note`
_NOTHING_FOUND: Final = "Nothing was found. Try other words, or list the notes."
_SEARCH: Final = ToolDefinition(
    "search_notes",
    "Find passages of the notes by words and meaning. Each has a number to cite.",
    build_arguments_schema(
        {
            "query": build_text_schema(
                "Words and filters: tag:x folder:x link:x linked-from:x date:2024-03 task:open "
                "task-priority:high [rating:>=4] -tag:x"
            )
        },
        k=build_integer_schema(f"How many; {USUAL_HITS} where not given.", 1, MOST_HITS),
        offset=build_integer_schema("How many to skip.", 0),
    ),
)
_READ: Final = ToolDefinition(
    "read_note",
    "Read a note, or some of its lines. It gets a number to cite it by.",
    build_arguments_schema(
        {"path": build_text_schema("Its path, as search_notes and list_folder give it.")},
        start=build_integer_schema("First line, counted from 1.", 1),
        end=build_integer_schema("Last line.", 1),
    ),
)
_LIST: Final = ToolDefinition(
    "list_folder",
    "List the notes and folders in a folder of the notes.",
    build_arguments_schema(
        {}, path=build_text_schema("The folder; the uppermost one where not given.")
    ),
)
NOTE_TOOLS: Final = (_SEARCH, _READ, _LIST)


def build_note_tools(
    notes: Vault,
    sources: NumberedSources,
    known: Sequence[Segment] = (),
    on_wait: Callable[[], None] = lambda: None,
) -> tuple[Tool, ...]:
    """Build the tools that read notes.

    Args:
        notes: the open vault.
        sources: the sources of the turn. The tools add the passages and notes that they return.
        known: notes whose text is in the prompt, which searches skip.
        on_wait: called during a long search. It can raise an exception to stop.
    """
    options = SearchOptions(rebuilds=True, on_wait=on_wait)

    def search(arguments: Mapping[str, Any]) -> str:
        query = arguments["query"]
        if not query.strip():
            raise ToolFailed("There is nothing to search for.")
        k, offset = arguments.get("k", USUAL_HITS), arguments.get("offset", 0)
        result, list_summary = _find(notes, query, offset + k + 1, options)
        hits = result.hits[offset : offset + k]
        found = sources.number(build_passages(hits, known=known))
        if not found:
            return "\n".join((list_summary or _NOTHING_FOUND, *result.warnings))
        is_more = len(result.hits) > offset + k
        more = (f"There are more; offset {offset + k} shows the next.",) if is_more else ()
        shown = (
            (list_summary, render_segments(found)) if list_summary else (render_segments(found),)
        )
        return "\n".join((*shown, *more, *result.warnings))

    def read(arguments: Mapping[str, Any]) -> str:
        note = notes.read_allowed(arguments["path"])
        segment = _read_lines(notes, note, arguments.get("start", 1), arguments.get("end"))
        embedded, others = _read_embeds(notes, note, segment)
        found = (part.name_below(str(notes.root)) for part in (segment, *embedded))
        shown = render_segments(sources.number(list(found)))
        more = ", ".join(dict.fromkeys(part.shown_source for part in others))
        return f"{shown}\nEmbedded too, but not shown here: {more}." if more else shown

    def list_folder(arguments: Mapping[str, Any]) -> str:
        folder = arguments.get("path", "").strip("/")
        shown = [n for n in notes.notes() if n.state == "indexed"]
        return _list_folder(folder.removeprefix("./"), shown, notes.filter_allowed)

    return (Tool(_SEARCH, search), Tool(_READ, read), Tool(_LIST, list_folder))


def _find(notes: Vault, query: str, limit: int, options: SearchOptions) -> tuple[SearchResult, str]:
    """Search, or list what a query asks for in words, such as "all notes tagged recipe".

    Returns:
        The hits, and for a list the sentence that says what it holds, else an empty string.
    """
    reading = notes.read_question(query)
    if reading is None or reading.operation not in ("list", "count"):
        return notes.search(query, limit, options), ""
    listed = notes.list_notes(reading.query, limit, rebuilds=True)
    return listed, listed.describe_total()


def _read_lines(notes: Vault, note: Note, start: int, end: int | None) -> Segment:
    lines = note.text.removesuffix("\n").split("\n")
    last = min(end or len(lines), len(lines))
    if start > last:
        wanted = f"line {start:,}" if end is None else f"lines {start:,} to {end:,}"
        raise ToolFailed(f"{note.path} has {name_count(len(lines), 'line')}; it has no {wanted}.")
    from vault.views.blocks import read_with_results  # most turns read no note

    text, structure = read_with_results(notes, note, (start, last))
    place = f"read\n{note.path}\n{start}-{last}\n{note.version}"
    return Segment.build(
        id=hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        layer=Layer.L3,
        kind="passage",
        source=note.path,
        text=text,
        lines=(start, last),
        version=note.version,
        title=note.title,
        structure=structure,
    )


def _read_embeds(notes: Vault, note: Note, read: Segment) -> tuple[list[Segment], list[Segment]]:
    """Read the notes and parts that the read lines embed.

    Returns:
        The segments within the limit, and the others.
    """
    shown: list[Segment] = []
    others: list[Segment] = []
    left = MOST_EMBEDDED_CHARS
    for part in list_embeds(notes, note, read.lines):
        if isinstance(part, EmbeddedPart):
            segment = _read_lines(notes, part.note, *(part.lines or (1, None)))
            left -= len(segment.content)
            (shown if left >= 0 else others).append(segment)
    return shown, others


def _list_folder(
    folder: str,
    notes: Sequence[NoteState],
    filter_allowed: Callable[[Sequence[str]], frozenset[str]],
) -> str:
    prefix = "" if folder in ("", ".") else f"{folder}/"
    inside = [note for note in notes if note.path.startswith(prefix)]
    if not inside and prefix:
        raise ToolFailed(f"There are no notes in a folder {folder}. List the uppermost one first.")
    counts: dict[str, int] = {}
    here: dict[str, str] = {}
    for note in inside:
        name, slash, _ = note.path.removeprefix(prefix).partition("/")
        if slash:
            counts[name] = counts.get(name, 0) + 1
        else:
            here[note.path] = note.title
    folders = [
        f"{prefix}{name}/ ({name_count(count, 'note')})" for name, count in sorted(counts.items())
    ]
    files = [f"{path}: {here[path]}" for path in sorted(filter_allowed(list(here)))]
    return "\n".join((*folders, *files)) or "There are no notes."
