"""The values of sent requests: how one is stored in objects, and how it is read again.

A request is a list of items: short texts, and references to objects, each of which holds a piece of
the text or a list of items. Lists are cut at fixed places from their start, so that a chat that
only grows shares the lists of its history between requests.
"""

import hashlib
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from app.requests.pieces import NoteRef, NoteTexts, Piece, split_json
from context.envelope import EncodedJson
from context.history.quotes import QUOTE_LINE

__all__ = [
    "EXCLUDED",
    "GoneNote",
    "ObjectKind",
    "SentObject",
    "SentRequest",
    "SentTexts",
    "build_objects",
    "hash_text",
]

GROUP_ITEMS: Final = 16
HASH_CHARS: Final = 32
LEAST_OBJECT_CHARS: Final = 96  # shorter texts that come from no note are stored where they stand
EXCLUDED: Final = "excluded"  # the reason for which answers that quote a note are removed too
REMOVED: Final = "[The text of {} is not kept any more.]"

# A text, or `[hash]` for the text of an object, or `[hash, 1]` for the items of an object.
Item = str | list[Any]
ObjectKind = Literal["piece", "answer", "list", "record"]


@dataclass(frozen=True, slots=True)
class SentObject:
    """A stored object: a piece of a request, a list of items, or the record of a request.

    Attributes:
        hash: its name, which is made of its notes and its text.
        notes: the notes that it comes from.
        kind: what the text is: a `piece` of a request, an `answer` that a model wrote and a later
            request repeats, a `list` of items, or the `record` of a request.
    """

    hash: str
    text: str
    notes: tuple[NoteRef, ...] = ()
    kind: ObjectKind = "piece"

    @classmethod
    def build(
        cls, text: str, notes: tuple[NoteRef, ...] = (), kind: ObjectKind = "piece"
    ) -> "SentObject":
        """Build an object, and compute its name."""
        named = "\0".join(f"{one.root}\0{one.path}\0{one.version}" for one in notes)
        return cls(hash_text(f"{named}\0\0{text}")[:HASH_CHARS], text, notes, kind)


@dataclass(frozen=True, slots=True)
class GoneNote:
    """A note whose text is missing in a stored request.

    Attributes:
        path: the path of the note.
        reason: `excluded`, `purged`, or `lost` if the file with the text is missing or damaged.
    """

    path: str
    reason: str


@dataclass(frozen=True)
class SentTexts:
    """What is stored of a request.

    Attributes:
        body: the request as JSON that does not depend on the provider.
        wire: the JSON that was sent, or None if nothing was sent.
        report: the parts of the context report that tell the layers.
    """

    body: str
    wire: str | None
    report: Mapping[str, Any]


@dataclass(frozen=True)
class SentRequest:
    """A request as it was sent.

    Attributes:
        body, wire, report: see `SentTexts`.
        gone: the notes whose text is missing. A sentence stands in the place of each.
        is_exact: whether the JSON is what was sent, byte for byte, as its hash shows.
    """

    body: EncodedJson
    wire: EncodedJson | None
    report: Mapping[str, Any]
    gone: tuple[GoneNote, ...] = ()
    is_exact: bool = False


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text, which may contain lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def build_objects(sent: SentTexts, notes: NoteTexts) -> list[SentObject]:
    """Build the objects of a request. The last one is its record."""
    made: dict[str, SentObject] = {}

    def add(made_object: SentObject) -> str:
        made[made_object.hash] = made_object
        return made_object.hash

    def store(text: str) -> list[Item]:
        return _fold(list(_make_items(split_json(text, notes), add)), add)

    report = json.dumps(sent.report, ensure_ascii=False, separators=(",", ":"))
    exact = sent.body if sent.wire is None else sent.wire
    record = {
        "body": store(sent.body),
        "wire": None if sent.wire is None else store(sent.wire),
        "report": report,
        "sha256": hash_text(exact),
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    last = SentObject.build(text, kind="record")
    made.pop(last.hash, None)
    return [*made.values(), last]


def _make_items(pieces: Sequence[Piece], add: Callable[[SentObject], str]) -> Iterator[Item]:
    joined = ""
    for piece in pieces:
        if len(piece.text) < LEAST_OBJECT_CHARS and not (piece.notes or piece.is_answer):
            joined += piece.text
            continue
        if joined:
            yield joined
            joined = ""
        kind: ObjectKind = "answer" if piece.is_answer else "piece"
        yield [add(SentObject.build(piece.text, piece.notes, kind))]
    if joined:
        yield joined


def _fold(items: list[Item], add: Callable[[SentObject], str]) -> list[Item]:
    """Replace groups of items by references to them, until few are left."""
    while len(items) > 2 * GROUP_ITEMS:
        whole = len(items) // GROUP_ITEMS * GROUP_ITEMS
        groups = (items[at : at + GROUP_ITEMS] for at in range(0, whole, GROUP_ITEMS))
        encoded = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in groups)
        folded: list[Item] = [[add(SentObject.build(text, kind="list")), 1] for text in encoded]
        items = [*folded, *items[whole:]]
    return items


@dataclass
class RecordReader:
    """Reads the record of a request.

    Attributes:
        load: returns the object with a hash, or the notes of one whose text is gone.
        is_for_model: whether the request is sent again, so that no missing text may name its note.
        gone: the notes whose text was missing so far.
    """

    load: Callable[[str], SentObject | tuple[GoneNote, ...]]
    is_for_model: bool = False
    gone: dict[GoneNote, None] = field(default_factory=dict)
    _last_notes: tuple[GoneNote, ...] = ()

    def read(self, record: SentObject) -> SentRequest:
        """Return the request of a record."""
        data = json.loads(record.text)
        body = self._join(data["body"])
        wire = None if data["wire"] is None else self._join(data["wire"])
        is_exact = hash_text(body if wire is None else wire) == data["sha256"]
        sent = None if wire is None else EncodedJson(wire)
        report = json.loads(data["report"])
        return SentRequest(EncodedJson(body), sent, report, tuple(self.gone), is_exact)

    def _join(self, items: Sequence[Item]) -> str:
        return "".join(map(self._read_item, items))

    def _read_item(self, item: Item) -> str:
        if isinstance(item, str):
            self._last_notes = ()
            return item
        found = self.load(str(item[0]))
        if isinstance(found, SentObject):
            self._last_notes = ()
            return self._join(json.loads(found.text)) if len(item) > 1 else found.text
        is_repeated = self._last_notes == found
        self._last_notes = found
        if is_repeated:  # the rest of the same passage
            return ""
        self.gone |= dict.fromkeys(found)
        text = _write_nameless(found) if self.is_for_model else _write_named(found)
        return json.dumps(text, ensure_ascii=False)[1:-1]


def _write_named(gone: Sequence[GoneNote]) -> str:
    names = ", ".join(dict.fromkeys(note.path for note in gone))
    notice = REMOVED.format(html.escape(names, quote=False))
    return f'<source path="{html.escape(names)}">\n{notice}\n</source>'


def _write_nameless(gone: Sequence[GoneNote]) -> str:
    is_excluded = any(note.reason == EXCLUDED for note in gone)
    return QUOTE_LINE if is_excluded else REMOVED.format("a note")


def list_references(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the hashes that an object with items refers to, and whether each has items itself.

    Args:
        text: the text of a record or of a list of items.
    """
    data = json.loads(text)
    lists = [data] if isinstance(data, list) else [data["body"], data["wire"] or ()]
    for items in lists:
        for item in items:
            if isinstance(item, list):
                yield str(item[0]), len(item) > 1
