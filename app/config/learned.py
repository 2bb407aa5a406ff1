"""What was learned about models from the requests that their services refused.

Each part of a shape, such as a field that is left out, has a date of its own: a server that refuses
one more thing says nothing about what it refused before.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.llm.urls import parse_place
from chains.providers import name_service, remove_prefix
from context.json_codec import Record
from resources.system.files import lock_folder, make_private_folder, read_file, write_atomically

__all__ = ["LearnedModels", "LearnedShape"]

_log = logging.getLogger(__name__)
MOST_MODELS: Final = 200
# Servers are updated: what one refused a month ago is tried again.
SHAPE_KEPT: Final = timedelta(days=30)
# The fields to change in an entry, or a function that returns them for the present entry.
Change = Mapping[str, object] | Callable[[Mapping[str, Any]], Mapping[str, object]]


# A part of a shape: `omitted` or `forms`, and the field or form.
ShapePart = tuple[str, str]


@dataclass(frozen=True)
class LearnedShape(Record):
    """The shape of requests that was learned for a model.

    Attributes:
        owner: the model with its address, as in `ModelInfo.learned_owner`.
        dates: when each part of the shape was learned.
    """

    owner: str
    dates: Mapping[ShapePart, datetime]

    json_shape = (
        "model",
        "place",
        "shape = shape.texts",
        "learned",
        "until = ends",
        "parts",
    )

    @property
    def shape(self) -> RequestShape:
        """The shape with all parts."""
        return _build_shape(self.dates)

    @property
    def model(self) -> str:
        """The name of the model, without its provider's prefix."""
        return remove_prefix(self.owner.partition(" ")[2])

    @property
    def place(self) -> str:
        """The host of the model's server, or the name of its provider."""
        base = self.owner.partition(" ")[0]
        return parse_place(base) or name_service(base)

    @property
    def learned(self) -> datetime:
        """When the oldest part was learned."""
        return min(self.dates.values())

    @property
    def parts(self) -> list[dict[str, object]]:
        """Each part with the times at which it was learned, and is tried in the usual form."""
        parts = (
            (", ".join(_build_shape([part]).texts), learned) for part, learned in self.dates.items()
        )
        return [
            {"shape": shape, "learned": learned, "until": learned + SHAPE_KEPT}
            for shape, learned in sorted(parts, key=lambda part: part[0])
        ]

    @property
    def ends(self) -> datetime:
        """When the first part is tried in the usual form again."""
        return self.learned + SHAPE_KEPT


def _list_parts(shape: RequestShape) -> list[ShapePart]:
    return [(kind, name) for kind, names in shape.to_dict().items() for name in names]


def _build_shape(parts: Iterable[ShapePart]) -> RequestShape:
    kinds: dict[str, list[str]] = {}
    for kind, name in parts:
        kinds.setdefault(kind, []).append(name)
    return RequestShape.from_dict(kinds)


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
        """Read the parts of the shape in an entry that are still kept, or None if there are none.

        Earlier versions stored one date for all parts.
        """
        if not isinstance(entry, Mapping) or not entry.get("shape"):
            return None
        dates = entry.get("shapeDates")
        named = dates if isinstance(dates, Mapping) else {}
        found = {}
        for part in _list_parts(RequestShape.from_dict(entry.get("shape"))):
            kind = named.get(part[0])
            date = kind.get(part[1]) if isinstance(kind, Mapping) else None
            learned = self._read_date(date or entry.get("shapeLearned"))
            if learned is not None:
                found[part] = learned
        return LearnedShape(owner, found) if found else None

    def _read_date(self, value: object) -> datetime | None:
        """Read a date of the last month, or return None."""
        try:
            learned = datetime.fromisoformat(str(value))
            return learned if learned <= self._now() < learned + SHAPE_KEPT else None
        except (ValueError, TypeError, OverflowError):  # not a time that this class wrote
            return None

    def learn_shape(self, owner: str, shape: RequestShape) -> None:
        """Store the shape of a model's requests. Failures are only logged.

        What was learned before keeps its date, also if another process has learned it.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            shape: the shape of a request that the model has answered.
        """

        def change(entry: Mapping[str, Any]) -> Mapping[str, object]:
            known = self._read_shape(owner, entry)
            now = self._now().replace(microsecond=0)
            dates = dict.fromkeys(_list_parts(shape), now) | dict(known.dates if known else {})
            stored: dict[str, dict[str, str]] = {}
            for (kind, name), learned in dates.items():
                stored.setdefault(kind, {})[name] = learned.isoformat()
            return {
                "shape": _build_shape(dates).to_dict(),
                "shapeLearned": now.isoformat(),
                "shapeDates": stored,
            }

        self._update(owner, change)

    def forget_shape(self, owner: str) -> None:
        """Forget the shape of a model's requests, so that the usual one is tried again."""
        self._update(owner, {"shape": None, "shapeLearned": None, "shapeDates": None})

    def _update(self, owner: str, change: Change) -> None:
        """Change some fields of a model's entry, and move the entry to the end.

        No other process changes the file meanwhile.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            change: the fields, or a function that returns them for the present entry.
        """
        if not owner:
            return
        folder = self._path.parent
        try:
            with self._lock:
                make_private_folder(folder)
                with lock_folder(folder):
                    self._write(owner, change)
        except OSError as error:
            _log.warning("What was learned about a model could not be stored: %s", error)

    def _write(self, owner: str, change: Change) -> None:
        known = self._read()
        found = known.pop(owner, None)
        entry = found if isinstance(found, dict) else {}
        changed = {**entry, **(change(entry) if callable(change) else change)}
        known[owner] = {name: value for name, value in changed.items() if value is not None}
        newest = dict(list(known.items())[-MOST_MODELS:])
        write_atomically(self._path, json.dumps(newest, indent=2).encode())

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
