"""Verdicts on notes, and how they are read from a model's reply about a block.

The reply is one JSON object with an entry for each note. Nothing is guessed: a note that the reply
leaves out, contradicts itself about or proves with words that are not in the note has no verdict.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from chains.citations.quotes import count_words
from chains.judge.blocks import JudgePiece
from chains.judge.proofs import find_proof, is_telling
from context.json_codec import Record
from vault.notes.text.data import hide_data_in_lines

__all__ = ["GIVEN", "Outcome", "QuotePlace", "Verdict", "find_place", "read_reply"]

# The verdicts (`GIVEN`), and why there is none.
Outcome = Literal["yes", "no", "cannot_tell", "failed", "too_long"]
GIVEN: Final[tuple[Outcome, ...]] = ("yes", "no", "cannot_tell")

_EMPTY: Final = "the reply is empty"
_UNREADABLE: Final = "the reply is not the JSON that was asked for"
_FOREIGN: Final = "the reply names a note that was not asked about"
_MISSING: Final = "the reply leaves the note out"
_TWICE: Final = "the reply gives two verdicts"
_UNKNOWN: Final = "the reply gives no verdict"
_UNPROVEN: Final = "the reply says yes without a quotation"
_NOT_FOUND: Final = "the quotation is not in the note"
_TOO_SHORT: Final = "the quotation is too short to prove anything"
_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "yes": "yes",
    "no": "no",
    "cannot tell": "cannot_tell",
    "can't tell": "cannot_tell",
    "unsure": "cannot_tell",
    "unknown": "cannot_tell",
}
# The beginning of JSON, and not of a remark in brackets.
_OPENING: Final = re.compile(r"[\[{]\s*[\[{\"]")
_LIST: Final = re.compile(r"\[\s*\{")


@dataclass(frozen=True)
class QuotePlace(Record):
    """Where a quotation stands in a note. It holds no text, so no note is stored with a verdict.

    Attributes:
        lines: the first and last line.
        start: the index of its first character in these lines.
        length: the number of characters.
    """

    lines: tuple[int, int]
    start: int
    length: int

    def cut(self, text: str) -> str:
        """Return the quotation from the text of its note."""
        first, last = self.lines
        # A model sees no pictures and other data that stand in a line.
        lines = "\n".join(hide_data_in_lines(text.split("\n")[first - 1 : last]))
        return lines[self.start : self.start + self.length]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a note, or why there is none.

    Attributes:
        place: where the quotation stands that proves a yes, or None.
        reason: why there is no verdict, or an empty string.
    """

    outcome: Outcome
    place: QuotePlace | None = None
    reason: str = ""


def find_place(text: str, span: tuple[int, int]) -> QuotePlace:
    """Return the place of a quotation, given its span in the text of the note."""
    start = text.rfind("\n", 0, span[0]) + 1
    above = 1 + text.count("\n", 0, span[0])
    lines = (above, above + text.count("\n", span[0], span[1]))
    return QuotePlace(lines, span[0] - start, span[1] - span[0])


def read_reply(reply: str, pieces: Sequence[JudgePiece]) -> list[Verdict]:
    """Return the verdict on each note of a block, given the text of the model's answer."""
    entries = _find_entries(reply)
    if entries is None:
        return [Verdict("failed", reason=_UNREADABLE if reply.strip() else _EMPTY)] * len(pieces)
    named = defaultdict[int, list[Mapping[str, Any]]](list)
    for entry in entries:
        named[_read_number(entry.get("n"))].append(entry)
    if not named.keys() <= set(range(1, len(pieces) + 1)):
        # All its numbers may be shifted, so none of its verdicts is known to be about its note.
        return [Verdict("failed", reason=_FOREIGN)] * len(pieces)
    return [_read_entries(named[number], piece) for number, piece in enumerate(pieces, start=1)]


def _find_entries(reply: str) -> list[Mapping[str, Any]] | None:
    """Return the entries of the first JSON value in a reply, or None if it has none."""
    value = _read_value(reply)
    entries = value.get("verdicts", [value]) if isinstance(value, dict) else value
    is_list = isinstance(entries, list) and entries and all(map(_is_entry, entries))
    return cast(list[Mapping[str, Any]], entries) if is_list else None


def _read_value(reply: str) -> object:
    """Return the first JSON value in a reply, or None.

    Small models forget the brace around their list: a list that is whole counts without it. What is
    whole within a list that was cut does not count.
    """
    for opening in filter(None, (_OPENING.search(reply), _LIST.search(reply))):
        try:
            return json.JSONDecoder().raw_decode(reply, opening.start())[0]
        except (ValueError, RecursionError):
            continue
    return None


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and "n" in value


def _read_number(value: object) -> int:
    """Return the number of a note, or 0 if the value is none."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _read_entries(entries: Sequence[Mapping[str, Any]], piece: JudgePiece) -> Verdict:
    if not entries:
        return Verdict("failed", reason=_MISSING)
    outcomes = {_read_outcome(entry.get("verdict")) for entry in entries}
    if len(outcomes) > 1:
        return Verdict("failed", reason=_TWICE)
    (outcome,) = outcomes
    if outcome is None:
        return Verdict("failed", reason=_UNKNOWN)
    return _prove(entries, piece) if outcome == "yes" else Verdict(outcome)


def _read_outcome(value: object) -> Outcome | None:
    normalized_text = " ".join(str(value).replace("_", " ").casefold().split()).rstrip(".")
    return _OUTCOMES.get(normalized_text)


def _prove(entries: Sequence[Mapping[str, Any]], piece: JudgePiece) -> Verdict:
    """Return a yes with the place of its quotation, or a failure if the note does not have it."""
    given = [entry.get("quote") for entry in entries]
    quotes = [quote for quote in given if isinstance(quote, str) and count_words(quote)]
    if not quotes:
        return Verdict("failed", reason=_UNPROVEN)
    reason = _NOT_FOUND
    for quote in quotes:
        if (span := find_proof(piece.note.text, quote, piece.lines)) is None:
            continue
        if is_telling(piece.note.text, span):
            return Verdict("yes", find_place(piece.note.text, span))
        reason = _TOO_SHORT
    return Verdict("failed", reason=reason)
