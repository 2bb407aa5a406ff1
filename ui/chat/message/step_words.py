"""The sentences that tell a user what each step of an agent does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from chains.turn_answer import ToolStep
from context.layers import name_place
from context.messages import show_json
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural

__all__ = ["StepWords", "describe_running_step", "summary", "took"]


class _ToolWords(NamedTuple):
    """A tool's icon, and its verb for a running, a finished, and a failed or denied call."""

    icon: str
    present: str
    past: str
    infinitive: str


_TOOLS: Mapping[str, _ToolWords] = {
    "search_notes": _ToolWords("magnifying-glass", "Searching", "Searched", "Search"),
    "read_note": _ToolWords("file-text", "Reading", "Read", "Read"),
    "list_folder": _ToolWords("folder", "Listing", "Listed", "List"),
    "grep_notes": _ToolWords("magnifying-glass", "Searching for", "Searched for", "Search for"),
    "get_links": _ToolWords(
        "link", "Following the links of", "Followed the links of", "Follow the links of"
    ),
    "read_result": _ToolWords("book-open", "Reading on", "Read on", "Read on"),
    "read_skill": _ToolWords(
        "graduation-cap", "Reading the skill", "Read the skill", "Read the skill"
    ),
    "create_note": _ToolWords("file-plus", "Creating", "Created", "Create"),
    "edit_note": _ToolWords("pencil-simple", "Changing", "Changed", "Change"),
    "append_to_note": _ToolWords("pencil-simple", "Adding to", "Added to", "Add to"),
    "move_note": _ToolWords("arrow-bend-up-right", "Moving", "Moved", "Move"),
    "fetch_url": _ToolWords("globe", "Opening", "Opened", "Open"),
    "remember": _ToolWords("brain", "Remembering", "Remembered", "Remember"),
    "update_memory": _ToolWords("brain", "Noting", "Noted", "Note"),
    "update_progress": _ToolWords("brain", "Noting", "Noted", "Note"),
}
_OTHER = _ToolWords("wrench", "Using", "Used", "Use")
_ARGUMENTS = ("query", "pattern", "path", "ref_id", "url", "text", "name")
_QUOTED = frozenset({"search_notes", "grep_notes", "remember"})
_ALL_NOTES = frozenset({"search_notes", "list_folder", "grep_notes"})
# For each tool: the verb and the noun in the summary. Without a noun, the calls are counted.
_COUNTED = {
    "search_notes": ("searched", ""),
    "read_note": ("read", "note"),
    "list_folder": ("listed", "folder"),
    "grep_notes": ("searched for words", ""),
    "get_links": ("followed links", ""),
    "read_result": ("read on", ""),
    "read_skill": ("read", "skill"),
    "create_note": ("created", "note"),
    "edit_note": ("changed", "note"),
    "move_note": ("moved", "note"),
    "fetch_url": ("opened", "page"),
    "remember": ("remembered", "thing"),
    "update_memory": ("noted", "thing"),
}
_ASKING = frozenset(
    {"create_note", "edit_note", "append_to_note", "move_note", "fetch_url", "remember"}
)
_NOTED = {"update_memory": "what is needed later", "update_progress": "the progress"}


