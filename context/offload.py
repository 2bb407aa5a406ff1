"""Build and parse stubs. A stub is a short text that replaces a large tool result in a request.

The stub refers to the complete result, which is stored outside of the request.
"""

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
    """A reference to a large tool result that is stored outside of the request.

    Attributes:
        ref_id: the id under which the result is stored.
        tool: the name of the tool.
        bytes: the size of the result in bytes.
    """

    ref_id: str
    tool: str
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """Return the reference as JSON."""
        return {"ref_id": self.ref_id, "tool": self.tool, "bytes": self.bytes}


def offload_stub(tool_name: str, content: str, ref_id: str) -> str:
    """Build a stub, the short text that replaces a large tool result in a request.

    The stub gives the size and the beginning of the result, and says how to read the rest.

    Args:
        tool_name: the name of the tool.
        content: the complete result.
        ref_id: the id under which the result is stored.

    Reasons: ARCHITECTURE.md, "Large results and tools".
    """
    size = len(content.encode("utf-8", "surrogatepass"))
    preview = content[:PREVIEW_CHARS] + ("..." if len(content) > PREVIEW_CHARS else "")
    return (
        f'{_OPENING}{size:,} bytes from "{tool_name}".\n'
        f"First {PREVIEW_CHARS} chars: {preview}]\n"
        f'Use the "read_result" tool with ref_id="{ref_id}{_CLOSING}'
    )


def is_offload_stub(content: str) -> bool:
    """Return whether text is a stub, which replaces a large tool result in a request."""
    return content.startswith(_OPENING) and content.endswith(_CLOSING)


def read_stub(content: str) -> Offloaded | None:
    """Parse a stub, which replaces a large tool result. Return None for any other text."""
    found = _STUB.fullmatch(content) if is_offload_stub(content) else None
    if found is None:
        return None
    size, tool, ref_id = found.groups()
    return Offloaded(ref_id, tool, int(size.replace(",", "")))
