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
# Returns the path of the note with a content, given the hash of the content.
FindMoved = Callable[[str], str | None]


@dataclass(frozen=True)
class AskedAnswer:
    """An answer of a chat with the question that it answers.

    Attributes:
        question: the text of the user message.
        user_entry: the id of the log entry of the user message.
        item: the answer at its place in the chat.
        project: the project of the chat, or an empty string.
    """

    question: str
    user_entry: str
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
    user: UserItem | None = None
    for item in chat.items:
        if isinstance(item, UserItem):
            user = item
        elif isinstance(item, AnswerItem) and item.entry == entry and user is not None:
            return AskedAnswer(user.text, user.entry, item, chat.project or "")
    raise NotFound(f"The chat has no answer {entry}.")


def find_changed_rows(
    chat: ChatTranscript, answer: ModelAnswer, find_moved: FindMoved
) -> FoundRows:
    """Return the sources of an answer that have changed since, each with a diff of its lines.

    Args:
        chat: the chat of the answer, with what has changed in its sources.
        find_moved: returns the path of a note with a content, given its hash, or None.

    Raises:
        NotFound: the chat has no such answer on its active branch any more.
    """
    item = find_asked(chat, answer.entry).item
    versions = {each.source: each.version for each in item.answer.sources if each.version}
    rows = tuple(
        AnswerRow(one.path, 1, one.diff or one.sentence, PurePosixPath(one.path).stem)
        for one in item.changed
        if one.diff or find_moved(versions.get(one.path, "")) is None
    )
    paths = len({row.path for row in rows})
    total = name_count(answer.sources, "source")
    sentence = f"{paths:,} of its {total} changed." if answer.sources > 1 else "Its source changed."
    return FoundRows(sentence if rows else "", rows, len(rows))


def _list_cited(answer: TurnAnswer) -> frozenset[str]:
    """Return the paths and addresses that an answer cites."""
    return frozenset(citation.path for citation in answer.checked.citations)
