"""Inspect model files (GGUF) before use, and remember them for the list of models.

The paths are stored in a small JSON file. If it is deleted, only the configured model file is
listed.
"""

import json
import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.config.models import ModelChoice, describe_file_choice
from app.config.settings import Settings
from app.errors import InvalidRequest
from chains.errors import LocalModelFailed
from chains.gguf.file import find_path, format_size, make_name
from chains.gguf.process import ModelRunner
from chains.models import look_up_model
from resources.system.files import make_private_folder, read_file, write_atomically

__all__ = ["FileOffer", "RecentModelFiles", "look_at_file"]

_log = logging.getLogger(__name__)
MOST_FILES: Final = 12


@dataclass(frozen=True)
class FileOffer:
    """A model file that the user may choose.

    Attributes:
        choice: the model with its properties.
        sentence: a description of the context length, required memory and free memory.
        obstacle: why the model cannot be loaded now and what to do, or an empty string.
    """

    choice: ModelChoice
    sentence: str
    obstacle: str = ""


def look_at_file(path: Path, values: Settings, local: ModelRunner) -> FileOffer:
    """Inspect a model file without loading it.

    Args:
        path: the file.
        values: the settings, including the context length.
        local: the runner of model files, which knows the free memory and whether a file can be run.

    Raises:
        InvalidRequest: the file is damaged or not a chat model.
    """
    name = make_name(path)
    info = look_up_model(name, local_context=values.chat_local_context)
    if info.file is None or info.input_limit is None:
        raise InvalidRequest(info.problem)
    needed, free = info.file.count_needed_bytes(info.input_limit), local.find_free_bytes()
    free_text = "" if free is None else f", {format_size(free)} are free"
    sentence = (
        f"{info.input_limit:,} of {info.file.context_length:,} tokens of context. "
        f"Needs {format_size(needed)} of memory{free_text}."
    )
    try:
        local.require_loadable(info.file, info.input_limit)
    except LocalModelFailed as error:
        return FileOffer(describe_file_choice(name, values), sentence, str(error))
    return FileOffer(describe_file_choice(name, values), sentence)


class RecentModelFiles:
    """The model files that the user has opened, most recent first. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def list_names(self) -> tuple[str, ...]:
        """Return the names of remembered files that still exist, in the format of `chat.model`."""
        paths = ((name, find_path(name)) for name in self._read())
        return tuple(name for name, path in paths if path is not None and path.is_file())

    def add(self, name: str) -> None:
        """Remember a model file. Failures are only logged."""
        with self._lock:
            names = [name, *(known for known in self._read() if known != name)]
            try:
                make_private_folder(self._path.parent)
                content = json.dumps(names[:MOST_FILES], indent=2, ensure_ascii=False)
                write_atomically(self._path, content.encode())
            except (OSError, UnicodeError) as error:
                _log.warning("A model file could not be remembered: %s", error)

    def _read(self) -> list[str]:
        """Return the stored names, or an empty list if the file is missing or unreadable."""
        try:
            found = json.loads(read_file(self._path))
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("The remembered model files cannot be read: %s", error)
            return []
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
