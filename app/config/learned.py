"""What was learned about models from the requests that their services refused."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from app.durable import read_file, write_atomically
from app.paths import make_private_folder
from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.llm.urls import parse_place
from chains.providers import name_service, remove_prefix

__all__ = ["LearnedModels", "LearnedShape"]

_log = logging.getLogger(__name__)
MOST_MODELS: Final = 200
# Servers are updated: what one refused a month ago is tried again.
SHAPE_KEPT: Final = timedelta(days=30)


@dataclass(frozen=True)
class LearnedShape:
    """The shape of requests that was learned for a model.

    Attributes:
        owner: the model with its address, as in `ModelInfo.learned_owner`.
        shape: the shape.
        learned: when it was learned.
    """

    owner: str
    shape: RequestShape
    learned: datetime

    @property
    def model(self) -> str:
        """The name of the model, without its provider's prefix."""
        return remove_prefix(self.owner.partition(" ")[2])

    @property
    def place(self) -> str:
        """The host of the model's server, or the name of its provider."""
        base = self.owner.partition(" ")[0]
        return parse_place(base) or name_service(base)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape as a dict for JSON."""
        return {
            "model": self.model,
            "place": self.place,
            "shape": list(self.shape.texts),
            "learned": self.learned.isoformat(),
            "until": self.ends.isoformat(),
        }

    @property
    def ends(self) -> datetime:
        """When the usual request is tried again."""
        return self.learned + SHAPE_KEPT


def _now() -> datetime:
    return datetime.now(UTC)


class LearnedModels:
    """What was learned about models from refusals: context lengths and shapes. Thread-safe.

    It is stored in a JSON file, which is read on each use, because another process may have
    replaced it.

    Args:
        path: the file, which need not exist.
        now: returns the current time.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = _now) -> None:
        self._path, self._now = path, now
        self._lock = threading.Lock()

    def find_limit(self, owner: str, reported: int | None) -> int | None:
        """Return the context length that was stored for a model, or None if there is none.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            reported: the context length that the model's description currently gives. The stored
                one is ignored if the description has changed since.
        """
        entry = self._read_entry(owner)
        limit = entry.get("limit")
        if entry.get("reported") != reported:
            return None
        return limit if isinstance(limit, int) and limit > 0 else None

    def learn_limit(self, owner: str, limit: int, reported: int | None) -> None:
        """Store a model's context length. Failures are only logged.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            limit: the context length in tokens.
            reported: the context length that the model's description currently gives, or None.
        """
        self._update(owner, {"limit": limit, "reported": reported})

    def find_shape(self, owner: str) -> RequestShape:
        """Return the shape of a model's requests. It is the usual one unless another was learned.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
        """
        found = self._read_shape(owner, self._read_entry(owner))
        return USUAL_SHAPE if found is None else found.shape

    def list_shapes(self) -> tuple[LearnedShape, ...]:
        """Return the shapes that were learned in the last month, the newest first."""
        found = (self._read_shape(owner, entry) for owner, entry in self._read().items())
        return tuple(shape for shape in found if shape is not None)[::-1]

    def _read_shape(self, owner: str, entry: object) -> LearnedShape | None:
        """Read the shape in an entry, or return None if it has none or only an old one."""
        if not isinstance(entry, Mapping):
            return None
        shape = RequestShape.from_dict(entry.get("shape"))
        try:
            learned = datetime.fromisoformat(str(entry.get("shapeLearned")))
            found = LearnedShape(owner, shape, learned)
            is_kept = learned <= self._now() < found.ends
        except (ValueError, TypeError, OverflowError):  # not a time that this class wrote
            return None
        return found if is_kept and shape != USUAL_SHAPE else None

    def learn_shape(self, owner: str, shape: RequestShape) -> None:
        """Store the shape of a model's requests. Failures are only logged.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            shape: the shape of a request that the model has answered.
        """
        learned = self._now().isoformat(timespec="seconds")
        self._update(owner, {"shape": shape.to_dict(), "shapeLearned": learned})

    def forget_shape(self, owner: str) -> None:
        """Forget the shape of a model's requests, so that the usual one is tried again."""
        self._update(owner, {"shape": None, "shapeLearned": None})

    def _update(self, owner: str, fields: Mapping[str, object]) -> None:
        """Change some fields of a model's entry, and move the entry to the end."""
        if not owner:
            return
        with self._lock:
            known = self._read()
            entry = known.pop(owner, None)
            changed = {**(entry if isinstance(entry, dict) else {}), **fields}
            known[owner] = {name: value for name, value in changed.items() if value is not None}
            newest = dict(list(known.items())[-MOST_MODELS:])
            try:
                make_private_folder(self._path.parent)
                write_atomically(self._path, json.dumps(newest, indent=2).encode())
            except OSError as error:
                _log.warning("What was learned about a model could not be stored: %s", error)

    def _read_entry(self, owner: str) -> Mapping[str, Any]:
        entry = self._read().get(owner) if owner else None
        return entry if isinstance(entry, dict) else {}

    def _read(self) -> dict[str, Any]:
        """Return all entries, or an empty mapping if the file is missing or unreadable."""
        try:
            found = json.loads(read_file(self._path))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("What was learned about models cannot be read: %s", error)
            return {}
        return found if isinstance(found, dict) else {}
