"""Build and parse stubs: short texts that replace large tool results in a request."""

import re
from dataclasses import dataclass
from typing import Final

PREVIEW_CHARS: Final = 200
_OPENING: Final = "[Tool result stored — "
_CLOSING: Final = '" to read specific portions.'
_STUB: Final = re.compile(
    re.escape(_OPENING) + r'([\d,]+) bytes from "(.*?)"\.\n.*ref_id="([^"]*)' + re.escape(_CLOSING),
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A reference to a tool result that is stored outside of the request."""

    ref_id: str
    tool: str
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """Return the reference as JSON."""
        return {"ref_id": self.ref_id, "tool": self.tool, "bytes": self.bytes}


def offload_stub(tool_name: str, content: str, ref_id: str) -> str:
    """Build the stub of a tool result: its size, its beginning, and how to read the rest.

    Source: the design document "Context Management Enhancements", section 2.
    """
    size = len(content.encode("utf-8", "surrogatepass"))
    preview = content[:PREVIEW_CHARS] + ("..." if len(content) > PREVIEW_CHARS else "")
    return (
        f'{_OPENING}{size:,} bytes from "{tool_name}".\n'
        f"First {PREVIEW_CHARS} chars: {preview}]\n"
        f'Use the "read_result" tool with ref_id="{ref_id}{_CLOSING}'
    )


def is_offload_stub(content: str) -> bool:
    """Return whether a text is a stub, which is the only reference to a stored tool result."""
    return content.startswith(_OPENING) and content.endswith(_CLOSING)


def read_stub(content: str) -> Offloaded | None:
    """Parse a stub, which replaces a stored tool result. Return None for any other text."""
    found = _STUB.fullmatch(content) if is_offload_stub(content) else None
    if found is None:
        return None
    size, tool, ref_id = found.groups()
    return Offloaded(ref_id, tool, int(size.replace(",", "")))
