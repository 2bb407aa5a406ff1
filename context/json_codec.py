"""Convert values to and from JSON, by the fields of their dataclasses.

A dataclass is an object with its fields in order. A class whose JSON differs declares it as
`json_shape`, a tuple with one text for each key:

    "lines"                     the attribute of that name, a field or a property
    "n = number"                another attribute, which may be one of an attribute: "plan.diff"
    "project or null"           null in place of an empty value
    "seconds to 3 digits"       a rounded number
    "sentence if sentence"      only where an attribute, which may be another one, has a value
    "edits unless null"         only where it has a value that is not null

Other declarations of a class, all optional:

    json_type       the text of its key "type", which is written first and tells apart the classes
                    of a union
    json_lenient    fields that are read as empty where their JSON has the wrong type, but not where
                    it is an object for a dataclass, one field of which is missing or wrong
    json_rest       a field that keeps the keys of later versions; they are written first
    json_error      the exception for JSON that describes no value of the class

Declarations need no import, so that packages which may not import this one can have them too.
A key that is missing is read as the default of its field, or as None if that is a value of it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as read_type_hints

__all__ = ["MalformedValue", "Record", "decode", "encode", "encode_record"]

_Made = TypeVar("_Made")
_RULE: Final = re.compile(
    r"(?P<key>\w+)(?: = (?P<source>[\w.]+))?(?P<nulls> or null)?(?: to (?P<digits>\d) digits)?"
    r"(?: if (?P<condition>[\w.]+)|(?P<omits> unless null))?"
)
_UNFIT: Final = (TypeError, ValueError, OverflowError)
_PLAIN: Final = frozenset({NoneType, bool, int, float, str})


class MalformedValue(ValueError):
    """JSON that does not describe a value of the expected type."""


class Record:
    """A dataclass that is written as JSON, and read from it, by its fields or its `json_shape`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the value as a new JSON object."""
        return encode_record(self)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Build a value from its JSON object. Unknown keys are ignored.

        Raises:
            MalformedValue: a field is missing or has the wrong type.
        """
        return decode(cls, data)


class _Reader(NamedTuple):
    """How a field is read.

    Attributes:
        key: its key in JSON.
        name: its name.
        has_no_default: whether the field has to be given when a value is made.
        is_required: whether the key has to be there too, since None is no value of the field.
    """

    key: str
    name: str
    read: Callable[[Any], Any]
    has_no_default: bool
    is_required: bool


class _Rule(NamedTuple):
    """How a key is written whose value is not always written as it is.

    Attributes:
        nulls: whether an empty value is written as null.
        digits: the number of digits that a number is rounded to, or None.
        condition: returns a value that an object with the key has, or None if every object has it.
        omits_null: whether objects whose value is null do not have the key.
    """

    nulls: bool
    digits: int | None
    condition: Callable[[Any], Any] | None
    omits_null: bool


_PLAINLY: Final = _Rule(nulls=False, digits=None, condition=None, omits_null=False)


class _Key(NamedTuple):
    """How one key of an object is written.

    Attributes:
        attribute: the name of the attribute, or "" if the value is an attribute of an attribute.
        read: returns the value of an object.
        rule: how the value is written, or None if it is written as it is.
    """

    name: str
    attribute: str
    read: Callable[[Any], Any]
    rule: _Rule | None


_Read = Callable[[Any], Any]
# The shapes and readers of the classes that were met, which never change.
_KEYS: Final[dict[type[Any], tuple[_Key, ...]]] = {}
_READERS: Final[dict[type[Any], tuple[_Reader, ...]]] = {}