@dataclass(frozen=True)
class StepWords:
    """The icon and the texts that describe a step of an agent."""

    step: ToolStep

    @property
    def icon(self) -> str:
        """The name of the icon for the step's tool, or of the spinner while the step is running."""
        if self.step.status == "running":
            return "spinner"
        return _TOOLS.get(self.step.name, _OTHER).icon

    @property
    def verb(self) -> str:
        """The verb for the agent's step, such as `Adding to`, or `Added to` once it has finished.

        A step that failed or was denied has an infinitive, such as `Add to`.
        """
        words = _TOOLS.get(self.step.name, _OTHER)
        if self.step.status == "running":
            return words.present
        return words.past if self.step.status == "ok" else words.infinitive

    @property
    def argument(self) -> str:
        """The main argument of the tool call, such as `Backups.md, lines 12–30`.

        For an unknown tool, this is the name of the tool.
        """
        if self.step.name not in _TOOLS:
            return one_line(self.step.name)
        if self.step.name in _NOTED:
            return _NOTED[self.step.name]
        given = self.step.arguments
        value = next((given[key] for key in _ARGUMENTS if given.get(key)), "")
        words = one_line(show_json(value))
        if self.step.name in _QUOTED:
            return f"“{words}”"
        if to := given.get("to"):
            return f"{words} → {one_line(show_json(to))}"
        first, last = given.get("start"), given.get("end")
        if isinstance(first, int):
            return name_place(words, (first, last if isinstance(last, int) else first))
        return words or ("all notes" if self.step.name in _ALL_NOTES else "")

    @property
    def outcome(self) -> str:
        """Why the agent's step has no result: `failed` or `not allowed by you`.

        This is an empty string if the step succeeded or is still running.
        """
        return {"error": "failed", "denied": "not allowed by you"}.get(self.step.status, "")

    @property
    def is_done(self) -> bool:
        """Whether the step is counted in the summary line, such as "Read 3 notes".

        A tool call that failed or was denied is not counted. One that is still running is counted
        unless it needs approval, as a call of an MCP server does.
        """
        is_asking = self.step.name in _ASKING or self.step.name not in _TOOLS
        return self.step.status == "ok" or (self.step.status == "running" and not is_asking)

    @property
    def took(self) -> str:
        """The duration of the agent's step, such as `1.4 s`, or an empty string if unknown."""
        return "" if self.step.seconds is None else took(self.step.seconds)

    @property
    def spoken(self) -> str:
        """The whole line of the step as text for screen readers."""
        took = f"{self.step.seconds:.1f} seconds" if self.step.seconds is not None else ""
        running = "running" if self.step.status == "running" else ""
        parts = (f"{self.verb} {self.argument}", took, self.outcome, running)
        return ", ".join(part for part in parts if part)


def took(seconds: float) -> str:
    """Format a duration, such as `1.4 s` or `<0.1 s`."""
    return "<0.1 s" if seconds < 0.05 else f"{seconds:.1f} s"


def describe_running_step(step: ToolStep) -> str:
    """Describe a running step of an agent, such as `Reading Backups.md…`."""
    return f"{_TOOLS.get(step.name, _OTHER).present} {StepWords(step).argument}…"


def summary(steps: Iterable[ToolStep]) -> str:
    """Summarise an agent's steps in one line, such as `Searched twice, read 3 notes, 1 failed`."""
    names = list(steps)
    done = [step for step in names if StepWords(step).is_done]
    groups: dict[str, list[ToolStep]] = {}
    for step in done:
        groups.setdefault(_find_group(step.name), []).append(step)
    counted = (_count_steps(name, group) for name, group in groups.items())
    parts = [words for words in counted if words]
    failed = sum(step.status == "error" for step in names)
    denied = sum(step.status == "denied" for step in names)
    parts += [f"{count(failed)} failed"] if failed else []
    parts += [f"{count(denied)} not allowed"] if denied else []
    line = ", ".join(parts) or plural(len(names), "step")
    return line[:1].upper() + line[1:]


def _find_group(tool: str) -> str:
    """Return the tool name under which the summary counts the steps of a tool.

    This is usually the tool's own name. Steps of `append_to_note` are counted as `edit_note`.
    """
    groups = {"append_to_note": "edit_note", "update_progress": "update_memory"}
    return groups.get(tool, tool)


def _count_steps(name: str, steps: list[ToolStep]) -> str:
    words, noun = _COUNTED.get(name, (f"used {one_line(name)}", ""))
    if not noun:
        return words + _times(len(steps))
    things = [show_json(step.arguments.get("path", step.id)) for step in steps]
    number = len(set(things)) if noun == "note" else len(things)
    return f"{words} {plural(number, noun)}"


def _times(total: int) -> str:
    return {1: "", 2: " twice"}.get(total, f" {count(total)} times")
