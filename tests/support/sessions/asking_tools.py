"""A tool that asks for approval before it appends to a text, and a vault without notes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chains.errors import ProposalOutdated, ToolFailed
from chains.tool import Proposal, Tool
from chains.tools.schema import build_arguments_schema, build_text_schema
from context.messages import ToolDefinition
from tests.support.sessions.memory_session import ListSearch
from vault.records import NoteState

SCHEMA = build_arguments_schema({"text": build_text_schema("What to write.")})


class Diary:
    """A text and a tool that appends to it. A proposal is outdated once the text has changed."""

    def __init__(self, name: str = "write_diary", **fields: Any) -> None:
        self.text = ""
        self.on_apply: Callable[[], object] = lambda: None
        self.fields: dict[str, Any] = {"kind": "write", "summary": "Write the diary."} | fields
        self.tool = Tool(ToolDefinition(name, "Write.", SCHEMA), propose=self.propose)

    def propose(self, arguments: Mapping[str, Any]) -> Proposal:
        if not arguments["text"]:
            raise ToolFailed("There is nothing to write.")
        before = self.text

        def apply() -> str:
            self.on_apply()
            if self.text != before:
                raise ProposalOutdated("The diary has changed.")
            self.text += str(arguments["text"])
            return "Written."

        return Proposal(apply=apply, diff=f"+{arguments['text']}", **self.fields)


class NoNotes(ListSearch):
    """An open vault without notes."""

    root = Path("Notes")

    def notes(self) -> tuple[NoteState, ...]:
        return ()

    def filter_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        return frozenset(paths)
