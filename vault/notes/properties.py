"""Parse the front matter of notes. Malicious or invalid YAML is treated as empty."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yaml import MarkedYAMLError

MAX_FRONT_MATTER_CHARS = 65_536

_MAX_DEPTH = 32
_MAX_EVENTS = 20_000
_YES = r"['\"]?(?:true|yes|on|1)\b"
_PRIVATE_LINE = re.compile(rf"^[ \t]*['\"]?private['\"]?[ \t]*::?[ \t]*#?{_YES}", re.I | re.M)
_PRIVATE_ENTRY = re.compile(
    r"^[ \t]*tags?[ \t]*:.*(?<![\w-])private(?![\w-])"
    r"|(?:^|[-:\[,\"'#])[ \t]*[\"'#]{0,2}private(?:/[^\s,\]]*)?[\"']?[ \t]*(?:$|[,\]#])",
    re.I | re.M,
)
_TICKS = dict.fromkeys(("true", "yes", "on"), True) | dict.fromkeys(("false", "no", "off"), False)
_TAG_KEYS = ("tags", "tag")
_KEY = re.compile(r"([^\s#:-][^#:\n]*?)[ \t]*:(?:[ \t]|$)")
# A comment that begins like a tag. YAML ignores it, as it does every comment.
_TAG_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[^\s#!-].*$")
_AROUND_VALUES = " \t-'\"[]"
_MOST_SHOWN = 40
_UNREADABLE = "Its front matter cannot be read, so its tags and properties are lost: {why}."
_LOST = (
    "Line {line} of its front matter: YAML takes “{text}” for a comment, so it is lost. Write tags "
    "without “#”, and other texts with “#” in quotes."
)
_SPLIT_ANYWHERE = re.compile(r"[,\s]+")
_SPLIT_COMMAS = re.compile(r"\s*,\s*")


def read_tick(value: str) -> bool | None:
    """Return the truth value of a property's text, such as True for "yes", or None for others."""
    return _TICKS.get(value.strip().lower())


def load_properties(front: str) -> Mapping[str, Any]:
    """Parse front matter, or return an empty mapping if it is not a valid YAML mapping.

    Scalars keep their original text, such as `2024-01-05` or `yes`. YAML aliases are rejected,
    because a few lines can expand to billions of values. Deep nesting is rejected, because it
    overflows the parser's stack.

    Args:
        front: the text between the `---` lines.
    """
    return _load(front)[0]


def describe_fault(why: str) -> str:
    """Return the sentence about front matter that cannot be read."""
    return _UNREADABLE.format(why=why)


def find_fault(front: str) -> str:
    """Return a sentence that says what of front matter is lost, or an empty string.

    Args:
        front: the text between the `---` lines.
    """
    properties, why = _load(front)
    if why:
        return describe_fault(why)
    line, lost = next(_find_lost_values(front, properties), (0, ""))
    shown = lost if len(lost) <= _MOST_SHOWN else f"{lost[: _MOST_SHOWN - 1].rstrip()}…"
    return _LOST.format(line=line, text=shown) if lost else ""


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
    lost = "\n".join(text for _, text in _find_lost_values(front, properties))
    if _PRIVATE_ENTRY.search(lost):
        return True
    if properties:
        named = (value for key, value in properties.items() if key.strip().lower() == "private")
        return any(re.fullmatch(_YES, str(value).strip(), re.I) for value in named)
    return _PRIVATE_ENTRY.search(front) is not None


def _find_lost_values(front: str, properties: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the values that YAML takes for comments, each with its line in the note.

    These are `#words` in place of a value, or among the tags. Other comments are meant as such.

    Args:
        front: the text between the `---` lines.
        properties: the parsed properties, in which a `#` in a longer text is kept.
    """
    if "#" not in front:
        return
    kept = str(properties)
    key = before = ""
    for number, line in enumerate(front.split("\n"), start=2):  # below the first `---`
        above, before = before, line.strip()
        if named := _KEY.match(line):
            key = named[1].strip("'\"").lower()
        comment = _TAG_COMMENT.search(line)
        if comment is None:
            continue
        before = line[: comment.start()].strip()
        is_value = before.endswith(":") or before == "-"
        is_below_key = not before and comment.start() > 0 and above.endswith(":")
        is_tag = bool(before) and key in _TAG_KEYS
        value = line[named.end() if named else 0 :].strip(_AROUND_VALUES)
        if (is_value or is_below_key or is_tag) and value not in kept:
            yield number, comment[0].rstrip()


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
        return tuple(filter(None, map(_write_value, value)))
    return ()


def _write_value(item: object) -> str:
    """Return a value in a list as text, or an empty string if it is none.

    YAML takes a link without quotes, as in `[[Ada]]`, for a list in a list.
    """
    if isinstance(item, str):
        return item.strip()
    while isinstance(item, list) and len(item) == 1 and isinstance(item[0], list):
        item = item[0]
    is_link = isinstance(item, list) and all(isinstance(part, str) for part in item)
    return f"[[{', '.join(map(str, item))}]]" if is_link and isinstance(item, list) else ""


def normalize_name(name: str) -> str:
    """Return the name of a property as it is compared: in lower case, and accents in one form.

    An accent may be written as a character of its own, as in the names of files on macOS.
    """
    return unicodedata.normalize("NFC", name.strip().lower())


def read_text_properties(properties: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the properties that are texts or lists of texts, keyed by lower-case name.

    A property within another one has the names of both, such as `project.name`.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, value in _list_properties(properties, ""):
        texts = (value.strip(),) if isinstance(value, str) else split_values(value)
        if any(texts):
            found[name] = (*found.get(name, ()), *texts) if "." in name else found.get(name, texts)
    return found


def _list_properties(properties: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """Yield the properties with their names, and those within others and within their lists."""
    for name, value in properties.items():
        own = f"{above}{str(name).strip().lower()}"
        inner = value if isinstance(value, list) else [value]
        for each in inner:
            if isinstance(each, dict):
                yield from _list_properties(each, f"{own}.")
        if not isinstance(value, dict):
            yield own, value


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
