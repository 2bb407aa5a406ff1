"""What all entries of a log have in common: their place in it, and typed access to their JSON."""

from collections.abc import Mapping
from typing import Final, Protocol

from context.errors import MalformedEntry
from context.messages import FrozenMapping, Message, thaw_mapping

NOTHING: Final = FrozenMapping({})


class Placed(Protocol):
    """An entry as far as its place in the log goes."""

    @property
    def id(self) -> str:
        """Unique in its log."""

    @property
    def parent_id(self) -> str | None:
        """The entry that it follows."""

    @property
    def timestamp(self) -> str:
        """When it was written, ISO 8601, UTC."""

    @property
    def type(self) -> str:
        """What kind of entry it is."""

    @property
    def extra(self) -> Mapping[str, object]:
        """What else is kept with it, under keys that its type does not have."""


class Fields:
    """Typed access to the JSON of one entry; what is not of its type raises `MalformedEntry`."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data

    def place(self) -> tuple[str, str | None, str]:
        """Return id, parent and time."""
        name, parent = self._data.get("id"), self._data.get("parentId")
        time = self._data.get("timestamp", "")
        if (
            isinstance(name, str)
            and isinstance(time, str)
            and (parent is None or isinstance(parent, str))
        ):
            return name, parent, time
        return self.text("id"), self.text_or_none("parentId"), self.text("timestamp", default="")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        value = self._data.get(key, default)
        if not isinstance(value, str):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not text.")
        return value

    def text_or_none(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        value = self._data.get(key)
        return value if value is None or isinstance(value, str) else self.text(key)

    def integer(self, key: str, default: int | None = None) -> int:
        """Return a whole number."""
        value = self._data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a whole number.")
        return value

    def number(self, key: str) -> float:
        """Return a number."""
        value = self._data.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a number.")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self._data.get(key)
        if not isinstance(value, bool):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not true or false.")
        return value

    def mapping(self, key: str) -> FrozenMapping:
        """Return a JSON object."""
        value = self._data.get(key)
        if not isinstance(value, Mapping):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a JSON object.")
        return FrozenMapping(value)

    def mapping_or_none(self, key: str) -> FrozenMapping | None:
        """Return a JSON object, or None where there is none."""
        return None if self._data.get(key) is None else self.mapping(key)

    def mappings(self, key: str) -> tuple[FrozenMapping, ...]:
        """Return a list of JSON objects."""
        return tuple(FrozenMapping(item) for item in self._objects(key))

    def texts_or_none(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts, or None where there is none."""
        value = self._data.get(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise MalformedEntry(f"An entry's {key!r} is not a list of texts.")
        return tuple(value)

    def messages(self, key: str) -> tuple[Message, ...]:
        """Return a list of messages."""
        return tuple(Message.from_dict(item) for item in self._objects(key))

    def _objects(self, key: str) -> tuple[Mapping[str, object], ...]:
        value = self._data.get(key)
        if not isinstance(value, list | tuple):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a list.")
        if not all(isinstance(item, Mapping) for item in value):
            raise MalformedEntry(f"An entry's {key!r} holds something else than JSON objects.")
        return tuple(value)


def head(entry: Placed) -> dict[str, object]:
    """Return the fields that every entry begins with, and what else is kept with it."""
    place: dict[str, object] = {
        "type": entry.type,
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": entry.timestamp,
    }
    return place | thaw_mapping(entry.extra) if entry.extra else place
