"""Name the reasons for the differences between a request and the previous one.

The reasons are short clauses for the context report, such as "a turn was dropped". Each difference
has one: that of the patch that made it, or else one that follows from the two requests.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from context.fit.differences import SUMMARY, Change, Difference, Part, list_parts

TOOLS_CHANGED: Final = "the tools changed"
TOOL_PROMOTED: Final = "tool promoted"
INSTRUCTIONS_CHANGED: Final = "the instructions changed"
TURNS_BACK: Final = "earlier turns came back"
ANSWER_SHORTENED: Final = "an answer was shortened"
ANSWER_RESTORED: Final = "a shortened answer came back whole"
TRIMMED: Final = "old results and words were trimmed"
TRIMMED_BACK: Final = "trimmed results and words came back whole"
SUMMARY_SHORTENED: Final = "the summary was shortened"
SUMMARY_OUT: Final = "the summary was left out"
SUMMARY_BACK: Final = "the summary came back"
HISTORY_CHANGED: Final = "the history was changed"
EXCLUDED: Final = "the text of excluded notes was left out"
ALLOWED: Final = "the text of notes that may be read again came back"
TAIL_SHORTENED: Final = "the context of this turn was shortened"
TAIL_RESTORED: Final = "shortened context of this turn came back whole"
WORK_CHANGED: Final = "older results of this turn were shortened"
THRESHOLD_RAISED: Final = "the threshold was raised"
MODEL_CHANGED: Final = "another model answers"

_SUMMARY_REASONS: Final[Mapping[Change, str]] = {
    "dropped": SUMMARY_OUT,
    "returned": SUMMARY_BACK,
    "restored": SUMMARY_BACK,
    "shortened": SUMMARY_SHORTENED,
    "withheld": EXCLUDED,
    "allowed": ALLOWED,
}
_MESSAGE_REASONS: Final[Mapping[Change, str]] = {
    "added": TURNS_BACK,
    "returned": TURNS_BACK,
    "shortened": ANSWER_SHORTENED,
    "restored": ANSWER_RESTORED,
    "trimmed": TRIMMED,
    "untrimmed": TRIMMED_BACK,
    "withheld": EXCLUDED,
    "allowed": ALLOWED,
}


_NOTICES: Final[frozenset[Change]] = frozenset({"withheld", "allowed"})


@dataclass(frozen=True, slots=True)
class Cause:
    """A patch since the previous request, with its reason and what it may have changed.

    Attributes:
        part: where the patch belongs.
        reason: why it was made, as it says itself.
        is_everything: whether it replaces the whole part.
        is_compaction: whether it replaces old turns with a summary.
        names: the tools that it removes.
        texts: the texts of the system message that it replaces or adds.
        messages: the messages that it hides, replaces or adds.
    """

    part: Part
    reason: str
    is_everything: bool = False
    is_compaction: bool = False
    names: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    messages: tuple[Mapping[str, object], ...] = ()

    def explains(self, difference: Difference) -> bool:
        """Return whether the patch may have made a difference."""
        if difference.part != self.part:
            return False
        if self.is_everything or difference.name in self.names:
            return True
        sides = [side for side in (difference.before, difference.now) if side is not None]
        if self.part == "system":
            return self._reduce(difference.before) == self._reduce(difference.now)
        if self.is_compaction and (difference.name == SUMMARY or difference.change == "dropped"):
            return True
        return any(_is_equal(side, message) for side in sides for message in self.messages)

    def _reduce(self, side: object) -> list[str]:
        """Return the words of a section without the texts that the patch replaces or adds."""
        rest = "" if side is None else str(side).strip()
        for text in self.texts:
            rest = "" if rest in text else rest.replace(text.strip() or "\0", "")
        return rest.split()


def _is_equal(side: object, message: Mapping[str, object]) -> bool:
    if isinstance(side, str):  # a summary
        return any(isinstance(p, Mapping) and p.get("text") == side for p in list_parts(message))
    return list_parts(side) == list_parts(message)


@dataclass(frozen=True, slots=True)
class Changes:
    """Decisions since the previous request that can invalidate the prompt cache.

    Attributes:
        causes: the patches of hooks and compactions.
        dropped: how many turns this request drops.
        epoch_reasons: why dropped turns may be sent again: another model, or a higher threshold.
        promoted: the names of tools that were omitted until the model found them.
    """

    causes: tuple[Cause, ...] = ()
    dropped: int = 0
    epoch_reasons: tuple[str, ...] = ()
    promoted: frozenset[str] = frozenset()


NO_CHANGES: Final = Changes()


def explain_differences(
    differences: Sequence[Difference], changes: Changes, is_work: bool = False
) -> tuple[str, ...]:
    """Return the reasons for all differences, in the order of the request.

    Args:
        differences: the differences from the previous request.
        changes: the decisions since the previous request.
        is_work: whether the differences are in the messages of the current turn.
    """
    reasons: list[str] = []
    for part in ("tools", "system", "messages"):
        found = [difference for difference in differences if difference.part == part]
        open_ = [one for one in found if not any(c.explains(one) for c in changes.causes)]
        if part == "messages":
            named = list(_explain_messages(open_, changes, is_work))
        else:
            named = [_explain_start(open_, changes)] if open_ else []
        causes = [c for c in changes.causes if any(c.explains(one) for one in found)]
        if changes.dropped and any(c.is_compaction for c in causes):
            named.append(_describe_drop(changes.dropped))
        reasons += (*named, *(cause.reason for cause in causes))
    return tuple(dict.fromkeys(reasons))


def _explain_start(differences: Sequence[Difference], changes: Changes) -> str:
    """Return the reason why tools or sections of the system text differ."""
    if differences[0].part == "system":
        return INSTRUCTIONS_CHANGED
    is_promotion = all(
        one.change == "added" and one.name in changes.promoted for one in differences
    )
    return TOOL_PROMOTED if is_promotion else TOOLS_CHANGED


def _explain_messages(
    differences: Iterable[Difference], changes: Changes, is_work: bool
) -> Iterator[str]:
    """Yield the reasons why messages differ."""
    differences = list(differences)
    dropped = [one for one in differences if one.change == "dropped" and one.name != SUMMARY]
    if turns := sum(one.name == "user" for one in dropped):
        yield _describe_drop(turns)
    elif dropped:
        yield HISTORY_CHANGED
    for one in differences:
        if one.name == SUMMARY:
            yield _SUMMARY_REASONS.get(one.change, HISTORY_CHANGED)
        elif is_work and one.name == "user":
            yield from explain_tail(one.before, one.now)
        elif is_work:
            yield _MESSAGE_REASONS[one.change] if one.change in _NOTICES else WORK_CHANGED
        elif one.change != "dropped":
            reason = _MESSAGE_REASONS.get(one.change, HISTORY_CHANGED)
            yield from _put_epoch(reason, changes)


def _put_epoch(reason: str, changes: Changes) -> tuple[str, ...]:
    """Return why something came back, where another model or a higher threshold let it."""
    if reason in (TURNS_BACK, TRIMMED_BACK) and changes.epoch_reasons:
        return changes.epoch_reasons
    return (reason,)


def explain_tail(earlier: object, question: object) -> list[str]:
    """Return the reasons why the user message of a turn or its context changed.

    A user message without context is a plain string if the request has no tools, and a text part
    otherwise. This difference alone is not reported, because the changed tools already explain it.
    """
    before, now = list_parts(earlier), list_parts(question)
    reasons = [] if before[-1:] == now[-1:] else [HISTORY_CHANGED]
    if before[:-1] != now[:-1]:
        is_shorter = _count_chars(now[:-1]) <= _count_chars(before[:-1])
        reasons.append(TAIL_SHORTENED if is_shorter else TAIL_RESTORED)
    return reasons


def _count_chars(parts: Sequence[object]) -> int:
    return sum(len(str(part.get("text", ""))) for part in parts if isinstance(part, Mapping))


def _describe_drop(turns: int) -> str:
    return "a turn was dropped" if turns == 1 else f"{turns} turns were dropped"
