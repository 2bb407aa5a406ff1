"""What a model is asked while an attachment is read: a part of it, or notes on several parts."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from chains.citations.reading_notes import span
from chains.errors import CannotRead
from chains.retrieval.map_reduce.split import Part
from context.assemble.request import Preamble, preamble
from context.budget import Room
from context.envelope import System
from context.fit.guard import PreparedRequest
from context.prompt import PromptSection, system_parts
from context.side_calls import prepare_call
from context.tokens import TokenCounter

__all__ = ["FILLED", "PROMPT", "Asked"]

PROMPT: Final = "reading"
WORDS_PER_TOKEN: Final = 0.6
MOST_PART_TOKENS: Final = 12_500  # some 50,000 characters
MOST_NOTES_TOKENS: Final = 1_000
LEAST_FREE_TOKENS: Final = 400
LEAST_NOTES_TOKENS: Final = 48
NOTES_A_CALL: Final = 4  # notes of so many parts fit a call at the least, so that they get fewer
PATH_CHARS: Final = 60
PATH_TOKENS: Final = 120  # of as many characters, whatever they are
FILLED: Final = 0.98  # lines may count a little more together than one by one


@dataclass(frozen=True)
class Asked:
    """What all calls of a reading have in common.

    Attributes:
        question: what the text is read for.
        model: who reads.
        room: the budget of each call.
        sections: the prompt.
        session: the chat it is read for.
        most_notes: how long the notes of a call may be, in tokens.
    """

    question: str
    model: str
    room: Room
    sections: Sequence[PromptSection]
    counter: TokenCounter
    session: str | None = None
    temperature: float = 0.0
    most_notes: int = MOST_NOTES_TOKENS

    @cached_property
    def frame(self) -> int:
        """What a call has beside the text that is read: prompt, question, path and lines."""
        longest = (10**8, 10**8)
        framed = self.counter.count(_framed("notes", "", longest, "", self.question, 10**4))
        beside = self._preamble.system_tokens + self.counter.message_overhead
        return framed + beside + PATH_TOKENS

    @cached_property
    def free(self) -> int:
        """What a call has for the text itself.

        Raises:
            CannotRead: there is too little of it.
        """
        found = int((self.room.budget - self.frame) * FILLED)
        notes = min(self.most_notes, self.room.reserve)
        if found < LEAST_FREE_TOKENS or notes < LEAST_NOTES_TOKENS:
            raise CannotRead(
                "The limit leaves no room for reading an attachment part by part. "
                "Raise autoCompactThreshold, or shorten the question."
            )
        return found

    @property
    def part_tokens(self) -> int:
        """How large a part may be."""
        return min(self.free, MOST_PART_TOKENS)

    @property
    def notes_tokens(self) -> int:
        """How long the notes that a call makes may be."""
        return min(self.most_notes, self.room.reserve, self.free // NOTES_A_CALL)

    def of_part(self, path: str, part: Part) -> PreparedRequest:
        """Return the call that reads a part."""
        return self._call("part", path, part.lines, part.numbered)

    def of_notes(self, path: str, lines: tuple[int, int], notes: str) -> PreparedRequest:
        """Return the call that makes notes on several parts fewer."""
        return self._call("notes", path, lines, notes)

    def _call(self, kind: str, path: str, lines: tuple[int, int], text: str) -> PreparedRequest:
        words = int(self.notes_tokens * WORDS_PER_TOKEN)
        return prepare_call(
            self._preamble,
            (),
            _framed(kind, path[-PATH_CHARS:], lines, text, self.question, words),
            replace(self.room, reserve=self.notes_tokens),
            model=self.model,
            session=self.session,
            temperature=self.temperature,
        )

    @cached_property
    def _preamble(self) -> Preamble:
        return preamble(System(system_parts(PROMPT, self.sections)), (), self.counter)


def _framed(
    kind: str, path: str, lines: tuple[int, int], text: str, question: str, words: int
) -> str:
    asked = html.escape(question, quote=False)
    return (
        f'<{kind} path="{html.escape(path)}" lines="{span(lines)}">\n'
        f"{html.escape(text, quote=False)}\n</{kind}>\n\n"
        f"<question>\n{asked}\n</question>\n\nWrite at most {words} words."
    )
