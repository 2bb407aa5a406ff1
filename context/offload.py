"""What stands in a request for a tool result that is kept elsewhere."""

from typing import Final

PREVIEW_CHARS: Final = 200
_OPENING: Final = "[Tool result stored — "
_CLOSING: Final = '" to read specific portions.'


def offload_stub(tool_name: str, content: str, ref_id: str) -> str:
    """Return the stub of a stored result: its size, its beginning and how to read the rest.

    Source: "Context Management Enhancements", 2.
    """
    size = len(content.encode("utf-8", "surrogatepass"))
    preview = content[:PREVIEW_CHARS] + ("..." if len(content) > PREVIEW_CHARS else "")
    return (
        f'{_OPENING}{size:,} bytes from "{tool_name}".\n'
        f"First {PREVIEW_CHARS} chars: {preview}]\n"
        f'Use the "read_result" tool with ref_id="{ref_id}{_CLOSING}'
    )


def is_offload_stub(content: str) -> bool:
    """Return whether the text is a stub, which holds the only reference to its result."""
    return content.startswith(_OPENING) and content.endswith(_CLOSING)
