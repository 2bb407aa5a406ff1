"""Convert the pieces of an answer to the events of the model's port."""

from collections.abc import Iterator
from dataclasses import dataclass

from chains.events import Usage
from chains.llm.incoming.pieces import AnswerPiece
from chains.llm.incoming.text_pieces import DeltaReader, TextJoiner
from chains.llm.incoming.thinking import Said, ThinkingSplitter
from chains.llm.incoming.tool_calls import CallAssembler
from chains.llm.port import (
    ModelCalling,
    ModelCalls,
    ModelEnded,
    ModelEvent,
    ModelReasoning,
    ModelRetracted,
    ModelText,
)

__all__ = ["AnswerReader", "CollectedAnswer", "collect_answer"]


class AnswerReader:
    """Reads the pieces of one answer.

    Attributes:
        finish: the finish reason, or an empty string as long as there is none.
        has_text: whether there is text that was not taken back.
    """

    def __init__(self) -> None:
        self.finish = ""
        self.has_text = False
        self._usage: Usage | None = None
        self._wholes = DeltaReader()
        self._words, self._thoughts = TextJoiner(), TextJoiner()
        self._thinking, self._calls = ThinkingSplitter(), CallAssembler()

    def add(self, piece: AnswerPiece) -> Iterator[ModelEvent]:
        """Add a piece, and yield its events."""
        if piece.finish or piece.chars:  # words behind a finish reason withdraw it
            self.finish = piece.finish
        self._usage = piece.usage or self._usage
        self._calls.add(piece.calls)
        if piece.calls:
            yield ModelCalling()
        thought = self._thoughts.add(piece.thought)
        if thought.strip():
            self._thinking.note_own_field()
        if thought or piece.signature:
            yield ModelReasoning(thought, piece.signature)
        if piece.text and (text := self._words.add(self._wholes.add(piece.text))):
            yield from self._tell(self._thinking.add(text))

    def flush(self) -> Iterator[ModelEvent]:
        """Yield what was held back, because nothing follows."""
        if rest := self._words.add(self._wholes.end()) + self._words.end():
            yield from self._tell(self._thinking.add(rest))
        yield from self._tell(self._thinking.end(is_cut=self.finish in {"", "length"}))

    def complete(self) -> Iterator[ModelEvent]:
        """Yield the end of an answer that has a finish reason."""
        if calls := self._calls.calls:
            yield ModelCalls(calls)
        yield ModelEnded("complete", self.finish, self._usage)

    def break_off(self, reason: str) -> Iterator[ModelEvent]:
        """Yield the end of an answer that is not complete.

        Args:
            reason: why it is not.
        """
        yield ModelEnded("interrupted", usage=self._usage, reason=reason)

    def _tell(self, parts: Iterator[Said]) -> Iterator[ModelEvent]:
        for part in parts:
            if part.kind == "text":
                self.has_text = True
                yield ModelText(part.text)
            elif part.kind == "thought":
                yield ModelReasoning(part.text)
            else:
                self.has_text = False
                yield ModelRetracted()


@dataclass(frozen=True)
class CollectedAnswer:
    """The whole text of an answer, its end, and whether the model called any tools."""

    text: str
    ended: ModelEnded
    has_calls: bool = False


def collect_answer(events: Iterator[ModelEvent]) -> CollectedAnswer:
    """Read an answer to its end. The text contains no thinking."""
    pieces: list[str] = []
    ended, has_calls = ModelEnded("interrupted"), False
    for event in events:
        if isinstance(event, ModelText):
            pieces.append(event.text)
        elif isinstance(event, ModelRetracted):
            pieces.clear()
        elif isinstance(event, ModelCalls):
            has_calls = True
        elif isinstance(event, ModelEnded):
            ended = event
    return CollectedAnswer("".join(pieces), ended, has_calls)
