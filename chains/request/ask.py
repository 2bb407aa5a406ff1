"""Define `Ask`, what the user wants, and the table of modes, which says how it is answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from chains.events import Mode
from context.layers import replace_surrogates

__all__ = ["MODES", "Ask", "ModeRules", "Selection"]


@dataclass(frozen=True)
class Selection:
    """A range of lines in a note or text file.

    Attributes:
        path: the path of the file.
        first: the first line, counted from 1.
        last: the last line, inclusive.
    """

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class Ask:
    """A question with its options.

    Attributes:
        question: the text of the question.
        mode: the mode of the turn.
        model: the model, or None for the configured one.
        session: the chat to continue, or None for a new one.
        dry_run: whether to search and prepare the request without sending or storing it.
        update_index: whether to update the index first, if the mode searches notes.
        attach: the notes, folders, files, images, tags and web pages to attach.
        selections: line ranges in notes to attach.
        parent: the entry after which the question is added, or None for the active leaf.
        project: the project folder of a new chat. For an existing chat, this must be its own
            project or None.
        reads_whole: whether to let the model read large attachments completely, part by part. The
            user must have agreed to the cost, which `Assistant.estimate_reading` returns.
    """

    question: str
    mode: Mode = "vault"
    model: str | None = None
    session: str | None = None
    dry_run: bool = False
    update_index: bool = True
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    parent: str | None = None
    project: str | None = None
    reads_whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", replace_surrogates(self.question))


@dataclass(frozen=True)
class ModeRules:
    """How messages of a mode are answered.

    Attributes:
        prompt: the name of the prompt.
        searches: whether passages of the notes are retrieved first.
        calls_tools: whether the model may call tools, which makes it an agent.
        uses_project: whether the notes are those of the chat's project, if it has one.
        needs: what must be there: the open vault, the chat's project, or nothing. An agent in a
            project needs no vault.
    """

    prompt: str
    searches: bool = False
    calls_tools: bool = False
    uses_project: bool = False
    needs: str = ""

    @property
    def searches_notes(self) -> bool:
        """Whether the notes are searched, with each question or by a tool."""
        return self.searches or self.calls_tools


MODES: Final[Mapping[Mode, ModeRules]] = {
    "chat": ModeRules("chat"),
    "vault": ModeRules("vault_qa", searches=True, needs="vault"),
    "project": ModeRules("project", searches=True, uses_project=True, needs="project"),
    "agent": ModeRules("agent", calls_tools=True, uses_project=True, needs="vault"),
}