def encode(value: object) -> Any:
    """Return a value as new JSON: objects, lists, texts, numbers, truth values and null.

    Raises:
        TypeError: JSON has no form for a value.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    # The commonest first: an `isinstance` of an abstract class takes longer than all of the rest.
    if isinstance(value, tuple | list):
        return [item if type(item) in _PLAIN else encode(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(kind):
        write: Callable[[Any], Any] = getattr(kind, "to_dict", Record.to_dict)
        return encode_record(value) if write is Record.to_dict else write(value)
    if isinstance(value, Mapping):
        return {
            key if type(key) is str else _encode_key(key): item
            if type(item) in _PLAIN
            else encode(item)
            for key, item in value.items()
        }
    return _encode_other(value)


def encode_record(value: object) -> dict[str, Any]:
    """Return a dataclass as a new JSON object, by its fields or its `json_shape`."""
    kind = type(value)
    tag = getattr(kind, "json_type", None)
    made: dict[str, Any] = {} if tag is None else {"type": tag}
    if rest := getattr(kind, "json_rest", None):
        made |= encode(getattr(value, rest))
    for name, _, read, rule in _KEYS.get(kind) or _list_keys(kind):
        if rule is None:
            found = read(value)
        elif rule.condition is not None and not rule.condition(value):
            continue
        else:
            found = _apply_rule(rule, read(value))
            if found is None and rule.omits_null:
                continue
        made[name] = found if type(found) in _PLAIN else encode(found)
    return made


def _apply_rule(rule: _Rule, found: Any) -> Any:
    if rule.nulls and not found:
        return None
    if rule.digits is not None and found is not None:
        return round(found, rule.digits)
    return found


def decode(made: type[_Made], data: object) -> _Made:
    """Build a value of a dataclass from its JSON object.

    Raises:
        MalformedValue: a field without a default is missing, or a field has the wrong type. If the
            class declares another exception as `json_error`, this one.
    """
    error: type[Exception] = getattr(made, "json_error", MalformedValue)
    try:
        return made(**_read_fields(made, data))
    except error:
        raise
    except _UNFIT as reason:
        raise error(f"A {made.__name__} is not readable: {reason}") from reason


def _read_fields(made: type[Any], data: object) -> dict[str, Any]:
    found = _require_object(data)
    tag = getattr(made, "json_type", None)
    if tag is not None and found.get("type") != tag:
        raise ValueError(f"its type is not {tag}")
    values: dict[str, Any] = {}
    readers = _list_readers(made)
    for key, name, read, has_no_default, is_required in readers:
        if key in found:
            values[name] = read(found[key])
        elif is_required:
            raise ValueError(f"{key!r} is missing")
        elif has_no_default:
            values[name] = None
    if rest := getattr(made, "json_rest", None):
        known = {each.key for each in readers}
        values[rest] = {key: item for key, item in found.items() if key not in known}
    return values


def _encode_key(key: object) -> str:
    return str(encode(key))


def _encode_other(value: object) -> Any:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, frozenset | set):
        return sorted(encode(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [encode(item) for item in value]
    # Times and paths, whose modules this package may not import.
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise TypeError(f"JSON has no form for a {type(value).__name__}.")


def _list_keys(made: type[Any]) -> tuple[_Key, ...]:
    keys = _KEYS.get(made)
    if keys is None:
        rest = getattr(made, "json_rest", None)
        names = (each.name for each in fields(made) if each.name != rest)
        shape: Iterable[str] = getattr(made, "json_shape", ()) or names
        keys = _KEYS[made] = tuple(map(_read_rule, shape))
    return keys


def _read_rule(text: str) -> _Key:
    found = _RULE.fullmatch(text)
    if found is None:
        raise TypeError(f"{text!r} describes no key of a JSON object.")
    key, condition, digits = found["key"], found["condition"], found["digits"]
    source = found["source"] or key
    rule = _Rule(
        found["nulls"] is not None,
        None if digits is None else int(digits),
        None if condition is None else attrgetter(condition),
        found["omits"] is not None,
    )
    attribute = "" if "." in source else source
    return _Key(key, attribute, attrgetter(source), None if rule == _PLAINLY else rule)


def _list_readers(made: type[Any]) -> tuple[_Reader, ...]:
    """Return the readers of the fields that are written. Properties are not read."""
    readers = _READERS.get(made)
    if readers is None:
        keys = {key.attribute: key for key in _list_keys(made)}
        hints = read_type_hints(made)
        lenient: Iterable[str] = getattr(made, "json_lenient", ())
        readers = _READERS[made] = tuple(
            _describe_field(field, key, hints[field.name], is_lenient=field.name in lenient)
            for field in fields(made)
            if (key := keys.get(field.name)) is not None
        )
    return readers


def _describe_field(field: Field[Any], key: _Key, hint: Any, *, is_lenient: bool) -> _Reader:
    read = _build_reader(hint)
    empty = None if NoneType in get_args(hint) else get_origin(hint) or hint
    if is_lenient:
        has_fields = any(map(is_dataclass, (hint, *get_args(hint))))
        read = _read_leniently(read, empty, has_fields=has_fields)
    elif key.rule is not None and key.rule.nulls:
        read = _read_null(read, empty)
    has_no_default = field.default is MISSING and field.default_factory is MISSING
    return _Reader(key.name, field.name, read, has_no_default, has_no_default and empty is not None)


def _read_leniently(read: _Read, empty: Callable[[], object] | None, *, has_fields: bool) -> _Read:
    """Read what has the wrong type as empty, but no object with fields of which one is wrong."""

    def read_or_empty(value: object) -> object:
        try:
            return read(value)
        except _UNFIT:
            if has_fields and isinstance(value, Mapping):
                raise
            return None if empty is None else empty()

    return read_or_empty


def _read_null(read: _Read, empty: Callable[[], object] | None) -> _Read:
    return lambda value: (empty and empty()) if value is None else read(value)


def _build_reader(hint: Any) -> _Read:
    """Return a function that reads JSON as a type, and raises `ValueError` or `TypeError`."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return lambda value: value
    if origin in {Union, UnionType}:
        return _read_union(inner)
    if origin is Literal:
        return lambda value: _require(value in inner, value, f"one of {', '.join(map(str, inner))}")
    if origin is tuple:
        return _read_tuple(inner)
    if isinstance(origin, type):
        return _read_collection(origin, inner)
    if isinstance(hint, type):
        return _read_instance(hint)
    raise TypeError(f"JSON is not read as {hint}.")


