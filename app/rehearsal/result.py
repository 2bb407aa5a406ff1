"""The values of rehearsals: an offer with its price, the progress, and what came of it."""

from dataclasses import dataclass
from typing import Any

from app.rehearsal.answers import StoredRehearsal
from chains.errors import format_dollars
from chains.events import TextDelta, TextTakenBack
from chains.rehearsal.calls import RehearsalCost
from chains.rehearsal.sentences import AnswerDifference
from chains.rehearsal.table import RehearsalTable
from context.json_codec import Record
from context.requests.parts import RequestPart

__all__ = [
    "EachResult",
    "RehearsalEvent",
    "RehearsalOffer",
    "RehearsalProgress",
    "RehearsalResult",
]


@dataclass(frozen=True)
class RehearsalOffer:
    """What can be left out of the request of an answer, and what it costs to ask again.

    Attributes:
        answer: the log entry of the answer.
        model: the model that is asked, which is the one that gave the answer.
        where: the host that is called, or "this computer".
        cost: the most that it can cost. It has no calls if everything was asked before.
        notes: sentences for the reader.
        stored: what was asked again already.
    """

    session: str
    answer: str
    model: str
    where: str
    parts: tuple[RequestPart, ...]
    cost: RehearsalCost
    notes: tuple[str, ...] = ()
    stored: tuple[StoredRehearsal, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the offer as a JSON object."""
        return {
            "session": self.session,
            "entry": self.answer,
            "model": self.model,
            "where": self.where,
            "cost": self.cost.to_dict(),
            "parts": [part.to_dict() for part in self.parts],
            "notes": list(self.notes),
            "rehearsals": [one.to_dict() for one in self.stored],
        }

    @property
    def price(self) -> str:
        """One line that says how many calls are made, where, and what they cost at most."""
        calls = self.cost.calls
        if not calls:
            return "Asked before with the same request: nothing is sent"
        count = "1 call" if calls == 1 else f"up to {calls} calls"
        tokens = f"{self.cost.prompt_tokens:,} tokens"
        return f"{count} of {self.model} ({self.where}), {tokens}, {self._dollars}"

    @property
    def _dollars(self) -> str:
        price = self.cost.price
        if price is None:
            return "price not known"
        return f"at most {format_dollars(price)}" if price else "no cost"


@dataclass(frozen=True)
class RehearsalProgress(Record):
    """How far a rehearsal is.

    Attributes:
        done: the number of answers so far, with those that were known before.
        most: the most that there may be.
        left_out: the keys of what is left out in the call that comes next.
        before: the answer in the chat, which stands beside what arrives.
    """

    done: int
    most: int
    left_out: tuple[str, ...] = ()
    before: str = ""

    json_shape = (
        "done",
        "most",
        "left_out",
    )


# What is yielded until the result is known. The text belongs to the call that was told last.
RehearsalEvent = RehearsalProgress | TextDelta | TextTakenBack


@dataclass(frozen=True)
class RehearsalResult(Record):
    """An answer without some of what the model saw, beside the answer in the chat.

    Attributes:
        entry: the log entry of the answer in the chat.
        before: the text of that answer.
        difference: what differs between both.
        is_known: whether it had been asked before, so that nothing was sent.
        remarks: sentences for the reader.
    """

    session: str
    entry: str
    before: str
    rehearsal: StoredRehearsal
    difference: AnswerDifference
    is_known: bool
    remarks: tuple[str, ...] = ()

    json_shape = (
        "session",
        "entry",
        "model = rehearsal.model",
        "left_out = rehearsal.left_out",
        "before",
        "text = rehearsal.text",
        "note = rehearsal.note",
        "at = rehearsal.at",
        "difference",
        "known = is_known",
        "remarks",
    )


@dataclass(frozen=True)
class EachResult(Record):
    """Which source carried which sentence of an answer.

    Attributes:
        entry: the log entry of the answer in the chat.
        unchanged: the first answer to the unchanged request, whose sentences the table has.
        sent: the number of calls that were made now.
        remarks: sentences for the reader.
    """

    session: str
    entry: str
    model: str
    unchanged: str
    table: RehearsalTable
    sent: int
    remarks: tuple[str, ...] = ()
