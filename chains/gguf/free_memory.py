"""Compare the memory that a model needs with the free memory."""

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chains.errors import LocalModelFailed
from chains.gguf.file import ModelFile

__all__ = ["FindFree", "find_free_bytes", "format_size", "read_used_bytes", "require_memory"]

# The smallest value of the setting `chat.localContext`.
LEAST_CONTEXT: Final = 2_048
_IS_LINUX: Final = platform.system() == "Linux"
_MEMORY_FILE: Final = Path("/proc/meminfo")

# Returns the free memory in bytes, or None if it is unknown.
FindFree = Callable[[], int | None]


def find_free_bytes() -> int | None:
    """Return the available memory, or None if the system does not report it.

    Memory used for file caches counts as available. On macOS, the result is the total memory.
    """
    if _IS_LINUX:
        return _read_available(_MEMORY_FILE)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _read_available(file: Path) -> int | None:
    try:
        lines = file.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        number = rest.split()[0] if rest.split() else ""
        if name == "MemAvailable" and number.isdecimal():
            return int(number) * 1_024
    return None


def read_used_bytes(pid: int) -> int:
    """Return the memory used by a process, or 0 if it has ended or is unknown."""
    try:
        if _IS_LINUX:
            pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        command = ["ps", "-o", "rss=", "-p", str(pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1_024
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0


def require_memory(file: ModelFile, context: int, free_bytes: int | None) -> None:
    """Raise `LocalModelFailed` if a model does not fit into the available memory.

    Args:
        file: the model.
        context: the context length in tokens.
        free_bytes: the available memory, or None to skip the check.
    """
    needed = file.count_needed_bytes(context)
    if free_bytes is None or needed <= free_bytes:
        return
    raise LocalModelFailed(
        f"{file.name} needs {format_size(needed)} of memory with a context of {context:,} tokens, "
        f"and {format_size(free_bytes)} are free. {_find_way_out(file, context, free_bytes)}",
        service=file.name,
    )


def _find_way_out(file: ModelFile, context: int, free_bytes: int) -> str:
    spare = free_bytes - file.count_needed_bytes(0)
    fitting = spare // file.token_bytes if file.token_bytes else 0
    fitting -= fitting % 1_024
    if LEAST_CONTEXT <= fitting < context:
        return f"Close other programs, or set chat.localContext to at most {fitting:,}."
    return "Close other programs, or choose a smaller model."


def format_size(count: int) -> str:
    """Format a size, such as `4.7 GB`."""
    if count < 950_000_000:
        return f"{max(1, round(count / 1e6)):,} MB"
    return f"{count / 1e9:,.1f} GB"
