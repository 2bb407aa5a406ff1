"""The child process that parses PDF, HTML and Word files.

Run as `python -P -m vault.notes.parser_worker`. A request contains a header `{kind}` and the bytes
of a file. The answer contains the parts of the file's text, or a header `{failure}` with the
reason.
"""

from typing import Final

from resources.system.processes import limit_memory
from vault.errors import ReadingFailed
from vault.notes.readers import read_extract
from vault.workers.frames import Answer, Frame, Requests

MAX_MEMORY_BYTES: Final = 1024**3


def main() -> None:
    """Limit the memory of this process, and answer requests until the parent process ends."""
    limit_memory(MAX_MEMORY_BYTES)
    Requests(ends_at_once=True).serve(_read)


def _read(frame: Frame) -> Answer:
    try:
        extract = read_extract(frame.header["kind"], frame.payload)
    except ReadingFailed as error:
        return {"failure": error.reason}, b""
    except MemoryError:
        return {"failure": "reading it takes more memory than a note is worth"}, b""
    parts = [(part.kind, part.text, part.level) for part in extract.parts]
    return {
        "parts": parts,
        "title": extract.title,
        "aliases": list(extract.aliases),
        "is_paged": extract.is_paged,
    }, b""


if __name__ == "__main__":
    main()
