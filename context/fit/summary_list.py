"""Complete a summary by rule: strike what it changed, and list what it lost."""

from collections.abc import Iterator, Sequence
from typing import Final

from context.carry_forward import split_sentences
from context.errors import SummaryRefused
from context.exam import FACT_KINDS, ChangedFact, ChatFact, FactKind, SummaryExam
from context.history.outline import format_summary, remove_head
from context.messages import Message
from context.tokens import TokenCounter, count_message

__all__ = ["add_fact", "complete_summary", "strike_changed"]

LIST_HEAD: Final = "Also said:"
_LABELS: Final[dict[FactKind, str]] = {
    "path": "Files:",
    "command": "Commands:",
    "figure": "Figures:",
    "date": "Dates:",
    "name": "Named",  # no colon, behind which a name could be any word at the start of a sentence
    "decision": "Decided:",
    "question": "Still open:",
}
_SEPARATOR: Final = "; "
_NAME_SEPARATOR: Final = ", "


def strike_changed(text: str, changed: Sequence[ChangedFact]) -> str:
    """Return a summary without the sentences that say what was not said."""
    if not changed:
        return text
    lines = []
    for line in text.split("\n"):
        sentences = split_sentences(line)
        kept = [one for one in sentences if not any(each.text in one for each in changed)]
        if len(kept) == len(sentences):
            lines.append(line)
        elif kept:
            lines.append(" ".join(one.strip() for one in kept))
    return "\n".join(lines)


def add_fact(summary: str, fact: ChatFact) -> str:
    """Return a summary with one more line that says a fact."""
    return f"{summary.rstrip()}\n- {fact.line}"


def complete_summary(
    summary: str, exam: SummaryExam, most_tokens: int, counter: TokenCounter
) -> str:
    """Return a summary with a list of what it lost, as far as that fits.

    Files and commands come first, because they are lost first where conversations are summarised.

    Args:
        summary: the summary, as it is sent.
        exam: what it lost and changed.
        most_tokens: the token limit of the whole text.
        counter: counts the tokens.

    Raises:
        SummaryRefused: nothing is left of the summary without what nobody said.
    """
    body = strike_changed(remove_head(summary), exam.changed)
    if not body.strip():
        raise SummaryRefused("The summary says only what nobody said.")
    left = most_tokens - _count(body, counter) - counter.count(f"\n{LIST_HEAD}\n")
    listed: list[ChatFact] = []
    for fact in (*_sort(exam.gone), *_sort(exam.away)):
        is_first = not any(one.kind == fact.kind for one in listed)
        label = f"- {_LABELS[fact.kind]} \n" if is_first else ""
        size = counter.count(f"{label}{fact.line}{_SEPARATOR}")
        if size <= left:
            listed.append(fact)
            left -= size
    while listed and _count(_write(body, listed), counter) > most_tokens:
        listed.pop()
    return format_summary(_write(body, listed))


def _sort(facts: Sequence[ChatFact]) -> list[ChatFact]:
    """Return facts in the order in which they are listed, the newest of each kind first."""
    return sorted(facts, key=lambda fact: FACT_KINDS.index(fact.kind))


def _count(text: str, counter: TokenCounter) -> int:
    return count_message(Message("user", format_summary(text)), counter)


def _write(body: str, listed: Sequence[ChatFact]) -> str:
    if not listed:
        return body
    return "\n".join([body, LIST_HEAD, *_write_lines(listed)]).lstrip("\n")


def _write_lines(listed: Sequence[ChatFact]) -> Iterator[str]:
    for kind in FACT_KINDS:
        label = _LABELS[kind]
        lines = [fact.line.removeprefix(label).strip() for fact in listed if fact.kind == kind]
        separator = _NAME_SEPARATOR if kind == "name" else _SEPARATOR
        if lines:
            yield f"- {label} {separator.join(lines)}"
