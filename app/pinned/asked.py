"""Pin an answer of a chat, and find what has changed in the sources of an answer of a model."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.errors import NotFound
from app.pinned.answer import AnswerRow, ModelAnswer
from app.pinned.compute import FoundRows
from app.sessions.transcript import AnswerItem, ChatTranscript, UserItem
from chains.models import EXTRACTIVE
from chains.turn_answer import TurnAnswer
from vault.coverage import name_count

__all__ = ["AskedAnswer", "ReadChat", "find_asked", "find_changed_rows"]

# Reads a chat, given its id.
ReadChat = Callable[[str], ChatTranscript]


@dataclass(frozen=True)
class AskedAnswer:
    """An answer of a chat with the question that it answers.

    Attributes:
        question: the text of the user message.
        item: the answer at its place in the chat.
        project: the project of the chat, or an empty string.
    """

    question: str
    item: AnswerItem
    project: str

    @property
    def is_live(self) -> bool:
        """Whether the answer can be found again without a model."""
        return self.item.answer.model == EXTRACTIVE or bool(self.item.filter_parts)

    def to_model_answer(self, session: str) -> ModelAnswer:
        """Return the answer as it is stored with a pinned answer."""
        answer, item = self.item.answer, self.item
        sources = len(_list_cited(answer))
        return ModelAnswer(answer.text, answer.model, session, item.entry, item.time, sources)


def find_asked(chat: ChatTranscript, entry: str) -> AskedAnswer:
    """Find an answer on the active branch of a chat, with its question.

    Raises:
        NotFound: there is no such answer.
    """
    question = ""
    for item in chat.items:
        if isinstance(item, UserItem):
            question = item.text
        elif isinstance(item, AnswerItem) and item.entry == entry and question.strip():
            return AskedAnswer(question, item, chat.project or "")
    raise NotFound(f"The chat has no answer {entry}.")


def find_changed_rows(chat: ChatTranscript, answer: ModelAnswer) -> FoundRows:
    """Return the sources of an answer that have changed since, each with a diff of its lines.

    Raises:
        NotFound: the chat has no such answer on its active branch any more.
    """
    changed = find_asked(chat, answer.entry).item.changed
    rows = tuple(
        AnswerRow(one.path, 1, one.diff or one.sentence, PurePosixPath(one.path).stem)
        for one in changed
    )
    total = name_count(answer.sources, "source")
    return FoundRows(f"{len(rows):,} of its {total} changed." if rows else "", rows, len(rows))


def _list_cited(answer: TurnAnswer) -> list[int]:
    """Return the numbers of the notes that an answer cites."""
    cited = {citation.n for citation in answer.checked.citations}
    return sorted(cited)
