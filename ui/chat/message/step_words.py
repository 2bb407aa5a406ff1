"""Sentences for the steps of an agent, one by one and as a summary."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ui.widgets.controls import one_line
from ui.widgets.figures import count, place, plural

__all__ = ["StepView", "describe_running_step", "summary", "took"]

# Tool → icon, verb while it runs, verb when it has ended.
_TOOLS: Mapping[str, tuple[str, str, str]] = {
    "search_notes": ("magnifying-glass", "Searching", "Searched"),
    "read_note": ("file-text", "Reading", "Read"),
    "list_folder": ("folder", "Listing", "Listed"),
    "read_result": ("book-open", "Reading on", "Read on"),
}
_OTHER = ("wrench", "Using", "Used")
_ARGUMENTS = ("query", "path", "ref_id")


@dataclass(frozen=True)
class StepView:
    """One step of an agent, with the data and the words to show it.

    Attributes:
        id: the ID of the tool call.
        name: the name of the tool.
        arguments: the arguments of the tool call.
        status: `running`, `ok`, `error` or `denied`.
        seconds: the time the step took; None if it is unknown.
        text: the beginning of the result; None while the result is unknown.
        is_cut: whether the result is longer than `text`.
        said: the text that the model wrote before the step; empty if it wrote none.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    status: str = "running"
    seconds: float | None = None
    text: str | None = None
    is_cut: bool = False
    said: str = ""

    @property
    def icon(self) -> str:
        """The name of the icon for the tool."""
        return _TOOLS.get(self.name, _OTHER)[0]

    @property
    def verb(self) -> str:
        """The verb for the step, such as `Reading` while it runs and `Read` afterwards."""
        _, present, past = _TOOLS.get(self.name, _OTHER)
        return present if self.status == "running" else past

    @property
    def argument(self) -> str:
        """The main argument, such as `Backups.md, lines 12–30`, or the name of an unknown tool."""
        if self.name not in _TOOLS:
            return one_line(self.name)
        said = next((self.arguments[key] for key in _ARGUMENTS if self.arguments.get(key)), "")
        words = one_line(str(said))
        if self.name == "search_notes":
            return f"“{words}”"
        first, last = self.arguments.get("start"), self.arguments.get("end")
        if isinstance(first, int):
            return place(words, (first, last if isinstance(last, int) else first))
        return words or "all notes"

    @property
    def outcome(self) -> str:
        """Why the step has no result, such as `failed`; empty if it succeeded or still runs."""
        return {"error": "failed", "denied": "not allowed by you"}.get(self.status, "")

    @property
    def took(self) -> str:
        """The time the step took, such as `1.4 s`; empty if it is unknown."""
        return "" if self.seconds is None else took(self.seconds)

    @property
    def spoken(self) -> str:
        """The whole line as text for screen readers."""
        took = f"{self.seconds:.1f} seconds" if self.seconds is not None else ""
        running = "running" if self.status == "running" else ""
        parts = (f"{self.verb} {self.argument}", took, self.outcome, running)
        return ", ".join(part for part in parts if part)


def took(seconds: float) -> str:
    """Return a duration as text, such as `1.4 s`; `<0.1 s` below 0.05 seconds."""
    return "<0.1 s" if seconds < 0.05 else f"{seconds:.1f} s"


def describe_running_step(step: StepView) -> str:
    """Return the text of the current-step line, such as `Reading Backups.md…`."""
    return f"{_TOOLS.get(step.name, _OTHER)[1]} {step.argument}…"


def summary(steps: Iterable[StepView]) -> str:
    """Summarise all steps in one line, such as `Searched twice, read 3 notes, 1 failed`."""
    names = list(steps)
    parts = [
        words
        for name in dict.fromkeys(step.name for step in names)
        if (words := _count_steps(name, [step for step in names if step.name == name]))
    ]
    failed = sum(step.status == "error" for step in names)
    denied = sum(step.status == "denied" for step in names)
    parts += [f"{count(failed)} failed"] if failed else []
    parts += [f"{count(denied)} not allowed"] if denied else []
    line = ", ".join(parts)
    return line[:1].upper() + line[1:]


def _count_steps(name: str, steps: list[StepView]) -> str:
    total = len(steps)
    match name:
        case "search_notes":
            return "searched" + _times(total)
        case "read_note":
            paths = {str(step.arguments.get("path", "")) for step in steps}
            return f"read {plural(len(paths), 'note')}"
        case "list_folder":
            return f"listed {plural(total, 'folder')}"
        case "read_result":
            return "read on" + _times(total)
        case _:
            return f"used {one_line(name)}" + _times(total)


def _times(total: int) -> str:
    return {1: "", 2: " twice"}.get(total, f" {count(total)} times")
