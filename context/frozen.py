"""JSON values that cannot change, so that messages and entries can be shared without copying."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final


class FrozenMapping(Mapping[str, object]):
    """A JSON object that cannot change and can be hashed; its keys are kept sorted.

    Sorted keys make equal objects render to equal bytes. Two of them are equal when their JSON is,
    so `1`, `1.0` and `true` stay apart.
    """

    def __init__(self, items: Mapping[str, object]) -> None:
        for key in items:
            if not isinstance(key, str):
                raise TypeError(f"A JSON object has text keys only, not {type(key).__name__}.")
        cleaned = {replace_surrogates(key): value for key, value in items.items()}
        self._items = {key: freeze(cleaned[key]) for key in sorted(cleaned)}

    @cached_property
    def json(self) -> str:
        """The object as compact JSON: no blanks, not ASCII-escaped, keys sorted."""
        return compact_json(thaw(self))

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMapping):
            return self.json == other.json
        if isinstance(other, Mapping):
            return bool(thaw(self) == thaw(other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:
        return f"FrozenMapping({thaw(self)!r})"


class EncodedJson(Mapping[str, Any]):
    """A JSON object as text, which is decoded only when somebody looks into it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _items(self) -> Mapping[str, Any]:
        items: Mapping[str, Any] = json.loads(self.text)
        return items

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"EncodedJson({self.text!r})"


_FROZEN: Final = (int, float, FrozenMapping)


def replace_surrogates(text: str) -> str:
    """Return a text that can be written as UTF-8: U+FFFD in the place of each lone surrogate.

    Two halves of a pair that stand side by side are joined.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: Any) -> Any:
    """Return the JSON value without lone surrogates, its keys in their order."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {replace_surrogates(key): clean_json(item) for key, item in value.items()}
    return [clean_json(item) for item in value] if isinstance(value, list) else value


def freeze(value: object) -> object:
    """Return the JSON value with every object and list made immutable, and no lone surrogates.

    Raises:
        TypeError: for anything that JSON cannot hold.
    """
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None or isinstance(value, _FROZEN):
        return value
    if isinstance(value, Mapping):
        return FrozenMapping(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    raise TypeError(f"JSON cannot hold a value of type {type(value).__name__}.")


def thaw(value: object) -> object:
    """Return the JSON value as fresh dictionaries and lists that the caller may change."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def thaw_mapping(value: Mapping[str, object]) -> dict[str, object]:
    """Return the JSON object as a fresh dictionary that the caller may change."""
    return {key: thaw(item) for key, item in value.items()}


def compact_json(value: object) -> str:
    """Return the value as JSON without blanks, not ASCII-escaped, in the order of its keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
