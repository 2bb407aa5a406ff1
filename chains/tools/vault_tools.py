"""Tools for other programs over MCP: search, read and list notes, and their links.

They follow the same rules as the agent's tools: private and excluded notes are neither found nor
read. Results have no citation numbers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from chains.llm.port import RequestedCall
from chains.tool import Tool
from chains.tools.listing_tools import LISTING_TOOLS, build_listing_tools, list_allowed
from chains.tools.notes import NOTE_TOOLS, NumberedSources, build_note_tools
from chains.tools.registry import ToolOutcome, ToolRegistry
from chains.tools.schema import build_arguments_schema, build_integer_schema, build_text_schema
from context.messages import ToolDefinition
from vault.notes.keywords import fold
from vault.vault import Vault

__all__ = ["VAULT_TOOLS", "run_vault_tool"]

MOST_NOTES: Final = 1_000
MOST_CHARS: Final = 400_000

_SEARCH: Final = replace(
    next(tool for tool in NOTE_TOOLS if tool.name == "search_notes"),
    description="Find passages of the user's notes by words and by meaning, with path and lines.",
)
_READ: Final = ToolDefinition(
    "read_note",
    "Read a note, or some of its lines.",
    build_arguments_schema(
        {"path": build_text_schema("The note's path, as search_notes and list_notes give it.")},
        start=build_integer_schema("First line, counted from 1.", 1),
        end=build_integer_schema("Last line.", 1),
    ),
)
_LIST: Final = ToolDefinition(
    "list_notes",
    "List the notes with their titles: all of them, those in a folder, or those with a tag.",
    build_arguments_schema(
        {},
        folder=build_text_schema("The folder, with the folders in it; all notes where not given."),
        tag=build_text_schema("The tag; recipe also finds recipe/soup."),
    ),
)
_LINKS: Final = next(tool for tool in LISTING_TOOLS if tool.name == "get_links")
VAULT_TOOLS: Final = (_SEARCH, _READ, _LIST, _LINKS)


def run_vault_tool(notes: Vault, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
    """Run a tool call. If it fails, the outcome contains the error.

    Args:
        notes: the open vault.
        name: the name of a tool, which may not exist.
        arguments: the arguments sent by the client.
    """
    registry = ToolRegistry(_build_tools(notes))
    found = registry.run(RequestedCall("", name, json.dumps(arguments)))
    return replace(found, content=_limit(found.content))


def _build_tools(notes: Vault) -> Iterator[Tool]:
    agent_tools = (*build_note_tools(notes, NumberedSources()), *build_listing_tools(notes))
    works = {tool.definition.name: tool.run for tool in agent_tools}
    works[_LIST.name] = lambda arguments: _list_notes(notes, **arguments)
    yield from (Tool(definition, works[definition.name]) for definition in VAULT_TOOLS)


def _list_notes(notes: Vault, folder: str = "", tag: str = "") -> str:
    titles = {note.path: note.title for note in notes.notes()}
    paths: Sequence[str] = list_allowed(notes, folder)
    if tag:
        tagged = _find_tagged(notes, tag)
        paths = [path for path in paths if path in tagged]
    lines = [f"{path}: {titles.get(path, '')}" for path in paths[:MOST_NOTES]]
    if len(paths) > MOST_NOTES:
        lines.append(f"There are {len(paths) - MOST_NOTES:,} more. Name a folder or a tag.")
    return "\n".join(lines) or "There are no such notes."


def _find_tagged(notes: Vault, tag: str) -> frozenset[str]:
    """Return the paths of the notes with a tag or one of its subtags, ignoring case."""
    wanted = fold(tag.lstrip("#").rstrip("/"))
    return frozenset(
        path
        for name, paths in notes.tags().items()
        if f"{fold(name)}/".startswith(f"{wanted}/")
        for path in paths
    )


def _limit(text: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    left = len(text) - MOST_CHARS
    return f"{text[:MOST_CHARS]}\n[{left:,} more characters were left out. Ask for fewer lines.]"
