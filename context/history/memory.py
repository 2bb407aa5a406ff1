"""A session's memory: notes that the model keeps in addition to the messages.

The memory consists of a scratchpad, the progress of a task, and facts. Each `memory_update` entry
in the log sets some of them.

Reasons: ARCHITECTURE.md, "Memory".
"""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from context.json_codec import Record
from context.log.entries import Entry, MemoryUpdateEntry

PHASES: Final = ("planning", "execution", "verification")
MEMORY_CHANGED: Final = "[Your memory has changed in this turn. It now reads:]"


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """A session's objective, its completed and pending steps, and the phase of the work.

    Attributes:
        stated_phase: the phase that the model has stated, or an empty string.
    """

    current_objective: str = ""
    completed_steps: tuple[str, ...] = ()
    pending_steps: tuple[str, ...] = ()
    stated_phase: str = ""

    json_shape = (
        "currentObjective = current_objective",
        "completedSteps = completed_steps",
        "pendingSteps = pending_steps",
        "currentPhase = stated_phase if stated_phase",
    )

    @property
    def phase(self) -> str:
        """The current phase: as stated, else as the steps say. Empty if there are no steps.

        Source: "Context Engineering Optimization Spec", 3.1.
        """
        if self.stated_phase or not (self.completed_steps or self.pending_steps):
            return self.stated_phase
        if not self.completed_steps:
            return "planning"
        return "execution" if self.pending_steps else "verification"

    @classmethod
    def read(cls, data: Mapping[str, object]) -> "Progress":
        """Create the progress from its JSON object. Missing fields default to empty values."""
        objective, phase = data.get("currentObjective"), data.get("currentPhase")
        return cls(
            objective if isinstance(objective, str) else "",
            _read_texts(data.get("completedSteps")),
            _read_texts(data.get("pendingSteps")),
            phase if isinstance(phase, str) and phase in PHASES else "",
        )


@dataclass(frozen=True, slots=True)
class Memory(Record):
    """A session's memory at one position in the log.

    Attributes:
        scratchpad: the model's notes, as text.
        progress: the objective and steps of the current task.
        facts: the facts that the model has recorded.
    """

    scratchpad: str = ""
    progress: Progress = Progress()
    facts: tuple[str, ...] = ()

    def after(self, update: MemoryUpdateEntry) -> "Memory":
        """Return the memory after the changes in a later log entry."""
        memory = self
        if update.scratchpad is not None:
            memory = replace(memory, scratchpad=update.scratchpad)
        if update.progress is not None:
            memory = replace(memory, progress=Progress.read(update.progress))
        if update.facts is not None:
            memory = replace(memory, facts=update.facts)
        return memory

    def with_parts(
        self,
        scratchpad: str | None = None,
        progress: Mapping[str, object] | None = None,
        facts: Iterable[str] | None = None,
    ) -> "Memory":
        """Return the memory with some of its parts replaced. Parts that are None stay.

        Of the progress, fields that are missing stay too, but a phase goes with its steps.
        """
        given, known = progress or {}, self.progress.to_dict()
        if "completedSteps" in given or "pendingSteps" in given:
            known.pop("currentPhase", None)
        return Memory(
            self.scratchpad if scratchpad is None else scratchpad,
            Progress.read({**known, **given}),
            self.facts if facts is None else tuple(facts),
        )

    def render(self) -> str:
        """Render the memory as escaped text for the model.

        If the memory is empty, return an empty string.
        """
        blocks = (
            ("facts", _list_items("", self.facts)),
            ("scratchpad", self.scratchpad),
            ("progress", self._progress()),
        )
        shown = "\n".join(
            f"<{name}>\n{html.escape(text, quote=False)}\n</{name}>"
            for name, text in blocks
            if text.strip()
        )
        return f"<memory>\n{shown}\n</memory>" if shown else ""

    def _progress(self) -> str:
        progress = self.progress
        objective = progress.current_objective
        lines = (
            f"Objective: {objective}" if objective else "",
            f"Phase: {progress.phase}" if progress.phase else "",
            _list_items("done: ", progress.completed_steps),
            _list_items("to do: ", progress.pending_steps),
        )
        return "\n".join(line for line in lines if line)


def read_memory(path: Iterable[Entry]) -> Memory:
    """Return the memory that results from the given log entries."""
    memory = Memory()
    for entry in path:
        if isinstance(entry, MemoryUpdateEntry):
            memory = memory.after(entry)
    return memory


def _list_items(prefix: str, items: tuple[str, ...]) -> str:
    return "\n".join(f"- {prefix}{item}" for item in items)


def _read_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str))
