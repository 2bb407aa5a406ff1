"""Build and parse stubs and pages. A stub is a short text that replaces a large tool result.

The stub refers to the complete result, which is stored outside of the request, and which the tool
`read_result` returns in pages.
"""

import re
from dataclasses import dataclass
from typing import Final

from context.json_codec import Record

PREVIEW_CHARS: Final = 200
READ_RESULT_NAME: Final = "read_result"
_PAGE_HEAD: Final = re.compile(r"\[Characters (\d+) to (\d+) of \d+; [^\n]*\]\n")
_OPENING: Final = "[Tool result stored — "
_CLOSING: Final = '" to read specific portions.'
_STUB: Final = re.compile(
    re.escape(_OPENING) + r'([\d,]+) bytes from "(.*?)"\.\n.*ref_id="([^"]*)' + re.escape(_CLOSING),
    re.DOTALL,
)
_PREVIEW: Final = re.compile(
    rf"(?<=^First {PREVIEW_CHARS} chars: ).*(?=\]$)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Offloaded(Record):
    """A reference to a large tool result that is stored outside of the request.

    Attributes:
        ref_id: the id under which the result is stored.
        tool: the name of the tool.
        bytes: the size of the result in bytes.
    """

    ref_id: str
    tool: str
    bytes: int


def offload_stub(tool_name: str, content: str, ref_id: str) -> str:
    """Build a stub, the short text that replaces a large tool result in a request.

    The stub gives the size and the beginning of the result, and says how to read the rest.

    Args:
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


def replace_preview(stub: str, preview: str) -> str:
    """Return a stub with another beginning of the result."""
    return _PREVIEW.sub(lambda _: preview, stub, count=1)


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


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A page of a stored result.

    Attributes:
        head: the line that says which characters of the result the page holds.
        start: the index of its first character in the result.
        end: the index after its last character.
        text: the characters.
    """

    head: str
    start: int
    end: int
    text: str


def format_page_head(start: int, end: int, length: int) -> str:
    """Return the first line of a page, which says where it is and how to go on.

    Args:
        start: the index of the first character of the page in the result.
        end: the index after its last character.
        length: the number of characters of the result.
    """
    rest = f"go on with offset={end}" if end < length else "the end"
    return f"[Characters {start} to {end} of {length}; {rest}]\n"


def read_page(content: str) -> ResultPage | None:
    """Parse a page of a stored result. Return None for any other text."""
    head = _PAGE_HEAD.match(content)
    if head is None:
        return None
    return ResultPage(head[0], int(head[1]), int(head[2]), content[head.end() :])
