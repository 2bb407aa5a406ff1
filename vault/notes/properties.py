"""Parse the front matter of notes. Malicious or invalid YAML is treated as empty."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yaml import MarkedYAMLError

MAX_FRONT_MATTER_CHARS = 65_536

_MAX_DEPTH = 32
_MAX_EVENTS = 20_000
_YES = r"['\"]?(?:true|yes|on|1)\b"
_PRIVATE_LINE = re.compile(rf"^[ \t]*['\"]?private['\"]?[ \t]*::?[ \t]*{_YES}", re.I | re.M)
_PRIVATE_ENTRY = re.compile(
    r"^[ \t]*tags?[ \t]*:.*(?<![\w-])private(?![\w-])"
    r"|(?:^|[-:\[,\"'#])[ \t]*[\"'#]{0,2}private(?:/[^\s,\]]*)?[\"']?[ \t]*(?:$|[,\]#])",
    re.I | re.M,
)
_SPLIT_ANYWHERE = re.compile(r"[,\s]+")
_SPLIT_COMMAS = re.compile(r"\s*,\s*")


def load_properties(front: str) -> Mapping[str, Any]:
    """Parse front matter, or return an empty mapping if it is not a valid YAML mapping.

    Scalars keep their original text, such as `2024-01-05` or `yes`. YAML aliases are rejected,
    because a few lines can expand to billions of values. Deep nesting is rejected, because it
    overflows the parser's stack.

    Args:
        front: the text between the `---` lines.
    """
    return _load(front)[0]


def find_fault(front: str) -> str:
    """Return why front matter cannot be read, or an empty string if it can.

    Args:
        front: the text between the `---` lines.
    """
    return _load(front)[1]


def _load(front: str) -> tuple[Mapping[str, Any], str]:
    import yaml

    if not front.strip():
        return {}, ""
    if len(front) > MAX_FRONT_MATTER_CHARS:
        return {}, f"it is longer than {MAX_FRONT_MATTER_CHARS:,} characters"
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if not _is_harmless(front, loader):
            return {}, "it has aliases, too many values or too many levels"
        loaded = yaml.load(front, Loader=loader)  # noqa: S506 - it makes plain data only
    except yaml.MarkedYAMLError as error:
        return {}, _describe_error(error)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return {}, "it is no valid YAML"
    if loaded in (None, ""):  # only comments
        return {}, ""
    if not isinstance(loaded, dict):
        return {}, "it has no lines of the form “name: value”"
    return {str(key): value for key, value in loaded.items()}, ""


def _describe_error(error: "MarkedYAMLError") -> str:
    """Return the line of an error in the note, and the parser's reason."""
    if error.problem_mark is None:
        return "it is no valid YAML"
    reason = " ".join((error.problem or "it is no valid YAML").split())
    line = error.problem_mark.line + 2  # below the first `---`
    return f"line {line}: {reason}"


def is_marked_private(front: str, properties: Mapping[str, Any]) -> bool:
    """Return whether front matter marks a note as private.

    Args:
        front: the text of the front matter. It is searched if the YAML is invalid.
        properties: the parsed properties, empty if the YAML is invalid.
    """
    if _PRIVATE_LINE.search(front):
        return True
    if properties:
        named = (value for key, value in properties.items() if key.strip().lower() == "private")
        return any(re.fullmatch(_YES, str(value).strip(), re.I) for value in named)
    return _PRIVATE_ENTRY.search(front) is not None


def split_values(value: object, *, splits_blanks: bool = False) -> tuple[str, ...]:
    """Split a property's value into texts.

    Args:
        value: the value of the property, which may be a list or a single text.
        splits_blanks: whether to split at spaces as well as commas.
    """
    if isinstance(value, str):
        separator = _SPLIT_ANYWHERE if splits_blanks else _SPLIT_COMMAS
        return tuple(part for part in separator.split(value.strip()) if part)
    if isinstance(value, list):
        return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
    return ()


def read_text_properties(properties: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the properties that are texts or lists of texts, keyed by lower-case name."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in properties.items():
        texts = (value.strip(),) if isinstance(value, str) else split_values(value)
        if any(texts):
            found.setdefault(name.strip().lower(), texts)
    return found


def _is_harmless(front: str, loader: Any) -> bool:
    """Return whether YAML is safe to parse: without aliases, deep nesting or too many values."""
    import yaml

    depth = events = 0
    for event in islice(yaml.parse(front, Loader=loader), _MAX_EVENTS + 1):
        events += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.AliasEvent) or depth > _MAX_DEPTH:
            return False
    return events <= _MAX_EVENTS
