"""What is kept of a tool's run beside its result: how it went, how long it took, what it read.

It stands in the log as an entry of its own behind the result, so that a chat that is opened again
shows the same steps, and the numbers of its answers still lead to what was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from chains.events import ToolStatus
from context.errors import MalformedEntry
from context.layers import Segment
from context.log.entries import Entry, OtherEntry

__all__ = ["ToolRun"]

KIND: Final = "tool_run"


@dataclass(frozen=True)
class ToolRun:
    """A call that was run.

    Attributes:
        ref_id: where a large result is kept; None where it is in the log itself.
        sources: what it was the first of its turn to read, with the numbers to cite it by.
    """

    call_id: str
    status: ToolStatus
    seconds: float
    ref_id: str | None = None
    sources: tuple[Segment, ...] = ()

    def to_entry(self, id: str, result: str, timestamp: str) -> OtherEntry:
        """Return it as an entry behind that of its result."""
        data = {
            "customType": KIND,
            "callId": self.call_id,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "refId": self.ref_id,
            "sources": [source.to_dict() for source in self.sources],
        }
        return OtherEntry(id, result, timestamp, "custom", data)

    @classmethod
    def from_entry(cls, entry: Entry) -> Self | None:
        """Return the run that an entry tells of; None for any other entry, or a damaged one."""
        if not isinstance(entry, OtherEntry) or entry.data.get("customType") != KIND:
            return None
        call, status = entry.data.get("callId"), entry.data.get("status")
        seconds, ref = entry.data.get("seconds"), entry.data.get("refId")
        if not isinstance(call, str) or not isinstance(seconds, int | float):
            return None
        known: ToolStatus = "ok" if status == "ok" else "error"
        ref_id = ref if isinstance(ref, str) else None
        return cls(call, known, float(seconds), ref_id, _sources(entry.data.get("sources")))


def _sources(value: object) -> tuple[Segment, ...]:
    if not isinstance(value, tuple):
        return ()
    try:
        return tuple(Segment.from_dict(item) for item in value if isinstance(item, Mapping))
    except MalformedEntry:
        return ()
