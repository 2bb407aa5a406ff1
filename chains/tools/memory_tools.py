"""The memory tools: update_memory and update_progress for one chat, remember for all chats.

The memory of a chat consists of a scratchpad, facts and progress. Each change is a log entry, so
compactions do not remove it. If the user edits the message that led to a change, the change belongs
to the old branch and no longer applies. Long-term memories are stored in a note and included in
every request, and the user approves each of them.

Reasons: ARCHITECTURE.md, "Memory".
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from chains.errors import ToolFailed
from chains.request.session import SessionPort
from chains.tool import Proposal, Tool
from chains.tools.edit_tools import check_markers
from chains.tools.schema import build_arguments_schema, build_text_schema
from context.history.memory import PHASES, Memory, Progress, read_memory
from context.log.entries import MemoryUpdateEntry
from context.messages import ToolDefinition

__all__ = [
    "MEMORY_TOOLS",
    "MOST_MEMORY_CHARS",
    "SessionMemory",
    "build_memory_tools",
    "build_remember_tool",
    "find_long_part",
    "list_memory_updates",
]

MOST_MEMORY_CHARS: Final = 8_000
_MODES: Final = ("replace", "append")


def _build_list_schema(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_UPDATE_MEMORY: Final = ToolDefinition(
    "update_memory",
    "Note what you need later in this chat. The notes stay when old messages are summarised or "
    f"left out. The scratchpad and the facts may each have {MOST_MEMORY_CHARS:,} characters.",
    build_arguments_schema(
        {},
        scratchpad=build_text_schema("The text for the scratchpad."),
        mode={
            "type": "string",
            "enum": list(_MODES),
            "description": "Whether the text replaces the scratchpad, as by default, or is added.",
        },
        facts_add=_build_list_schema("Facts to add, each a short sentence."),
        facts_remove=_build_list_schema("Facts to remove, word for word."),
    ),
)
_UPDATE_PROGRESS: Final = ToolDefinition(
    "update_progress",
    "Note the objective and the steps of a longer task. What is not given stays as it is.",
    build_arguments_schema(
        {},
        currentObjective=build_text_schema("The objective, in a sentence."),
        completedSteps=_build_list_schema("All steps that are done."),
        pendingSteps=_build_list_schema("All steps that are still to do, the next one first."),
        currentPhase={
            "type": "string",
            "enum": list(PHASES),
            "description": "The phase of the work. Without it, the steps say.",
        },
    ),
)
REMEMBER: Final = ToolDefinition(
    "remember",
    "Remember a sentence in all chats of the user. The user is asked first.",
    build_arguments_schema({"text": build_text_schema("The sentence, understood on its own.")}),
)
MEMORY_TOOLS: Final = (_UPDATE_MEMORY, _UPDATE_PROGRESS)


class SessionMemory:
    """The memory of a session during a turn. Thread-safe.

    Tools running in parallel change the memory, and the agent loop stores the changes.
    """

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._memory = self._stored = read_memory(session.path())

    def change(self, change: Callable[[Memory], Memory]) -> Memory:
        """Change the session's memory, and return the new memory.

        Raises:
            ToolFailed: a part of the new memory is too long. Nothing is changed.
        """
        with self._lock:
            self._catch_up()
            changed = change(self._memory)
            _check_length(self._memory, changed)
            self._memory = changed
            return changed

    def store(self) -> None:
        """Append all memory changes since the last call of this method to the log."""
        with self._lock:
            self._catch_up()
            before, after = self._stored, self._memory
            self._stored = after
        if updates := list_memory_updates(self._session, before, after):
            self._session.append(updates)

    def _catch_up(self) -> None:
        """Take over what the log has changed in the memory since, such as facts of a summary."""
        logged, own = read_memory(self._session.path()), self._memory
        stored, self._stored = self._stored, logged
        if logged == stored:
            return
        removed = set(stored.facts) - set(own.facts)
        added = (fact for fact in own.facts if fact not in stored.facts)
        kept = (fact for fact in logged.facts if fact not in removed)
        self._memory = Memory(
            logged.scratchpad if own.scratchpad == stored.scratchpad else own.scratchpad,
            logged.progress if own.progress == stored.progress else own.progress,
            tuple(dict.fromkeys((*kept, *added))),
        )


def build_memory_tools(memory: SessionMemory) -> tuple[Tool, ...]:
    """Build the tools that change the memory of a session."""

    def update_memory(arguments: Mapping[str, Any]) -> str:
        _require_any(arguments, _UPDATE_MEMORY)
        now = memory.change(lambda before: _note(before, arguments))
        characters = f"{len(now.scratchpad):,} of {MOST_MEMORY_CHARS:,} characters"
        return f"Noted. Scratchpad: {characters}. Facts: {len(now.facts):,}."

    def update_progress(arguments: Mapping[str, Any]) -> str:
        _require_any(arguments, _UPDATE_PROGRESS)
        now = memory.change(lambda before: _progress(before, arguments)).progress
        done, pending = len(now.completed_steps), len(now.pending_steps)
        return f"Noted. Steps done: {done:,}. Still to do: {pending:,}."

    return (Tool(_UPDATE_MEMORY, update_memory), Tool(_UPDATE_PROGRESS, update_progress))


def build_remember_tool(propose: Callable[[str], Proposal]) -> Tool:
    """Build the tool that adds a long-term memory.

    Args:
        propose: returns a proposal to add a sentence, or raises `ToolFailed`.
    """

    def propose_text(arguments: Mapping[str, Any]) -> Proposal:
        check_markers(arguments)
        return propose(arguments["text"])

    return Tool(REMEMBER, propose=propose_text)


def list_memory_updates(
    session: SessionPort, before: Memory, after: Memory
) -> tuple[MemoryUpdateEntry, ...]:
    """Return the log entry for a memory change, or an empty tuple if nothing changed."""
    if before == after:
        return ()
    path = session.path()
    update = MemoryUpdateEntry(
        session.new_id(),
        path[-1].id if path else None,
        session.now(),
        after.scratchpad if after.scratchpad != before.scratchpad else None,
        after.progress.to_dict() if after.progress != before.progress else None,
        after.facts if after.facts != before.facts else None,
    )
    return (update,)


def find_long_part(memory: Memory) -> str:
    """Return a sentence that names the first part of the memory that is too long.

    The result is an empty string if no part is too long.
    """
    steps = (*memory.progress.completed_steps, *memory.progress.pending_steps)
    parts = {
        "The scratchpad": len(memory.scratchpad),
        "The facts": _count_chars(memory.facts),
        "The progress": _count_chars((memory.progress.current_objective, *steps)),
    }
    return next(
        (
            f"{name} would have {count:,} characters; {MOST_MEMORY_CHARS:,} are allowed."
            for name, count in parts.items()
            if count > MOST_MEMORY_CHARS
        ),
        "",
    )


def _check_length(before: Memory, after: Memory) -> None:
    problem = find_long_part(after)
    if problem and problem != find_long_part(before):
        raise ToolFailed(
            f"{problem} Nothing was changed. Keep what still matters, and drop the rest."
        )


def _count_chars(texts: Sequence[str]) -> int:
    return sum(map(len, texts))


def _note(before: Memory, arguments: Mapping[str, Any]) -> Memory:
    mode = arguments.get("mode", _MODES[0])
    scratchpad = arguments.get("scratchpad", before.scratchpad)
    if mode == "append" and "scratchpad" in arguments:
        scratchpad = "\n".join(filter(None, (before.scratchpad, scratchpad)))
    removed = _read_texts(arguments, "facts_remove")
    for fact in removed:
        if fact not in before.facts:
            raise ToolFailed(f"There is no fact “{fact}”. Nothing was changed.")
    added = _read_texts(arguments, "facts_add")
    kept = (fact for fact in before.facts if fact not in removed)
    facts = tuple(dict.fromkeys((*kept, *(fact for fact in added if fact))))
    return replace(before, scratchpad=scratchpad, facts=facts)


def _progress(before: Memory, arguments: Mapping[str, Any]) -> Memory:
    phase, steps = arguments.get("currentPhase"), ("completedSteps", "pendingSteps")
    if phase is not None and phase not in PHASES:
        raise ToolFailed(f"The argument currentPhase has to be one of: {', '.join(PHASES)}.")
    lists = {name: _read_texts(arguments, name) for name in steps if name in arguments}
    known = before.progress.to_dict()
    if lists:
        known.pop("currentPhase", None)  # it was stated for the steps before
    given = {**known, **arguments, **lists}
    return replace(before, progress=Progress.read(given))


def _read_texts(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in arguments.get(name, ()))


def _require_any(arguments: Mapping[str, Any], definition: ToolDefinition) -> None:
    if not arguments:
        schema: Mapping[str, Any] = definition.parameters
        known = ", ".join(schema["properties"])
        raise ToolFailed(f"There is nothing to note. Give one of: {known}.")