def _read_collection(kind: type[Any], inner: tuple[Any, ...]) -> _Read:
    if issubclass(kind, Mapping):
        read = _build_reader(inner[1])
        return lambda value: {str(key): read(item) for key, item in _require_object(value).items()}
    read_all = _read_tuple((*inner, ...))
    return lambda value: kind(read_all(value)) if kind is frozenset else read_all(value)


def _read_instance(hint: type[Any]) -> _Read:
    if is_dataclass(hint):
        return getattr(hint, "from_dict", None) or (lambda value: decode(hint, value))
    if hint is float:
        return lambda value: float(_require(_is_number(value), value, "a number"))
    if hint in _PLAIN:
        return _read_plain(hint)
    # A time, or an enumeration or path, whose class reads its own text.
    return getattr(hint, "fromisoformat", hint)


_NAMES: Final = {str: "text", int: "a whole number", bool: "true or false", NoneType: "null"}


def _read_plain(kind: type[Any]) -> _Read:
    def read(value: object) -> object:
        if type(value) is kind:
            return value
        raise ValueError(f"not {_NAMES[kind]}")

    return read


def _read_union(kinds: tuple[Any, ...]) -> _Read:
    readers = [_build_reader(kind) for kind in kinds if kind is not NoneType]
    has_null = NoneType in kinds

    def read(value: object) -> object:
        if value is None and has_null:
            return None
        reasons = []
        for each in readers:
            try:
                return each(value)
            except _UNFIT as error:
                reasons.append(str(error))
        raise ValueError("; ".join([*reasons, *(["not null"] if has_null else [])]))

    return read


def _read_tuple(inner: tuple[Any, ...]) -> _Read:
    readers = tuple(_build_reader(each) for each in inner if each is not ...)
    is_open = ... in inner

    def read(value: object) -> tuple[Any, ...]:
        items: Any = _require(isinstance(value, list | tuple), value, "a list")
        if is_open:
            return tuple(map(readers[0], items))
        return tuple(each(item) for each, item in zip(readers, items, strict=True))

    return read


def _require_object(value: Any) -> Mapping[object, object]:
    if type(value) is dict:  # the commonest: asking for an abstract class takes longer
        return value
    found: Mapping[object, object] = _require(isinstance(value, Mapping), value, "a JSON object")
    return found


def _require(is_fit: bool, value: _Made, wanted: str) -> _Made:
    if not is_fit:
        raise ValueError(f"not {wanted}")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
