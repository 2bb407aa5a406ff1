"""A chat and a search that are kept in memory, for tests of chains."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from context.assemble.request import Request
from context.log.entries import Entry, MessageEntry, OtherEntry, UsageEntry, is_path_entry
from vault.options import USUAL_SEARCH, SearchOptions
from vault.questions.reader import Reading
from vault.search.search import Hit, SearchResult


@dataclass
class MemorySession:
    """A chat that records its entries, and each write of entries, in lists."""

    id: str = "chat1"
    entries: list[Entry] = field(default_factory=list)
    writes: list[tuple[Entry, ...]] = field(default_factory=list)
    saved: list[dict[str, Any]] = field(default_factory=list)
    sent: list[tuple[Request, Mapping[str, Any] | None]] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    partials: list[MessageEntry] = field(default_factory=list)

    def path(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if is_path_entry(entry))

    def usage(self) -> Sequence[UsageEntry]:
        return [entry for entry in self.entries if isinstance(entry, UsageEntry)]

    def custom(self, custom_type: str) -> Sequence[OtherEntry]:
        others = [entry for entry in self.entries if isinstance(entry, OtherEntry)]
        return [entry for entry in others if entry.data.get("customType") == custom_type]

    def list_degraded(self) -> Sequence[str]:
        return ()

    def append(self, entries: Sequence[Entry]) -> None:
        self.writes.append(tuple(entries))
        self.entries.extend(entries)

    def new_id(self) -> str:
        self._count = getattr(self, "_count", 0) + 1
        return f"{self._count:08x}"

    def now(self) -> str:
        return f"2026-01-01T00:00:{len(self.entries):02d}.000Z"

    def find_previous_body(self) -> Mapping[str, Any] | None:
        return self.saved[-1]["body"] if self.saved else None

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: Mapping[str, Any],
        wire: Mapping[str, Any] | None,
    ) -> None:
        kept = {"turn": turn, "request": request, "report": report, "body": body, "wire": wire}
        self.saved.append(kept)

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:
        assert (self.saved[-1]["turn"], self.saved[-1]["request"]) == (turn, request)
        self.saved.append({**self.saved[-1], "report": report})
        return True

    def keep_sent(
        self, request: Request, wire: Mapping[str, Any] | None
    ) -> Callable[[], str | None]:
        self.sent.append((request, wire))
        return lambda: None

    def save_partial(self, entry: MessageEntry) -> None:
        self.partials.append(entry)

    def forget_partial(self) -> None:
        self.partials.clear()

    def keep_result(self, tool: str, content: str) -> str | None:
        ref_id = f"r{len(self.results)}"
        self.results[ref_id] = content
        return ref_id

    def load_result(self, ref_id: str) -> str | None:
        return self.results.get(ref_id)

    @property
    def messages(self) -> list[MessageEntry]:
        """The messages of the chat, oldest first."""
        return [entry for entry in self.entries if isinstance(entry, MessageEntry)]


def hit(path: str, text: str, first: int = 1, **fields: Any) -> Hit:
    """Build a search result from a passage's complete lines."""
    last = first + text.count("\n")
    values: dict[str, Any] = {
        "id": f"{path}:{first}",
        "path": path,
        "title": path.rsplit("/", 1)[-1].removesuffix(".md"),
        "heading": (),
        "lines": (first, last),
        "text": text,
        "score": 1.0,
        "signals": {},
        "version": "v1",
    }
    return Hit(**(values | fields))


class ListSearch:
    """A search that returns the given hits for any query."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = hits
        self.asked: list[tuple[str, int]] = []
        self.session_notes: list[tuple[str, ...]] = []
        self.readings: dict[str, Reading] = {}

    def search(self, query: str, k: int, options: SearchOptions = USUAL_SEARCH) -> SearchResult:
        self.asked.append((query, k))
        self.session_notes.append(tuple(options.session_notes))
        return SearchResult(query, self.hits[:k], 0.0)

    def measure_cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return ()

    def find_days(self, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        return {}

    def read_question(self, text: str, today: date | None = None) -> Reading | None:
        return self.readings.get(text)

    def list_notes(
        self, query: str, limit: int, offset: int = 0, *, rebuilds: bool = False
    ) -> SearchResult:
        self.asked.append((query, limit))
        end, total = offset + limit, len(self.hits)
        rest = end if end < total else None
        return SearchResult(query, self.hits[offset:end], 0.0, total=total, next=rest)
