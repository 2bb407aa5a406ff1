"""The part of an answer that has arrived, and its form in the log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from chains.events import Usage
from chains.llm.port import ModelQuoted, ModelReasoning
from chains.turn_answer import AnswerEnd
from context.log.entries import MessageEntry
from context.messages import Message, ReasoningPart, TextPart, ToolCallPart
from context.report.report import Outcome

__all__ = ["PartialAnswer"]


@dataclass
class PartialAnswer:
    """The answer received so far.

    Attributes:
        pieces: the pieces of its text.
        wire: the body that was sent, or None.
        output_limit: the most tokens that the answer was allowed, or None if nothing was sent.
        thoughts: the pieces of reasoning that no signature has ended.
        signed: the sections of reasoning that a signature has ended.
        calls: the tool calls in the answer.
        thinking_s: how long the model has thought, without the thoughts that are just arriving.
        thinking_since_s: when the thoughts that are just arriving began, or None.
        text_since_s: when the text began.
        quoted: the kind of the answer, and the sections of notes that it shows without a model.
    """

    pieces: list[str] = field(default_factory=list)
    end: AnswerEnd = field(default_factory=AnswerEnd)
    usage: Usage | None = None
    warnings: list[str] = field(default_factory=list)
    wire: Mapping[str, Any] | None = None
    output_limit: int | None = None
    thoughts: list[str] = field(default_factory=list)
    signed: list[ReasoningPart] = field(default_factory=list)
    calls: tuple[ToolCallPart, ...] = ()
    thinking_s: float = 0.0
    thinking_since_s: float | None = None
    text_since_s: float = 0.0
    quoted: ModelQuoted = field(default_factory=ModelQuoted)

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self.pieces)

    @property
    def outcome(self) -> Outcome:
        """What became of the request."""
        if self.end.status != "error":
            return "answered"
        return "not_sent" if self.wire is None else "refused"

    @property
    def message(self) -> Message:
        """The answer as it is stored. Text that is only blanks is no text."""
        text, thought = self.text if self.text.strip() else "", "".join(self.thoughts)
        if not (self.calls or self.signed or thought.strip()):
            return Message("assistant", text)
        rest = (ReasoningPart(thought), TextPart(text))
        parts = (*self.signed, *(part for part in rest if part.text), *self.calls)
        return Message("assistant", parts)

    def measure_thinking(self) -> float:
        """Return how long the model has thought so far, in seconds."""
        since_s = self.thinking_since_s
        return self.thinking_s + (0.0 if since_s is None else monotonic() - since_s)

    def add_text(self, text: str) -> None:
        """Add a piece of the answer's text, which ends the thinking."""
        self.end_thinking()
        if not self.pieces:
            self.text_since_s = monotonic()
        self.pieces.append(text)

    def end_thinking(self) -> None:
        """Stop measuring how long the model thinks, because something else arrives."""
        self.thinking_s, self.thinking_since_s = self.measure_thinking(), None

    def add_reasoning(self, piece: ModelReasoning) -> None:
        """Add a piece of reasoning. A piece with a signature ends a section of the reasoning."""
        if self.thinking_since_s is None:
            self.thinking_since_s = monotonic()
        self.thoughts.append(piece.text)
        if piece.signature:
            self.signed.append(ReasoningPart("".join(self.thoughts), piece.signature))
            self.thoughts.clear()

    def retract(self, pending_text: str) -> None:
        """Move the text so far to the reasoning, since that is what it was.

        Args:
            pending_text: the text behind it that was not shown yet.
        """
        self.thoughts.append(self.text + pending_text)
        self.thinking_s += monotonic() - self.text_since_s if self.pieces else 0.0
        self.pieces.clear()

    def build_entry(
        self,
        place: tuple[str, str, str],
        message: Message,
        turn: str,
        model: str,
        seconds: float,
    ) -> MessageEntry:
        """Build the log entry of the answer in its current state.

        Args:
            place: the id of the entry, the id of its parent, and its time.
            message: the answer, which hooks may have changed.
            turn: the id of the turn.
            model: the name of the model.
            seconds: how long the answer took.
        """
        return MessageEntry(
            *place,
            message,
            turn,
            model=model,
            usage=self.usage.to_dict() if self.usage else None,
            status=self.end.status,
            seconds=seconds,
            reason=self.end.reason or None,
            error_code=self.end.error_code or None,
        )
