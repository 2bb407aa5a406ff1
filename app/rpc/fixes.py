"""Word ways out of errors, and warnings, for programs: by requests and their fields.

A command without an equivalent request, such as `strata doctor`, is kept, because the user can
still run it.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from context.fixes import Command, Fix, Option, Place

# The request for a command, and the names of its fields for the values of the command.
_REQUESTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "settings set": ("set_setting", ("key", "value")),
    "sessions show": ("get_entries", ()),
    "sessions list": ("list_sessions", ()),
    "sessions list --bin": ("list_sessions{bin: true}", ()),
    "sessions restore": ("restore_session", ("session",)),
    "project add": ("add_project", ("project",)),
    "project list": ("list_projects", ()),
    "project show": ("get_project", ("project",)),
    "index": ("index", ()),
    "skills list": ("skills", ()),
    "spending": ("get_spending", ()),
    "updates": ("check_updates", ()),
    "pinned list": ("list_pinned_answers", ()),
    "review": ("review", ()),
    "review --json": ("review", ()),
    "memory list": ("list_memories", ()),
    "memory forget": ("forget_memory", ("number",)),
    "instructions": ("instructions", ("action",)),
}
_OPTIONS: Final[Mapping[str, str]] = {
    "--attach": "attach",
    "--project DIR": "new_session{project: DIR}",
    "--vault DIR": "`strata rpc --vault DIR`",
}
_COMMAND: Final = "strata "


def word_fix(fix: Fix) -> str:
    """Word a way out for a program."""
    return fix.word(_word_place)


def word_warnings(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a response or an event with its warnings worded for a program.

    These are its own warnings and those of the context report in it.
    """
    found = dict(data)
    if isinstance(warnings := found.get("warnings"), list | tuple):
        found["warnings"] = [word_warning(text) for text in warnings]
    if isinstance(context := found.get("context"), Mapping):
        found["context"] = word_warnings(context)
    return found


def word_warning(text: str) -> str:
    """Word a warning for a program. Reports store it as the command line prints it.

    Each command in it stands between backticks.
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one backtick is no pair
        return text
    return "".join(_word_code(part) if at % 2 else part for at, part in enumerate(parts))


def _word_code(code: str) -> str:
    command = _parse_command(code)
    return f"`{code}`" if command is None else _word_place(command)


def _parse_command(code: str) -> Command | None:
    """Return the command in a text, or None if no request is an equivalent of it."""
    words = code.removeprefix(_COMMAND)
    verbs = [verb for verb in _REQUESTS if f"{words} ".startswith(f"{verb} ")]
    if words == code or not verbs:
        return None
    verb = max(verbs, key=len)
    values, _, project = words.removeprefix(verb).partition(" --project ")
    folder = " ".join(shlex.split(project))
    return Command(verb, tuple(values.split(maxsplit=1)), folder or None)


def _word_place(place: Place) -> str:
    if isinstance(place, Option):
        return _OPTIONS.get(place.text, place.text)
    if not isinstance(place, Command) or place.verb not in _REQUESTS:
        return str(place)
    request, names = _REQUESTS[place.verb]
    fields = [*zip(names, place.values, strict=False)]
    if place.project is not None:
        fields.append(("project", shlex.quote(place.project)))
    return f"`{request}{_write_fields(fields)}`"


def _write_fields(fields: Sequence[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{name}: {value}' for name, value in fields)}}}" if fields else ""
